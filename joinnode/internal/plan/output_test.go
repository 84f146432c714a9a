package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

func TestOutputNames(t *testing.T) {
	const from = " FROM s AS a LEFT JOIN t AS b WITHIN 1 S ON a.k = b.k"
	named := func(names ...string) (fields []row.Field) {
		for i, n := range names {
			fields = append(fields, row.Field{Name: n, Col: i})
		}
		return fields
	}
	for _, c := range []struct {
		items string
		want  []row.Field
	}{
		{"a.x, b.y", named("x", "y")},
		{"x", named("x")},
		{"a.x AS y, b.x", named("y", "x")},
		{"a.x y", named("y")},
		{"a.o.p.q", named("q")},
		{"a.list[3]", named("list")},
		{"a.list[3].name", named("name")},
		{"a.`odd name`", named("odd name")},
		{"a.x + 1, upper(b.y), 'text', CASE WHEN a.x > 1 THEN 1 END", named("a.x + 1", "upper(b.y)", "'text'", "CASE WHEN a.x > 1 THEN 1 END")},
		{"a.x + 1 AS sum", named("sum")},
		{"b", []row.Field{{Name: "b", Whole: true}}},
		{"b AS alarm", []row.Field{{Name: "alarm", Whole: true}}},
		{"b.*, a.x", []row.Field{{Spread: true, Prefix: "b"}, {Name: "x", Col: 1}}},
		{"*", []row.Field{{Spread: true}, {Name: "a", Col: 1, Whole: true}, {Name: "b", Col: 2, Whole: true}}},
		{"a.*, b.*", []row.Field{{Spread: true, Prefix: "a"}, {Spread: true, Prefix: "b", Col: 1}}},
	} {
		p := build(t, "SELECT "+c.items+from)
		require.Equal(t, c.want, p.Output.Fields, c.items)
		var names []string
		for _, f := range c.want {
			if f.Name != "" {
				names = append(names, f.Name)
			}
		}
		require.Equal(t, names, p.Output.Names, c.items)
		require.Len(t, p.Output.Exprs, len(c.want))
	}
}

// TestCopies: plain columns are copied encoded, expressions are computed.
func TestCopies(t *testing.T) {
	p := build(t, "SELECT b.y, a.x + 1 AS sum, a.x, b FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.k")
	require.Equal(t, []string{"b.y", "a.x", "b.*"}, p.Stages[0].Layout.Text)
	require.Equal(t, []int{0, -1, 1, 2}, p.Output.Copy)
	require.Equal(t, []string{"b.y AS y", "a.x + 1 AS sum", "a.x AS x", "b"}, p.Output.Text)
}

func TestOutputRefused(t *testing.T) {
	checkAll(t, []refusal{
		{"two fields of one name", "SELECT a.x, ¦b.x FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.k", ErrDuplicateName, `two output columns are named "x"`, "b.x AS another_name"},
		{"an alias and a field", "SELECT a.y AS x,\n  ¦b.x FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.k", ErrDuplicateName, `"x"`, "AS"},
		{"an expression twice", "SELECT a.x + 1, ¦a.x+1 FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.k", ErrDuplicateName, `"a.x + 1"`, "AS"},
		{"the whole row twice", "SELECT b, ¦b FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.k", ErrDuplicateName, `"b"`, "AS"},
		{"a star and a column named as an alias", "SELECT *, ¦a.x AS b FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.k", ErrDuplicateName, `"b"`, "AS another_name"},
		{"the same the other way round", "SELECT a.x AS b, ¦* FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.k", ErrDuplicateName, `"b"`, "* adds every alias"},
		{"two stars", "SELECT *, ¦* FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.k", ErrDuplicateName, `"a"`, "* adds every alias"},
	})
}

// TestIdentity: rows of a SELECT list of different plain columns need no
// projection, also where WHERE reads further ones.
func TestIdentity(t *testing.T) {
	for items, want := range map[string]bool{
		"b.y, a.x":           true,
		"a":                  true,
		"b.*, a.x":           true,
		"b.y, b.y AS again":  false,
		"*":                  false, // the left row is spread and given whole
		"a.x, b.y || ''":     false,
		"a.x, 1":             false,
		"a.x AS p, b.x AS q": true,
	} {
		p := build(t, "SELECT "+items+" FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.k WHERE a.z < b.z")
		require.Equal(t, want, p.Output.Identity(), items)
	}
}
