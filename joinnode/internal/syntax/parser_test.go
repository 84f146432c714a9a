package syntax

import (
	"strings"
	"testing"
	"time"

	"github.com/rulego/streamsql/rsql"
	"github.com/stretchr/testify/require"
)

// specQueries are the statements of the specification page.
var specQueries = []string{
	`SELECT s.deviceId, s.temperature AS temp, v.vibration AS vib
FROM tempStream AS s
JOIN vibrationStream AS v WITHIN 30 SECONDS
  ON s.deviceId = v.deviceId
WHERE s.temperature > 75 AND v.vibration > 30`,
	`SELECT s.deviceId, s.temperature AS temp, v.vibration AS vib FROM tempStream AS s JOIN vibrationStream AS v WITHIN 30 SECONDS ON s.deviceId = v.deviceId`,
	`SELECT s.deviceId, s.temperature, v.vibration
FROM tempStream AS s
JOIN vibrationStream AS v WITHIN 30 SECONDS
  ON s.deviceId = v.deviceId`,
	`SELECT a.va, b.vb, c.vc
FROM aStream AS a
JOIN bStream AS b WITHIN 5 SECONDS ON a.k = b.k
LEFT JOIN cStream AS c WITHIN 3 SECONDS ON b.k2 = c.k2`,
	`SELECT c.cmdId, c.deviceId, r.ackCode
FROM cmdStream AS c
LEFT JOIN ackStream AS r WITHIN 10 SECONDS
  ON c.cmdId = r.cmdId
WHERE r.ackCode IS NULL`,
	`SELECT can.vin, can.speed, gps.lon, gps.lat
FROM canStream AS can
JOIN gpsStream AS gps WITHIN 5 SECONDS
  ON can.vin = gps.vin
WITH (TIMESTAMP = 'ts')`,
	`SELECT d.gateId, d.userId, f.score
FROM cardStream AS d
JOIN faceStream AS f WITHIN 5 SECONDS
  ON d.gateId = f.gateId AND d.userId = f.userId`,
	`SELECT deviceId, COUNT(*) AS cnt FROM joinOut GROUP BY deviceId, CountingWindow(10)`,
	`SELECT * FROM l JOIN r ON l.k = r.k WITHIN '30s' WITH (IDLETIMEOUT = '30s')`,
}

func TestSpecQueriesParse(t *testing.T) {
	for _, sql := range specQueries {
		s, err := Parse(sql)
		require.NoError(t, err)
		for _, j := range s.Joins {
			require.NotNil(t, j.Within)
			require.NotNil(t, j.On)
		}
	}
}

