package row_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// TestOffsetsAreThoseOfEachColumn: also of columns that the row does not have.
func TestOffsetsAreThoseOfEachColumn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r row.Row
		for range rapid.IntRange(0, 6).Draw(t, "columns") {
			r = row.Append(r, rapid.SampledFrom([]value.Value{
				{}, value.OfBool(true), value.OfInt(-70000), value.OfFloat(1.5), value.OfText("a text longer than fifteen bytes"),
				value.OfText(""), value.OfNumber([]byte("80.50")), value.OfAny([]any{1}),
			}).Draw(t, "value"))
		}
		n := rapid.IntRange(0, 8).Draw(t, "n")
		at := r.AppendOffsets([]int{-1}, n)
		require.Len(t, at, n+2)
		for i, off := range at[1:] {
			require.Equal(t, r.Offset(i), off)
		}
	})
}
