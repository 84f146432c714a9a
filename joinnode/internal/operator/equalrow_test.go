package operator

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

func TestEqualRow(t *testing.T) {
	of := func(vs ...value.Value) (r row.Row) {
		for _, v := range vs {
			r = row.Append(r, v)
		}
		return r
	}
	number := func(s string) value.Value { return value.OfNumber([]byte(s)) }
	for _, same := range [][2]row.Row{
		{of(), of()},
		{of(value.OfInt(3)), of(value.OfFloat(3))},
		{of(number("1.50"), value.OfText("a")), of(number("1.5"), value.OfText("a"))},
		{of(value.OfInt(1), value.OfAny([]any{"x"})), of(value.OfInt(1), value.OfAny([]any{"x"}))},
	} {
		require.True(t, equalRow(same[0], same[1]))
	}
	for _, differ := range [][2]row.Row{
		{of(value.OfInt(3)), of(value.OfFloat(3.5))},
		{of(value.OfInt(3)), of(value.OfText("3"))},
		{of(value.OfInt(3)), of(value.OfInt(3), value.Value{})},
		{of(value.Value{}), of(value.OfInt(0))},
		{of(value.OfInt(1), value.OfAny([]any{"x"})), of(value.OfInt(1), value.OfAny([]any{"y"}))},
		{of(value.OfJSON([]byte(`{"a":1}`))), of(value.OfJSON([]byte(`{"a":2}`)))},
	} {
		require.False(t, equalRow(differ[0], differ[1]))
	}
}

// TestEqualRowComparesColumns: comparing bytes first changes nothing.
func TestEqualRowComparesColumns(t *testing.T) {
	texts := []string{"1", "1.0", "10e-1", "12345678901234567890", "12345678901234567890.0", "2"}
	values := rapid.OneOf(
		rapid.Map(rapid.SampledFrom(texts), func(s string) value.Value { return value.OfNumber([]byte(s)) }),
		rapid.Map(rapid.SampledFrom([]float64{1, 2, 1.5, 0, math.Copysign(0, -1), math.NaN(), math.Inf(1)}), value.OfFloat),
		rapid.Map(rapid.Int64Range(0, 2), value.OfInt),
		rapid.Map(rapid.SampledFrom([]string{"", "1", "a", "a text of more than fifteen bytes", "a text of more than fifteen bytez"}), value.OfText),
		rapid.Just(value.Value{}), rapid.Just(value.OfBool(true)),
	)
	rapid.Check(t, func(t *rapid.T) {
		var a, b row.Row
		for range rapid.IntRange(0, 4).Draw(t, "columns") {
			v := values.Draw(t, "value")
			a = row.Append(a, v)
			if rapid.IntRange(0, 3).Draw(t, "other") == 0 {
				v = values.Draw(t, "of b")
			}
			if rapid.IntRange(0, 9).Draw(t, "short") > 0 {
				b = row.Append(b, v)
			}
		}
		if rapid.Bool().Draw(t, "swap") {
			a, b = b, a
		}
		require.Equal(t, equalColumns(a, b), equalRow(a, b))
	})
}
