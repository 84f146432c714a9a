package script_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/plan"
	"github.com/streamjoin/streamjoin/joinnode/internal/script"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// TestPortsThatAreShownRows: where the key stands at the front of the input's row
// and stays there, and nowhere else.
func TestPortsThatAreShownRows(t *testing.T) {
	for _, test := range []struct {
		sql  string
		want string // of the vertices that prefetch: an x for each port that is shown rows
	}{
		{`IMPORT A TIMESTAMP ts; T := DISTINCT A ON k ORDER BY ts DESC;`, "dedup x"},
		{`T := SELECT k, sum(v) AS s FROM A WHERE v > 1 GROUP BY k;`, "aggregate x"},
		{`T := SELECT k, sum(v) AS s FROM A GROUP BY k, j;`, "aggregate x"},
		{`T := SELECT lower(k) AS low, sum(v) AS s FROM A GROUP BY low;`, "aggregate -"},
		{`T := SELECT count(*) AS n FROM A;`, "aggregate -"},
		{`T := SELECT i.name, count(*) AS n FROM A a JOIN a.items i GROUP BY i.name;`, "aggregate -"},
		{`IMPORT B TIMESTAMP ts; B := DISTINCT B ON k ORDER BY ts DESC;
			T := SELECT a.k, b.v FROM A a TEMPORAL JOIN B b ON a.k = b.k;`, "dedup x temporaljoin xx"},
	} {
		s, err := syntax.ParseScript(test.sql)
		require.NoError(t, err)
		p, err := script.Build(s, plan.Gates{})
		require.NoError(t, err)
		var got []string
		for i := range p.Vertices {
			v := &p.Vertices[i]
			op, err := v.Build(nil, nil)
			require.NoError(t, err)
			if _, ok := op.(operator.Prefetcher); !ok {
				continue
			}
			name, _, _ := strings.Cut(strings.ToLower(op.Describe().Name), " ")
			ports := ""
			for _, port := range v.Ports {
				if port.Shown {
					ports += "x"
				}
			}
			if ports == "" {
				ports = "-"
			}
			got = append(got, name, ports)
		}
		require.Equal(t, test.want, strings.Join(got, " "), test.sql)
	}
}
