package delegate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/delegate"
)

// Functions made for NULL get it, and a failed call takes no OR with it.
func TestWhereWithFunctionsOfNull(t *testing.T) {
	r := row{"a": 7.0, "s": "it", "n": nil, "t": 3.0}
	for where, want := range map[string]bool{
		"if_null(n, 'x') = 'x'":                              true,
		"coalesce(n, 'x') = 'x'":                             true,
		"coalesce(missing, n, 4) > 3":                        true,
		"is_null(n)":                                         true,
		"NOT is_null(n)":                                     false,
		"is_null(n) = true":                                  true,
		"is_not_null(n)":                                     false,
		"is_not_null(a)":                                     true,
		"length(coalesce(n, 'abc')) > 2":                     true,
		"greatest(t, if_null(n, 0)) >= 0":                    true,
		"greatest(t, n) >= 0":                                false,
		"is_numeric(n) = false":                              true,
		"json_valid(n) = false":                              true,
		"s = 'b' OR if_null(n, 'x') = 'x'":                   true,
		"null_if(t, 3) IS NULL":                              true,
		"case_when(n, 1, 2) = 2":                             true,
		"abs(n) > 1 OR a > 5":                                true,
		"NOT (abs(n) > 1)":                                   false,
		"abs(s) > 1 OR a > 5":                                true,
		"abs(n) + 1 > 0 OR a > 5":                            true,
		"coalesce(n + 1, 5) = 5":                             true,
		"-abs(n) > 0 OR a > 5":                               true,
		"CASE WHEN is_null(n) THEN 1 ELSE 2 END = 1":         true,
		"CASE WHEN a > 5 THEN n + 1 ELSE 0 END > 1 OR a = 7": true,
		"coalesce(n > 1, true)":                              true,
		"coalesce(a > 9, true)":                              false,
		"concat(n, 'x') = 'x'":                               true,
	} {
		require.Equal(t, want, keeps(t, where, r), where)
	}
}

func TestFunctionsOfNullEverywhere(t *testing.T) {
	rows := []row{{"k": "a", "n": nil}, {"k": "b", "n": "y"}, {"k": "c"}}
	out, _ := run(t, "SELECT k, CASE WHEN is_null(n) THEN 'none' ELSE n END AS v, coalesce(n, 'x') = 'x' AS b FROM s", rows)
	require.Equal(t, []row{{"k": "a", "v": "none", "b": true}, {"k": "b", "v": "y", "b": false}, {"k": "c", "v": "none", "b": true}}, flat(out))

	out, _ = run(t, "SELECT count(*) AS c FROM s WHERE if_null(n, 'x') = 'x' GROUP BY CountingWindow(2)", rows)
	require.Equal(t, []row{{"c": 2.0}}, flat(out))

	e := open(t, "SELECT s.k FROM s LEFT JOIN m ON s.k = m.k WHERE coalesce(m.name, 'nobody') = 'nobody'", delegate.Config{})
	defer e.Stop()
	_, err := e.RegisterTable("m", []row{{"k": "a", "name": "anna"}})
	require.NoError(t, err)
	for k, want := range map[string]row{"a": nil, "b": {"k": "b"}} {
		got, err := e.EmitSync(row{"k": k})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// = and != with nil or NULL ask for NULL, as in streamsql.
func TestComparisonWithNil(t *testing.T) {
	r := row{"a": 7.0, "n": nil, "o": row{"x": nil}}
	for where, want := range map[string]bool{
		"n = nil": true, "n == nil": true, "n = null": true, "NULL = n": true, "o.x = nil": true, "missing = nil": true,
		"a = nil": false, "a = NULL": false, "n != nil": false, "a != nil": true, "a <> null": true, "NOT (n = nil)": false,
		"a > 5 AND n = nil": true, "n IN (1, NULL)": false, "a NOT IN (1, NULL)": false, "n > nil": false,
		"CASE WHEN n = nil THEN 1 ELSE 2 END = 1": true, "CASE n WHEN NULL THEN 1 ELSE 2 END = 1": false,
	} {
		require.Equal(t, want, keeps(t, where, r), where)
	}
	require.True(t, keeps(t, "`nil` = 3", row{"nil": 3}), "a field of that name, in backquotes")
	out, _ := run(t, "SELECT avg(a) AS x FROM s GROUP BY k, CountingWindow(1) HAVING x != nil", []row{{"k": 1, "a": 1}, {"k": 2}})
	require.Equal(t, []row{{"k": 1, "x": 1.0}}, flat(out))
}

// An analytic function as a condition: streamsql asks whether it has a value.
func TestAnalyticAsCondition(t *testing.T) {
	rows := []row{{"t": 5}, {"t": 5}, {"t": 0}, {"t": 3}}
	for where, want := range map[string][]any{
		"changed_col(true, t)":                        {5, 0, 3},
		"changed_col(true, t) AND t < 5":              {0, 3},
		"changed_col(true, t) AND NOT (t IN (0, 99))": {5, 3},
		"NOT changed_col(true, t)":                    {5},
		"changed_col(true, t) > 0":                    {5, 3},
		"had_changed(true, t)":                        {5, 0, 3},
		"NOT had_changed(true, t)":                    {5},
		"lag(t) > 1 OR if_null(n, 0) = 1":             {5, 0},
	} {
		out, _ := run(t, "SELECT t FROM s WHERE "+where, rows)
		var got []any
		for _, r := range flat(out) {
			got = append(got, r["t"])
		}
		require.Equal(t, want, got, where)
	}
}
