package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

const joined = "SELECT a.x FROM s AS a JOIN t AS b WITHIN 10 SECONDS ON a.k = b.k "

func TestOptionsRefused(t *testing.T) {
	checkAll(t, []refusal{
		{"unknown", joined + "WITH (TIMESTAMP='ts', ¦COLOUR='red')", ErrOption, "unknown WITH option COLOUR", "TIMESTAMP, TIMEUNIT, IDLETIMEOUT and MAXFUTURESKEW"},
		{"twice", joined + "WITH (TIMESTAMP='ts', ¦timestamp='ts')", ErrOption, "TIMESTAMP is given twice", ""},
		{"twice in two clauses", joined + "WITH (TIMESTAMP='ts') WITH (¦TIMESTAMP='ts')", ErrOption, "TIMESTAMP is given twice", ""},
		{"no field", joined + "WITH (¦TIMESTAMP='')", ErrOption, "is not a field", "payload.ts"},
		{"field is an expression", joined + "WITH (¦TIMESTAMP='ts + 1')", ErrOption, `"ts + 1" is not a field`, "payload.ts"},
		{"unit", joined + "WITH (TIMESTAMP='ts', ¦TIMEUNIT='fortnight')", ErrOption, "fortnight", ""},
		{"no duration", joined + "WITH (TIMESTAMP='ts', ¦IDLETIMEOUT='soon')", ErrOption, "IDLETIMEOUT: ", "IDLETIMEOUT = '30s'"},
		{"negative", joined + "WITH (TIMESTAMP='ts', ¦MAXFUTURESKEW='-1s')", ErrOption, "MAXFUTURESKEW", ""},
		{"no unit", joined + "WITH (TIMESTAMP='ts', ¦IDLETIMEOUT='30')", ErrOption, "IDLETIMEOUT", "'30s'"},
		{"MaxOutOfOrderness", joined + "WITH (TIMESTAMP='ts', ¦MaxOutOfOrderness='5s')", ErrUnsupported, "MaxOutOfOrderness cannot be combined", "headroom"},
		{"AllowedLateness", joined + "WITH (¦AllowedLateness='1ms')", ErrUnsupported, "AllowedLateness cannot be combined", "IDLETIMEOUT is allowed"},
		{"AllowedLateness nonsense", joined + "WITH (¦AllowedLateness='much')", ErrOption, "ALLOWEDLATENESS", ""},
	})
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		with string
		want Time
	}{
		{"", Time{}},
		{"WITH (TIMESTAMP='ts')", Time{Field: row.Path{{Name: "ts"}}, Text: "ts", MaxFutureSkew: 24 * time.Hour}},
		{"WITH (timestamp='meta.times[1]', timeunit='ms')", Time{Field: row.Path{{Name: "meta"}, {Name: "times"}, {Index: 1, IsIndex: true}}, Text: "meta.times[1]", Unit: "ms", MaxFutureSkew: 24 * time.Hour}},
		{"WITH (TimeStamp='ts', IdleTimeout='30s', MaxFutureSkew='1 HOUR')", Time{Field: row.Path{{Name: "ts"}}, Text: "ts", IdleTimeout: 30 * time.Second, MaxFutureSkew: time.Hour}},
		{"WITH (TIMESTAMP='ts', MAXFUTURESKEW='0', IDLETIMEOUT='0')", Time{Field: row.Path{{Name: "ts"}}, Text: "ts"}},
		{"WITH (TIMESTAMP='ts', MAXOUTOFORDERNESS='0', ALLOWEDLATENESS='0')", Time{Field: row.Path{{Name: "ts"}}, Text: "ts", MaxFutureSkew: 24 * time.Hour}},
	} {
		p := build(t, joined+c.with)
		require.Equal(t, c.want, p.Time, c.with)
		require.Equal(t, c.want.Field != nil, p.Time.Event())
		require.Empty(t, p.Warnings, c.with)
	}
}

// TestOptionsWithoutTimestamp have no effect, and say so.
func TestOptionsWithoutTimestamp(t *testing.T) {
	p := build(t, joined+"WITH (MAXFUTURESKEW='1s', IDLETIMEOUT='1s', TIMEUNIT='ms')")
	require.Len(t, p.Warnings, 3)
	for i, name := range []string{"TIMEUNIT", "IDLETIMEOUT", "MAXFUTURESKEW"} {
		require.Contains(t, p.Warnings[i], name+" has no effect without TIMESTAMP")
	}
	require.Equal(t, Time{}, p.Time)
	require.Equal(t, -1, p.Inputs[0].TimeCol)
}

// TestOptionsInAnyOrder: WITH is a set, however it is written.
func TestOptionsInAnyOrder(t *testing.T) {
	all := []string{"TIMESTAMP='ts'", "TIMEUNIT='s'", "IDLETIMEOUT='5s'", "MAXFUTURESKEW='1m'"}
	want := build(t, joined+"WITH ("+strings.Join(all, ", ")+")").Time
	rapid.Check(t, func(t *rapid.T) {
		var with strings.Builder
		for i, o := range rapid.Permutation(all).Draw(t, "order") {
			name, value, _ := strings.Cut(o, "=")
			if rapid.Bool().Draw(t, "lower case") {
				name = strings.ToLower(name)
			}
			switch {
			case i == 0:
				with.WriteString("WITH (")
			case rapid.Bool().Draw(t, "clause of its own"):
				with.WriteString(") WITH (")
			default:
				with.WriteString(", ")
			}
			with.WriteString(name + " = " + value)
		}
		sql := joined + with.String() + ")"
		stmt, err := syntax.Parse(sql)
		require.NoError(t, err, sql)
		p, err := Build(stmt, sql)
		require.NoError(t, err, sql)
		require.Equal(t, want, p.Time)
	})
}
