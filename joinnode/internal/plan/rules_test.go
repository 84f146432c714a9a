package plan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// TestRules has every combination that docs/sql.md lists under "What a join does not
// take", a row for each rule.
func TestRules(t *testing.T) {
	const downstream = "downstream query"
	checkAll(t, []refusal{
		{"RIGHT JOIN", "SELECT a.x FROM a\n¦RIGHT JOIN b WITHIN 1 S ON a.k = b.k", ErrUnsupported, "RIGHT JOIN is not supported", "swap the two streams"},
		{"FULL JOIN", "SELECT a.x FROM a ¦FULL OUTER JOIN b WITHIN 1 S ON a.k = b.k", ErrUnsupported, "FULL JOIN is not supported", "LEFT JOIN"},
		{"CROSS JOIN", "SELECT a.x FROM a ¦CROSS JOIN b WITHIN 1 S", ErrUnsupported, "CROSS JOIN is not supported", "ON with a key equality"},
		{"second join is RIGHT", "SELECT a.x FROM a JOIN b WITHIN 1 S ON a.k = b.k ¦RIGHT JOIN c WITHIN 1 S ON a.k = c.k", ErrUnsupported, "RIGHT JOIN", "swap"},
		{"comma", "SELECT a.x FROM a, ¦z JOIN b WITHIN 1 S ON a.k = b.k", ErrUnsupported, "comma before z", "JOIN"},
		{"table join behind", "SELECT a.x FROM a JOIN b WITHIN 1 S ON a.k = b.k JOIN ¦devices AS d ON a.k = d.k", ErrUnsupported, "cannot be mixed with the stream-table join of devices", "add WITHIN"},
		{"table join before", "SELECT a.x FROM a LEFT JOIN ¦devices AS d ON a.k = d.k JOIN b WITHIN 1 S ON a.k = b.k", ErrUnsupported, "mixed", downstream},
		{"GROUP BY", "SELECT a.x FROM a JOIN b WITHIN 1 S ON a.k = b.k ¦GROUP BY a.x", ErrUnsupported, aggregateSentence, downstream},
		{"window in GROUP BY", "SELECT a.x FROM a JOIN b WITHIN 1 S ON a.k = b.k ¦GROUP BY TumblingWindow('1s')", ErrUnsupported, aggregateSentence, "stream_event"},
		{"global window", "SELECT a.x FROM a JOIN b WITHIN 1 S ON a.k = b.k ¦GROUP BY GLOBAL WINDOW", ErrUnsupported, aggregateSentence, downstream},
		{"aggregate", "SELECT a.x, ¦SUM(b.y) AS s FROM a JOIN b WITHIN 1 S ON a.k = b.k", ErrUnsupported, aggregateSentence + " (found SUM)", downstream},
		{"aggregate inside an expression", "SELECT 1 + abs(¦max(b.y)) AS s FROM a JOIN b WITHIN 1 S ON a.k = b.k", ErrUnsupported, "(found max)", downstream},
		{"aggregate in WHERE", "SELECT a.x FROM a JOIN b WITHIN 1 S ON a.k = b.k WHERE ¦count(*) > 1", ErrUnsupported, "(found count)", downstream},
		{"aggregate in ORDER BY", "SELECT a.x FROM a JOIN b WITHIN 1 S ON a.k = b.k ORDER BY ¦avg(a.x)", ErrUnsupported, "(found avg)", downstream},
		{"window function", "SELECT ¦window_start() AS w FROM a JOIN b WITHIN 1 S ON a.k = b.k", ErrUnsupported, "(found window_start)", downstream},
		{"OVER", "SELECT ¦lag(a.x) OVER (PARTITION BY a.k) AS l FROM a JOIN b WITHIN 1 S ON a.k = b.k", ErrUnsupported, "analytic function lag … OVER", downstream},
		{"analytic", "SELECT ¦had_changed(true, a.x) AS l FROM a JOIN b WITHIN 1 S ON a.k = b.k", ErrUnsupported, "analytic function had_changed", downstream},
		{"unnest", "SELECT ¦unnest(a.list) AS l FROM a JOIN b WITHIN 1 S ON a.k = b.k", ErrUnsupported, "unnest", downstream},
		{"HAVING", "SELECT a.x FROM a JOIN b WITHIN 1 S ON a.k = b.k ¦HAVING a.x > 1", ErrUnsupported, "HAVING", "WHERE"},
		{"DISTINCT", "SELECT ¦DISTINCT a.x FROM a JOIN b WITHIN 1 S ON a.k = b.k", ErrUnsupported, "DISTINCT", downstream},
		{"LIMIT", "SELECT a.x FROM a JOIN b WITHIN 1 S ON a.k = b.k ¦LIMIT 3", ErrUnsupported, "LIMIT", "consumer"},
	})
}

// TestTreesThatNoTextMakes are refused too: the parser alone must not be what
// stands between a tree and a panic.
func TestTreesThatNoTextMakes(t *testing.T) {
	const sql = "SELECT a.x FROM a JOIN b WITHIN 1 S ON a.k = b.k"
	for _, c := range []struct {
		change func(*syntax.Select)
		says   string
	}{
		{func(s *syntax.Select) {
			s.Match = &syntax.MatchRecognize{Span: syntax.Span{Start: syntax.Pos{Offset: 7, Line: 1, Col: 8}, End: 9}}
		}, "line 1, column 8: MATCH_RECOGNIZE"},
		{func(s *syntax.Select) { s.Joins[0].On = nil }, "line 1, column 24: JOIN b needs ON"},
	} {
		stmt, err := syntax.Parse(sql)
		require.NoError(t, err)
		c.change(stmt)
		_, err = Build(stmt, sql)
		require.ErrorIs(t, err, ErrUnsupported)
		require.ErrorContains(t, err, c.says)
	}
}

// TestOrderOfRules: of several mistakes the one that makes the rest pointless
// is told first.
func TestOrderOfRules(t *testing.T) {
	const sql = "SELECT DISTINCT SUM(z.x) AS s FROM a RIGHT JOIN b WITHIN 1 S ON a.k > b.k GROUP BY a.k HAVING a.x > 1 LIMIT 1 WITH (NO='1')"
	stmt, err := syntax.Parse(sql)
	require.NoError(t, err)
	_, err = Build(stmt, sql)
	require.ErrorContains(t, err, "RIGHT JOIN")
}

func TestAllowedBesideAJoin(t *testing.T) {
	for _, sql := range []string{
		"SELECT a.x FROM a INNER JOIN b WITHIN 1 S ON a.k = b.k",
		"SELECT a.x FROM a LEFT OUTER JOIN b ON a.k = b.k WITHIN 1 S",
		"SELECT a.x FROM a JOIN b WITHIN 1 S ON b.k = a.k", // sides either way round
		"SELECT upper(a.x) AS u, now() AS n FROM a JOIN b WITHIN 1 S ON a.k = b.k",
		"SELECT a.x FROM a JOIN b WITHIN 1 S ON a.k = b.k WITH (TIMESTAMP='t') WHERE a.x > 1",
	} {
		require.Empty(t, build(t, sql).Warnings, sql)
	}
	p := build(t, "SELECT a.x FROM a JOIN b WITHIN 1 S ON a.k = b.k ORDER BY a.x DESC")
	require.Len(t, p.Warnings, 1)
	require.Contains(t, p.Warnings[0], "ORDER BY")
	require.Contains(t, p.Warnings[0], "one row")
	require.True(t, strings.HasSuffix(p.Explain(Gates{Keys: 1}), "warning: "+p.Warnings[0]+"\n"))
}
