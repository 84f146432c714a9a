package operator

import (
	"testing"

	"github.com/stretchr/testify/require"

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
