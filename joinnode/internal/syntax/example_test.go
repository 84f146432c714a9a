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

func ExamplePrintExpr() {
	e, err := syntax.ParseExpr("((a.x + (b.y * 2)) <> 3) and not (c is null)")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(syntax.PrintExpr(e))
	// Output: a.x + b.y * 2 != 3 AND NOT c IS NULL
}
