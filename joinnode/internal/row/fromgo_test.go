package row_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

type (
	siteName string
	sensor   struct {
		Name   string
		Limits map[siteName]float32
		Next   *sensor
		secret int
	}
	wrapped struct {
		*sensor
		Extra int
	}
)

func TestMapFollowsPaths(t *testing.T) {
	at := time.Unix(1, 0).UTC()
	temperature := 80.5
	var nobody *sensor
	var any3 any = 3
	m := map[string]any{
		"i8": int8(5), "f": 80.5, "n": json.Number("80.50"), "s": "text", "b": false, "null": nil, "t": at, "bytes": []byte{1},
		"nested": map[string]any{"a": map[string]any{"b": uint16(7)}, "0": "member"},
		"a.b":    "flat", "": "empty", "7": "seven",
		"list":   []any{1, []any{2, 3}, map[string]any{"x": "y"}},
		"floats": []float64{1.5, 2.5},
		"array":  [2]string{"p", "q"},
		"ints":   map[string]int{"a": 1},
		"sites":  map[siteName]any{"hall": map[string]string{"k": "v"}},
		"byInt":  map[int]string{-1: "minus one"},
		"byU8":   map[uint8]string{1: "one"},
		"yaml":   map[any]any{"k": "v", 2: "two", "3": "three"},
		"sensor": &sensor{Name: "n", Limits: map[siteName]float32{"max": 1.5}, Next: &sensor{Name: "m"}, secret: 1},
		"nobody": nobody, "wrapped": wrapped{Extra: 1}, "ptr": &temperature, "ptrptr": &any3,
		"raw": json.RawMessage(` {"a":[1,{"b":80.50}],"u":"\u00e9"} `), "rawList": []any{json.RawMessage(`[1,2]`)},
		"rawText": json.RawMessage(`"x"`), "rawEmpty": json.RawMessage(nil), "chan": make(chan int),
	}
	for _, c := range []struct {
		path row.Path
		want any
	}{
		{path("i8"), int8(5)}, {path("f"), 80.5}, {path("n"), json.Number("80.50")}, {path("s"), "text"}, {path("b"), false},
		{path("null"), nil}, {path("t"), at}, {path("bytes"), []byte{1}}, {path("bytes", 0), uint8(1)},
		{path("missing"), nil}, {path("S"), nil},
		{path("nested", "a", "b"), uint16(7)}, {path("nested", "a"), map[string]any{"b": uint16(7)}},
		{path("nested", 0), "member"}, {path("nested", "a", "b", "c"), nil}, {path("nested", "x", "y"), nil},
		{path("a.b"), "flat"}, {path("a", "b"), nil}, {path(""), "empty"}, {path(7), "seven"},
		{path("list", 0), 1}, {path("list", 1, -1), 3}, {path("list", -1, "x"), "y"}, {path("list", 3), nil}, {path("list", -4), nil},
		{path("list", "0"), nil}, {path("list", "x"), nil},
		{path("floats", -1), 2.5}, {path("floats", 2), nil}, {path("array", 1), "q"}, {path("array", "1"), nil},
		{path("ints", "a"), 1}, {path("ints", "b"), nil}, {path("sites", "hall", "k"), "v"},
		{path("byInt", -1), "minus one"}, {path("byInt", "-1"), nil}, {path("byU8", 1), "one"}, {path("byU8", -1), nil}, {path("byU8", 257), nil},
		{path("yaml", "k"), "v"}, {path("yaml", 2), "two"}, {path("yaml", 3), "three"}, {path("yaml", "2"), nil},
		{path("sensor", "Name"), "n"}, {path("sensor", "Limits", "max"), float32(1.5)}, {path("sensor", "Next", "Name"), "m"},
		{path("sensor", "Next", "Next", "Name"), nil}, {path("sensor", "secret"), nil}, {path("sensor", "name"), nil},
		{path("nobody"), nil}, {path("nobody", "Name"), nil}, {path("wrapped", "Extra"), 1}, {path("wrapped", "Name"), nil},
		{path("f", "x"), nil}, {path("s", 0), nil}, {path("t", "wall"), nil},
		{path("raw", "a", -1, "b"), json.Number("80.50")}, {path("raw", "u"), "é"}, {path("raw", "x"), nil},
		{path("raw"), decode(t, []byte(`{"a":[1,{"b":80.50}],"u":"é"}`))},
		{path("rawList", 0, 1), json.Number("2")}, {path("rawText"), "x"}, {path("rawEmpty"), nil}, {path("rawEmpty", "a"), nil},
		{path("chan", "x"), nil},
	} {
		r, err := row.NewExtractor([]row.Path{c.path}).Map(row.Row{}, m)
		require.NoError(t, err)
		require.Equal(t, 1, r.Len())
		require.Equal(t, c.want, r.Col(0).ToGo(), "%v", c.path)
	}
}

