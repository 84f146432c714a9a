package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type broken struct{}

func (broken) MarshalJSON() ([]byte, error) { return nil, errors.New("broken") }

type panicking struct{ X int }

func (panicking) MarshalJSON() ([]byte, error) { panic("oops") }

type word struct{ s string }

func (w word) MarshalText() ([]byte, error) { return []byte(w.s), nil }

func TestGoValuesComeBackAsTheyWent(t *testing.T) {
	five := 5
	values := []any{
		nil, true, false, "", "text", "a\x00b",
		int(-5), int8(-5), int16(-5), int32(-5), int64(math.MinInt64), uint(5), uint8(5), uint16(5), uint32(5), uint64(5), uint64(math.MaxUint64), uintptr(5),
		float32(0.1), 0.1, math.Inf(-1), 1e300,
		json.Number("80.50"), json.Number("1e400"), json.Number("not a number"), json.Number(""),
		time.Unix(5, 7), time.Second, json.RawMessage(`{"a":1}`), []byte("bytes"),
		[]any{1, "x"}, map[string]any{"a": 1}, []int{1}, map[string]string{"a": "b"}, [2]int{1, 2},
		celsius(80.5), label("x"), &five, struct{ A int }{1}, word{"w"},
	}
	for _, x := range values {
		t.Run(fmt.Sprintf("%T %v", x, x), func(t *testing.T) {
			require.Equal(t, x, FromGo(x).ToGo())
		})
	}
	require.True(t, math.IsNaN(FromGo(math.NaN()).ToGo().(float64)))
	for _, null := range []any{(*int)(nil), []any(nil), map[string]any(nil), (*time.Time)(nil), []byte(nil), (func())(nil), (chan int)(nil), error(nil)} {
		v := FromGo(null)
		require.True(t, v.IsNull(), "%T", null)
		require.Nil(t, v.ToGo())
	}
	require.True(t, OfAny((*time.Time)(nil)).Resolve().IsNull())
	require.True(t, OfAny((*int)(nil)).Resolve().IsNull())
	require.True(t, OfAny(nil).IsNull())
}

func TestNumbersKeepTheirType(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := goNumber().Draw(t, "x")
		require.Equal(t, x, FromGo(x).ToGo())
	})
}

func TestComputedValuesToGo(t *testing.T) {
	require.Equal(t, int64(-5), OfInt(-5).ToGo())
	require.Equal(t, int64(5), OfUint(5).ToGo())
	require.Equal(t, uint64(math.MaxUint64), OfUint(math.MaxUint64).ToGo())
	require.Equal(t, 2.5, OfFloat(2.5).ToGo())
	require.Equal(t, json.Number("80.50"), OfNumber([]byte("80.50")).ToGo())
	require.Equal(t, map[string]any{"a": []any{json.Number("1.0"), nil}}, OfJSON([]byte(`{"a":0,"a":[1.0,null]}`)).ToGo())
	require.Equal(t, json.RawMessage(`{"a"`), OfJSON([]byte(`{"a"`)).ToGo())
	require.Equal(t, json.RawMessage(`{} {}`), OfJSON([]byte(`{} {}`)).ToGo())

	text := []byte("text")
	out := OfBytes(text, true).ToGo()
	text[0] = 'X'
	require.Equal(t, "text", out, "text leaves as a copy")
}

func TestParseJSON(t *testing.T) {
	for text, kind := range map[string]Kind{
		"1": Number, " -1.5e3\n": Number, `"a\u00e9"`: Text, "true": Bool, "false": Bool, "null": Null, "{}": JSON, " [1] ": JSON,
	} {
		v, ok := ParseJSON([]byte(text))
		require.True(t, ok, text)
		require.Equal(t, kind, v.Kind, text)
	}
	v, _ := ParseJSON([]byte(`"a\u00e9"`))
	require.Equal(t, "aé", v.ToGo())
	for _, text := range []string{"", " ", "{", "01", "1 2", "nul", `"`, "NaN"} {
		_, ok := ParseJSON([]byte(text))
		require.False(t, ok, text)
	}
}

