package syntax

import (
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
