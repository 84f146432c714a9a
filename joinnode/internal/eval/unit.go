package eval

import (
	"strings"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// UnitOf returns the unit of the times that e computes as numbers; AutoUnit when
// the unit has to be guessed from each number, or e computes no times. A column
// has the unit that s says, a function of the time package that of its result, a
// time that an INTERVAL or a literal number was added to or subtracted from has
// milliseconds or its own. COALESCE has the unit of its arguments when they have
// one unit, where literals count for nothing, as in comparisons.
func UnitOf(e syntax.Expr, s Scope) value.Unit {
	switch e := e.(type) {
	case *syntax.Column:
		if s.Unit != nil {
			return s.Unit(e)
		}
	case *syntax.Binary:
		return unitOfSum(e, s)
	case *syntax.Call:
		if f, ok := timeFunctionOf(e.Name); ok {
			return f.unit
		}
		if name := strings.ToLower(e.Name); name == "coalesce" || name == "if_null" {
			return commonUnit(e.Args, s)
		}
	}
	return value.AutoUnit
}

func unitOfSum(e *syntax.Binary, s Scope) value.Unit {
	x, y := e.X, e.Y
	switch {
	case e.Op == "+":
		if _, leads := intervalOf(x); leads || isNumber(x) {
			x, y = y, x
		}
	case e.Op != "-":
		return value.AutoUnit
	}
	if isNumber(y) {
		return UnitOf(x, s)
	}
	if _, ok := intervalOf(y); !ok {
		return value.AutoUnit
	}
	if _, ok := intervalOf(x); ok {
		return value.AutoUnit // a length, no time
	}
	return value.Millisecond
}

// commonUnit returns the unit that all of list have, literals aside.
func commonUnit(list []syntax.Expr, s Scope) value.Unit {
	common := value.AutoUnit
	for _, e := range list {
		if _, null := e.(*syntax.Null); null || isNumber(e) {
			continue
		}
		switch unit := UnitOf(e, s); {
		case unit == value.AutoUnit, common != value.AutoUnit && common != unit:
			return value.AutoUnit
		default:
			common = unit
		}
	}
	return common
}

// isNumber reports whether e is a number as written, signed or not.
func isNumber(e syntax.Expr) bool {
	if u, ok := e.(*syntax.Unary); ok && u.Op != "NOT" {
		e = u.X
	}
	_, ok := e.(*syntax.Number)
	return ok
}
