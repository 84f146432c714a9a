package delegate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rulego/streamsql/rsql"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/streamjoin/streamjoin/joinnode/internal/delegate"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// Each statement is one that streamsql parses without a word and then runs as
// something else. We refuse it and say where and why.
func TestRefusesWhatStreamsqlIgnores(t *testing.T) {
	for _, c := range []struct{ sql, says string }{
		{"SELECT a FROM s RIGHT JOIN t ON s.k = t.k", "RIGHT JOIN"},
		{"SELECT a FROM s FULL JOIN t ON s.k = t.k", "FULL JOIN"},
		{"SELECT a FROM s CROSS JOIN t", "CROSS JOIN"},
		{"SELECT a FROM s, b", "several sources"},
		{"SELECT DISTINCT a FROM s", "DISTINCT"},
		{"SELECT a FROM s LIMIT 3", "LIMIT"},
		{"SELECT a FROM s ORDER BY a", "ORDER BY"},
		{"SELECT a FROM s GROUP BY k", "GROUP BY without a window"},
		{"SELECT a FROM s HAVING a > 1", "HAVING"},
		{"SELECT a, sum(b) AS x FROM s GROUP BY TumblingWindow('1s')", "neither aggregated"},
		{"SELECT *, sum(b) AS x FROM s GROUP BY TumblingWindow('1s')", "SELECT *"},
		{"SELECT sum(b) AS x FROM s GROUP BY a + 1, TumblingWindow('1s')", "GROUP BY takes"},
		{"SELECT sum(b) AS x FROM s GROUP BY TumblingWindow('1s'), TumblingWindow('2s')", "two windows"},
		{"SELECT k, sum(b) + 1 AS x FROM s GROUP BY k, GLOBAL WINDOW TRIGGER WHEN count(*) > 1", "GLOBAL WINDOW"},
		{"SELECT a FROM s JOIN t ON s.k = t.k JOIN u ON t.k = u.k", "link a field of the stream"},
		{"SELECT a FROM s JOIN t AS x ON s.k = x.k JOIN t AS y ON s.j = y.j", "joined twice"},
		{"SELECT a FROM s JOIN t ON s.k = t.p.k", "nested"},
		{"SELECT t.* FROM s JOIN t ON s.k = t.k", "t.*"},
		{"SELECT sum(a) AS x FROM s GROUP BY TumblingWindow('1s') WITH (TIMESTAMP='ts', TIMEUNIT='fortnight')", "TIMEUNIT"},
		{"SELECT sum(a) AS x FROM s GROUP BY TumblingWindow('1s') WITH (TIMESTAMP='ts', MAXOUTOFORDERNESS='soon')", "duration"},
		{"SELECT sum(a) AS x FROM s GROUP BY TumblingWindow('1s') WITH (TIMESTAMP='ts', COLOUR='red')", "COLOUR"},
		{"SELECT sum(a) AS x FROM s GROUP BY TumblingWindow('1s') WITH (TIMESTAMP='ts', TIMESTAMP='u')", "twice"},
		{"SELECT sum(a) AS x FROM s GROUP BY TumblingWindow('1s') HAVING y > 1", "HAVING knows no y"},
		{"SELECT sum(a) AS x FROM s GROUP BY TumblingWindow('1s', '2s')", "argument"},
	} {
		t.Run(c.says, func(t *testing.T) {
			_, _, err := rsql.Parse(c.sql)
			require.NoError(t, err, "streamsql accepts it")
			_, err = compile(c.sql)
			var e *syntax.Error
			require.ErrorAs(t, err, &e)
			require.Contains(t, e.Msg, c.says)
			require.NotZero(t, e.Pos.Line)
			require.True(t, errors.Is(err, delegate.ErrUnsupported) || errors.Is(err, delegate.ErrOption), "%v", e.Kind)
		})
	}
}

// A number is a count of rows, a duration has a unit.
func TestDurationsOfWindowsHaveUnits(t *testing.T) {
	for _, window := range []string{"TumblingWindow(10)", "tumblingwindow(10)", "SessionWindow(10)", "SlidingWindow(10, '1s')", "SlidingWindow('1m', 10)"} {
		sql := "SELECT sum(a) AS x FROM s GROUP BY k, " + window
		_, err := compile(sql)
		require.ErrorIs(t, err, delegate.ErrUnsupported, window)
		var e *syntax.Error
		require.ErrorAs(t, err, &e)
		require.Contains(t, e.Msg, "takes durations: 10 has no unit")
		require.Equal(t, "write '10s'", e.Hint)
		require.Equal(t, syntax.Pos{Line: 1, Col: strings.Index(sql, "10") + 1, Offset: strings.Index(sql, "10")}, e.Pos, window)
	}
	_, err := compile("SELECT sum(a) AS x FROM s GROUP BY k, CountingWindow(10)")
	require.NoError(t, err)
}