// streamsqlQueries go through StreamSQL's parser as well. Their canonical text
// differs from what is written here in no way that its parser keeps: no
// parentheses to drop and no strings in double quotes.
var streamsqlQueries = []string{
	`SELECT * FROM stream`,
	`select *, temp from stream where temp > 5 limit 3`,
	`SELECT DISTINCT device FROM s`,
	`SELECT a.b.c, items[0].price, items[-1], tags['zone'] AS zone FROM s WHERE cfg['on'] = true`,
	`SELECT device.0.x AS x FROM s`,
	"SELECT `odd name` AS x, `order` FROM s WHERE `odd name` > 1",
	`SELECT s.order AS o FROM stream s`,
	`SELECT a - -1 AS x, -b AS y FROM s`,
	`SELECT CASE WHEN t > 30 THEN 'hot' WHEN t < 0 THEN 'cold' ELSE 'mild' END AS c FROM s`,
	`SELECT CASE kind WHEN 1 THEN 'a' ELSE NULL END AS k FROM s`,
	`SELECT UPPER(CONCAT(a, '-', b)) AS x, round(v * 2, 1) AS r, now() AS n FROM s`,
	`SELECT a FROM s WHERE x IS NULL AND y IS NOT NULL OR name LIKE 'dev%'`,
	`SELECT a FROM s WHERE name == 'x' AND NOT flag = true`,
	`SELECT a, lag(a) OVER (PARTITION BY d WHEN had_changed(true, st)) AS p FROM s`,
	`SELECT a - lag(a) OVER (PARTITION BY d, e) AS diff FROM s`,
	`SELECT a FROM s WHERE lag(a) OVER (PARTITION BY d) < 3 AND a > 3`,
	`SELECT changed_cols('c_', true, *) FROM s`,
	`SELECT d, COUNT(*) AS c FROM s GROUP BY d, TumblingWindow('5s')`,
	`SELECT d, AVG(t) AS a FROM s GROUP BY d, SlidingWindow('10s', '2s') HAVING a > 5 ORDER BY a DESC LIMIT 10`,
	`SELECT d, SUM(t) AS a FROM s GROUP BY d, CountingWindow(10) WITH (STATETTL='24h')`,
	`SELECT window_start() AS start, window_end() AS end FROM s GROUP BY SessionWindow('5m')`,
	`SELECT upper(d) AS u, COUNT(*) AS c FROM s GROUP BY upper(d), TumblingWindow('1s') WITH (TIMESTAMP='ts', TIMEUNIT='ms', MAXOUTOFORDERNESS='2s', ALLOWEDLATENESS='1s', IDLETIMEOUT='9s')`,
	`SELECT d, COUNT(*) AS c FROM s GROUP BY d, GLOBAL WINDOW TRIGGER WHEN COUNT(*) >= 10 AND MAX(t) > 50`,
	`SELECT COUNT(*) AS c FROM s GROUP BY TumblingWindow('1s') HAVING COUNT(*) > 1 AND c != 4`,
	`SELECT s.d, m.place FROM stream s JOIN meta m ON s.d = m.d LEFT OUTER JOIN more AS o ON s.k = o.k AND s.l = o.l WHERE s.t > 1`,
	`SELECT * FROM s MATCH_RECOGNIZE (PARTITION BY dev ORDER BY ts MEASURES A.v AS peak ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW PATTERN ((A | B) C{2,4}? D+) WITHIN '5m' DEFINE A AS v > 50, B AS v < 3)`,
	`SELECT timestamp, window, trigger, global, within FROM s`,
	`SELECT unnest(items) AS item FROM s`,
	`SELECT a, b FROM s ORDER BY a.b, b DESC`,
}

// The parser accepts what StreamSQL does, and its canonical text is the same
// query to StreamSQL.
func TestStreamSQLReadsTheCanonicalText(t *testing.T) {
	for _, sql := range streamsqlQueries {
		s, err := Parse(sql)
		require.NoError(t, err)
		config, condition, err := rsql.Parse(sql)
		require.NoError(t, err, sql)
		printedConfig, printedCondition, err := rsql.Parse(Print(s))
		require.NoError(t, err, Print(s))
		require.Equal(t, condition, printedCondition, Print(s))
		require.Equal(t, config, printedConfig, Print(s))
	}
}

// A window without GROUP BY in front of it is the same to StreamSQL.
func TestWindowWithoutGroupBy(t *testing.T) {
	for bare, full := range map[string]string{
		`SELECT MAX(t) AS m FROM s GLOBAL WINDOW TRIGGER WHEN MAX(t) > 5`: `SELECT MAX(t) AS m FROM s GROUP BY GLOBAL WINDOW TRIGGER WHEN MAX(t) > 5`,
		`SELECT MAX(t) AS m FROM s WHERE t > 1 TumblingWindow('5s')`:      `SELECT MAX(t) AS m FROM s WHERE t > 1 GROUP BY TumblingWindow('5s')`,
	} {
		s, err := Parse(bare)
		require.NoError(t, err)
		require.Equal(t, full, Print(s))
		require.NotZero(t, s.GroupPos)
	}
}

