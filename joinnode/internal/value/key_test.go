package value

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func key(xs ...any) []byte {
	var k []byte
	for _, x := range xs {
		k = AppendKey(k, of(x))
	}
	return k
}

func TestKeysThatAreEqual(t *testing.T) {
	noon := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	groups := map[string][]any{
		"NULL":      {nil, math.NaN(), float32(math.NaN()), (*int)(nil), Value{}, []any(nil), celsius(math.NaN())},
		"one":       {1, int8(1), uint64(1), 1.0, float32(1), json.Number("1"), json.Number("1.0"), json.Number("1e0"), json.Number("10E-1"), json.Number("0.1e1"), celsius(1)},
		"zero":      {0, 0.0, math.Copysign(0, -1), json.Number("-0"), json.Number("0.000"), json.Number("0e99")},
		"a tenth":   {0.1, float32(0.1), json.Number("0.1"), json.Number("1e-1"), json.Number("0.100")},
		"2^63":      {uint64(1 << 63), float64(1 << 63), json.Number("9223372036854775808"), json.Number("9.223372036854775808e18")},
		"min int64": {int64(math.MinInt64), float64(math.MinInt64), json.Number("-9223372036854775808.0")},
		"large":     {1e23, json.Number("1e23"), json.Number("100000000000000000000000")},
		"huge":      {json.Number("1e999999999"), json.Number("10e999999998")},
		"text":      {"a", label("a"), []byte("a"), json.RawMessage(`"a"`), json.RawMessage("\"\\u0061\"")},
		"object":    {json.RawMessage(`{"a":1,"b":[1.0,"x"]}`), json.RawMessage(` { "b" : [1,"x"] , "a" : 1e0 }`), map[string]any{"b": []any{1, "x"}, "a": uint8(1)}, OfJSON([]byte(`{"a":0,"b":[1,"x"],"a":1}`))},
		"array":     {[]any{1, 2}, []int{1, 2}, [2]uint8{1, 2}, []float64{1, 2}, json.RawMessage("[1,2]")},
		"string map": {map[string]string{"k": "v"}, map[string]any{"k": "v"}, struct {
			K string `json:"k"`
		}{"v"}},
		"instant":      {noon, &noon, noon.In(time.FixedZone("", 7200))},
		"time in list": {[]any{noon}, []time.Time{noon}, json.RawMessage(`["2024-05-01T12:00:00Z"]`)},
		"bytes inside": {[]any{[]byte("hi")}, json.RawMessage(`["aGk="]`)},
	}
	seen := map[string]string{}
	for name, group := range groups {
		want := key(group[0])
		for _, x := range group {
			require.Equal(t, want, key(x), "%s: %T %v", name, x, x)
		}
		require.Empty(t, seen[string(want)], "%s collides", name)
		seen[string(want)] = name
	}
}

func TestKeysThatDiffer(t *testing.T) {
	pairs := [][2][]any{
		{{"1"}, {1}},
		{{true}, {1}},
		{{""}, {nil}},
		{{json.Number("9007199254740993")}, {json.Number("9007199254740992")}},
		{{int64(9007199254740993)}, {float64(9007199254740992)}},
		{{"a\x1fs:b", "c"}, {"a", "b\x1fs:c"}},
		{{"ab", "c"}, {"a", "bc"}},
		{{nil, "a"}, {"a", nil}},
		{{json.Number("1e5"), "x"}, {json.Number("1e6"), "x"}},
		{{1.5}, {-1.5}},
		{{math.Inf(1)}, {math.Inf(-1)}},
		{{math.Inf(1)}, {json.Number("1e400")}},
		{{json.RawMessage(`[[1],2]`)}, {json.RawMessage(`[[1,2]]`)}},
		{{json.RawMessage(`{"a":"1"}`)}, {json.RawMessage(`{"a":1}`)}},
		{{json.RawMessage(`[]`)}, {json.RawMessage(`{}`)}},
		{{json.RawMessage(`[]`)}, {"[]"}},
		{{time.Unix(0, 1)}, {time.Unix(0, 2)}},
		{{make(chan int)}, {func() {}}},
		{{OfJSON([]byte("{x"))}, {OfJSON([]byte("{y"))}},
	}
	for _, p := range pairs {
		require.NotEqual(t, key(p[0]...), key(p[1]...), "%v %v", p[0], p[1])
	}
}

func TestKeyEqualsExactlyWhenCompareDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gen := rapid.OneOf(goNumber(), anyValue(2), anyValue(0))
		a, b := FromGo(gen.Draw(t, "a")), FromGo(gen.Draw(t, "b"))
		order, ok := Compare(a, b)
		null := func(v Value) bool { return v.IsNull() || v.IsNaN() }
		equal := ok && order == 0 || null(a) && null(b)
		require.Equal(t, equal, bytes.Equal(AppendKey(nil, a), AppendKey(nil, b)))
	})
}

// A key of several values can be read in one way only: no concatenation is a
// proper beginning of another one with as many values.
func TestCompositeKeysAreInjective(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "n")
		tuple := rapid.SliceOfN(anyValue(1), n, n)
		a, b := tuple.Draw(t, "a"), tuple.Draw(t, "b")
		same := true
		for i := range a {
			same = same && bytes.Equal(key(a[i]), key(b[i]))
		}
		ka, kb := key(a...), key(b...)
		require.Equal(t, same, bytes.HasPrefix(ka, kb))
		require.Equal(t, same, bytes.Equal(ka, kb))
	})
}

func TestKeyOfJSONEqualsKeyOfDecodedJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.OneOf(
			rapid.Map(rapid.SliceOfN(anyValue(2), 0, 3), func(s []any) any { return s }),
			rapid.Map(rapid.MapOfN(rapid.String(), anyValue(2), 0, 3), func(m map[string]any) any { return m }),
		).Draw(t, "x")
		text := AppendJSON(nil, FromGo(x))
		v, ok := ParseJSON(text)
		require.True(t, ok, "%s", text)
		require.Equal(t, key(v), key(v.ToGo()))
	})
}

func TestKeyStaysSmallAndTerminates(t *testing.T) {
	require.Less(t, len(key(json.Number("1e999999999999"))), 16)
	require.Less(t, len(key(json.Number("1"+strings.Repeat("0", 1_000_000)))), 16)

	deep := strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20)
	require.NotEmpty(t, key(OfJSON([]byte(deep))))

	cycle := map[string]any{}
	cycle["self"] = cycle
	require.NotEmpty(t, key(cycle))
	var self any
	self = &self
	require.NotEmpty(t, key(self))
	order, ok := Compare(FromGo(cycle), FromGo(cycle))
	require.False(t, ok)
	require.Zero(t, order)
}

func TestAppendKeyAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	buf := make([]byte, 0, 256)
	values := []Value{
		OfText("device-17"), OfInt(-5), OfUint(math.MaxUint64), OfFloat(80.5), OfFloat(3), FromGo(float32(0.1)),
		OfNumber([]byte("17")), OfNumber([]byte("80.50")), OfNumber([]byte("1e400")), OfBool(true), {},
	}
	for _, v := range values {
		require.Zero(t, testing.AllocsPerRun(100, func() { AppendKey(buf, v) }), "%v", v)
	}
}

func FuzzAppendKeyOfJSON(f *testing.F) {
	for _, s := range []string{`{"a":1,"a":2}`, `[1,1.0,"x",null,{}]`, `{"a"`, `[[[`, `1e9999999999999999999`, "\"\xff\""} {
		f.Add([]byte(s), []byte(`[1]`))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		va, okA := ParseJSON(a)
		vb, okB := ParseJSON(b)
		if !okA || !okB {
			va, vb = OfJSON(a), OfNumber(b)
		}
		ka, kb := AppendKey(nil, va), AppendKey(nil, vb)
		require.NotEmpty(t, ka)
		both := AppendKey(AppendKey(nil, va), vb)
		require.Equal(t, append(bytes.Clone(ka), kb...), both)
		if order, ok := Compare(va, vb); ok {
			require.Equal(t, order == 0, bytes.Equal(ka, kb))
		}
		if okA {
			// Spelling does not matter: the same document indented has the same key.
			var indented bytes.Buffer
			require.NoError(t, json.Indent(&indented, a, "", " "))
			vi, ok := ParseJSON(indented.Bytes())
			require.True(t, ok)
			require.Equal(t, ka, AppendKey(nil, vi))
		}
	})
}