func TestUnknownFunctions(t *testing.T) {
	for sql, hint := range map[string]string{
		"SELECT uper(a) AS x FROM s":                                    "did you mean upper?",
		"SELECT cuont(*) AS n FROM s GROUP BY TumblingWindow('1s')":     "did you mean count?",
		"SELECT count(*) AS n FROM s GROUP BY TumblngWindow('1s')":      "did you mean TumblingWindow?",
		"SELECT a FROM s WHERE lenght(a) > 1":                           "did you mean length?",
		"SELECT if(a, 1, 2) AS x FROM s":                                "write CASE WHEN … THEN … ELSE … END",
		"SELECT quuxfrobnicate(a) AS x FROM s":                          "",
		"SELECT expresion(a) AS x FROM s GROUP BY TumblingWindow('1s')": "",
	} {
		_, err := compile(sql)
		require.ErrorIs(t, err, delegate.ErrUnknownFunction, sql)
		var e *syntax.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, hint, e.Hint, sql)
	}
}

// What streamsql refuses as well, or the shared parser does, with a position.
func TestRefusesTheRest(t *testing.T) {
	for _, c := range []struct{ sql, says string }{
		{"SELECT a FROM s WHERE a > 1 nonsense here", ""},
		{"SELECT nosuch(a) AS x FROM s", "unknown function nosuch"},
		{"SELECT if(a > 1, 2, 3) AS x FROM s", "unknown function if"},
		{"SELECT count(DISTINCT a) AS x FROM s GROUP BY TumblingWindow('1s')", "DISTINCT"},
		{"SELECT a FROM s WHERE sum(a) > 1", "aggregate"},
		{"SELECT a AS x, b AS x FROM s", "two result columns"},
		{"SELECT sum(a) AS x FROM s GROUP BY GLOBAL WINDOW", "TRIGGER WHEN"},
		{"SELECT sum(a) AS x FROM s GROUP BY CountingWindow(0)", "positive"},
		{"SELECT sum(a) AS x FROM s GROUP BY CountingWindow(2) WITH (TIMESTAMP='ts')", "no event time"},
		{"SELECT sum(a) AS x FROM s GROUP BY k, GLOBAL WINDOW TRIGGER WHEN a > 1", "sees aggregates only"},
		{"SELECT concat('both '' and \"', a) AS x FROM s", "both kinds of quotes"},
		{"SELECT k, sum(a) AS x FROM s GROUP BY k, TumblingWindow('1s') ORDER BY y", "ORDER BY"},
	} {
		t.Run(c.sql, func(t *testing.T) {
			_, err := compile(c.sql)
			var e *syntax.Error
			require.ErrorAs(t, err, &e)
			require.Contains(t, e.Error(), c.says)
			require.NotZero(t, e.Pos.Line)
		})
	}
}

// What is written a hundred times over in the rewritten text is refused before
// it is written.
func TestRefusesExplosions(t *testing.T) {
	between := strings.Repeat("(", 300) + "a" + strings.Repeat(" BETWEEN 1 AND 2)", 300)
	for _, sql := range []string{
		"SELECT a FROM s WHERE " + between,
		"SELECT CASE WHEN " + between + " THEN 1 END AS x FROM s",
		"SELECT a FROM s WHERE " + strings.Repeat("(", 300) + "a" + strings.Repeat(" = 1)", 300),
	} {
		_, err := compile(sql)
		require.ErrorIs(t, err, delegate.ErrUnsupported)
		require.ErrorContains(t, err, "too complex")
	}
	long := strings.TrimSuffix(strings.Repeat("1, ", 1000), ", ")
	require.False(t, keeps(t, "a IN ("+long+")", row{"a": 2}), "a long list is none of those")
	require.True(t, keeps(t, "a IN ("+long+", 2)", row{"a": 2}))
}

