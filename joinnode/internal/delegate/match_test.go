package delegate_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// matches returns i of the rows that a condition of DEFINE takes, each as a match
// of its own.
func matches(t *testing.T, define string, rows []row) []any {
	t.Helper()
	out, _ := run(t, "SELECT * FROM s MATCH_RECOGNIZE (ORDER BY i MEASURES B.i AS i PATTERN (B) DEFINE B AS "+define+")", rows)
	var got []any
	for _, r := range flat(out) {
		got = append(got, r["i"])
	}
	return got
}

// Conditions over one row are those of WHERE.
func TestDefineOverOneRow(t *testing.T) {
	rows := []row{
		{"i": 1, "a": 1.0, "s": "x", "timestamp": 5.0, "o": row{"x": 1.0}},
		{"i": 2, "a": 2.0, "s": "it's", "a b": 1.0},
		{"i": 3, "s": "y", "a": nil},
		{"i": 4, "a": "text", "s": "it's"},
	}
	for define, want := range map[string][]any{
		"NOT (a > 1)":             {1},
		"NOT (a > 1 AND i = 2)":   {1, 3, 4}, // unknown AND false is false
		"a IN (1, 2)":             {1, 2},
		"a NOT IN (1)":            {2},
		"a BETWEEN 1 AND 1.5":     {1},
		"NOT a BETWEEN 1 AND 1.5": {2},
		"s = 'it''s'":             {2, 4},
		`s = "it's"`:              {2, 4},
		"`a b` = 1":               {2},
		"timestamp = 5":           {1},
		"s.a = 2":                 {2}, // the stream's own name
		"o.x = 1":                 {1},
		"CASE WHEN a = 1 THEN true ELSE false END": {1},
		"a = nil":                         {3},
		"a IS NOT NULL":                   {1, 2, 4},
		"is_null(a)":                      {3},
		"s LIKE 'it_s'":                   {2, 4},
		"s NOT LIKE 'it%'":                {1, 3},
		"upper(s) = 'X' OR a > 1":         {1, 2},
		"a % 2 = 1 OR s || 'z' = 'yz'":    {1, 3},
		"a > 1 OR s = 'y' -- and so on\n": {2, 3},
		"/* größe */ a > 1":               {2},
		"B.a = 2":                         {2},
		"true":                            {1, 2, 3, 4},
	} {
		require.Equal(t, want, matches(t, define, rows), define)
	}
}

// What looks at several rows is streamsql's, in forms that it computes as SQL does.
func TestDefineOverSeveralRows(t *testing.T) {
	rows := []row{{"i": 1, "v": 1.0, "o": row{"x": 1.0}}, {"i": 2, "v": 5.0, "o": row{"x": 2.0}}, {"i": 3, "v": 2.0}, {"i": 4, "v": 8.0, "s": "it's"}}
	for define, want := range map[string][]any{
		"v > PREV(v)":                                      {2, 4},
		"NOT (v > PREV(v))":                                {3},
		"v NOT BETWEEN PREV(v) AND PREV(v) + 5":            {3, 4},
		"v IN (PREV(v) + 4, 2)":                            {2, 3},
		"PREV(v) IS NULL":                                  {1},
		"PREV(v) = nil OR v = 8":                           {1, 4},
		"abs(v - PREV(v)) > 3 OR i = 1":                    {1, 2, 4},
		"abs(v - PREV(v)) > 3 OR PREV(v) IS NULL":          {1, 2, 4},
		"i = 4 AND NOT (s IN ('a', 'b')) AND v > PREV(v)":  {4},
		"v % 2 = PREV(v) % 2":                              {2, 4},
		"PREV(v * 2) = 10":                                 {3},
		"PREV(o.x) = 1":                                    {2},
		"B.v > PREV(B.v)":                                  {2, 4},
		"PREV(v, 2) = 1":                                   {3},
		"is_null(PREV(v))":                                 {1},
		"NOT is_null(PREV(v))":                             {2, 3, 4},
		"coalesce(PREV(v), 100) > v":                       {1, 3},
		"prev(v) < v":                                      {2, 4},
		"-PREV(v) = -5":                                    {3},
		"(v - PREV(v)) * 2 > 6 AND (v = 5 OR s = 'it''s')": {2, 4},
	} {
		q := "SELECT * FROM s MATCH_RECOGNIZE (ORDER BY i MEASURES LAST(i) AS i PATTERN (A* B) DEFINE B AS " + define + ")"
		// PREV sees the rows of the attempt, so each row is tried behind all before it.
		var got []any
		for n := 1; n <= len(rows); n++ {
			out, _ := run(t, strings.Replace(q, "PATTERN (A* B)", "PATTERN (A{"+string(rune('0'+n-1))+"} B)", 1), rows[:n])
			for _, r := range flat(out) {
				got = append(got, r["i"])
			}
		}
		require.Equal(t, want, got, define)
	}
}

