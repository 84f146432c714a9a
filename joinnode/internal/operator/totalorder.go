package operator

import (
	"bytes"
	"cmp"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// compareTotal orders any two values, where value.Compare leaves some pairs
// open: booleans, then numbers, text, times, and last objects and arrays, which
// among themselves have the order of their canonical forms. NULL and NaN are one
// value above all others. It is 0 exactly for values of one join key.
func compareTotal(a, b value.Value) int {
	if order, ok := value.Compare(a, b); ok && order != value.Unordered {
		return order
	}
	a, b = a.Resolve(), b.Resolve()
	ra, rb := rankOf(a), rankOf(b)
	if ra != rb || ra == rankNull {
		return cmp.Compare(ra, rb)
	}
	return bytes.Compare(value.AppendKey(nil, a), value.AppendKey(nil, b))
}

// The ranks of the kinds in the total order.
const (
	rankBool = iota
	rankNumber
	rankText
	rankTime
	rankJSON
	rankNull
)

// rankOf returns the rank of a resolved value.
func rankOf(v value.Value) int {
	switch v.Kind {
	case value.Null:
		return rankNull
	case value.Bool:
		return rankBool
	case value.Text:
		return rankText
	case value.JSON:
		return rankJSON
	case value.Any:
		if _, ok := v.Ref.(time.Time); ok {
			return rankTime
		}
		return rankJSON
	}
	if v.IsNaN() {
		return rankNull
	}
	return rankNumber
}

// isMissing tells whether v is NULL or NaN, which ORDER BY puts last and
// aggregates skip.
func isMissing(v value.Value) bool { return v.IsNull() || v.IsNaN() }
