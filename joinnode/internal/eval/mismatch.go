package eval

import (
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
	"github.com/streamjoin/streamjoin/joinnode/internal/warning"
)

// Mismatch is an example of operands that do not go together.
type Mismatch struct {
	SQL    string // the operator with its operands, as in the query
	Values string // what they were: `the text "80.5" and the number 75`
}

// mismatch counts a mismatch of two operands of e, and describes it if nobody
// has yet. The values are those of the row at hand, so the example is text.
func (c *Context) mismatch(e syntax.Expr, a, b value.Value) {
	c.TypeMismatch++
	if c.Example == nil {
		c.Example = &Mismatch{SQL: syntax.PrintExpr(e), Values: describe(a) + " and " + describe(b)}
	}
}

// mismatchOf is mismatch for what has one operand.
func (c *Context) mismatchOf(e syntax.Expr, v value.Value) {
	c.TypeMismatch++
	if c.Example == nil {
		c.Example = &Mismatch{SQL: syntax.PrintExpr(e), Values: describe(v)}
	}
}

// describe names the kind of a value and shows it.
func describe(v value.Value) string {
	v = v.Resolve()
	text := warning.Clip(string(value.AppendJSON(nil, v)))
	switch v.Kind {
	case value.Null:
		return "NULL"
	case value.Bool:
		return "the boolean " + text
	case value.Int, value.Uint, value.Float, value.Number:
		return "the number " + text
	case value.Text:
		return "the text " + text
	case value.JSON, value.Any:
	}
	switch text[0] {
	case '{':
		return "the object " + text
	case '[':
		return "the array " + text
	}
	return "the value " + text // a time, as JSON shows it
}
