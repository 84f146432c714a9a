package value

import (
	"encoding/json"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestArithmetic(t *testing.T) {
	type binary = func(a, b Value) (Value, bool)
	tests := map[string]struct {
		op       binary
		a, b     any
		want     any
		mismatch bool
	}{
		"integers":             {Add, 2, uint8(3), int64(5), false},
		"JSON integers":        {Add, json.Number("9007199254740992"), json.Number("1"), int64(9007199254740993), false},
		"nineteen digits":      {Sub, json.Number("9223372036854775807"), json.Number("9223372036854775806"), int64(1), false},
		"1.0 is a decimal":     {Add, json.Number("1.0"), 1, 2.0, false},
		"1e2 is a decimal":     {Mul, json.Number("1e2"), 1, 100.0, false},
		"into uint64":          {Add, int64(math.MaxInt64), 1, uint64(1) << 63, false},
		"past uint64":          {Add, uint64(math.MaxUint64), 1, float64(1 << 64), false},
		"below int64":          {Sub, int64(math.MinInt64), 1, float64(math.MinInt64), false},
		"product past 64 bits": {Mul, int64(math.MinInt64), 4, -float64(1 << 65), false},
		"min times one":        {Mul, int64(math.MinInt64), 1, int64(math.MinInt64), false},
		"huge JSON integer":    {Add, json.Number("100000000000000000000"), 1, 1e20, false},
		"negative huge":        {Add, json.Number("-9223372036854775809"), 0, -9223372036854775809.0, false},
		"division":             {Div, 5, 2, 2.5, false},
		"even division":        {Div, 4, 2, 2.0, false},
		"by zero":              {Div, 4, 0, nil, false},
		"by zero decimal":      {Div, 4.5, 0.0, nil, false},
		"remainder":            {Mod, -7, 3, int64(-1), false},
		"remainder by zero":    {Mod, 7, 0, nil, false},
		"remainder of decimal": {Mod, 7.5, 2, 1.5, false},
		"min by minus one":     {Mod, int64(math.MinInt64), -1, int64(0), false},
		"decimals":             {Add, 0.1, 0.2, 0.30000000000000004, false},
		"named type":           {Mul, celsius(2), 2, 4.0, false},
		"1e400":                {Add, json.Number("1e400"), 1, math.Inf(1), false},
		"infinite difference":  {Sub, math.Inf(1), math.Inf(1), nil, false},
		"NaN":                  {Add, math.NaN(), 1, nil, false},
		"NULL":                 {Add, nil, 1, nil, false},
		"NULL and text":        {Add, nil, "x", nil, true},
		"text":                 {Add, "1", 1, nil, true},
		"bool":                 {Mul, true, 1, nil, true},
		"time":                 {Sub, time.Unix(1, 0), 1, nil, true},
		"object":               {Add, map[string]any{}, 1, nil, true},
		"no number":            {Add, OfNumber([]byte("x")), 1, nil, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, mismatch := tt.op(of(tt.a), of(tt.b))
			require.Equal(t, tt.want, got.ToGo())
			require.Equal(t, tt.mismatch, mismatch)
		})
	}
}

func TestNegAndPos(t *testing.T) {
	neg := func(x any) any { v, _ := Neg(FromGo(x)); return v.ToGo() }
	require.Equal(t, int64(-5), neg(5))
	require.Equal(t, uint64(1)<<63, neg(int64(math.MinInt64)))
	require.Equal(t, int64(math.MinInt64), neg(uint64(1)<<63))
	require.Equal(t, -80.5, neg(json.Number("80.50")))
	require.Nil(t, neg(nil))
	_, mismatch := Neg(FromGo("x"))
	require.True(t, mismatch)

	v, mismatch := Pos(FromGo(json.Number("80.50")))
	require.False(t, mismatch)
	require.Equal(t, json.Number("80.50"), v.ToGo())
	_, mismatch = Pos(FromGo("x"))
	require.True(t, mismatch)
	v, mismatch = Pos(Value{})
	require.True(t, v.IsNull())
	require.False(t, mismatch)
}