func TestMapAppendsAllColumnsInOrder(t *testing.T) {
	m := map[string]any{"a": 1, "b": math.MaxUint64 - uint64(1), "c": []any{1}}
	r, err := row.NewExtractor([]row.Path{path("b"), path("c"), path("x"), path("a"), path(), path("c", 0)}).Map(fromGo("first"), m)
	require.NoError(t, err)
	require.Equal(t, []any{"first", math.MaxUint64 - uint64(1), []any{1}, nil, 1, m, 1}, values(r))

	r, err = row.NewExtractor([]row.Path{path("a")}).Map(row.Row{}, nil)
	require.NoError(t, err)
	require.Equal(t, []any{nil}, values(r))
}

func TestMapCopiesDeeply(t *testing.T) {
	inner := []any{1, map[string]any{"x": 1}}
	typed := map[string][]int{"k": {1, 2}}
	raw := json.RawMessage(`{"a":1}`)
	m := map[string]any{"list": inner, "typed": typed, "raw": raw, "s": "x"}
	r, err := row.NewExtractor([]row.Path{path("list"), path("typed"), path("raw"), path(), path("typed", "k")}).Map(row.Row{}, m)
	require.NoError(t, err)

	inner[1].(map[string]any)["x"] = 2
	inner[0] = "changed"
	typed["k"][0] = 99
	typed["new"] = nil
	copy(raw, `{"b":2}`)
	m["s"], m["new"] = "y", true

	list, k := []any{1, map[string]any{"x": 1}}, map[string][]int{"k": {1, 2}}
	require.Equal(t, []any{
		list, k, map[string]any{"a": json.Number("1")},
		map[string]any{"list": list, "typed": k, "raw": json.RawMessage(`{"a":1}`), "s": "x"},
		[]int{1, 2},
	}, values(r))
}

func TestMapRefuses(t *testing.T) {
	loop := map[string]any{}
	loop["self"] = loop
	for _, c := range []struct {
		m    map[string]any
		path row.Path
		is   error
		text string
	}{
		{map[string]any{"a": json.RawMessage(`{"x":}`)}, path("a", "y"), row.ErrJSON, "column a.y: invalid JSON message: unexpected '}'"},
		{map[string]any{"a": []any{json.RawMessage(`1 2`)}}, path("a", 0), row.ErrJSON, "column a[0]: "},
		{loop, path("self"), value.ErrTooDeep, "column self: "},
		{loop, path(), value.ErrTooDeep, "the row: "},
	} {
		have := fromGo(1)
		r, err := row.NewExtractor([]row.Path{path("other"), c.path}).Map(have, c.m)
		require.ErrorIs(t, err, c.is)
		require.ErrorContains(t, err, c.text)
		require.Equal(t, have, r)
	}
	// What no column needs is not looked at.
	r, err := row.NewExtractor([]row.Path{path("self", "self", "x")}).Map(row.Row{}, loop)
	require.NoError(t, err)
	require.Equal(t, []any{nil}, values(r))
}

func TestMapEndsOnPointerCycles(t *testing.T) {
	var p any
	p = &p
	r, err := row.NewExtractor([]row.Path{path("p", "x")}).Map(row.Row{}, map[string]any{"p": p})
	require.NoError(t, err)
	require.Equal(t, []any{nil}, values(r))
}

// Both ways in give the same columns.
func TestMapAgreesWithJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var paths []row.Path
		for range rapid.IntRange(0, 8).Draw(t, "columns") {
			paths = append(paths, genPath(t))
		}
		x := row.NewExtractor(paths)
		msg := []byte(genObject(t, 4))
		fromJSON, err := x.JSON(row.Row{}, msg, new(row.Scratch))
		require.NoError(t, err)
		fromMap, err := x.Map(row.Row{}, decode(t, msg).(map[string]any))
		require.NoError(t, err)
		require.Equal(t, values(fromJSON), values(fromMap))
	})
}

func TestMapOfScalarsDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("allocation counts differ under the race detector")
	}
	m := map[string]any{"deviceId": "device-00042", "ts": int64(1722945600123), "temperature": 80.5, "n": map[string]any{"x": 1}}
	x := row.NewExtractor([]row.Path{path("deviceId"), path("ts"), path("temperature"), path("n", "x")})
	var r row.Row
	run := func() {
		var err error
		if r, err = x.Map(row.Row{Enc: r.Enc[:0]}, m); err != nil {
			t.Fatal(err)
		}
	}
	run()
	require.Zero(t, testing.AllocsPerRun(100, run))
}

func BenchmarkExtractMap(b *testing.B) {
	var m map[string]any
	if err := json.NewDecoder(strings.NewReader(message)).Decode(&m); err != nil {
		b.Fatal(err)
	}
	x := row.NewExtractor([]row.Path{path("deviceId"), path("ts"), path("temperature")})
	var r row.Row
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if r, err = x.Map(row.Row{Enc: r.Enc[:0]}, m); err != nil {
			b.Fatal(err)
		}
	}
}
