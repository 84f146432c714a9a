package syntax

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tablesPage are the statements of the page on stream and state tables.
var tablesPage = []string{
	`Products := DISTINCT Products ON id ORDER BY updated DESC;`,
	`Users := SELECT DISTINCT customerid AS id FROM Orders;`,
	`Users.total_spend := SELECT sum(i.total) AS spend,
            sum(i.discount) AS saved
      FROM @ JOIN Orders o ON o.customerid = @.id JOIN o.items i;`,
	`UserPromotion := STREAM ON ADD AS
  SELECT u.id, u.first_name, u.last_name, u.email, s.spend
  FROM Users u JOIN u.order_stats s WHERE s.spend >= 100;`,
	`Users.spending := SELECT endOfWeek(p.time) AS week,
         sum(t.price) AS spend, sum(t.saving) AS saved
      FROM @.purchases p JOIN p.totals t
      GROUP BY week ORDER BY week DESC;`,
	`RecentTotal := SELECT sum(i.total) AS total, sum(i.quantity) AS quantity
      FROM Orders o JOIN o.items i
      WHERE o.time > now() - INTERVAL 7 DAY;`,
	`OrderCountry := SELECT o.time, u.country
    FROM Orders o TEMPORAL JOIN Users u ON o.customerid = u.id;`,
	`OrderCountryInner := SELECT o.time, u.country
     FROM Orders o INNER JOIN Users u ON o.customerid = u.id;`,
}

// The statements of the page, one by one and as one script.
func TestTablesPageParses(t *testing.T) {
	whole := ""
	for _, sql := range tablesPage {
		s, err := ParseScript(sql)
		require.NoError(t, err)
		require.Len(t, s.Statements, 1)
		whole += sql + "\n"
	}
	s, err := ParseScript(whole)
	require.NoError(t, err)
	require.Equal(t, `Products := DISTINCT Products ON id ORDER BY updated DESC;
Users := SELECT DISTINCT customerid AS id FROM Orders;
Users.total_spend := SELECT sum(i.total) AS spend, sum(i.discount) AS saved FROM @ JOIN Orders AS o ON o.customerid = @.id JOIN o.items AS i;
UserPromotion := STREAM ON ADD AS SELECT u.id, u.first_name, u.last_name, u.email, s.spend FROM Users AS u JOIN u.order_stats AS s WHERE s.spend >= 100;
Users.spending := SELECT endOfWeek(p.time) AS week, sum(t.price) AS spend, sum(t.saving) AS saved FROM @.purchases AS p JOIN p.totals AS t GROUP BY week ORDER BY week DESC;
RecentTotal := SELECT sum(i.total) AS total, sum(i.quantity) AS quantity FROM Orders AS o JOIN o.items AS i WHERE o.time > now() - INTERVAL 7 DAY;
OrderCountry := SELECT o.time, u.country FROM Orders AS o TEMPORAL JOIN Users AS u ON o.customerid = u.id;
OrderCountryInner := SELECT o.time, u.country FROM Orders AS o INNER JOIN Users AS u ON o.customerid = u.id;`, PrintScript(s))
}