func TestWithinSpellings(t *testing.T) {
	for spelling, want := range map[string]time.Duration{
		"30 SECONDS": 30 * time.Second, "(30 SECONDS)": 30 * time.Second, "'30s'": 30 * time.Second, "('30s')": 30 * time.Second,
		`"30s"`: 30 * time.Second, "30s": 30 * time.Second, "30 s": 30 * time.Second, "30 sEcOnD": 30 * time.Second,
		"1 sec": time.Second, "2 SECS": 2 * time.Second, "'30 SECONDS'": 30 * time.Second,
		"100 MS": 100 * time.Millisecond, "1 MILLISECOND": time.Millisecond, "2 milliseconds": 2 * time.Millisecond, "3 millis": 3 * time.Millisecond,
		"5 NS": 5, "1 NANOSECOND": 1, "2 NANOSECONDS": 2,
		"7 US": 7 * time.Microsecond, "7 µs": 7 * time.Microsecond, "7 μs": 7 * time.Microsecond, "'7µs'": 7 * time.Microsecond,
		"1 MICROSECOND": time.Microsecond, "2 MICROSECONDS": 2 * time.Microsecond,
		"4 M": 4 * time.Minute, "4 MIN": 4 * time.Minute, "1 MINUTE": time.Minute, "4 MINUTES": 4 * time.Minute,
		"2 H": 2 * time.Hour, "1 HOUR": time.Hour, "2 HOURS": 2 * time.Hour,
		"2 D": 48 * time.Hour, "1 DAY": 24 * time.Hour, "2 DAYS": 48 * time.Hour,
		"1.5 HOURS": 90 * time.Minute, ".5 s": 500 * time.Millisecond, "1e3 MS": time.Second, "0.1 s": 100 * time.Millisecond,
		"'1m30s'": 90 * time.Second, "'1.5h'": 90 * time.Minute, "'1d 2h'": 26 * time.Hour, "'.5s'": 500 * time.Millisecond, "'+5s'": 5 * time.Second,
		"'0.000000001s'": 1, "9223372036854775807 NS": 1<<63 - 1, "'106751d'": 106751 * 24 * time.Hour,
	} {
		for _, form := range []string{
			"SELECT * FROM a JOIN b WITHIN %s ON a.k = b.k",
			"SELECT * FROM a JOIN b within %s AS x ON a.k = x.k",
			"SELECT * FROM a JOIN b Within %s x ON a.k = x.k",
			"SELECT * FROM a JOIN b AS x WITHIN %s ON a.k = x.k",
			"SELECT * FROM a JOIN b x WITHIN %s ON a.k = x.k",
			"SELECT * FROM a JOIN b ON a.k = b.k WITHIN %s WHERE a.v > 1",
			"SELECT * FROM a JOIN b ON a.k = b.k WITHIN %s JOIN c WITHIN 1 s ON a.k = c.k",
			"SELECT * FROM a CROSS JOIN b WITHIN %s",
		} {
			sql := strings.Replace(form, "%s", spelling, 1)
			s, err := Parse(sql)
			require.NoError(t, err)
			require.Equal(t, want, s.Joins[0].Within.D, sql)
			require.Equal(t, strings.Index(strings.ToUpper(sql), "WITHIN"), s.Joins[0].Within.Pos.Offset)
		}
	}
}

