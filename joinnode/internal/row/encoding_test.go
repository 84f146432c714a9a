package row_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

type celsius float64

// goValues has one of every kind and Go type that Append tells apart, and the
// lengths at which the encoding changes.
var goValues = []any{
	nil, true, false,
	int(-1), int8(math.MinInt8), int16(300), int32(-70000), int64(math.MinInt64), int64(math.MaxInt64),
	uint(7), uint8(255), uint16(65535), uint32(math.MaxUint32), uint64(math.MaxUint64), uint64(math.MaxInt64), uintptr(9),
	float32(0.1), 80.5, math.Inf(-1), math.Copysign(0, -1), math.SmallestNonzeroFloat64,
	json.Number("80.50"), json.Number("12345678901234"), json.Number("123456789012345"), json.Number("1e400"),
	"", "plain", "fourteen bytes", "fifteen bytes..", "quote \" and é", "\xff", strings.Repeat("x", 300), strings.Repeat("long\n", 30000),
	time.Unix(1, 2).UTC(), []byte{1, 2}, celsius(3), []any{1, "a"}, map[string]any{"k": 1}, [2]int{1, 2}, struct{ A int }{4},
}

func fromGo(vs ...any) row.Row {
	var r row.Row
	for _, v := range vs {
		r = row.Append(r, value.FromGo(v))
	}
	return r
}

func TestColumnsKeepGoTypeAndSpelling(t *testing.T) {
	r := fromGo(goValues...)
	require.Equal(t, len(goValues), r.Len())
	require.Equal(t, goValues, values(r))
	for i, want := range goValues {
		got := r.Col(i).ToGo()
		require.Equal(t, want, got, "column %d", i)
		require.Equal(t, reflect.TypeOf(want), reflect.TypeOf(got), "column %d", i)
	}
}

func TestPlainAndJSONSurvive(t *testing.T) {
	var r row.Row
	r = row.Append(r, value.OfBytes([]byte("x"), true))
	r = row.Append(r, value.OfBytes([]byte("x"), false))
	r = row.Append(r, value.OfJSON([]byte(`{"a":1}`)))
	require.Equal(t, value.OfBytes([]byte("x"), true), r.Col(0))
	require.Equal(t, value.OfBytes([]byte("x"), false), r.Col(1))
	require.Equal(t, value.OfJSON([]byte(`{"a":1}`)), r.Col(2))
}

// The sizes are what a buffered row costs: they are part of the contract with
// the arena (48 B a row for two columns, issue 3).
func TestEncodedSizes(t *testing.T) {
	for _, c := range []struct {
		v    any
		size int
	}{
		{nil, 1}, {true, 1}, {int64(5), 2}, {-64, 2}, {64, 3}, {80.5, 9}, {json.Number("80.50"), 6},
		{"device-00042", 13}, {"fourteen bytes", 15}, {"fifteen bytes..", 17}, {time.Time{}, 1},
	} {
		require.Len(t, fromGo(c.v).Enc, c.size, "%v", c.v)
	}
}

func TestColumnsOutsideTheRowAreNull(t *testing.T) {
	r := fromGo(1, "a")
	for _, i := range []int{-1, 2, 100} {
		require.Equal(t, value.Value{}, r.Col(i))
		require.Equal(t, len(r.Enc), r.Offset(i))
	}
	require.Zero(t, row.Row{}.Len())
	require.Equal(t, value.Value{}, row.Row{}.Col(0))
}

func TestSlice(t *testing.T) {
	r := fromGo("a", []any{1}, 2, time.Unix(5, 0), nil)
	require.Equal(t, []any{[]any{1}, 2, time.Unix(5, 0)}, values(r.Slice(1, 4)))
	require.Equal(t, values(r), values(r.Slice(0, 99)))
	require.Empty(t, values(r.Slice(3, 3)))
	require.Empty(t, values(r.Slice(4, 2)))

	appended := row.Append(r.Slice(0, 1), value.OfInt(7))
	require.Equal(t, 2, appended.Len())
	require.Equal(t, []any{[]any{1}, 2, time.Unix(5, 0)}, values(r.Slice(1, 4)), "appending to a slice left the row alone")
}

