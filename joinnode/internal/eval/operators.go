package eval

import (
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// comparison is the set of orders for which a comparison holds: bit 0 less,
// bit 1 equal, bit 2 greater.
type comparison uint8

const (
	less comparison = 1 << iota
	equal
	greater
	unequal        = less | greater
	lessOrEqual    = less | equal
	greaterOrEqual = greater | equal
)

var comparisons = map[string]comparison{
	"=": equal, "!=": unequal, "<": less, "<=": lessOrEqual, ">": greater, ">=": greaterOrEqual,
}

// test compares a with b. NULL, NaN and operands of different kinds make it
// Unknown, and so does asking which of two objects is less. e is what the query
// has it in.
func (c comparison) test(ctx *Context, e syntax.Expr, a, b value.Value) value.Tri {
	t, mismatch := c.outcome(a, b)
	if mismatch {
		ctx.mismatch(e, a, b)
	}
	return t
}

func (c comparison) outcome(a, b value.Value) (t value.Tri, mismatch bool) {
	order, ok := value.Compare(a, b)
	switch {
	case !ok:
		return value.Unknown, value.Mismatch(a, b)
	case order == value.Unordered:
		if c == equal || c == unequal {
			return value.TriOf(c == unequal), false
		}
		return value.Unknown, true
	}
	return c.holds(order), false
}

var arithmetic = map[string]func(a, b value.Value) (value.Value, bool){
	"+": plus, "-": value.Sub, "*": value.Mul, "/": value.Div, "%": value.Mod,
}

// plus adds numbers and, as StreamSQL does, joins two texts.
func plus(a, b value.Value) (value.Value, bool) {
	v, mismatch := value.Add(a, b)
	if mismatch && a.Resolve().Kind == value.Text && b.Resolve().Kind == value.Text {
		return value.Concat(a, b), false
	}
	return v, mismatch
}

func (c *compiler) binary(e *syntax.Binary) (term, error) {
	if e.Op == "AND" || e.Op == "OR" {
		return c.logical(e)
	}
	if ns, ok := intervalOf(e); ok {
		return constant(value.OfInt(ns / int64(value.Millisecond))), nil
	}
	if x, ns, ok := shiftOf(e); ok {
		return c.shift(e, x, ns)
	}
	x, err := c.compile(e.X)
	if err != nil {
		return term{}, err
	}
	y, err := c.compile(e.Y)
	if err != nil {
		return term{}, err
	}
	var t term
	fx, fy := x.asExpr(), y.asExpr()
	if cmp, ok := comparisons[e.Op]; ok {
		if p := c.pair(e.X, e.Y); p.times {
			return fold(term{pred: p.predicate(cmp, e, x, y)}, x, y), nil
		}
		t.pred = func(ctx *Context, r row.Row) value.Tri { return cmp.test(ctx, e, fx(ctx, r), fy(ctx, r)) }
		if y.constant {
			right := y.val
			t.pred = func(ctx *Context, r row.Row) value.Tri { return cmp.test(ctx, e, fx(ctx, r), right) }
			if x.column {
				if pred, ok := cmp.withLimit(e, x.col, right); ok {
					t.pred = pred
				}
			}
		}
		return fold(t, x, y), nil
	}
	if apply, ok := arithmetic[e.Op]; ok {
		t.expr = func(ctx *Context, r row.Row) value.Value {
			x, y := fx(ctx, r), fy(ctx, r)
			v, mismatch := apply(x, y)
			if mismatch {
				ctx.mismatch(e, x, y)
			}
			return v
		}
		return fold(t, x, y), nil
	}
	if e.Op == "||" {
		t.expr = func(ctx *Context, r row.Row) value.Value { return value.Concat(fx(ctx, r), fy(ctx, r)) }
		return fold(t, x, y), nil
	}
	return term{}, errorAt(e.Pos, "unknown operator %s", e.Op)
}

// logical compiles a chain of one operator into one loop. The operands are
// evaluated from left to right until one decides, FALSE for AND, TRUE for OR;
// those behind it count nothing.
func (c *compiler) logical(e *syntax.Binary) (term, error) {
	terms, err := c.compileAll(chain(e))
	if err != nil {
		return term{}, err
	}
	preds := make([]Predicate, len(terms))
	for i, t := range terms {
		preds[i] = t.asPredicate()
	}
	decides, combine := value.False, value.And
	if e.Op == "OR" {
		decides, combine = value.True, value.Or
	}
	neutral := value.Not(decides)
	t := term{pred: func(ctx *Context, r row.Row) value.Tri {
		result := neutral
		for _, p := range preds {
			if result = combine(result, p(ctx, r)); result == decides {
				break
			}
		}
		return result
	}}
	return fold(t, terms...), nil
}

// chain lists the operands of e and of the operators of the same kind on its
// left, in source order.
func chain(e *syntax.Binary) []syntax.Expr {
	var reversed []syntax.Expr
	var x syntax.Expr = e
	for {
		b, ok := x.(*syntax.Binary)
		if !ok || b.Op != e.Op {
			break
		}
		reversed = append(reversed, b.Y)
		x = b.X
	}
	list := []syntax.Expr{x}
	for i := len(reversed) - 1; i >= 0; i-- {
		list = append(list, reversed[i])
	}
	return list
}
