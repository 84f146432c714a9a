package eval

import (
	"encoding/json"
	"reflect"

	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// conversion makes the argument of a function out of a value.
type conversion struct {
	// integral turns floats that are integers into int64 too. The array
	// functions ask for equal Go values: 3 is to be found in []float64{3}, in
	// []int{3} and in the JSON array [3.0].
	integral bool
}

// argument returns v as StreamSQL's functions expect it: integers as int64,
// other numbers as float64, in containers as well; JSON decoded; named types as
// what they are made of; text as a string of its own.
func (c conversion) argument(v value.Value) any {
	v = v.Resolve()
	switch v.Kind {
	case value.Int, value.Uint, value.Float, value.Number:
		return c.number(v)
	case value.JSON, value.Any:
		return c.plain(v.ToGo(), 0)
	}
	return v.ToGo()
}

func (c conversion) number(v value.Value) any {
	if v.Kind == value.Float && !c.integral {
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
func (c conversion) plain(x any, depth int) any {
	if depth > value.MaxDepth {
		return x
	}
	switch x := x.(type) {
	case nil, string, bool, []byte:
		return x
	case json.Number:
		return c.number(value.OfNumber([]byte(x)))
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, e := range x {
			out[k] = c.plain(e, depth+1)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = c.plain(e, depth+1)
		}
		return out
	}
	v := value.FromGo(x).Resolve()
	if v.Kind == value.JSON {
		return c.plain(v.ToGo(), depth+1)
	}
	if v.Kind != value.Any {
		return c.argument(v)
	}
	if rv := reflect.ValueOf(x); rv.Kind() == reflect.Slice {
		out := make([]any, rv.Len())
		for i := range out {
			out[i] = c.plain(rv.Index(i).Interface(), depth+1)
		}
		return out
	}
	return v.Ref
}
