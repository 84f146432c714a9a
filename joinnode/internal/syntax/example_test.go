package syntax_test

import (
	"fmt"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

func ExampleParse() {
	s, err := syntax.Parse("SELECT c.id FROM cmd c LEFT JOIN ack r ON c.id = r.id WITHIN '10s' WHERE r.code IS NULL")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Joins[0].Kind, s.Joins[0].Source.Name, s.Joins[0].Within.D)
	fmt.Println(syntax.Print(s))
	// Output:
	// LEFT ack 10s
	// SELECT c.id FROM cmd AS c LEFT JOIN ack AS r WITHIN 10 SECONDS ON c.id = r.id WHERE r.code IS NULL
}

func ExampleParse_error() {
	_, err := syntax.Parse("SELECT c.id\nFROM cmd c JOIN ack r WITHIN 10 ON c.id = r.id")
	fmt.Println(err)
	// Output:
	// line 2, column 33: WITHIN 10 has no unit: expected one, found ON
	//   FROM cmd c JOIN ack r WITHIN 10 ON c.id = r.id
	//                                   ^
	// hint: the units are NS, US, MS, SECONDS, MINUTES, HOURS and DAYS
}

func ExampleParseScript() {
	s, err := syntax.ParseScript(`
		IMPORT orders TIMESTAMP time;
		devices := DISTINCT devices ON id ORDER BY time DESC;   -- the newest row of each
		SELECT o.id, d.room?'none' AS room FROM orders o LEFT TEMPORAL JOIN devices d ON o.device = d.id`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, st := range s.Statements {
		fmt.Printf("%T in line %d\n", st, st.Position().Line)
	}
	fmt.Println(syntax.PrintScript(s))
	// Output:
	// *syntax.Import in line 2
	// *syntax.Define in line 3
	// *syntax.Define in line 4
	// IMPORT orders TIMESTAMP time;
	// devices := DISTINCT devices ON id ORDER BY time DESC;
	// SELECT o.id, coalesce(d.room, 'none') AS room FROM orders AS o LEFT TEMPORAL JOIN devices AS d ON o.device = d.id;
}

func ExampleScriptOnly() {
	s, err := syntax.ParseScript("SELECT * FROM orders WHERE time > now() - INTERVAL 7 DAY")
	if err != nil {
		fmt.Println(err)
		return
	}
	what, at, found := syntax.ScriptOnly(s.Statements[0].(*syntax.Define).Query.(*syntax.Select))
	fmt.Println(found, what, at.Col)
	// Output: true INTERVAL 43
}

func ExamplePrintExpr() {
	e, err := syntax.ParseExpr("((a.x + (b.y * 2)) <> 3) and not (c is null)")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(syntax.PrintExpr(e))
	// Output: a.x + b.y * 2 != 3 AND NOT c IS NULL
}