func TestMeasures(t *testing.T) {
	rows := []row{{"i": 1, "v": 1.0, "o": row{"x": 3.0}, "s": "it's"}, {"i": 2, "v": 4.0, "o": row{"x": 5.0}, "timestamp": 7.0}, {"i": 3, "v": 2.0}}
	for measure, want := range map[string]any{
		"A.v":                          1.0,
		"A.o.x":                        3.0,
		"SUM(A.v * 2)":                 2.0,
		"SUM(v)":                       7.0,
		"COUNT(*)":                     3.0,
		"COUNT(B.*)":                   2.0,
		"COUNT(B.*) + FINAL SUM(v)":    9.0,
		"MAX(v) - MIN(v)":              3.0,
		"MAX(v) - MIN(v) || 'x'":       "3x",
		"SUM(B.timestamp)":             7.0,
		"MAX(abs(0 - v))":              4.0,
		"v":                            2.0,
		"v BETWEEN 1 AND 2":            true,
		"CASE v WHEN 2 THEN 'two' END": "two",
		"CASE WHEN MAX(v) > 3 AND NOT (A.s IN ('x')) THEN A.s ELSE 'none' END": "it's",
		"CLASSIFIER()":          "B",
		"MATCH_NUMBER()":        1,
		"round(AVG(v), 1)":      2.3,
		"upper(A.s)":            "IT'S",
		"LAST(v, 2)":            4.0,
		"if_null(A.nothing, 5)": 5.0,
	} {
		for _, form := range []string{"", "FINAL "} {
			if form != "" && !strings.HasPrefix(measure, "SUM(v)") {
				continue
			}
			q := "SELECT * FROM s MATCH_RECOGNIZE (ORDER BY i MEASURES MATCH_NUMBER() AS n, " + form + measure + " AS m PATTERN (A B+) DEFINE A AS v = 1)"
			out, _ := run(t, q, rows)
			require.Equal(t, []row{{"m": want, "n": 1}}, flat(out), measure)
		}
	}
	out, _ := run(t, "SELECT * FROM s MATCH_RECOGNIZE (PARTITION BY s.o.x ORDER BY s.i MEASURES SUM(v * 2) AS m ALL ROWS PER MATCH PATTERN (A) DEFINE A AS v IN (1, 4))", rows[:1])
	require.Equal(t, []row{{"m": 2.0, "i": 1, "v": 1.0, "o": row{"x": 3.0}, "s": "it's"}}, flat(out), "nothing of the engine is left in the row")
	out, _ = run(t, "SELECT * FROM s MATCH_RECOGNIZE (PARTITION BY o.x ORDER BY i MEASURES COUNT(*) AS m PATTERN (A A) DEFINE A AS true)", []row{
		{"i": 1, "o": row{"x": 1}}, {"i": 2, "o": row{"x": 2}}, {"i": 3, "o": row{"x": 1}},
	})
	require.Equal(t, []row{{"m": 2.0}}, flat(out), "nested fields part the rows")
}

func TestRefusesPatternExpressions(t *testing.T) {
	for _, c := range []struct{ define, at, says string }{
		{"v > PREV(v) AND v >", "", "expected"},
		{"nosuch(v) > 1", "nosuch", "unknown function nosuch"},
		{"v > nosuch(PREV(v))", "nosuch", "unknown function nosuch"},
		{"v > lag(v)", "lag", "lag does not work"},
		{"v > stddev(v)", "stddev", "stddev does not work"},
		{"s NOT LIKE PREV(s)", "NOT LIKE", "over several rows"},
		{"PREV(v, i) = 1", "i) =", "whole number"},
		{"PREV(PREV(v)) = 1", "PREV(v))", "within a navigation"},
		{"SUM(A.v + B.v) > 1", "SUM", "of one pattern variable"},
		{"SUM(v, 2) > 1", "SUM", "argument"},
		{"COUNT(DISTINCT v) > 1", "COUNT", "DISTINCT"},
		{"is_numeric(PREV(v))", "is_numeric", "is_numeric over several rows"},
		{"coalesce(v > PREV(v), true)", "> PREV", "over several rows"},
		{"1 + CASE WHEN PREV(v) > 1 THEN 1 ELSE 0 END > 1", "CASE WHEN PREV", "over several rows"},
	} {
		for _, form := range []string{
			"SELECT *\n FROM s MATCH_RECOGNIZE (ORDER BY i PATTERN (A B) DEFINE B AS %)",
			"SELECT * FROM s MATCH_RECOGNIZE (ORDER BY i /* größe */ MEASURES CASE WHEN % THEN 1 END AS x PATTERN (A B) DEFINE B AS v > 1)",
		} {
			sql := strings.Replace(form, "%", c.define, 1)
			_, err := compile(sql)
			var e *syntax.Error
			require.ErrorAs(t, err, &e, sql)
			require.Contains(t, e.Msg, c.says, sql)
			if c.at != "" {
				require.Equal(t, strings.Index(sql, c.at), e.Pos.Offset, "%s\n%v", sql, e)
			}
			require.Contains(t, e.Error(), "\n  ", "the line is shown")
		}
	}
}

func TestWarnsOfPatternVariables(t *testing.T) {
	for clauses, want := range map[string][]string{
		"ORDER BY i MEASURES FIRST(B.v) AS x PATTERN (A B) DEFINE A AS v > 1":        {"FIRST(B.…): StreamSQL takes it over all rows of the match, not those of B alone"},
		"ORDER BY i MEASURES FIRST(A.v) AS x PATTERN (A+) DEFINE A AS v > PREV(A.v)": nil,
		"ORDER BY i PATTERN (A+) DEFINE A AS v > 1, C AS v > 2":                      {"DEFINE C: PATTERN has no such variable"},
	} {
		p, err := compile("SELECT * FROM s MATCH_RECOGNIZE (" + clauses + ")")
		require.NoError(t, err)
		require.Equal(t, want, p.Warnings, clauses)
	}
}
