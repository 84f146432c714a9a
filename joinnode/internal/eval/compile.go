package eval

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

type compiler struct {
	scope Scope
}

// term is a compiled expression: a value or a condition, whichever is its
// nature; the other is derived.
type term struct {
	expr Expr
	pred Predicate
	// constant says that val is what the term always is.
	constant bool
	val      value.Value
	sql      syntax.Expr // that it was compiled from
	// at computes what expr does with the time that it stands for; nil when expr
	// says all there is to know.
	at moments
	// column says that the term is column col as it is.
	column bool
	col    int
}

func constant(v value.Value) term {
	return term{constant: true, val: v, expr: func(*Context, row.Row) value.Value { return v }}
}

func (t term) asExpr() Expr {
	if t.expr != nil {
		return t.expr
	}
	pred := t.pred
	return func(ctx *Context, r row.Row) value.Value { return value.OfTri(pred(ctx, r)) }
}

func (t term) asPredicate() Predicate {
	if t.pred != nil {
		return t.pred
	}
	expr := t.expr
	return func(ctx *Context, r row.Row) value.Tri {
		v := expr(ctx, r)
		tri, mismatch := value.ToTri(v)
		if mismatch {
			ctx.mismatchOf(t.sql, v)
		}
		return tri
	}
}

// fold returns t, evaluated once and for all if the terms it was made of are
// constants. A term that counts something stays, so that every row counts.
func fold(t term, parts ...term) term {
	for _, p := range parts {
		if !p.constant {
			return t
		}
	}
	var ctx Context
	v := t.asExpr()(&ctx, row.Row{})
	if ctx.TypeMismatch != 0 || ctx.FunctionErrors != 0 || v.Kind == value.Any {
		return t // a container would be shared by all results
	}
	return constant(v)
}

func (c *compiler) compile(e syntax.Expr) (term, error) {
	t, err := c.term(e)
	t.sql = e
	return t, err
}

func (c *compiler) term(e syntax.Expr) (term, error) {
	switch e := e.(type) {
	case *syntax.Column:
		return c.column(e)
	case *syntax.Number:
		return number(e)
	case *syntax.Text:
		return constant(value.OfText(e.Value)), nil
	case *syntax.Bool:
		return constant(value.OfBool(e.Value)), nil
	case *syntax.Null:
		return constant(value.Value{}), nil
	case *syntax.Interval:
		return constant(value.OfInt(e.D / int64(value.Millisecond))), nil
	case *syntax.Unary:
		return c.unary(e)
	case *syntax.Binary:
		return c.binary(e)
	case *syntax.IsNull:
		return c.isNull(e)
	case *syntax.In:
		return c.in(e)
	case *syntax.Between:
		return c.between(e)
	case *syntax.Like:
		return c.like(e)
	case *syntax.Case:
		return c.caseOf(e)
	case *syntax.Call:
		return c.call(e)
	case nil:
		return term{}, &syntax.Error{Msg: "an expression is missing", Kind: syntax.ErrSyntax}
	}
	return term{}, errorAt(e.Position(), "no value can be computed here")
}

func (c *compiler) compileAll(list []syntax.Expr) ([]term, error) {
	terms := make([]term, len(list))
	for i, e := range list {
		var err error
		if terms[i], err = c.compile(e); err != nil {
			return nil, err
		}
	}
	return terms, nil
}

func errorAt(pos syntax.Pos, format string, args ...any) *syntax.Error {
	return &syntax.Error{Pos: pos, Msg: fmt.Sprintf(format, args...), Kind: syntax.ErrSyntax}
}

func (c *compiler) column(e *syntax.Column) (term, error) {
	col, rest, err := c.scope.Locate(e)
	if err != nil {
		return term{}, err
	}
	if len(rest) > 0 {
		return term{expr: func(_ *Context, r row.Row) value.Value { return row.Follow(r.Col(col), rest) }}, nil
	}
	return term{column: true, col: col, expr: func(_ *Context, r row.Row) value.Value { return r.Col(col) }}, nil
}

// number turns a literal into an integer or the float64 it names exactly, else
// into the decimal number itself.
func number(e *syntax.Number) (term, error) {
	text := e.Text
	if strings.HasPrefix(text, ".") {
		text = "0" + text // JSON's spelling
	}
	text = strings.Replace(text, ".e", ".0e", 1)
	if strings.HasSuffix(text, ".") {
		text += "0"
	}
	exact := value.OfNumber([]byte(text))
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return constant(value.OfInt(i)), nil
	}
	f, ok := exact.Float64()
	if order, same := value.Compare(exact, value.OfFloat(f)); ok && same && order == 0 {
		return constant(value.OfFloat(f)), nil
	} else if !same {
		return term{}, errorAt(e.Pos, "%s is not a number", e.Text)
	}
	return constant(exact), nil
}

func (c *compiler) unary(e *syntax.Unary) (term, error) {
	x, err := c.compile(e.X)
	if err != nil {
		return term{}, err
	}
	var t term
	switch e.Op {
	case "NOT":
		pred := x.asPredicate()
		t.pred = func(ctx *Context, r row.Row) value.Tri { return value.Not(pred(ctx, r)) }
	case "-", "+":
		apply := value.Neg
		if e.Op == "+" {
			apply = value.Pos
		}
		expr := x.asExpr()
		t.expr = func(ctx *Context, r row.Row) value.Value {
			x := expr(ctx, r)
			v, mismatch := apply(x)
			if mismatch {
				ctx.mismatchOf(e, x)
			}
			return v
		}
	default:
		return term{}, errorAt(e.Pos, "unknown operator %s", e.Op)
	}
	return fold(t, x), nil
}

func (c *compiler) caseOf(e *syntax.Case) (term, error) {
	var parts []term
	compile := func(x syntax.Expr) (term, error) {
		t, err := c.compile(x)
		parts = append(parts, t)
		return t, err
	}
	var operand Expr
	if e.Operand != nil {
		t, err := compile(e.Operand)
		if err != nil {
			return term{}, err
		}
		operand = t.asExpr()
	}
	type arm struct {
		is   Expr      // of the form with operand
		when Predicate // of the searched form
		then Expr
	}
	arms := make([]arm, len(e.Whens))
	for i, w := range e.Whens {
		cond, err := compile(w.Cond)
		if err != nil {
			return term{}, err
		}
		then, err := compile(w.Then)
		if err != nil {
			return term{}, err
		}
		arms[i] = arm{is: cond.asExpr(), when: cond.asPredicate(), then: then.asExpr()}
	}
	otherwise := constant(value.Value{}).expr
	if e.Else != nil {
		t, err := compile(e.Else)
		if err != nil {
			return term{}, err
		}
		otherwise = t.asExpr()
	}
	t := term{expr: func(ctx *Context, r row.Row) value.Value {
		var x value.Value
		if operand != nil {
			x = operand(ctx, r)
		}
		for i := range arms {
			var holds value.Tri
			if operand != nil {
				holds = equal.test(ctx, e, x, arms[i].is(ctx, r))
			} else {
				holds = arms[i].when(ctx, r)
			}
			if holds == value.True {
				return arms[i].then(ctx, r)
			}
		}
		return otherwise(ctx, r)
	}}
	return fold(t, parts...), nil
}
