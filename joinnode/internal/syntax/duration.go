package syntax

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"
)

// Why a text is no duration. The texts of ParseDuration's errors name the part
// that is wrong.
var (
	errDurationForm = errors.New("expected a number and a unit of time")
	errUnit         = errors.New("unit of time")
	errDurationSize = errors.New("too long: the longest duration is 106751 days")
)

// maxDurationText bounds the exact arithmetic on digits.
const maxDurationText = 128

// ParseDuration reads a duration as WITHIN and the WITH options take it: one or
// more numbers, each with its unit, after an optional sign. Numbers may have
// decimals and blanks around them, units are singular or plural, in any case:
// 30s, 1m30s, 1.5h, 30 SECONDS, 1 day. What is smaller than a nanosecond is cut
// off; what does not fit int64 nanoseconds is an error.
func ParseDuration(s string) (time.Duration, error) {
	rest := strings.TrimSpace(s)
	if len(rest) > maxDurationText {
		return 0, fmt.Errorf("%w, found %d characters", errDurationForm, len(rest))
	}
	negative := strings.HasPrefix(rest, "-")
	if negative || strings.HasPrefix(rest, "+") {
		rest = rest[1:]
	}
	if rest == "" {
		return 0, errDurationForm
	}
	sum := new(big.Rat)
	for rest != "" {
		part, more, err := durationPart(rest)
		if err != nil {
			return 0, err
		}
		sum.Add(sum, part)
		rest = more
	}
	ns := new(big.Int).Quo(sum.Num(), sum.Denom())
	if !ns.IsInt64() {
		return 0, errDurationSize
	}
	if negative {
		return -time.Duration(ns.Int64()), nil
	}
	return time.Duration(ns.Int64()), nil
}

// durationPart reads one number with its unit from the front of s and returns
// its nanoseconds.
func durationPart(s string) (ns *big.Rat, rest string, err error) {
	l := newLexer(s)
	n := token{}
	if isDigit(rune(s[0])) || s[0] == '.' {
		n = l.next()
	}
	if n.kind != number {
		return nil, "", fmt.Errorf("%w, found %s", errDurationForm, clip(s))
	}
	unit := strings.TrimLeft(l.rest(), " ")
	end := strings.IndexFunc(unit, func(r rune) bool { return !startsName(r) })
	if end < 0 {
		end = len(unit)
	}
	unit, rest = unit[:end], strings.TrimLeft(unit[end:], " ")
	if unit == "" {
		return nil, "", fmt.Errorf("%s has no %w", clip(n.raw), errUnit)
	}
	size, ok := unitOfTime(unit)
	if !ok {
		return nil, "", fmt.Errorf("%s is no %w", clip(unit), errUnit)
	}
	ns, ok = decimal(n.raw)
	if !ok {
		return nil, "", errDurationSize
	}
	return ns.Mul(ns, new(big.Rat).SetInt64(int64(size))), rest, nil
}

// decimal reads an unsigned number exactly, unless its exponent would make the
// result too large to be a duration or needlessly long.
func decimal(s string) (*big.Rat, bool) {
	if i := strings.IndexAny(s, "eE"); i >= 0 && len(strings.TrimLeft(s[i+1:], "+-0")) > 2 {
		if s[i+1] == '-' || strings.Trim(s[:i], "0.") == "" {
			return new(big.Rat), true
		}
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

// unitOfTime knows the units of WITHIN in every spelling StreamSQL has, and
// days and weeks.
func unitOfTime(s string) (time.Duration, bool) {
	if rest, ok := strings.CutPrefix(s, "µ"); ok { // micro sign
		s = "u" + rest
	} else if rest, ok := strings.CutPrefix(s, "μ"); ok { // Greek mu
		s = "u" + rest
	}
	switch upperASCII(s) {
	case "NS", "NANO", "NANOS", "NANOSECOND", "NANOSECONDS":
		return time.Nanosecond, true
	case "US", "MICRO", "MICROS", "MICROSECOND", "MICROSECONDS":
		return time.Microsecond, true
	case "MS", "MILLI", "MILLIS", "MILLISECOND", "MILLISECONDS":
		return time.Millisecond, true
	case "S", "SEC", "SECS", "SECOND", "SECONDS":
		return time.Second, true
	case "M", "MIN", "MINS", "MINUTE", "MINUTES":
		return time.Minute, true
	case "H", "HR", "HRS", "HOUR", "HOURS":
		return time.Hour, true
	case "D", "DAY", "DAYS":
		return 24 * time.Hour, true
	case "W", "WEEK", "WEEKS":
		return 7 * 24 * time.Hour, true
	}
	return 0, false
}

// FormatDuration writes a duration into a message: as Go does, but whole days as
// days.
func FormatDuration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d == day:
		return "1 day"
	case d > day && d%day == 0:
		return fmt.Sprintf("%d days", d/day)
	}
	return d.String()
}

// durationText spells d with the largest unit that divides it.
func durationText(d time.Duration) string {
	for _, u := range [...]struct {
		size time.Duration
		name string
	}{
		{24 * time.Hour, "DAY"}, {time.Hour, "HOUR"}, {time.Minute, "MINUTE"}, {time.Second, "SECOND"},
		{time.Millisecond, "MS"}, {time.Microsecond, "US"}, {time.Nanosecond, "NS"},
	} {
		if d%u.size != 0 {
			continue
		}
		n := d / u.size
		if n != 1 && u.size >= time.Second {
			u.name += "S"
		}
		return fmt.Sprintf("%d %s", n, u.name)
	}
	return d.String() // not reached: every duration is a multiple of 1 ns
}
