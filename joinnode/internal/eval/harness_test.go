package eval

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// fields is a row by column names. A value.Value stands for itself, anything
// else for a Go value.
type fields map[string]any

func (f fields) names() []string {
	names := make([]string, 0, len(f))
	for n := range f {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

func (f fields) row() row.Row {
	var r row.Row
	for _, n := range f.names() {
		v, ok := f[n].(value.Value)
		if !ok {
			v = value.FromGo(f[n])
		}
		r = row.Append(r, v)
	}
	return r
}

func (f fields) resolve(c *syntax.Column) (int, error) {
	var path []string
	for _, s := range c.Path {
		path = append(path, s.Name)
	}
	name := strings.Join(path, ".")
	if i := slices.Index(f.names(), name); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("no column %s", name)
}

// scope is the scope of a script: names as in resolve, or a path into the column
// of its first name; columns whose name begins with ms_ and s_ have those units.
func (f fields) scope(zone *time.Location) Scope {
	return Scope{
		Locate: func(c *syntax.Column) (int, row.Path, error) {
			if col, err := f.resolve(c); err == nil {
				return col, nil, nil
			}
			col, err := f.resolve(&syntax.Column{Path: c.Path[:1]})
			return col, c.Path[1:], err
		},
		Unit: func(c *syntax.Column) value.Unit {
			switch name := c.Path[0].Name; {
			case strings.HasPrefix(name, "ms_"):
				return value.Millisecond
			case strings.HasPrefix(name, "s_"):
				return value.Second
			}
			return value.AutoUnit
		},
		Zone: zone,
	}
}

func parse(t testing.TB, sql string) syntax.Expr {
	t.Helper()
	e, err := syntax.ParseExpr(sql)
	require.NoError(t, err)
	return e
}

// evaluate computes sql over f and returns the result as it leaves for Go.
func evaluate(t testing.TB, ctx *Context, sql string, f fields) any {
	t.Helper()
	expr, err := Compile(parse(t, sql), f.resolve)
	require.NoError(t, err, sql)
	return expr(ctx, f.row()).ToGo()
}

func decide(t testing.TB, ctx *Context, sql string, f fields) value.Tri {
	t.Helper()
	pred, err := CompilePredicate(parse(t, sql), f.resolve)
	require.NoError(t, err, sql)
	return pred(ctx, f.row())
}

func jsonNumber(s string) value.Value { return value.OfNumber([]byte(s)) }

func jsonValue(s string) value.Value {
	v, ok := value.ParseJSON([]byte(s))
	if !ok {
		panic("no JSON: " + s)
	}
	return v
}