func TestWithinErrors(t *testing.T) {
	for _, c := range []struct{ rest, want, at string }{
		{"WITHIN 5 s ON a.k = b.k WITHIN 5 s", "twice", "WITHIN 5 s$"},
		{"WITHIN 5 s x WITHIN 5 s ON a.k = x.k", "twice", "WITHIN 5 s ON"},
		{"ON a.k = b.k WITHIN 5 s WITHIN '5s'", "twice", "WITHIN '5s'"},
		{"WITHIN 0 SECONDS ON a.k = b.k", "positive", "0 SEC"},
		{"WITHIN -5 SECONDS ON a.k = b.k", "positive", "-5"},
		{"WITHIN ( -5 SECONDS) ON a.k = b.k", "positive", "-5"},
		{"WITHIN '-5s' ON a.k = b.k", "positive", "'-5s'"},
		{"WITHIN '0s' ON a.k = b.k", "positive", "'0s'"},
		{"WITHIN 0.5 NS ON a.k = b.k", "positive", "0.5"},
		{"WITHIN 1e-999 DAYS ON a.k = b.k", "positive", "1e"},
		{"WITHIN 30 ON a.k = b.k", "unit", "ON"},
		{"WITHIN 30 FORTNIGHTS ON a.k = b.k", "unit", "30"},
		{"WITHIN '30' ON a.k = b.k", "unit", "'30'"},
		{"WITHIN '30 parsecs' ON a.k = b.k", "unit", "'30 p"},
		{"WITHIN (30) ON a.k = b.k", "unit", ") ON"},
		{"WITHIN 30", "unit", "$"},
		{"WITHIN ON a.k = b.k", "WITHIN duration", "ON"},
		{"WITHIN", "WITHIN duration", "$"},
		{"WITHIN () ON a.k = b.k", "WITHIN duration", ") ON"},
		{"WITHIN '' ON a.k = b.k", "WITHIN duration", "''"},
		{"WITHIN 'soon' ON a.k = b.k", "WITHIN duration", "'soon'"},
		{"WITHIN '1m-30s' ON a.k = b.k", "WITHIN duration", "'1m"},
		{"WITHIN SECONDS ON a.k = b.k", "WITHIN duration", "SECONDS"},
		{"WITHIN (30 SECONDS ON a.k = b.k", "close WITHIN", "ON"},
		{"WITHIN ('30s' ON a.k = b.k", "close WITHIN", "ON"},
		{"WITHIN ((30 SECONDS)) ON a.k = b.k", "WITHIN duration", "(30"},
		{"WITHIN 9223372036854775808 NS ON a.k = b.k", "too long", "9223"},
		{"WITHIN 106752 DAYS ON a.k = b.k", "too long", "106752"},
		{"WITHIN 1e999 s ON a.k = b.k", "too long", "1e"},
		{"WITHIN 1e999 s ON a.k = b.k", "hint: write the longest time that two partners can be apart", "1e"},
		{"WITHIN '106751d 1d' ON a.k = b.k", "too long", "'106751"},
		{"WITHIN 1 MINUTE 30 SECONDS ON a.k = b.k", "number 30", "30"},
		{"WITHN 30 SECONDS ON a.k = b.k", "did you mean WITHIN?", "WITHN"},
	} {
		sql := "SELECT * FROM a JOIN b " + c.rest
		_, err := Parse(sql)
		require.ErrorIs(t, err, ErrSyntax, sql)
		require.ErrorContains(t, err, c.want)
		var e *Error
		require.ErrorAs(t, err, &e)
		want := strings.LastIndex(sql+"$", c.at)
		require.Equal(t, want, e.Pos.Offset, "%s\n%v", sql, err)
		requirePlaced(t, sql, err)
	}
}

// WITHIN and other words with a meaning of their own are names where nothing
// else can stand.
func TestContextualWordsAreNames(t *testing.T) {
	for _, sql := range []string{
		"SELECT within FROM within",
		"SELECT a within, b AS within FROM t within WHERE within.a > within",
		"SELECT * FROM a JOIN within WITHIN 1 s ON within.k = a.within WITH (within = 1)",
		"SELECT * FROM a JOIN b AS within WITHIN 1 s ON a.k = within.k",
		"SELECT a.from, a.select, a.order.by FROM a",
		"SELECT left, right, full, cross, inner, outer, LEFT(a, 2) AS l FROM t",
		"SELECT seconds, day, by, asc, desc, over, window, partition, match_recognize, tumblingWindow FROM t ORDER BY desc DESC",
		"SELECT interval, temporal, stream, import, export FROM t",
	} {
		_, err := Parse(sql)
		require.NoError(t, err)
	}
}

func TestReservedWordAsName(t *testing.T) {
	for _, sql := range []string{
		"SELECT order FROM t",
		"SELECT a AS select FROM t",
		"SELECT a FROM where",
		"SELECT a FROM t AS join",
		"SELECT a FROM left JOIN b ON a.k = b.k",
		"SELECT a FROM t JOIN on ON a.k = on.k",
		"SELECT a FROM t WHERE group > 1",
		"SELECT a FROM t WHERE a = end",
	} {
		_, err := Parse(sql)
		require.ErrorContains(t, err, "backquotes: `", sql)
		requirePlaced(t, sql, err)
	}
}