func TestRowsConcatenateWithoutSide(t *testing.T) {
	a, b := fromGo(1, "x"), fromGo(json.Number("2.50"), nil, false)
	joined := row.Row{Enc: append(append([]byte(nil), a.Enc...), b.Enc...)}
	require.Equal(t, []any{1, "x", json.Number("2.50"), nil, false}, values(joined))
	require.Equal(t, joined, row.AppendRow(a, b))
}

func TestAppendColumnsCopiesInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := rapid.SliceOfN(rapid.SampledFrom(goValues), 0, 8)
		have, src := pick.Draw(t, "dst"), pick.Draw(t, "src")
		cols := rapid.SliceOf(rapid.IntRange(-1, 9)).Draw(t, "cols")

		want := append([]any(nil), have...)
		for _, c := range cols {
			if c >= 0 && c < len(src) {
				want = append(want, src[c])
			} else {
				want = append(want, nil)
			}
		}
		srcRow := fromGo(src...)
		require.Equal(t, want, values(row.AppendColumns(fromGo(have...), srcRow, cols)))
		require.Equal(t, append(append([]any(nil), have...), src...), values(row.AppendRow(fromGo(have...), srcRow)))
		require.Equal(t, src, append([]any{}, values(srcRow)...), "the source is as it was")
	})
}

func TestCopyingColumnsDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("allocation counts differ under the race detector")
	}
	src := fromGo("device-00042", json.Number("80.50"), 5, nil)
	cols := []int{0, 2, 3}
	var dst row.Row
	copyColumns := func() {
		dst.Enc = dst.Enc[:0]
		dst = row.AppendColumns(row.AppendRow(dst, src), src, cols)
	}
	copyColumns()
	require.Zero(t, testing.AllocsPerRun(100, copyColumns))
}

// FuzzRow reads arbitrary bytes as a row: whatever they are, every way of
// reading ends, agrees with the others, and does not panic.
func FuzzRow(f *testing.F) {
	f.Add([]byte(nil), 0)
	f.Add(fromGo(goValues[:30]...).Enc, 3)
	f.Add([]byte{0xF5, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01}, 0) // a length beyond int64
	f.Add([]byte{0x02, 0x80, 0x80}, 0)                                                 // a varint without end
	f.Add([]byte{0x02, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F}, 0) // a varint beyond int64
	f.Add([]byte{0x04, 1, 2}, 0)                                                       // half a float
	f.Add([]byte{0x18}, 0)                                                             // Side is empty
	f.Add([]byte{0x0F, 0x00}, 1)                                                       // no such kind
	f.Fuzz(func(t *testing.T, enc []byte, i int) {
		r := row.Row{Enc: enc, Side: []any{"side"}}
		n := 0
		last := value.Value{}
		r.Walk(func(k int, v value.Value) {
			require.Equal(t, n, k)
			n++
			if k == i {
				last = v
			}
		})
		require.Equal(t, n, r.Len())
		require.Equal(t, last, r.Col(i))
		require.Equal(t, n, r.Slice(0, n).Len())
		require.Equal(t, n, row.AppendRow(row.Row{}, r).Len())

		copied := row.AppendColumns(row.Row{}, r, []int{i, 0, i})
		require.Equal(t, 3, copied.Len())
		require.Equal(t, r.Col(0), copied.Col(1))
		require.Equal(t, r.Col(i), copied.Col(2))

		// What was read can be written again.
		var again row.Row
		r.Walk(func(_ int, v value.Value) { again = row.Append(again, v) })
		again.Walk(func(k int, v value.Value) { require.Equal(t, r.Col(k), v) })
	})
}
