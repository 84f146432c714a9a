package eval

import (
	"cmp"
	"math"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// withLimit returns the predicate that compares a column with a constant number,
// as WHERE mostly does, and false when the constant is no number that a float64
// is exactly. A column that came as a short JSON number or a float64 is compared as
// it is encoded, without a Value of it; all others go the way of every comparison.
func (c comparison) withLimit(e syntax.Expr, col int, constant value.Value) (Predicate, bool) {
	var limit float64
	switch constant.Kind {
	case value.Int:
		limit = float64(constant.Int())
		if limit < -1<<53 || limit > 1<<53 {
			return nil, false
		}
	case value.Float:
		limit = constant.Float()
		if math.IsNaN(limit) {
			return nil, false
		}
	default:
		return nil, false
	}
	return func(ctx *Context, r row.Row) value.Tri {
		if f, ok := r.Float(col); ok {
			return c.holds(cmp.Compare(f, limit))
		}
		return c.test(ctx, e, r.Col(col), constant)
	}, true
}

// holds says whether the comparison is true of operands in that order.
func (c comparison) holds(order int) value.Tri { return value.TriOf(c>>(order+1)&1 != 0) }