// scriptSeeds are scripts with every form of every statement.
var scriptSeeds = []string{
	"IMPORT Orders; IMPORT Users TIMESTAMP payload.ts TIMEUNIT ms MAXOUTOFORDERNESS 5 SECONDS IDLETIMEOUT = '0' WITH (MAXFUTURESKEW '1h', X = y)",
	"EXPORT a.b TO stream_event; ; SELECT a?b?-1, @.* FROM @.p AS x, y TEMPORAL LEFT JOIN z ON NOT a",
	"P.c := i.discount?0.0 + INTERVAL '1h30m'; P.r := JOIN T ON T.x = @.y INNER JOIN @.q LEFT TEMPORAL JOIN u ON 1 ORDER BY a NULLS LAST",
	"D := DISTINCT @.purchases AS p ON p.id, p.`k` ORDER BY p.t DESC, u WITH (STATETTL = '24h');",
	"S := STREAM ON UPDATE AS SELECT * FROM t; STREAM ON DELETE AS SELECT a FROM t WHERE b BETWEEN c - INTERVAL 5 MINUTE AND c + INTERVAL '1' HOUR",
	"IMPORT := SELECT interval, stream FROM temporal TEMPORAL JOIN export ON a = b; EXPORT IMPORT TO x; import.export := stream",
	"A := SELECT a FROM t B := SELECT b FROM u",
	"IMPROT Orders", "X = SELECT 1 FROM t", "X :=", "R := JOIN t ON a = b", "@.x := 1", "X := DISTINCT t ON a", "SELECT a FROM t; SELECT b FROM u",
}

// Every statement, query and part of a script knows its place.
func TestScriptPositions(t *testing.T) {
	sql := "IMPORT ß TIMESTAMP\n a.b;\nEXPORT P.`x` TO out;\n P.x := @.é + INTERVAL 7 DAY ;X := STREAM ON ADD AS SELECT a?0 FROM @.q r;\nDISTINCT t ON k ORDER BY u"
	s, err := ParseScript(sql)
	require.NoError(t, err)
	at := func(line, col int, text string) Pos {
		return Pos{Offset: strings.Index(sql, text), Line: line, Col: col}
	}
	require.Len(t, s.Statements, 5)
	i := s.Statements[0].(*Import)
	require.Equal(t, at(1, 1, "IMPORT"), i.Position())
	require.Equal(t, Ident{Pos: at(1, 8, "ß"), Name: "ß"}, i.Name)
	require.Equal(t, at(1, 10, "TIMESTAMP"), i.Options[0].Pos)
	e := s.Statements[1].(*Export)
	require.Equal(t, at(3, 1, "EXPORT"), e.Position())
	require.Equal(t, at(3, 8, "P.`x`"), e.Name.Position())
	require.Equal(t, Ident{Pos: at(3, 10, "`x`"), Name: "x", Quoted: true}, e.Name.Parts[1])
	require.Equal(t, at(3, 17, "out"), e.To.Pos)
	column := s.Statements[2].(*Define)
	require.Equal(t, at(4, 2, "P.x :="), column.Position())
	require.Nil(t, column.Query)
	sum := column.Column.(*Binary)
	require.Equal(t, at(4, 9, "@.é"), sum.X.Position())
	require.Equal(t, at(4, 15, "INTERVAL"), sum.Y.Position())
	d := s.Statements[3].(*Define)
	require.Nil(t, d.Column)
	stream := d.Query.(*StreamOn)
	require.Equal(t, at(4, 31, "X :="), d.Position())
	require.Equal(t, at(4, 36, "STREAM"), stream.Position())
	require.Equal(t, at(4, 53, "SELECT"), stream.Query.Position())
	require.Equal(t, at(4, 60, "a?0"), stream.Query.Items[0].Expr.Position())
	require.Equal(t, at(4, 69, "@.q"), stream.Query.From.Pos)
	require.Equal(t, at(4, 71, "q r"), stream.Query.From.Parts[1].Pos)
	last := s.Statements[4].(*Define)
	require.Equal(t, at(5, 1, "DISTINCT"), last.Position())
	require.Equal(t, at(5, 10, "t ON k"), last.Query.(*DistinctOn).Source.Pos)
}

// The parts of a source's name are there for single queries too.
func TestSourceParts(t *testing.T) {
	s, err := Parse("SELECT * FROM data.`odd.items` AS x, y JOIN `@` WITHIN 5 s ON a = b")
	require.NoError(t, err)
	withoutPlaces(s)
	require.Equal(t, Source{Name: "data.odd.items", Parts: []Ident{{Name: "data"}, {Name: "odd.items", Quoted: true}}, Alias: "x"}, s.From)
	require.Equal(t, Source{Name: "y", Parts: []Ident{{Name: "y"}}}, s.More[0])
	require.Equal(t, Source{Name: "@", Parts: []Ident{{Name: "@", Quoted: true}}}, s.Joins[0].Source, "no parent row: a stream of that name")
}

