package delegate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rulego/streamsql"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/delegate"
)

// keeps says whether a query with this WHERE gives a result for the row.
func keeps(t require.TestingT, where string, r row) bool {
	p, err := compile("SELECT * FROM s WHERE " + where)
	require.NoError(t, err)
	e, err := delegate.Open(p, delegate.Config{})
	require.NoError(t, err)
	defer e.Stop()
	out, err := e.EmitSync(r)
	require.NoError(t, err)
	return out != nil
}

// streamsqlKeeps is the same on streamsql alone; "refuses" when it cannot run it.
func streamsqlKeeps(t require.TestingT, where string, r row) string {
	s := streamsql.New(streamsql.WithDiscardLog())
	defer s.Stop()
	if err := s.Execute("SELECT * FROM s WHERE " + where); err != nil {
		return "refuses"
	}
	out, err := s.EmitSync(r)
	require.NoError(t, err)
	return fmt.Sprint(out != nil)
}

func TestWhereThatStreamsqlGetsWrong(t *testing.T) {
	r := row{"a": 7.0, "i": 7, "s": "it's", "t": "中文", "ok": true, "n": nil, "count": 3.0, "o": row{"x": 3.0, "l": []any{1.0}}, "my col": 1.0}
	for _, c := range []struct {
		where  string
		theirs string
		want   bool
	}{
		{"NOT (a > 8)", "false", true},
		{"NOT (a > 5 AND i = 8)", "false", true},
		{"a IN (1, 7)", "refuses", true},
		{"a NOT IN (1, 7)", "refuses", false},
		{"a BETWEEN 1 AND 7", "refuses", true},
		{"a NOT BETWEEN 1 AND 7", "refuses", false},
		{"a <> 8", "refuses", true},
		{"a % 2 = 1", "refuses", true},
		{"s = 'it''s'", "refuses", true},
		{"a > 5 -- and so on\n", "refuses", true},
		{"missing > 1 OR a > 5", "false", true}, // one missing column took the row
		{"s > 1 OR a > 5", "false", true},       // so did one of another type
		{"n != 5", "true", false},               // NULL != 5 is unknown
		{"s != 5", "true", false},               // so is a comparison of different kinds
		{"NOT (missing = 1)", "false", false},
		{"missing.deep = 1 OR o.x = 3", "false", true},
		{"count > 2", "refuses", true}, // a column named like a function
		{"`my col` = 1", "refuses", true},
		{"t LIKE '__'", "false", true}, // streamsql counts bytes
		{"s NOT LIKE 'x%'", "refuses", true},
		{"upper(missing) = 'X' OR a > 5", "true", true},
		{"abs(missing) IS NULL", "false", true},
		{"a = 1e1 - 3", "refuses", true},
		{"CASE WHEN a > 5 THEN 1 ELSE 0 END = 1", "refuses", true},
		{"s || 'x' = 'it''sx'", "refuses", true},
		{"ok", "true", true},
		{"NOT ok", "refuses", false},
		{"s.a > 5", "false", true}, // the stream's own name
	} {
		t.Run(c.where, func(t *testing.T) {
			require.Equal(t, c.theirs, streamsqlKeeps(t, c.where, r), "streamsql alone")
			require.Equal(t, c.want, keeps(t, c.where, r))
		})
	}
}

// tri is SQL's truth, written down once more and slowly.
type tri int

const (
	no tri = iota
	unknown
	yes
)

// cond is a random condition: its text and its truth for a row.
type cond struct {
	sql   string
	truth func(row) tri
}

func operand(t *rapid.T) (string, func(row) any) {
	if rapid.Bool().Draw(t, "column") {
		name := rapid.SampledFrom([]string{"a", "b", "o.x"}).Draw(t, "name")
		return name, func(r row) any {
			if name == "o.x" {
				o, _ := r["o"].(row)
				return o["x"]
			}
			return r[name]
		}
	}
	if rapid.Bool().Draw(t, "text") {
		v := rapid.SampledFrom([]string{"", "x", "yy", "is null", "a like 'b'"}).Draw(t, "literal")
		return "'" + strings.ReplaceAll(v, "'", "''") + "'", func(row) any { return v }
	}
	v := rapid.IntRange(-2, 2).Draw(t, "literal")
	return fmt.Sprint(v), func(row) any { return float64(v) }
}

