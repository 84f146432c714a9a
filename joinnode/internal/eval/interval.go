package eval

import (
	"math"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// intervalOf returns the length, in ns, of an INTERVAL or of a sum or difference
// of intervals; false for any other expression. It saturates.
func intervalOf(e syntax.Expr) (ns int64, ok bool) {
	switch e := e.(type) {
	case *syntax.Interval:
		return e.D, true
	case *syntax.Unary:
		if e.Op == "NOT" {
			return 0, false
		}
		ns, ok = intervalOf(e.X)
		if e.Op == "-" {
			ns = saturated(0, -1, ns)
		}
		return ns, ok
	case *syntax.Binary:
		sign := int64(1)
		switch e.Op {
		case "+":
		case "-":
			sign = -1
		default:
			return 0, false
		}
		y, ok := intervalOf(e.Y)
		if !ok {
			return 0, false
		}
		x, ok := intervalOf(e.X)
		return saturated(x, sign, y), ok
	}
	return 0, false
}

// saturated returns x + y, or x − y when sign is −1, or the nearest int64.
func saturated(x, sign, y int64) int64 {
	if sign < 0 {
		if y == math.MinInt64 {
			if x >= 0 {
				return math.MaxInt64
			}
			return x - y
		}
		y = -y
	}
	switch sum := x + y; {
	case y > 0 && sum < x:
		return math.MaxInt64
	case y < 0 && sum > x:
		return math.MinInt64
	default:
		return sum
	}
}

// shiftOf takes x ± INTERVAL and INTERVAL + x apart; false for anything else.
func shiftOf(e *syntax.Binary) (x syntax.Expr, ns int64, ok bool) {
	if ns, ok = intervalOf(e.Y); ok {
		switch e.Op {
		case "+":
			return e.X, ns, true
		case "-":
			return e.X, saturated(0, -1, ns), true
		}
	}
	if ns, ok = intervalOf(e.X); ok && e.Op == "+" {
		return e.Y, ns, true
	}
	return nil, 0, false
}

// shift compiles x ± INTERVAL: a time in epoch milliseconds, an integer unless x has
// a fraction of them. What is no time is a mismatch; the sum saturates.
func (c *compiler) shift(e *syntax.Binary, base syntax.Expr, by int64) (term, error) {
	x, err := c.compile(base)
	if err != nil {
		return term{}, err
	}
	unit, at := UnitOf(base, c.scope), x.asMoments()
	t := term{at: func(ctx *Context, r row.Row) moment {
		m := at(ctx, r)
		ns, ok := m.time(unit)
		if !ok {
			if !m.v.Resolve().IsNull() && !m.v.IsNaN() {
				ctx.mismatchOf(e, m.v)
			}
			return moment{}
		}
		ns = saturated(ns, 1, by)
		return moment{v: milliseconds(ns), ns: ns, exact: true}
	}}
	shifted := t.at
	t.expr = func(ctx *Context, r row.Row) value.Value { return shifted(ctx, r).v }
	return fold(t, x), nil
}

func milliseconds(ns int64) value.Value {
	if ns%int64(value.Millisecond) == 0 {
		return value.OfInt(ns / int64(value.Millisecond))
	}
	return value.OfFloat(float64(ns) / float64(value.Millisecond))
}
