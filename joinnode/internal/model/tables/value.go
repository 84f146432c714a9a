package tables

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Values are nil, bool, int64, float64, string, []any and map[string]any.
// Floats in tests are exact binary fractions, so that sums of them are exact.

// normal brings a row's values into these types.
func normal(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case json.Number:
		if i, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return i
		}
		f, err := v.Float64()
		if err != nil {
			return nil
		}
		return f
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, x := range v {
			out[name] = normal(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = normal(x)
		}
		return out
	}
	return v
}

func isNumber(v any) bool {
	switch v.(type) {
	case int64, float64:
		return true
	}
	return false
}

func toFloat(v any) float64 {
	if i, ok := v.(int64); ok {
		return float64(i)
	}
	return v.(float64)
}

// compare orders two values of one kind; false where SQL says unknown.
func compare(l, r any) (int, bool) {
	switch l := l.(type) {
	case int64:
		if r, ok := r.(int64); ok {
			return cmp.Compare(l, r), true
		}
		if r, ok := r.(float64); ok {
			return cmp.Compare(float64(l), r), true
		}
	case float64:
		if isNumber(r) {
			return cmp.Compare(l, toFloat(r)), true
		}
	case string:
		if r, ok := r.(string); ok {
			return strings.Compare(l, r), true
		}
	case bool:
		if r, ok := r.(bool); ok {
			return cmp.Compare(bit(l), bit(r)), true
		}
	case []any, map[string]any:
		if l, r := text(l), text(r); l == r {
			return 0, true
		}
	}
	return 0, false
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// rank is the order of kinds where values of several must be ordered: numbers
// before text before truth values before the rest.
func rank(v any) int {
	switch v.(type) {
	case int64, float64:
		return 0
	case string:
		return 1
	case bool:
		return 2
	}
	return 3
}

// total orders any two values that are not NULL.
func total(l, r any) int {
	if d := cmp.Compare(rank(l), rank(r)); d != 0 {
		return d
	}
	if d, ok := compare(l, r); ok {
		return d
	}
	return strings.Compare(text(l), text(r))
}

// same says whether two values are equal, NULL being equal to NULL.
func same(l, r any) bool {
	if l == nil || r == nil {
		return l == nil && r == nil
	}
	d, ok := compare(l, r)
	return ok && d == 0
}

// sameRow compares two rows; a missing field is NULL.
func sameRow(l, r object) bool {
	if len(l) == len(r) {
		for name, v := range l {
			if w, ok := r[name]; !ok || !same(v, w) {
				return rowText(l) == rowText(r)
			}
		}
		return true
	}
	return rowText(l) == rowText(r)
}

// text spells a value so that equal values, and no others, are spelled alike:
// 1 and 1.0 are equal, "1" is neither.
func text(v any) string { return string(appendText(nil, v)) }

func appendText(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return strconv.AppendInt(b, int64(v), 10)
		}
		return strconv.AppendFloat(b, v, 'g', -1, 64)
	case string:
		return strconv.AppendQuote(b, v)
	case []any:
		b = append(b, '[')
		for i, x := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendText(b, x)
		}
		return append(b, ']')
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		b = append(b, '{')
		for i, name := range names {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(strconv.AppendQuote(b, name), ':')
			b = appendText(b, v[name])
		}
		return append(b, '}')
	}
	return fmt.Appendf(b, "%T(%v)", v, v)
}

// rowText is text of a row, with NULLs left out.
func rowText(r object) string {
	present := make(map[string]any, len(r))
	for name, v := range r {
		if v != nil {
			present[name] = v
		}
	}
	return text(present)
}

// arithmetic is + - * / % of numbers: integers stay integers, except under /
// and on overflow. NULL, and an operand that is no number, give NULL.
func arithmetic(op string, l, r any) any {
	if !isNumber(l) || !isNumber(r) {
		return nil
	}
	x, xInt := l.(int64)
	y, yInt := r.(int64)
	if xInt && yInt {
		switch op {
		case "+":
			if s := x + y; (s > x) == (y > 0) {
				return s
			}
		case "-":
			if d := x - y; (d < x) == (y > 0) {
				return d
			}
		case "*":
			if p := x * y; x == 0 || p/x == y && (x != -1 || y != math.MinInt64) {
				return p
			}
		case "%":
			if y == 0 {
				return nil
			}
			return x % y
		}
	}
	a, b := toFloat(l), toFloat(r)
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		if b != 0 {
			return a / b
		}
	case "%":
		if b != 0 {
			return math.Mod(a, b)
		}
	}
	return nil
}
