package delegate

import "github.com/streamjoin/streamjoin/joinnode/internal/syntax"

// maxCost bounds the text that one expression may become. Without IN, BETWEEN
// and NULL in streamsql's conditions, operands are written several times, so
// that nested conditions grow as a power of their depth.
const maxCost = 50_000

// checkCost refuses expressions that would grow beyond reason.
func (c *compiler) checkCost() error {
	exprs := []syntax.Expr{c.stmt.Where, c.stmt.Having}
	for _, i := range c.stmt.Items {
		exprs = append(exprs, i.Expr)
	}
	exprs = append(exprs, c.stmt.GroupBy...)
	for _, e := range exprs {
		if e != nil && cost(e) > maxCost {
			return c.unsupported(e.Position(), "split it over several queries", "the expression is too complex")
		}
	}
	return nil
}

// cost is about the number of leaves of the rewritten expression.
func cost(e syntax.Expr) float64 {
	switch e := e.(type) {
	case *syntax.Unary:
		return 1 + cost(e.X)
	case *syntax.Binary:
		n := cost(e.X) + cost(e.Y)
		if isComparison(e.Op) {
			n *= 4
		}
		return n
	case *syntax.IsNull:
		return 2 * cost(e.X)
	case *syntax.Like:
		return 2 * (cost(e.X) + cost(e.Pattern))
	case *syntax.In:
		n := 0.0
		for _, v := range e.List {
			n += 4 * (cost(e.X) + cost(v))
		}
		return n
	case *syntax.Between:
		return 4 * (2*cost(e.X) + cost(e.Lo) + cost(e.Hi))
	case *syntax.Case:
		n := 1.0
		for _, w := range e.Whens {
			n += cost(w.Cond) + cost(w.Then)
			if e.Operand != nil {
				n += 4 * cost(e.Operand)
			}
		}
		if e.Else != nil {
			n += cost(e.Else)
		}
		return n
	case *syntax.Call:
		n := 1.0
		for _, a := range e.Args {
			n += 2 * cost(a)
		}
		return n
	case *syntax.GlobalWindow:
		if e.Trigger != nil {
			return cost(e.Trigger)
		}
	}
	return 1
}
