package eval

import (
	"math"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
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
