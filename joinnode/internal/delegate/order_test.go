package delegate_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// The same rows give the same result: groups are in the order of the grouping
// columns, behind those of ORDER BY, and LIMIT takes the first ones.
func TestOrderOfGroups(t *testing.T) {
	var rows []row
	for i := range 40 {
		n := i * 7 % 40
		rows = append(rows, row{"k": n, "s": fmt.Sprintf("s%02d", n%4), "o": row{"x": -n}, "ts": 1})
	}
	for _, c := range []struct {
		query string
		want  func(n int, r row) bool // the n-th row
		rows  int
	}{
		{"SELECT k, count(*) AS n FROM s GROUP BY k, TumblingWindow('10s')", func(n int, r row) bool { return r["k"] == n }, 40},
		{"SELECT k AS key, count(*) AS n FROM s GROUP BY k, TumblingWindow('10s')", func(n int, r row) bool { return r["key"] == n }, 40},
		{"SELECT count(*) AS n FROM s GROUP BY k, TumblingWindow('10s')", func(n int, r row) bool { return r["k"] == n }, 40},
		{"SELECT s.o.x AS x, count(*) AS n FROM s GROUP BY s.o.x, SlidingWindow('10s', '10s')", func(n int, r row) bool { return r["x"] == n-39 }, 40},
		{"SELECT s, k, count(*) AS n FROM s GROUP BY s, k, TumblingWindow('10s')", func(n int, r row) bool { return r["k"] == n/10+n%10*4 }, 40},
		{"SELECT upper(s) AS u, count(*) AS n FROM s GROUP BY upper(s), TumblingWindow('10s')", func(n int, r row) bool { return r["u"] == fmt.Sprintf("S%02d", n) }, 4},
		{"SELECT k, count(*) AS n FROM s GROUP BY k, TumblingWindow('10s') LIMIT 3", func(n int, r row) bool { return r["k"] == n }, 3},
		{"SELECT k, count(*) AS n FROM s GROUP BY k, TumblingWindow('10s') HAVING count(*) > 0 ORDER BY n DESC LIMIT 20", func(n int, r row) bool { return r["k"] == n }, 20},
		{"SELECT k, s, count(*) AS n FROM s GROUP BY k, s, TumblingWindow('10s') ORDER BY s DESC", func(n int, r row) bool { return r["k"] == 3-n/10+n%10*4 }, 40},
	} {
		out, _ := run(t, c.query, rows)
		got := flat(out)
		require.Len(t, got, c.rows, c.query)
		for n, r := range got {
			require.True(t, c.want(n, r), "%s: row %d is %v", c.query, n, r)
		}
	}
}

// Keys of several kinds have an order too: NULL, booleans, numbers, text, the rest.
func TestOrderOfMixedKeys(t *testing.T) {
	keys := []any{nil, false, true, -1, 2.5, 9, 10, "10", "5", "x", []any{1}, map[string]any{"a": 1}}
	for range 3 {
		var rows []row
		for i := range keys {
			rows = append(rows, row{"k": keys[i*5%len(keys)]})
		}
		out, _ := run(t, "SELECT k, count(*) AS n FROM s GROUP BY k, TumblingWindow('1h')", rows)
		var got []any
		for _, r := range flat(out) {
			got = append(got, r["k"])
		}
		require.Equal(t, []any{nil, false, true, -1, 2.5, 9, 10, "5", "x", []any{1}, map[string]any{"a": 1}}, got, "streamsql takes 10 and '10' for one group")
	}
}
