package row_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// TestScalarsAreWrittenAsValuesAre: the short ways give the bytes of the long one.
func TestScalarsAreWrittenAsValuesAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i, f := rapid.Int64().Draw(t, "i"), rapid.Float64().Draw(t, "f")
		before := fromGo("x").Enc
		require.Equal(t, row.Append(row.Row{Enc: before}, value.OfInt(i)).Enc, row.AppendInt(before, i))
		require.Equal(t, row.Append(row.Row{Enc: before}, value.OfFloat(f)).Enc, row.AppendFloat(before, f))
	})
}

// TestScalarsAreReadAsValuesAre: of every kind of column.
func TestScalarsAreReadAsValuesAre(t *testing.T) {
	r := fromGo(goValues...)
	for i := range goValues {
		v := r.Col(i)
		x, ok := r.Int(i)
		require.Equal(t, v.Kind == value.Int, ok, "%v", goValues[i])
		if ok {
			require.Equal(t, v.Int(), x)
		}
		require.Equal(t, v.Kind, r.Kind(i), "%v", goValues[i])
	}
	_, ok := r.Int(len(goValues))
	require.False(t, ok)
	require.Equal(t, value.Null, r.Kind(len(goValues)))
}

// TestFloatComparesAsTheColumnDoes with every number that it is compared with.
func TestFloatComparesAsTheColumnDoes(t *testing.T) {
	is := map[any]bool{1.5: true, json.Number("1.50"): true, json.Number("-7"): true, math.Inf(1): true,
		float32(0.1): false, int64(3): false, uint8(3): false, "1": false, nil: false, math.NaN(): false,
		json.Number("1234567890123456"): false, json.Number("1e3"): false}
	for v, want := range is {
		r := fromGo("before", v)
		f, ok := r.Float(1)
		require.Equal(t, want, ok, "%v", v)
		if ok {
			order, comparable := value.Compare(r.Col(1), value.OfFloat(f))
			require.True(t, comparable)
			require.Zero(t, order, "%v", v)
		}
	}
	calculated := row.Row{Enc: row.AppendFloat(nil, 0.1)}
	f, ok := calculated.Float(0)
	require.True(t, ok, "a calculated number")
	require.InDelta(t, 0.1, f, 0)
	_, ok = calculated.Float(1)
	require.False(t, ok, "no such column")
}
