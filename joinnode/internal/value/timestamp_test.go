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

func TestTimestamp(t *testing.T) {
	const ms = int64(1_700_000_000_000_000_000)
	tests := map[string]struct {
		x    any
		unit Unit
		ns   int64
		ok   bool
	}{
		"guess s":               {1_700_000_000, AutoUnit, ms, true},
		"guess ms":              {json.Number("1700000000000"), AutoUnit, ms, true},
		"guess us":              {float64(1_700_000_000_000_000), AutoUnit, ms, true},
		"guess ns":              {uint64(ms), AutoUnit, ms, true},
		"border ns":             {json.Number("1e18"), AutoUnit, 1e18, true},
		"below border ns":       {999_999_999_999_999_999, AutoUnit, 0, false}, // µs, past int64 ns
		"border us":             {int64(1e15), AutoUnit, 1e18, true},
		"below border us":       {int64(1e15) - 1, AutoUnit, 0, false}, // ms: the year 33658
		"border ms":             {int64(1e12), AutoUnit, 1e18, true},
		"below border ms":       {int64(1e12) - 1, AutoUnit, 0, false},
		"border s":              {int64(1e9), AutoUnit, 1e18, true},
		"below border s":        {999_999_999, AutoUnit, 999_999_999, true},
		"fraction below border": {999_999_999.5, AutoUnit, 999_999_999, true},
		"zero":                  {0, AutoUnit, 0, true},
		"fraction of seconds":   {1700000000.5, AutoUnit, ms + 5e8, true},
		"fraction as JSON":      {json.Number("1700000000.123456789"), AutoUnit, ms + 123_456_789, true},
		"below a nanosecond":    {json.Number("1700000000.1234567899"), AutoUnit, ms + 123_456_789, true},
		"many digits":           {json.Number("1700000000.00000000000000000000000000000001"), AutoUnit, ms, true},
		"exact beyond 2^53":     {json.Number("1700000000123456789"), AutoUnit, ms + 123_456_789, true},
		"unit wins":             {1_700_000_000, Millisecond, ms / 1000, true},
		"days":                  {json.Number("0.5"), Day, int64(12 * time.Hour), true},
		"minutes":               {2, Minute, int64(2 * time.Minute), true},
		"tiny":                  {json.Number("1e-999999999"), Second, 0, true},
		"tiny within 38 digits": {json.Number("1e-30"), Second, 0, true},
		"fraction form":         {json.Number("17e8"), AutoUnit, ms, true},
		"time":                  {time.Unix(1_700_000_000, 7), AutoUnit, ms + 7, true},
		"text":                  {"2023-11-14T22:13:20.000000007Z", AutoUnit, ms + 7, true},
		"text with zone":        {"2023-11-14T23:13:20+01:00", Second, ms, true},
		"named type":            {celsius(1_700_000_000), AutoUnit, ms, true},
		"max":                   {int64(math.MaxInt64), Nanosecond, math.MaxInt64, true},

		"NULL":              {nil, AutoUnit, 0, false},
		"negative":          {-1, AutoUnit, 0, false},
		"negative fraction": {-0.5, AutoUnit, 0, false},
		"NaN":               {math.NaN(), AutoUnit, 0, false},
		"infinite":          {math.Inf(1), AutoUnit, 0, false},
		"1e400":             {json.Number("1e400"), AutoUnit, 0, false},
		"huge exponent":     {json.Number("1e99999999999999999999"), AutoUnit, 0, false},
		"overflow":          {int64(math.MaxInt64), Microsecond, 0, false},
		"overflow fraction": {9.3e9 + 0.5, Second, 0, false},
		"overflow uint":     {uint64(math.MaxUint64), Nanosecond, 0, false},
		"bool":              {true, AutoUnit, 0, false},
		"number in quotes":  {"1700000000", AutoUnit, 0, false},
		"no time":           {"yesterday", AutoUnit, 0, false},
		"date only":         {"2023-11-14", AutoUnit, 0, false},
		"empty text":        {"", AutoUnit, 0, false},
		"before the epoch":  {time.Unix(-1, 0), AutoUnit, 0, false},
		"the year 3000":     {time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC), AutoUnit, 0, false},
		"object":            {map[string]any{}, AutoUnit, 0, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			ns, ok := Timestamp(FromGo(tt.x), tt.unit)
			require.Equal(t, tt.ok, ok)
			require.Equal(t, tt.ns, ns)
		})
	}
}

func TestTimestampIsTheExactProduct(t *testing.T) {
	units := []Unit{Nanosecond, Microsecond, Millisecond, Second, Minute, Hour, Day}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`(0|[1-9][0-9]{0,11})(\.[0-9]{1,7})?`).Draw(t, "number")
		unit := rapid.SampledFrom(units).Draw(t, "unit")
		r, _ := new(big.Rat).SetString(text)
		r.Mul(r, new(big.Rat).SetInt64(int64(unit)))
		want := new(big.Int).Quo(r.Num(), r.Denom())
		ns, ok := Timestamp(OfNumber([]byte(text)), unit)
		require.Equal(t, want.IsInt64(), ok)
		if ok {
			require.Equal(t, want.Int64(), ns)
		}
	})
}

func TestParseUnit(t *testing.T) {
	for s, want := range map[string]Unit{
		"ns": Nanosecond, "us": Microsecond, "MS": Millisecond, "ss": Second, "s": Second,
		"mi": Minute, "m": Minute, "hh": Hour, "h": Hour, "dd": Day, " d ": Day, "auto": AutoUnit,
	} {
		got, err := ParseUnit(s)
		require.NoError(t, err)
		require.Equal(t, want, got, s)
	}
	for _, s := range []string{"", "sec", "x"} {
		_, err := ParseUnit(s)
		require.ErrorIs(t, err, ErrUnit)
	}
}

func TestTimestampAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, v := range []Value{
		OfInt(1_700_000_000_000), OfNumber([]byte("1700000000.5")), OfFloat(1700000000.5),
		OfText("2023-11-14T22:13:20Z"),
	} {
		require.Zero(t, testing.AllocsPerRun(100, func() { Timestamp(v, AutoUnit) }), "%v", v)
	}
}

func FuzzTimestamp(f *testing.F) {
	for _, s := range []string{"1700000000", `"2023-11-14T22:13:20Z"`, "1e18", "-1", "1e-40", "0.00000000000000000000001", "[]"} {
		f.Add([]byte(s), int64(0))
		f.Add([]byte(s), int64(Day))
	}
	f.Fuzz(func(t *testing.T, b []byte, unit int64) {
		if unit < 0 || unit > int64(Day) {
			t.Skip()
		}
		for _, v := range []Value{OfNumber(b), OfBytes(b, false)} {
			ns, ok := Timestamp(v, Unit(unit))
			require.GreaterOrEqual(t, ns, int64(0))
			if !ok {
				require.Zero(t, ns)
			}
		}
		if v, ok := ParseJSON(b); ok {
			Timestamp(v, Unit(unit))
		}
	})
}
