package value

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"
	"time"
)

// Unit is the unit of a numeric timestamp, in nanoseconds. AutoUnit guesses
// it from the size of each number.
type Unit int64

// The units that TIMEUNIT names.
const (
	AutoUnit    Unit = 0
	Nanosecond       = Unit(time.Nanosecond)
	Microsecond      = Unit(time.Microsecond)
	Millisecond      = Unit(time.Millisecond)
	Second           = Unit(time.Second)
	Minute           = Unit(time.Minute)
	Hour             = Unit(time.Hour)
	Day              = 24 * Hour
)

// ErrUnit is returned for a TIMEUNIT that names no unit.
var ErrUnit = errors.New("unknown time unit")

// ParseUnit reads a TIMEUNIT option: StreamSQL's ns, ms, ss, mi, hh and dd, and
// us, s, m, h and d besides, in any case. "auto" is the guess.
func ParseUnit(s string) (Unit, error) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "auto":
		return AutoUnit, nil
	case "ns":
		return Nanosecond, nil
	case "us", "µs", "μs":
		return Microsecond, nil
	case "ms":
		return Millisecond, nil
	case "s", "ss":
		return Second, nil
	case "m", "mi":
		return Minute, nil
	case "h", "hh":
		return Hour, nil
	case "d", "dd":
		return Day, nil
	}
	return AutoUnit, fmt.Errorf("%w %q: use one of ns, us, ms, ss, mi, hh, dd", ErrUnit, s)
}

// guessUnit is the rule of semantics.md §2 for a number with that many digits
// before its decimal point.
func guessUnit(integerDigits int64) Unit {
	switch {
	case integerDigits > 18:
		return Nanosecond
	case integerDigits > 15:
		return Microsecond
	case integerDigits > 12:
		return Millisecond
	case integerDigits > 9:
		return Second
	}
	return Nanosecond
}

// Timestamp returns the time of v in nanoseconds since the epoch. It takes
// numbers of every Go type and JSON numbers, fractions included
// (1700000000.5 s); time.Time; and RFC 3339 text. Integers are exact, of a
// fraction what is below a nanosecond is dropped, and so are digits beyond the
// nineteenth. It returns false for anything else: NULL, bool, other text (a
// number in quotes too, as "1" is no number anywhere else either), NaN, a time
// before the epoch or past what int64 holds.
func Timestamp(v Value, unit Unit) (ns int64, ok bool) {
	if v.Kind == Number {
		return NumberTime(v.Text, unit)
	}
	if v.Kind == Any {
		v = v.Resolve()
	}
	switch v.Kind {
	case Text:
		var t time.Time
		if err := t.UnmarshalText(v.Text); err != nil {
			return 0, false
		}
		return instant(t)
	case Any:
		t, isTime := v.Ref.(time.Time)
		if !isTime {
			return 0, false
		}
		return instant(t)
	}
	return numberTime(&v, unit)
}

// NumberTime is Timestamp for a JSON number, spelled as it came.
func NumberTime(text []byte, unit Unit) (ns int64, ok bool) {
	if i, ok := shortInteger(text); ok {
		return integerTime(i, unit)
	}
	return numberTime(&Value{Kind: Number, Text: text}, unit)
}

func numberTime(v *Value, unit Unit) (ns int64, ok bool) {
	var buf [32]byte
	n, ok := numberOf(v, &buf)
	switch {
	case !ok:
		return 0, false
	case n.form == signed:
		return integerTime(n.i, unit)
	case n.form == fraction:
		return fractionTime(n.d, unit)
	}
	return 0, false // above math.MaxInt64 in any unit
}

func instant(t time.Time) (int64, bool) {
	return join(t.Unix(), uint64(Second), int64(t.Nanosecond()))
}

func integerTime(i int64, unit Unit) (int64, bool) {
	if unit == AutoUnit {
		unit = guessUnit(decimalDigits(uint64(max(i, 0))))
	}
	return join(i, uint64(unit), 0)
}

// decimalDigits returns how many digits u has, 0 for zero.
func decimalDigits(u uint64) int64 {
	digits := bits.Len64(u) * 1233 >> 12 // log10(2) is a little more than 1233/4096
	if u >= pow10[digits] {
		digits++
	}
	return int64(digits)
}

// join returns i units and extra nanoseconds.
func join(i int64, unit uint64, extra int64) (int64, bool) {
	if i < 0 {
		return 0, false
	}
	hi, lo := bits.Mul64(uint64(i), unit)
	lo, carry := bits.Add64(lo, uint64(extra), 0)
	if hi+carry != 0 || lo > math.MaxInt64 {
		return 0, false
	}
	return int64(lo), true
}

func fractionTime(d decimal, unit Unit) (int64, bool) {
	if d.neg || d.inf || d.exp > 19 {
		return 0, false
	}
	if unit == AutoUnit {
		unit = guessUnit(d.exp)
	}
	m, k := d.leading(19)
	scale := d.exp - int64(k) // the time is m × 10^scale units
	if scale >= 0 {
		hi, lo := bits.Mul64(m, pow10[scale])
		if hi != 0 || lo > math.MaxInt64 {
			return 0, false
		}
		return join(int64(lo), uint64(unit), 0)
	}
	if scale < -38 {
		return 0, true // 19 digits and at most 14 of the unit lie behind the point
	}
	hi, lo := bits.Mul64(m, uint64(unit))
	for ; scale < -19; scale += 19 {
		// hi is below the unit and so below the divisor; the quotient fits.
		lo, _ = bits.Div64(hi, lo, pow10[19])
		hi = 0
	}
	if hi >= pow10[-scale] {
		return 0, false
	}
	ns, _ := bits.Div64(hi, lo, pow10[-scale])
	if ns > math.MaxInt64 {
		return 0, false
	}
	return int64(ns), true
}
