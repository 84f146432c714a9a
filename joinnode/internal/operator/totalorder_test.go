package operator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// TestTotalOrder: any values can be sorted, and equal are those of one join key.
func TestTotalOrder(t *testing.T) {
	type word string
	at := time.Unix(1700000000, 0)
	rising := [][]any{ // equal values together
		{false}, {true},
		{math.Inf(-1)}, {-1, -1.0, json.Number("-1.0")}, {0.5}, {int64(math.MaxInt64)}, {uint64(math.MaxUint64)}, {json.Number("1e400")}, {math.Inf(1)},
		{"", []byte{}}, {"10"}, {"9", word("9")},
		{at, at.UTC()}, {at.Add(1)},
		{map[string]any{"a": 1}, map[string]any{"a": 1.0}, json.RawMessage(`{"a":1}`)}, {map[string]any{"a": "x"}}, {[]any{1}},
		{nil, math.NaN(), (*int)(nil)},
	}
	for i, equal := range rising {
		for k, other := range rising {
			for _, a := range equal {
				for _, b := range other {
					va, vb := value.FromGo(a), value.FromGo(b)
					got := compareTotal(va, vb)
					switch {
					case i < k:
						require.Negative(t, got, "%v before %v", a, b)
					case i > k:
						require.Positive(t, got, "%v after %v", a, b)
					default:
						require.Zero(t, got, "%v and %v", a, b)
					}
					require.Equal(t, i == k, bytes.Equal(value.AppendKey(nil, va), value.AppendKey(nil, vb)), "keys of %v and %v", a, b)
				}
			}
		}
	}
}

func TestTotalOrderIsTransitive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) value.Value {
			return value.FromGo(rapid.OneOf(
				rapid.Just[any](nil), rapid.Just[any](map[string]any{"x": 1}),
				rapid.Map(rapid.Float64(), func(f float64) any { return f }),
				rapid.Map(rapid.Float32(), func(f float32) any { return f }),
				rapid.Map(rapid.Int64(), func(i int64) any { return i }),
				rapid.Map(rapid.IntRange(-99, 99), func(i int) any { return json.Number(fmt.Sprint(i, "e-1")) }),
				rapid.Map(rapid.String(), func(s string) any { return s }),
				rapid.Map(rapid.Bool(), func(b bool) any { return b }),
			).Draw(t, name))
		}
		a, b, c := draw("a"), draw("b"), draw("c")
		require.Equal(t, compareTotal(a, b), -compareTotal(b, a))
		if compareTotal(a, b) <= 0 && compareTotal(b, c) <= 0 {
			require.LessOrEqual(t, compareTotal(a, c), 0)
		}
	})
}
