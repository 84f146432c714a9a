package value

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"

	"pgregory.net/rapid"
)

// numberText draws a JSON number, often one near a border: 2⁵³, 2⁶³, 2⁶⁴, many
// digits, a large exponent.
func numberText() *rapid.Generator[string] {
	near := rapid.Custom(func(t *rapid.T) string {
		border := rapid.SampledFrom([]uint64{0, 1, 10, 1 << 53, 1 << 63, math.MaxUint64 - 4}).Draw(t, "border")
		sign := rapid.SampledFrom([]string{"", "-"}).Draw(t, "sign")
		n := new(big.Int).SetUint64(border)
		n.Add(n, big.NewInt(int64(rapid.IntRange(0, 6).Draw(t, "off"))))
		suffix := rapid.SampledFrom([]string{"", ".0", ".000", "e0", "E+0", ".5", ".05", "e1", "e-1", "0e-1", "00e-2"}).Draw(t, "suffix")
		text := n.String()
		if text == "0" && strings.HasPrefix(suffix, "0") {
			suffix = ""
		}
		return sign + text + suffix
	})
	free := rapid.StringMatching(`-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,12})?([eE][+-]?[0-9]{1,3})?`)
	small := rapid.StringMatching(`-?[0-9](\.[0-9]{1,2})?(e[0-2])?`)
	return rapid.OneOf(near, free, small)
}

func goNumber() *rapid.Generator[any] {
	border := []float64{0, math.Copysign(0, -1), 0.1, 0.5, 1.5, 1 << 53, 1<<53 + 2, 1 << 63, -1 << 63, 1 << 64, 1e23, 1e300, 5e-324, math.Inf(1), math.Inf(-1)}
	return rapid.OneOf(
		rapid.Map(rapid.Int64(), func(i int64) any { return i }),
		rapid.Map(rapid.IntRange(-20, 20), func(i int) any { return i }),
		rapid.Map(rapid.Uint64(), func(u uint64) any { return u }),
		rapid.Map(rapid.Uint8(), func(u uint8) any { return u }),
		rapid.Map(rapid.Float64(), func(f float64) any { return f }),
		rapid.Map(rapid.Float32(), func(f float32) any { return f }),
		rapid.Map(rapid.SampledFrom(border), func(f float64) any { return f }),
		rapid.Map(rapid.SampledFrom(border), func(f float64) any { return float32(f) }),
		rapid.Map(numberText(), func(s string) any { return json.Number(s) }),
	)
}

// exact is the number that x stands for, by the rule in the comment of
// numberOf, as a fraction of big integers; infinities are a huge power of ten.
func exact(x any) *big.Rat {
	r := new(big.Rat)
	switch x := x.(type) {
	case json.Number:
		if _, ok := r.SetString(string(x)); !ok {
			panic("bad number " + x)
		}
	case float64:
		return exactFloat(x, 64)
	case float32:
		return exactFloat(float64(x), 32)
	default:
		r.SetString(fmt.Sprint(x))
	}
	return r
}

func exactFloat(f float64, size int) *big.Rat {
	if math.IsInf(f, 0) {
		r := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(5000), nil))
		if f < 0 {
			r.Neg(r)
		}
		return r
	}
	if r := new(big.Rat).SetFloat64(f); r.IsInt() && (r.Num().IsInt64() || r.Num().IsUint64()) {
		return r
	}
	text := fmt.Sprint(f)
	if size == 32 {
		text = fmt.Sprint(float32(f))
	}
	r, _ := new(big.Rat).SetString(text)
	return r
}

// anyValue draws a Go value of any class, NULL and NaN included, from a small
// set, so that equal pairs are frequent.
func anyValue(depth int) *rapid.Generator[any] {
	scalars := []*rapid.Generator[any]{
		rapid.Just[any](nil),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.SampledFrom([]string{"", "1", "a", "b", "\x00", "\x1f", "é", "2024-01-01T00:00:00Z"}), func(s string) any { return s }),
		rapid.Map(rapid.SampledFrom([]string{"0", "1", "1.0", "1e0", "10e-1", "2.5", "1e400", "9007199254740993"}), func(s string) any { return json.Number(s) }),
		rapid.Map(rapid.IntRange(0, 3), func(i int) any { return i }),
		rapid.Map(rapid.SampledFrom([]float64{0, 1, 2.5, math.NaN(), math.Inf(1), 1 << 53}), func(f float64) any { return f }),
		rapid.Map(rapid.SampledFrom([]uint64{1, 9007199254740993, math.MaxUint64}), func(u uint64) any { return u }),
	}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	inner := anyValue(depth - 1)
	return rapid.OneOf(append(scalars,
		rapid.Map(rapid.SliceOfN(inner, 0, 2), func(s []any) any { return s }),
		rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", ""}), inner, 0, 2), func(m map[string]any) any { return m }),
	)...)
}
