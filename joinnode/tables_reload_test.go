package joinnode_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode"
)

// A statement in the middle that only swaps the names of two columns changes what
// the statements behind it read, though their own text stays the same.
func TestReloadOfSwappedNamesLetsStateGo(t *testing.T) {
	for _, swap := range [][2]string{
		{`S := DISTINCT O ON id ORDER BY t DESC; J := SELECT id, v AS a, w AS b FROM S; C := SELECT a, count(*) AS n FROM J GROUP BY a;`,
			`S := DISTINCT O ON id ORDER BY t DESC; J := SELECT id, v AS b, w AS a FROM S; C := SELECT a, count(*) AS n FROM J GROUP BY a;`},
		{`S := SELECT id, sum(v) AS n, count(*) AS s FROM O GROUP BY id; C := SELECT s, count(*) AS k FROM S GROUP BY s;`,
			`S := SELECT id, sum(v) AS s, count(*) AS n FROM O GROUP BY id; C := SELECT s, count(*) AS k FROM S GROUP BY s;`},
		{`S := DISTINCT O ON id ORDER BY t DESC; J := SELECT id, v AS a, w AS b FROM S; D := STREAM ON UPDATE AS SELECT id, a FROM J; C := SELECT a, count(*) AS n FROM D GROUP BY a;`,
			`S := DISTINCT O ON id ORDER BY t DESC; J := SELECT id, v AS b, w AS a FROM S; D := STREAM ON UPDATE AS SELECT id, a FROM J; C := SELECT a, count(*) AS n FROM D GROUP BY a;`},
	} {
		old, next := joinnode.New(joinnode.WithDiscardLog()), joinnode.New(joinnode.WithDiscardLog())
		require.NoError(t, old.Execute(swap[0]))
		require.NoError(t, next.Execute(swap[1]))
		require.NoError(t, old.EmitJSON("O", []byte(`{"id":1,"t":1,"v":10,"w":20}`)))
		a, err := next.Adopt(old)
		require.NoError(t, err)
		require.False(t, a.Taken, swap[1])
		next.Stop()
	}
}