func TestPositions(t *testing.T) {
	sql := "SELECT a.x,\r\n\t日本 + 'é' || `ü` AS y -- ß\nFROM a\n  LEFT JOIN b WITHIN 5 s ON a.k = b.k\nWHERE NOT (a.x >= 1) WITH (TIMESTAMP = 'ts') LIMIT 3"
	s, err := Parse(sql)
	require.NoError(t, err)
	at := func(line, col int, text string) Pos {
		return Pos{Offset: strings.Index(sql, text), Line: line, Col: col}
	}
	require.Equal(t, at(1, 1, "SELECT"), s.Pos)
	require.Equal(t, at(2, 2, "日本"), s.Items[1].Pos)
	concat := s.Items[1].Expr.(*Binary)
	require.Equal(t, at(2, 11, "||"), concat.Pos)
	require.Equal(t, at(2, 5, "+ 'é'"), concat.X.Position())
	require.Equal(t, at(2, 7, "'é'"), concat.X.(*Binary).Y.Position())
	require.Equal(t, at(3, 6, "a\n  LEFT"), s.From.Pos)
	require.Equal(t, at(4, 3, "LEFT"), s.Joins[0].Pos)
	require.Equal(t, at(4, 13, "b WITHIN"), s.Joins[0].Source.Pos)
	require.Equal(t, at(4, 15, "WITHIN"), s.Joins[0].Within.Pos)
	require.Equal(t, at(4, 26, "ON"), s.Joins[0].OnPos)
	require.Equal(t, at(5, 1, "WHERE"), s.WherePos)
	require.Equal(t, at(5, 7, "NOT"), s.Where.Position())
	require.Equal(t, at(5, 22, "WITH ("), s.WithPos)
	require.Equal(t, at(5, 28, "TIMESTAMP"), s.With[0].Pos)
	require.Equal(t, at(5, 46, "LIMIT"), s.LimitPos)
	require.Zero(t, s.HavePos)
}

func TestVerbatimSpan(t *testing.T) {
	sql := "SELECT lag(a) /* x */ OVER (PARTITION BY d /* y */ WHEN f( ')' ) ) FROM t MATCH_RECOGNIZE(\n A -- c\n)"
	s, err := Parse(sql)
	require.NoError(t, err)
	over := s.Items[0].Expr.(*Call).Over
	require.Equal(t, "OVER (PARTITION BY d WHEN f( ')' ) )", over.Text)
	require.Equal(t, "OVER (PARTITION BY d /* y */ WHEN f( ')' ) )", sql[over.Span.Start.Offset:over.Span.End])
	require.Equal(t, "MATCH_RECOGNIZE( A )", s.Match.Text)
	require.Equal(t, len(sql), s.Match.Span.End)
}

// hostile texts try to exhaust the parser, or whoever walks its tree.
var hostile = []string{
	"SELECT " + strings.Repeat("(", 100_000),
	"SELECT " + strings.Repeat("-", 3) + "1 FROM t",
	"SELECT " + strings.Repeat("- ", 100_000) + "1 FROM t",
	"SELECT " + strings.Repeat("NOT ", 100_000) + "a FROM t",
	"SELECT " + strings.Repeat("f(", 100_000),
	"SELECT " + strings.Repeat("CASE WHEN ", 50_000),
	"SELECT a IN (" + strings.Repeat("a IN (", 100_000),
	"SELECT a " + strings.Repeat("+ a ", 100_000) + "FROM t",
	"SELECT a " + strings.Repeat("IS NULL ", 100_000) + "FROM t",
	"SELECT a " + strings.Repeat("BETWEEN 1 AND 2 ", 50_000) + "FROM t",
	"SELECT f() " + strings.Repeat("OVER (", 100_000),
	"SELECT * FROM a JOIN b WITHIN " + strings.Repeat("9", 500_000) + " s ON a.k = b.k",
	"SELECT '" + strings.Repeat("x", 2<<20) + "' FROM t",
	"SELECT a FROM t WHERE \xff = 1",
	strings.Repeat("\x80", 2<<20),
	"SELECT a\x00b FROM t",
	"SELECT /* never closed",
	"SELECT '\\",
	"SELECT `",
	"",
	";",
	"\ufeff  ",
}

