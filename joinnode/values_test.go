package joinnode_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode"
)

type celsius float64

type place struct {
	Lat float64 `json:"lat"`
	Lon float64 `json:"lon"`
}

// TestGoValuesLeaveAsTheyCame: what enters through EmitTo has the same Go type
// in a sink's map (§7).
func TestGoValuesLeaveAsTheyCame(t *testing.T) {
	instant := time.Date(2023, 11, 14, 22, 13, 20, 5, time.UTC)
	values := []any{
		int8(-3), int16(3), int32(3), int64(math.MinInt64), 3, uint8(3), uint16(3), uint32(3), uint64(math.MaxUint64), uint(3),
		float32(0.1), 0.1, 1.0, math.MaxFloat64, true, "text", "", nil,
		json.Number("80.50"), json.Number("9007199254740993"),
		instant, celsius(36.6), place{1, 2}, []any{1, "x", nil}, map[string]any{"x": []any{int8(1)}}, []string{"a"}, []byte("raw"), time.Second,
	}
	e := joinnode.New(joinnode.WithDiscardLog())
	require.NoError(t, e.Execute(`SELECT a.v, b.v AS w FROM sa AS a JOIN sb AS b WITHIN 1 HOUR ON a.k = b.k`))
	var got []map[string]any
	e.AddSink(func(rows []map[string]any) { got = append(got, rows...) })
	for i, v := range values {
		require.NoError(t, e.EmitTo("sa", map[string]any{"k": i, "v": v}))
		require.NoError(t, e.EmitTo("sb", map[string]any{"k": i, "v": v}))
	}
	e.Stop()
	require.Len(t, got, len(values))
	for i, v := range values {
		require.Equal(t, map[string]any{"v": v, "w": v}, got[i], "%T", v)
	}
}

// TestJSONNumbersLeaveAsTheyCame: a JSON number is a json.Number in a sink's
// map, spelled as it came.
func TestJSONNumbersLeaveAsTheyCame(t *testing.T) {
	e := joinnode.New(joinnode.WithDiscardLog())
	require.NoError(t, e.Execute(`SELECT a.v, a.o FROM sa AS a LEFT JOIN sb AS b WITHIN 1 HOUR ON a.k = b.k`))
	var got []map[string]any
	e.AddSink(func(rows []map[string]any) { got = append(got, rows...) })
	require.NoError(t, e.EmitJSON("sa", []byte(`[{"v":80.50,"o":{"n":[1.0,"x",null]}},{"v":9007199254740993}]`)))
	e.Stop()
	require.Equal(t, []map[string]any{
		{"v": json.Number("80.50"), "o": map[string]any{"n": []any{json.Number("1.0"), "x", nil}}},
		{"v": json.Number("9007199254740993"), "o": nil},
	}, got)
}

// TestSinksSeeTheSame: every kind of sink gets every result, in one order.
func TestSinksSeeTheSame(t *testing.T) {
	e := joinnode.New(joinnode.WithDiscardLog())
	require.NoError(t, e.Execute(`SELECT a.id AS aid, b.id AS bid FROM sa AS a LEFT JOIN sb AS b WITHIN 1 HOUR ON a.k = b.k`))
	var maps, sync, bytes, results []string
	write := func(into *[]string) func([]map[string]any) {
		return func(rows []map[string]any) {
			text, err := json.Marshal(rows)
			if err != nil {
				t.Error(err)
			}
			*into = append(*into, string(text))
		}
	}
	e.AddSink(write(&maps))
	e.AddSyncSink(write(&sync))
	e.AddJSONSink(func(text []byte) { bytes = append(bytes, string(text)) })
	e.AddResultSink(func(r joinnode.Result) { results = append(results, string(r.JSON)) })
	var want []string
	for i, id := range []string{"a0", "a1", "a2"} {
		require.NoError(t, e.EmitTo("sa", map[string]any{"id": id, "k": i}))
		want = append(want, `[{"aid":"`+id+`","bid":null}]`)
	}
	e.Stop()
	require.Equal(t, want, maps)
	require.Equal(t, want, sync)
	require.Equal(t, want, bytes)
	require.Equal(t, want, results)
}

// TestUnregisteredTable: a JOIN without WITHIN is a stream-table join, and a
// table nobody registered is an error that names WITHIN (§8).
func TestUnregisteredTable(t *testing.T) {
	e := joinnode.New(joinnode.WithDiscardLog())
	defer e.Stop()
	err := e.Execute(`SELECT a.x FROM sa AS a JOIN devices AS d ON a.k = d.k`)
	if err == nil {
		err = e.EmitTo("sa", map[string]any{"k": 1})
	}
	require.ErrorContains(t, err, "not registered")
	require.ErrorContains(t, err, "WITHIN")
}
