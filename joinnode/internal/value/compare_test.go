package value

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type celsius float64

type label string

func TestCompare(t *testing.T) {
	noon := time.Date(2024, 5, 1, 12, 0, 0, 5, time.UTC)
	five := 5
	tests := map[string]struct {
		a, b  any
		order int
		ok    bool
	}{
		"integer and decimal":           {1, json.Number("1.0"), 0, true},
		"exponent":                      {json.Number("1e0"), uint8(1), 0, true},
		"beyond 2^53":                   {json.Number("9007199254740993"), json.Number("9007199254740992"), 1, true},
		"int64 against float64":         {int64(9007199254740993), float64(9007199254740992), 1, true},
		"uint64 against int64":          {uint64(math.MaxUint64), int64(math.MaxInt64), 1, true},
		"uint64 against float64":        {uint64(1 << 63), float64(1 << 63), 0, true},
		"float is its decimal":          {0.1, json.Number("0.1"), 0, true},
		"float32 is its decimal":        {float32(0.1), json.Number("0.10"), 0, true},
		"float32 against float64":       {float32(0.1), 0.1, 0, true},
		"longer decimal is larger":      {json.Number("0.1000000000000000055"), 0.1, 1, true},
		"1e400 is finite":               {json.Number("1e400"), math.Inf(1), -1, true},
		"1e400 is large":                {json.Number("1e400"), math.MaxFloat64, 1, true},
		"huge exponent":                 {json.Number("1e999999999"), json.Number("1e999999998"), 1, true},
		"tiny":                          {json.Number("1e-999999999999999999999"), 0, 1, true},
		"negative huge":                 {json.Number("-1e999999999"), json.Number("-5"), -1, true},
		"zero times a huge power":       {json.Number("0e999999999999"), 0, 0, true},
		"negative zero":                 {json.Number("-0.0"), math.Copysign(0, -1), 0, true},
		"infinities":                    {math.Inf(-1), math.Inf(1), -1, true},
		"same infinity":                 {math.Inf(1), float32(math.Inf(1)), 0, true},
		"NaN":                           {math.NaN(), 1, 0, false},
		"NaN with itself":               {math.NaN(), math.NaN(), 0, false},
		"text by bytes":                 {"B", "a", -1, true},
		"text prefix":                   {"a", "ab", -1, true},
		"text is no number":             {"1", 1, 0, false},
		"false before true":             {false, true, -1, true},
		"bool is no number":             {true, 1, 0, false},
		"NULL":                          {nil, nil, 0, false},
		"typed nil pointer":             {(*int)(nil), 1, 0, false},
		"pointer":                       {&five, json.Number("5"), 0, true},
		"named float":                   {celsius(80.5), json.Number("80.50"), 0, true},
		"named string":                  {label("x"), "x", 0, true},
		"duration is its nanoseconds":   {time.Second, 1_000_000_000, 0, true},
		"bytes are text":                {[]byte("k"), "k", 0, true},
		"raw number":                    {json.RawMessage(" 7 "), 7, 0, true},
		"times by instant":              {noon, noon.In(time.FixedZone("x", 3600)), 0, true},
		"time pointer":                  {&noon, noon.Add(time.Nanosecond), -1, true},
		"time is no text":               {noon, noon.Format(time.RFC3339Nano), 0, false},
		"objects":                       {json.RawMessage(`{"b":1.0,"a":[null]}`), map[string]any{"a": []any{nil}, "b": 1}, 0, true},
		"last duplicate wins":           {json.RawMessage(`{"a":1,"a":2}`), json.RawMessage(`{"a":2}`), 0, true},
		"different objects":             {json.RawMessage(`{"a":1}`), json.RawMessage(`{"a":2}`), Unordered, true},
		"null member is not no member":  {json.RawMessage(`{"a":null}`), json.RawMessage(`{}`), Unordered, true},
		"typed slice":                   {[]int{1, 2}, json.RawMessage(`[1,2.0]`), 0, true},
		"struct":                        {struct{ A int }{3}, map[string]any{"A": 3}, 0, true},
		"object is no text":             {map[string]any{}, "{}", 0, false},
		"broken JSON":                   {OfJSON([]byte(`{"a"`)), OfJSON([]byte(`{"a"`)), 0, false},
		"number that is none":           {OfNumber([]byte("abc")), 1, 0, false},
		"json.Number that is no number": {json.Number("abc"), "abc", 0, true},
		"channel":                       {make(chan int), 1, 0, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a, b := of(tt.a), of(tt.b)
			order, ok := Compare(a, b)
			require.Equal(t, tt.ok, ok)
			require.Equal(t, tt.order, order)
			back, ok := Compare(b, a)
			require.Equal(t, tt.ok, ok)
			if order == Unordered {
				order = -Unordered
			}
			require.Equal(t, max(-order, order), max(-back, back))
			if tt.order != Unordered {
				require.Equal(t, -order, back)
			}
		})
	}
}

func of(x any) Value {
	if v, ok := x.(Value); ok {
		return v
	}
	return FromGo(x)
}

func TestMismatch(t *testing.T) {
	require.True(t, Mismatch(FromGo("1"), FromGo(1)))
	require.False(t, Mismatch(FromGo(nil), FromGo(1)))
	require.False(t, Mismatch(FromGo(1), FromGo(math.NaN())))
	require.False(t, Mismatch(FromGo(celsius(math.NaN())), FromGo("x")))
}

func TestCompareNumbersLikeBigRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := goNumber().Draw(t, "a"), goNumber().Draw(t, "b")
		order, ok := Compare(FromGo(a), FromGo(b))
		require.True(t, ok)
		require.Equal(t, exact(a).Cmp(exact(b)), order, "%T %v, %T %v", a, a, b, b)
	})
}

// Two numbers in one text differ at most in the last place, where the shortcuts
// of Compare might round.
func TestCompareNeighbours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		g := math.Nextafter(f, math.Inf(1))
		text := json.Number(AppendJSON(nil, FromGo(f)))
		for _, pair := range [][2]any{{f, g}, {f, text}, {text, g}} {
			order, ok := Compare(FromGo(pair[0]), FromGo(pair[1]))
			require.True(t, ok)
			require.Equal(t, exact(pair[0]).Cmp(exact(pair[1])), order, "%v", pair)
		}
	})
}

func TestCompareAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	pairs := [][2]Value{
		{OfInt(1), OfInt(2)},
		{OfFloat(1.5), OfInt(2)},
		{OfNumber([]byte("80.50")), OfInt(75)},
		{OfNumber([]byte("80.50")), OfFloat(75.25)},
		{OfNumber([]byte("9007199254740993.123456789")), OfFloat(75.25)},
		{OfText("abc"), OfText("abd")},
		{OfText("abc"), OfInt(1)},
	}
	for _, p := range pairs {
		require.Zero(t, testing.AllocsPerRun(100, func() { Compare(p[0], p[1]) }), "%s %s", p[0].Text, p[1].Text)
	}
}