func TestHostileTextIsAnErrorAtLittleCost(t *testing.T) {
	for _, sql := range hostile {
		_, err := Parse(sql)
		requirePlaced(t, sql, err)
		require.Less(t, len(err.Error()), 1000, "the message quotes too much")
	}
}

// The limits themselves are usable.
func TestLimits(t *testing.T) {
	for _, e := range []string{
		strings.Repeat("(", maxDepth) + "a" + strings.Repeat(")", maxDepth),
		"a" + strings.Repeat(" AND a", maxOperators),
		"a IN (1" + strings.Repeat(", 1", 200_000) + ")",
		"'" + strings.Repeat("x", maxLength-2) + "'",
	} {
		parsed, err := ParseExpr(e)
		require.NoError(t, err)
		again, err := ParseExpr(PrintExpr(parsed))
		require.NoError(t, err)
		require.Equal(t, PrintExpr(parsed), PrintExpr(again))
	}
	for _, e := range []string{
		strings.Repeat("(", maxDepth+1) + "a" + strings.Repeat(")", maxDepth+1),
		"a" + strings.Repeat(" AND a", maxOperators+1),
		"'" + strings.Repeat("x", maxLength-1) + "'",
	} {
		_, err := ParseExpr(e)
		requirePlaced(t, e, err)
	}
}

func TestParseDuration(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"0s": 0, "-1.5h": -90 * time.Minute, " 10 seconds ": 10 * time.Second, "1h1m1s1ms1us1ns": 3661001001001, "0.3s": 300 * time.Millisecond,
		"1.9999999999ns": 1, "-0.5 ns": 0, "1w": 7 * 24 * time.Hour, "2 weeks": 14 * 24 * time.Hour, "1 WEEK": 7 * 24 * time.Hour,
	} {
		d, err := ParseDuration(s)
		require.NoError(t, err, s)
		require.Equal(t, want, d, s)
	}
	for s, want := range map[string]string{
		"": "number", "-": "number", "s": "number", "5": "unit", "5 s 5": "unit", "5 lightyears": "unit", "1.2.3s": "number", "5s!": "number",
		"300000000y": "unit", "3000000000h": "too long", "/**/5s": "number", strings.Repeat("1s", 100): "number",
	} {
		_, err := ParseDuration(s)
		require.ErrorContains(t, err, want, s)
	}
}

func TestWalk(t *testing.T) {
	e, err := ParseExpr("CASE a WHEN b IN (c, d + 1) THEN f(g, NOT h) ELSE i BETWEEN j AND -k END || l LIKE m || n - INTERVAL 1 DAY IS NULL")
	require.NoError(t, err)
	var names []string
	visit := func(into func(Expr) bool) string {
		names = nil
		Walk(e, func(e Expr) bool {
			if c, ok := e.(*Column); ok {
				names = append(names, c.Path[0].Name)
			}
			return into(e)
		})
		return strings.Join(names, "")
	}
	require.Equal(t, "abcdghijklmn", visit(func(Expr) bool { return true }))
	require.Equal(t, "abcdijklmn", visit(func(e Expr) bool { _, call := e.(*Call); return !call }))
	Walk(nil, func(Expr) bool { t.Fatal("visited"); return true })

	s, err := Parse("SELECT a FROM t GROUP BY GLOBAL WINDOW TRIGGER WHEN b > 1")
	require.NoError(t, err)
	e = s.GroupBy[0]
	require.Equal(t, "b", visit(func(Expr) bool { return true }))
}