func compare(x any, op string, y any) tri {
	if x == nil || y == nil || fmt.Sprintf("%T", x) != fmt.Sprintf("%T", y) {
		return unknown
	}
	c := 0
	switch x := x.(type) {
	case string:
		c = strings.Compare(x, y.(string))
	case float64:
		c = int(max(-1, min(1, x-y.(float64))))
	}
	ok := map[string]bool{"=": c == 0, "<>": c != 0, "<": c < 0, "<=": c <= 0, ">": c > 0, ">=": c >= 0}[op]
	if ok {
		return yes
	}
	return no
}

func condition(t *rapid.T, depth int) cond {
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	if depth == 0 && kind < 3 {
		kind += 3
	}
	switch kind {
	case 0, 1: // AND, OR
		x, y := condition(t, depth-1), condition(t, depth-1)
		if kind == 0 {
			return cond{"(" + x.sql + " AND " + y.sql + ")", func(r row) tri { return min(x.truth(r), y.truth(r)) }}
		}
		return cond{"(" + x.sql + " OR " + y.sql + ")", func(r row) tri { return max(x.truth(r), y.truth(r)) }}
	case 2:
		x := condition(t, depth-1)
		return cond{"NOT (" + x.sql + ")", func(r row) tri { return yes - x.truth(r) }}
	case 3:
		x, xv := operand(t)
		y, yv := operand(t)
		op := rapid.SampledFrom([]string{"=", "<>", "<", "<=", ">", ">="}).Draw(t, "op")
		return cond{x + " " + op + " " + y, func(r row) tri { return compare(xv(r), op, yv(r)) }}
	case 4:
		x, xv := operand(t)
		return cond{x + " IS NULL", func(r row) tri {
			if xv(r) == nil {
				return yes
			}
			return no
		}}
	case 5:
		x, xv := operand(t)
		lo, lov := operand(t)
		hi, hiv := operand(t)
		return cond{x + " BETWEEN " + lo + " AND " + hi, func(r row) tri {
			return min(compare(xv(r), ">=", lov(r)), compare(xv(r), "<=", hiv(r)))
		}}
	}
	x, xv := operand(t)
	y, yv := operand(t)
	z, zv := operand(t)
	return cond{x + " NOT IN (" + y + ", " + z + ")", func(r row) tri {
		return yes - max(compare(xv(r), "=", yv(r)), compare(xv(r), "=", zv(r)))
	}}
}

// Whatever the condition, a row passes exactly when SQL's three-valued logic
// says true; and CASE and SELECT see the same truth.
func TestWhereIsThreeValued(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := condition(t, 3)
		value := rapid.SampledFrom([]any{nil, "", "x", "yy", -1.0, 0.0, 1.0, 2.0})
		sql := "SELECT CASE WHEN " + c.sql + " THEN 1 ELSE 0 END AS c, " + c.sql + " AS v FROM s"
		p, err := compile(sql)
		require.NoError(t, err)
		e, err := delegate.Open(p, delegate.Config{})
		require.NoError(t, err)
		defer e.Stop()
		where, err := compile("SELECT 1 AS x FROM s WHERE " + c.sql)
		require.NoError(t, err)
		w, err := delegate.Open(where, delegate.Config{})
		require.NoError(t, err)
		defer w.Stop()
		for range 5 {
			r := row{"a": value.Draw(t, "a")}
			if rapid.Bool().Draw(t, "has b") {
				r["b"] = value.Draw(t, "b")
			}
			if rapid.Bool().Draw(t, "has o") {
				r["o"] = row{"x": value.Draw(t, "o.x")}
			}
			truth := c.truth(r)
			out, err := w.EmitSync(r)
			require.NoError(t, err)
			require.Equal(t, truth == yes, out != nil, "WHERE %s for %v", c.sql, r)
			out, err = e.EmitSync(r)
			require.NoError(t, err)
			require.EqualValues(t, map[bool]int{true: 1, false: 0}[truth == yes], out["c"])
			require.Equal(t, map[tri]any{yes: true, no: false, unknown: nil}[truth], out["v"])
			require.Zero(t, e.GetStats()["expression_errors"])
		}
	})
}