func TestIntegerArithmeticIsExactOrAFloat(t *testing.T) {
	border := rapid.SampledFrom([]any{int64(math.MinInt64), int64(math.MaxInt64), uint64(math.MaxUint64), uint64(1) << 63, -1, 0, 1, json.Number("18446744073709551615")})
	operand := rapid.OneOf(border, rapid.Map(rapid.Int64(), func(i int64) any { return i }), rapid.Map(rapid.Uint64(), func(u uint64) any { return u }))
	ops := map[string]struct {
		value func(a, b Value) (Value, bool)
		big   func(z, a, b *big.Int) *big.Int
	}{
		"+": {Add, (*big.Int).Add}, "-": {Sub, (*big.Int).Sub}, "*": {Mul, (*big.Int).Mul}, "%": {Mod, (*big.Int).Rem},
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := operand.Draw(t, "a"), operand.Draw(t, "b")
		name := rapid.SampledFrom([]string{"+", "-", "*", "%"}).Draw(t, "op")
		v, mismatch := ops[name].value(FromGo(a), FromGo(b))
		require.False(t, mismatch)
		if name == "%" && exact(b).Sign() == 0 {
			require.True(t, v.IsNull())
			return
		}
		want := ops[name].big(new(big.Int), exact(a).Num(), exact(b).Num())
		if want.IsInt64() || want.IsUint64() {
			require.Contains(t, []Kind{Int, Uint}, v.Kind)
			require.Zero(t, want.Cmp(exact(v.ToGo()).Num()))
			return
		}
		require.Equal(t, Float, v.Kind)
		f, _ := new(big.Float).SetInt(want).Float64()
		require.InEpsilon(t, f, v.Float(), 1e-15)
	})
}

func TestConcat(t *testing.T) {
	at := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	for want, pair := range map[string][2]any{
		"ab":                    {"a", "b"},
		"a1":                    {"a", 1},
		"80.50!":                {json.Number("80.50"), "!"},
		"truefalse":             {true, false},
		"x[1]":                  {label("x"), []any{1}},
		"2024-05-01T12:00:00Z.": {at, "."},
	} {
		require.Equal(t, want, Concat(FromGo(pair[0]), FromGo(pair[1])).ToGo())
	}
	require.True(t, Concat(FromGo("a"), Value{}).IsNull())
	require.True(t, Concat(Value{}, FromGo("a")).IsNull())
	require.Equal(t, "null.", Concat(FromGo(time.Date(12024, 1, 1, 0, 0, 0, 0, time.UTC)), FromGo(".")).ToGo())
}

func TestThreeValuedLogic(t *testing.T) {
	// Truth as a number: False 0, Unknown ½, True 1; AND is the minimum, OR the
	// maximum, NOT what is missing to 1.
	doubled := map[Tri]int{False: 0, Unknown: 1, True: 2}
	for a, x := range doubled {
		for b, y := range doubled {
			require.Equal(t, min(x, y), doubled[And(a, b)], "%s AND %s", a, b)
			require.Equal(t, max(x, y), doubled[Or(a, b)], "%s OR %s", a, b)
		}
		require.Equal(t, 2-x, doubled[Not(a)])
	}
	require.True(t, OfTri(Unknown).IsNull())
	require.Equal(t, true, OfTri(True).ToGo())
	require.Equal(t, False, TriOf(false))

	type flag bool
	yes := true
	for _, tt := range []struct {
		x        any
		want     Tri
		mismatch bool
	}{
		{true, True, false}, {false, False, false}, {nil, Unknown, false}, {flag(true), True, false}, {&yes, True, false},
		{1, Unknown, true}, {"true", Unknown, true}, {math.NaN(), Unknown, true}, {[]any{}, Unknown, true},
	} {
		got, mismatch := ToTri(FromGo(tt.x))
		require.Equal(t, tt.want, got, "%v", tt.x)
		require.Equal(t, tt.mismatch, mismatch, "%v", tt.x)
	}
}

func TestInt64AndFloat64(t *testing.T) {
	for _, x := range []any{5, 5.0, json.Number("5.00"), celsius(5), json.Number("0.5e1")} {
		i, ok := FromGo(x).Int64()
		require.True(t, ok)
		require.EqualValues(t, 5, i)
		f, ok := FromGo(x).Float64()
		require.True(t, ok)
		require.EqualValues(t, 5, f)
	}
	for _, x := range []any{5.5, "5", nil, uint64(math.MaxUint64), math.NaN(), json.Number("1e30")} {
		_, ok := FromGo(x).Int64()
		require.False(t, ok, "%v", x)
	}
	_, ok := FromGo("5").Float64()
	require.False(t, ok)
}