// A plan is only a plan: checking a query starts nothing, not even when
// streamsql would already have started its workers before it fails.
func TestCompileStartsNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	for _, sql := range []string{
		"SELECT a FROM s WHERE a > 1",
		"SELECT sum(a) AS x FROM s GROUP BY TumblingWindow('1s') WITH (TIMESTAMP='ts')",
		"SELECT nosuch(a) AS x FROM s",
		"SELECT sum(a) AS x FROM s GROUP BY SlidingWindow('2s', '1s')",
		"SELECT sum(a) AS x FROM s GROUP BY SessionWindow('2s')",
		"SELECT sum(a) AS x FROM s GROUP BY CountingWindow(3) WITH (STATETTL='1s')",
		"SELECT sum(a) AS x FROM s GROUP BY GLOBAL WINDOW TRIGGER WHEN count(*) > 1 WITH (STATETTL='1s')",
		"SELECT * FROM s MATCH_RECOGNIZE (ORDER BY a MEASURES A.a AS x PATTERN (A+) WITHIN '1s' DEFINE A AS a > 0)",
		"SELECT * FROM s MATCH_RECOGNIZE (ORDER BY a MEASURES A.a AS x PATTERN (A{2,1}) DEFINE A AS a > 0)",
		"SELECT * FROM s MATCH_RECOGNIZE (ORDER BY a MEASURES A.a AS x, A.b AS x PATTERN (A) DEFINE A AS a > 0)",
	} {
		_, _ = compile(sql)
	}
	require.NoError(t, goleak.Find(before))
}

// What streamsql finds when it builds the stream is found by Compile: the query
// that runs goes on when its successor cannot.
func TestRefusesPatterns(t *testing.T) {
	for clauses, says := range map[string]string{
		"ORDER BY a PATTERN (A{2,1}) DEFINE A AS a > 0":                            "max 1 < min 2",
		"ORDER BY a PATTERN ({- A -}) DEFINE A AS a > 0":                           "exclusion",
		"ORDER BY a PATTERN (A B) SUBSET u = (A, Z) DEFINE A AS a > 0":             "Z",
		"ORDER BY a PATTERN (PERMUTE(A, B, C, D, E, F, G)) DEFINE A AS a > 0":      "PERMUTE",
		"PATTERN (A) DEFINE A AS a > 0":                                            "ORDER BY",
		"ORDER BY a DEFINE A AS a > 0":                                             "PATTERN",
		"ORDER BY a MEASURES A.a AS x, A.b AS x PATTERN (A) DEFINE A AS a > 0":     "ambiguous",
		"ORDER BY a AFTER MATCH SKIP TO NOWHERE 5 PATTERN (A B) DEFINE A AS a > 0": "",
	} {
		_, err := compile("SELECT *\nFROM s MATCH_RECOGNIZE (" + clauses + ")")
		var e *syntax.Error
		require.ErrorAs(t, err, &e, clauses)
		require.Contains(t, e.Msg, says)
		require.Equal(t, 2, e.Pos.Line, clauses)
		require.GreaterOrEqual(t, e.Pos.Col, 8, clauses)
	}
}

// An error of streamsql stands at its clause, not at the first word.
func TestPlaceOfStreamsqlsErrors(t *testing.T) {
	for sql, at := range map[string]string{
		"SELECT sum(a) AS x FROM s GROUP BY k, SlidingWindow('1s')":                           "SlidingWindow",
		"SELECT sum(a) AS x FROM s GROUP BY CountingWindow(0)":                                "CountingWindow",
		"SELECT sum(a) AS x FROM s GROUP BY TumblingWindow('soon')":                           "TumblingWindow",
		"SELECT sum(a) AS x FROM s GROUP BY CountingWindow(2) WITH (TIMESTAMP='ts')":          "CountingWindow",
		"SELECT * FROM s MATCH_RECOGNIZE (ORDER BY a PATTERN (A{2,1}) DEFINE A AS a > 0)":     "MATCH_RECOGNIZE",
		"SELECT sum(a) AS x FROM s GROUP BY GLOBAL WINDOW TRIGGER WHEN count(*) > upper('x')": "upper",
	} {
		_, err := compile(sql)
		var e *syntax.Error
		require.ErrorAs(t, err, &e, sql)
		require.Equal(t, strings.Index(sql, at), e.Pos.Offset, "%s: %v", sql, e)
	}
}

func FuzzCompile(f *testing.F) {
	for _, sql := range []string{
		"SELECT a, b AS c FROM s WHERE NOT (a IN (1, 2) OR b BETWEEN 1 AND 2)",
		"SELECT k, sum(a) AS x FROM s GROUP BY k, SlidingWindow('10s', '5s') HAVING x > 1 WITH (TIMESTAMP='ts.a[0]')",
		"SELECT CASE a WHEN 1 THEN 'x' ELSE b || 'y' END FROM s JOIN t ON t.k = s.k",
		"SELECT * FROM s MATCH_RECOGNIZE (ORDER BY a MEASURES A.a AS x PATTERN (A+) DEFINE A AS a > 0)",
	} {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		p, err := compile(sql)
		if err != nil {
			var e *syntax.Error
			require.ErrorAs(t, err, &e)
			return
		}
		_, _, err = rsql.Parse(p.SQL)
		require.NoError(t, err, "an accepted query is one that streamsql reads: %s", p.SQL)
	})
}
