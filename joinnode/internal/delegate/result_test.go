package delegate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSelectWhatStreamsqlDrops(t *testing.T) {
	r := row{"a": 7.0, "t": "abc", "s": "it's", "order": 5.0, "arr": []any{1.0, 2.0}}
	for _, c := range []struct {
		items string
		want  row
	}{
		{"1 AS one, -2.5 AS two, 'x' AS x, true AS yes, NULL AS none", row{"one": int64(1), "two": -2.5, "x": "x", "yes": true, "none": nil}},
		{"upper(t)", row{"upper(t)": "ABC"}},
		{"t || '-' || s AS v", row{"v": "abc-it's"}},
		{"a % 4 AS v", row{"v": 3.0}},
		{"t v", row{"v": "abc"}},
		{"s.a", row{"a": 7.0}},
		{"`order` AS `select`", row{"select": 5.0}},
		{"a > 5 AS v, t LIKE 'a%' AS l, missing = 1 AS m", row{"v": true, "l": true, "m": nil}},
		{"CASE WHEN missing > 1 OR a IN (7, 8) THEN true ELSE false END AS v", row{"v": true}},
		{"*, a AS v", row{"a": 7.0, "t": "abc", "s": "it's", "order": 5.0, "arr": []any{1.0, 2.0}, "v": 7.0}},
		{"concat(\"it's \", t) AS v", row{"v": "it's abc"}},
	} {
		t.Run(c.items, func(t *testing.T) {
			out, _ := run(t, "SELECT "+c.items+" FROM s", []row{r})
			require.Equal(t, []row{c.want}, flat(out))
		})
	}
	out, _ := run(t, "SELECT unnest(arr) AS v, t FROM s", []row{r})
	require.Equal(t, []row{{"v": 1.0, "t": "abc"}, {"v": 2.0, "t": "abc"}}, flat(out))
}

func TestWindowsThatStreamsqlGetsWrong(t *testing.T) {
	rows := []row{{"a": 1.0, "k": "k"}, {"a": 2.0, "k": "k"}}
	for _, c := range []struct {
		query string
		want  []row
	}{
		{"SELECT sum(a) AS x, 1 AS one FROM s GROUP BY CountingWindow(2)", []row{{"x": 3.0, "one": int64(1)}}},
		{"SELECT s.k, sum(s.a) AS x FROM s GROUP BY s.k, CountingWindow(2)", []row{{"k": "k", "x": 3.0}}},
		{"SELECT `k`, sum(`a`) AS `x y` FROM s GROUP BY `k`, CountingWindow(2)", []row{{"k": "k", "x y": 3.0}}},
		{"SELECT sum(a) AS x FROM s GROUP BY CountingWindow(2) HAVING NOT x > 1", nil},
		{"SELECT sum(a) AS x FROM s GROUP BY CountingWindow(2) HAVING x NOT IN (3)", nil},
		{"SELECT sum(a) AS x FROM s GROUP BY CountingWindow(2) HAVING x NOT BETWEEN 1 AND 9", nil},
		{"SELECT sum(a) AS x FROM s GROUP BY CountingWindow(2) HAVING avg(zz) > 1 OR x > 1", []row{{"x": 3.0}}},
		{"SELECT sum(a) AS x FROM s GROUP BY CountingWindow(2) HAVING avg(zz) != 1", nil},
		{"SELECT sum(CASE WHEN zz > 1 OR a > 1 THEN 1 ELSE 0 END) AS x FROM s GROUP BY CountingWindow(2)", []row{{"x": 1.0}}},
	} {
		t.Run(c.query, func(t *testing.T) {
			out, _ := run(t, c.query, rows)
			require.Equal(t, c.want, flat(out))
			require.NotEqual(t, c.want, theirs(t, c.query, rows, 30*time.Millisecond, 1), "streamsql alone")
		})
	}
}

// What docs/sql.md says that a window's rows have beside the selected columns.
func TestColumnsOfAWindow(t *testing.T) {
	out, _ := run(t, "SELECT count(*) AS n FROM s GROUP BY k, TumblingWindow('10s') WITH (TIMESTAMP='ts', TIMEUNIT='ss')",
		[]row{{"k": "a", "ts": 1_700_000_003}})
	require.Equal(t, []row{{"k": "a", "n": 1.0, "window_id": "1700000000000000000_1700000010000000000"}}, out[0].rows)
	out, _ = run(t, "SELECT count(*) AS n FROM s GROUP BY k, GLOBAL WINDOW TRIGGER WHEN count(*) >= 1", []row{{"k": "a"}})
	for _, name := range []string{"window_start", "window_end"} {
		require.Contains(t, out[0].rows[0], name)
	}
	require.NotContains(t, out[0].rows[0], "window_id")
}
