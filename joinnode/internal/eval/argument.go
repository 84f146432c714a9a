package eval

import (
	"encoding/json"
	"reflect"

	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// argument returns v as StreamSQL's functions expect it: integers as int64,
// other numbers as float64, JSON decoded, text as a string of its own. Numbers
// are treated alike inside of containers, because functions such as
// array_contains ask for equal Go values: 3 must be found in []int{3}, in the
// JSON array [3] and in [3.0].
func argument(v value.Value) any {
	v = v.Resolve()
	switch v.Kind {
	case value.Int, value.Uint, value.Float, value.Number:
		return numericArgument(v)
	case value.JSON, value.Any:
		return plain(v.ToGo(), 0)
	}
	return v.ToGo()
}

func numericArgument(v value.Value) any {
	if v.Kind == value.Float {
		return v.Float()
	}
	if i, ok := v.Int64(); ok {
		return i
	}
	if v.Kind == value.Uint {
		return v.Bits
	}
	if f, ok := v.Float64(); ok {
		return f
	}
	return string(v.Text)
}

// plain copies containers with plain numbers in them. What lies deeper than
// value.MaxDepth stays as it is.
func plain(x any, depth int) any {
	if depth > value.MaxDepth {
		return x
	}
	switch x := x.(type) {
	case nil, string, bool, float64, int64, []byte:
		return x
	case json.Number:
		return numericArgument(value.OfNumber([]byte(x)))
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, e := range x {
			out[k] = plain(e, depth+1)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = plain(e, depth+1)
		}
		return out
	}
	v := value.FromGo(x)
	switch v.Kind {
	case value.Int, value.Uint, value.Float:
		return numericArgument(v)
	case value.Any:
		if r := v.Resolve(); r.Kind != value.Any {
			return argument(r)
		}
	}
	if rv := reflect.ValueOf(x); rv.Kind() == reflect.Slice {
		out := make([]any, rv.Len())
		for i := range out {
			out[i] = plain(rv.Index(i).Interface(), depth+1)
		}
		return out
	}
	return x
}
