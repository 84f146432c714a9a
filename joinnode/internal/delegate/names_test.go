package delegate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/delegate"
)

// Words of streamsql's dialect, and names that its lexer cannot read.
var oddNames = []string{"timestamp", "window", "partition", "by", "over", "trigger", "global", "timeunit", "inner", "left",
	"statettl", "idletimeout", "maxoutoforderness", "allowedlateness", "Timestamp", "a b", "größe", "count", "abs"}

func TestOddNamesInFunctions(t *testing.T) {
	for _, name := range oddNames {
		t.Run(name, func(t *testing.T) {
			q := "`" + name + "`"
			rows := []row{{name: -7.0, "o": row{name: 2.0}}, {name: -8.0}}
			for items, want := range map[string][]any{
				"abs(" + q + ")":               {7.0, 8.0},
				"mod(" + q + ", 4)":            {-3.0, 0.0},
				q + " + 1":                     {-6.0, -7.0},
				"concat('v', " + q + ")":       {"v-7", "v-8"},
				"abs(o." + q + ")":             {2.0, nil},
				"o." + q:                       {2.0, nil},
				"lag(" + q + ")":               {nil, -7.0},
				"had_changed(true, " + q + ")": {true, true},
				"CASE WHEN " + q + " < -7 THEN 1 ELSE 0 END":  {0, 1},
				"CASE WHEN abs(" + q + ") = 7 THEN 'x' END":   {"x", nil},
				"acc_max(" + q + ") - acc_min(" + q + ") + 0": {0.0, 1.0},
			} {
				out, _ := run(t, "SELECT "+items+" AS v FROM s", rows)
				got := flat(out)
				require.Len(t, got, 2, items)
				for i := range got {
					require.Len(t, got[i], 1, items)
					if n, ok := want[i].(float64); ok {
						require.InDelta(t, n, got[i]["v"], 0, "%s %d", items, i)
					} else {
						require.EqualValues(t, want[i], got[i]["v"], "%s %d", items, i)
					}
				}
			}
			out, _ := run(t, "SELECT t FROM s WHERE abs("+q+") > 7 AND lag(t) = 1", []row{{name: 8, "t": 1}, {name: -8, "t": 2}})
			require.Equal(t, []row{{"t": 2}}, flat(out))
			out, _ = run(t, "SELECT *, "+q+" AS v FROM s", []row{{name: 8}})
			require.Equal(t, []row{{name: 8, "v": 8}}, flat(out))
			out, _ = run(t, "SELECT changed_cols('c_', true, "+q+", u) FROM s", []row{{name: 8, "u": 1}})
			require.Equal(t, []row{{"c_" + name: 8, "c_u": 1}}, flat(out))
		})
	}
}

func TestOddNamesInWindows(t *testing.T) {
	for _, name := range oddNames {
		t.Run(name, func(t *testing.T) {
			q := "`" + name + "`"
			rows := []row{{name: "b", "v": row{name: 1.0}}, {name: "a", "v": row{name: 2.0}}, {name: "b", "v": row{name: 3.0}}, {name: "a", "v": row{name: 4.0}}}
			for _, c := range []struct {
				query string
				want  []row
			}{
				{"SELECT " + q + ", sum(v." + q + ") AS x FROM s GROUP BY " + q + ", CountingWindow(2)", []row{{name: "b", "x": 4.0}, {name: "a", "x": 6.0}}},
				{"SELECT " + q + " AS g, count(*) AS c FROM s GROUP BY " + q + ", CountingWindow(2)", []row{{"g": "b", "c": 2.0}, {"g": "a", "c": 2.0}}},
				{"SELECT count(*) AS c FROM s GROUP BY " + q + ", CountingWindow(2)", []row{{name: "b", "c": 2.0}, {name: "a", "c": 2.0}}},
				{"SELECT max(" + q + ") AS " + q + " FROM s GROUP BY CountingWindow(4) HAVING " + q + " != 'zz'", nil},
				{"SELECT count(" + q + ") AS c FROM s GROUP BY CountingWindow(4)", []row{{"c": 4.0}}},
				{"SELECT sum(v." + q + ") FROM s GROUP BY CountingWindow(4)", []row{{"sum(v." + name + ")": 10.0}}},
				{"SELECT " + q + ", count(*) AS c FROM s GROUP BY " + q + ", CountingWindow(2) HAVING " + q + " = 'a'", []row{{name: "a", "c": 2.0}}},
				{"SELECT upper(" + q + ") AS u, count(*) AS c FROM s GROUP BY upper(" + q + "), CountingWindow(2)", []row{{"u": "B", "c": 2.0}, {"u": "A", "c": 2.0}}},
				{"SELECT count(*) AS c FROM s GROUP BY upper(" + q + "), CountingWindow(2)", []row{{"upper(" + name + ")": "B", "c": 2.0}, {"upper(" + name + ")": "A", "c": 2.0}}},
				{"SELECT sum(mod(v." + q + ", 3)) AS x FROM s GROUP BY CountingWindow(4)", []row{{"x": 4.0}}},
				{"SELECT " + q + ", sum(v." + q + ") AS x FROM s GROUP BY " + q + " ORDER BY " + q, []row{{name: "a", "x": 6.0}, {name: "b", "x": 4.0}}},
				{"SELECT " + q + ", sum(v." + q + ") AS x FROM s GROUP BY " + q + " ORDER BY " + q + " DESC", []row{{name: "b", "x": 4.0}, {name: "a", "x": 6.0}}},
			} {
				if c.want == nil {
					continue
				}
				out, _ := run(t, c.query, rows)
				require.Equal(t, c.want, flat(out), c.query)
			}
			out, _ := run(t, "SELECT "+q+", count(*) AS c FROM s GROUP BY "+q+", GLOBAL WINDOW TRIGGER WHEN count("+q+") >= 2", rows)
			require.Len(t, flat(out), 2)
			require.Equal(t, "b", out[0].rows[0][name])
		})
	}
}