func TestResolve(t *testing.T) {
	var loop any
	loop = &loop
	pointer := any(celsius(3))
	tests := []struct {
		x    any
		want any
	}{
		{celsius(1.5), 1.5}, {label("x"), "x"}, {time.Second, int64(time.Second)}, {&pointer, 3.0}, {[]byte("x"), "x"},
		{json.RawMessage("12"), json.Number("12")}, {json.RawMessage("{"), json.RawMessage("{")}, {word{"w"}, "w"},
		{big.NewInt(5), "5"}, {broken{}, broken{}}, {panicking{1}, panicking{1}}, {loop, loop}, {json.RawMessage("null"), nil},
	}
	for _, tt := range tests {
		got := FromGo(tt.x).Resolve().ToGo()
		if b, ok := tt.x.(*big.Int); ok {
			require.EqualValues(t, b.String(), got)
			continue
		}
		require.Equal(t, tt.want, got, "%T", tt.x)
	}
}

func TestCopySharesNothing(t *testing.T) {
	when := time.Unix(5, 0)
	number := 5
	type inner struct{ M map[string]int }
	x := map[string]any{
		"map": map[string]any{"k": []any{1, "x"}}, "ints": []int{1, 2}, "bytes": []byte("ab"), "raw": json.RawMessage("[1]"),
		"typed": map[string][]string{"a": {"b"}}, "when": when, "ptr": &number, "struct": inner{map[string]int{"a": 1}}, "pstruct": &inner{map[string]int{"a": 1}},
		"nil": nil, "nilmap": map[string]any(nil), "nilslice": []any(nil), "nilptr": (*int)(nil), "arr": [1][]int{{1}}, "iface": []error{nil, errors.ErrUnsupported},
		"cel": celsius(2),
	}
	got, err := Copy(x)
	require.NoError(t, err)
	require.Equal(t, x, got)

	c := got.(map[string]any)
	x["map"].(map[string]any)["k"].([]any)[0] = 99
	x["ints"].([]int)[0] = 99
	x["bytes"].([]byte)[0] = 'X'
	x["raw"].(json.RawMessage)[1] = '9'
	x["typed"].(map[string][]string)["a"][0] = "X"
	number = 99
	x["struct"].(inner).M["a"] = 99
	x["pstruct"].(*inner).M["a"] = 99
	x["arr"].([1][]int)[0][0] = 99
	require.Equal(t, map[string]any{"k": []any{1, "x"}}, c["map"])
	require.Equal(t, []int{1, 2}, c["ints"])
	require.Equal(t, []byte("ab"), c["bytes"])
	require.Equal(t, json.RawMessage("[1]"), c["raw"])
	require.Equal(t, map[string][]string{"a": {"b"}}, c["typed"])
	require.Equal(t, 5, *c["ptr"].(*int))
	require.Equal(t, inner{map[string]int{"a": 1}}, c["struct"])
	require.Equal(t, &inner{map[string]int{"a": 1}}, c["pstruct"])
	require.Equal(t, [1][]int{{1}}, c["arr"])
}

func TestCopyOfCyclesAndDeepValues(t *testing.T) {
	cycle := map[string]any{}
	cycle["self"] = []any{cycle}
	type node struct{ Next *node }
	ring := &node{}
	ring.Next = ring
	var self any
	self = &self
	slice := make([]any, 1)
	slice[0] = slice
	typed := map[string]map[string]any{"a": nil}
	typed["a"] = map[string]any{"b": typed}
	for _, x := range []any{cycle, ring, self, slice, typed} {
		_, err := Copy(x)
		require.ErrorIs(t, err, ErrTooDeep, "%T", x)
	}

	nest := func(levels int) any {
		var x any = 1
		for range levels {
			x = []any{x}
		}
		return x
	}
	got, err := Copy(nest(MaxDepth))
	require.NoError(t, err)
	require.Equal(t, nest(MaxDepth), got)
	_, err = Copy(nest(MaxDepth + 1))
	require.ErrorIs(t, err, ErrTooDeep)
}