func TestParseRefusesWhatOnlyScriptsKnow(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT a FROM @":                                 "line 1, column 15: the parent row @",
		"SELECT a FROM t, @.x":                            "line 1, column 18: the parent row @",
		"SELECT a FROM t JOIN @ ON a = b":                 "line 1, column 22: the parent row @",
		"SELECT @.a FROM t":                               "line 1, column 8: the parent row @",
		"SELECT @.* FROM t":                               "line 1, column 8: the parent row @",
		"SELECT a FROM t WHERE f(@.x) > 1":                "line 1, column 25: the parent row @",
		"SELECT a FROM t GROUP BY @.x":                    "line 1, column 26: the parent row @",
		"SELECT a FROM t HAVING @.x > 1":                  "line 1, column 24: the parent row @",
		"SELECT a FROM t JOIN u ON a = @.x":               "line 1, column 31: the parent row @",
		"SELECT a FROM t ORDER BY @.x":                    "line 1, column 26: the parent row @",
		"SELECT a FROM t TEMPORAL JOIN u ON a = b":        "line 1, column 17: TEMPORAL JOIN",
		"SELECT a FROM t LEFT TEMPORAL JOIN u ON a = b":   "line 1, column 17: TEMPORAL JOIN",
		"SELECT a FROM t JOIN t.u WHERE a = 1":            "line 1, column 17: JOIN without ON",
		"SELECT a FROM t WHERE a > b - INTERVAL '1h'":     "line 1, column 31: INTERVAL",
		"SELECT a FROM t ORDER BY a, b DESC NULLS LAST":   "line 1, column 29: NULLS LAST",
		"SELECT `@`, `@`.a, t.`@` FROM `@` JOIN t.u ON a": "",
	} {
		_, err := Parse(sql)
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want+" is for table scripts")
		requirePlaced(t, sql, err)
		_, err = ParseScript(sql)
		require.NoError(t, err)
	}
}

// Scripts are long and have many statements; none costs more than its share.
func TestHostileScripts(t *testing.T) {
	for _, sql := range []string{
		strings.Repeat(";", 1<<20-16) + "X :=",
		"A.b := " + strings.Repeat("a?", 100_000) + "0",
		"A.b := " + strings.Repeat("a?-", 100_000) + "0",
		"A.b := " + strings.Repeat("@.", 100_000),
		"X := SELECT * FROM " + strings.Repeat("a.", 500_000),
		strings.Repeat("a.", 500_000) + "b := ",
		strings.Repeat("A := SELECT a FROM t;", 40_000) + "A := ",
		"IMPORT a " + strings.Repeat("TIMESTAMP a ", 50_000) + "TIMESTAMP",
		"A.b := " + strings.Repeat("JOIN t.u ", 50_000) + "WHERE",
		"A := INTERVAL '" + strings.Repeat("9", 500_000) + " DAY'",
		"A := INTERVAL " + strings.Repeat("9", 500_000) + " DAY",
	} {
		_, err := ParseScript(sql)
		requirePlaced(t, sql, err)
		require.Less(t, len(err.Error()), 1000, "the message quotes too much")
	}
	for _, sql := range hostile {
		_, err := ParseScript(sql)
		requirePlaced(t, sql, err)
	}
}

// The limit on operators is one for each statement.
func TestOperatorsAreCountedByStatement(t *testing.T) {
	long := "A.b := 1" + strings.Repeat(" + 1", maxOperators)
	_, err := ParseScript(long + ";" + long)
	require.NoError(t, err)
	_, err = ParseScript(long + " + 1")
	require.ErrorContains(t, err, "operators")
}