func TestNestedFieldsInFunctions(t *testing.T) {
	rows := []row{{"o": row{"x": 7.0, "s": "abc"}, "arr": []any{4.0, 5.0}}, {}}
	for items, want := range map[string][]any{
		"mod(o.x, 3)":               {1.0, nil},
		"mod(arr[1], 3)":            {2.0, nil},
		"power(o.x, arr[0])":        {2401.0, nil},
		"if_null(o.x, 'none')":      {7.0, "none"},
		"coalesce(o.y, o.s, 'z')":   {"abc", "z"},
		"substring(o.s, 1)":         {"bc", ""},
		"round(o.x / arr[0], 1)":    {1.8, nil},
		"o.x * 2":                   {14.0, nil},
		"lag(o.x)":                  {nil, 7.0},
		"greatest(o.x, arr[-1], 1)": {7.0, nil},
	} {
		out, _ := run(t, "SELECT "+items+" AS v FROM s", rows)
		got := flat(out)
		require.Len(t, got, 2, items)
		for i := range got {
			require.Equal(t, want[i], got[i]["v"], "%s %d", items, i)
		}
		out, _ = run(t, "SELECT "+items+" FROM s", rows[:1])
		require.Equal(t, []row{{items: want[0]}}, flat(out))
	}
}

// * among the arguments of analytic functions is the whole row, without what the
// engine adds to it.
func TestStarArguments(t *testing.T) {
	rows := []row{{"a": 1, "b": 1}, {"a": 1, "b": 1}, {"a": 1, "b": 2}}
	out, _ := run(t, "SELECT had_changed(true, *) AS c, abs(`a`) AS n, CASE WHEN a > 0 THEN 1 END AS p FROM s", rows)
	var got []any
	for _, r := range flat(out) {
		got = append(got, r["c"])
	}
	require.Equal(t, []any{true, false, true}, got)
	out, _ = run(t, "SELECT changed_cols('d_', true, *), CASE WHEN a > 0 THEN 1 END AS p FROM s", rows)
	require.Equal(t, []row{{"d_a": 1, "d_b": 1, "p": 1.0}, {"p": 1.0}, {"d_b": 2, "p": 1.0}}, flat(out))
	_, err := compile("SELECT count(a, *) AS c FROM s GROUP BY CountingWindow(2)")
	require.Error(t, err)
}

func TestOrderByTheNameOfAJoinedColumn(t *testing.T) {
	for _, order := range []string{"location", "m.location"} {
		e := open(t, "SELECT m.location, count(*) AS c FROM s JOIN m ON s.id = m.id GROUP BY m.location, CountingWindow(1) ORDER BY "+order+" DESC", delegate.Config{})
		_, err := e.RegisterTable("m", []row{{"id": 1, "location": "x"}})
		require.NoError(t, err)
		var out []result
		e.AddSink(func(rows []row, end int64) { out = append(out, result{rows, end}) })
		require.NoError(t, e.Emit(row{"id": 1}))
		e.Stop()
		require.Equal(t, []row{{"location": "x", "c": 1.0}}, flat(out))
	}
}

// streamsql takes the name of a field that the row does not have for a text, when
// it stands among the arguments of a function.
func TestMissingFieldsInFunctions(t *testing.T) {
	for items, want := range map[string]any{
		"if_null(n, 'x')": "x", "coalesce(n, a)": 1.0, "case_when(n, 1, 2)": 2.0, "lag(a, 1, n)": nil, "latest(n, 5)": 5.0,
		"mod(n, 3)": nil, "concat(n, '-', a)": "-1", "round(n + a, 1)": nil,
	} {
		out, _ := run(t, "SELECT "+items+" AS v FROM s", []row{{"a": 1.0}})
		require.Equal(t, []row{{"v": want}}, flat(out), items)
	}
	out, _ := run(t, "SELECT coalesce(n + 1, 5) AS v, abs(a - 3) FROM s", []row{{"a": 1.0, "n": nil}})
	require.Equal(t, []row{{"v": 5, "abs(a - 3)": 2.0}}, flat(out))
	out, _ = run(t, "SELECT sum(a + n), max(a * 2) AS m FROM s GROUP BY CountingWindow(2) HAVING sum(a + n) > 1", []row{{"a": 1.0, "n": nil}, {"a": 2.0, "n": 3.0}})
	require.Equal(t, []row{{"sum(a + n)": 5.0, "m": 4.0}}, flat(out), "NULL + 1 is NULL, not 1")
}
