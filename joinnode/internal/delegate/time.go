package delegate

import (
	"math"
	"strings"
	"time"

	"github.com/rulego/streamsql/utils/cast"
)

// eventTime reads a row's time in ns since the epoch: a number in the given
// unit, or by its size when unit is 0 (semantics.md §2), a time.Time, or text
// in RFC 3339. It reports false for a bad timestamp.
func eventTime(v any, unit time.Duration) (int64, bool) {
	switch v := v.(type) {
	case nil, bool:
		return 0, false
	case time.Time:
		sec := v.Unix()
		if sec < 0 || sec > math.MaxInt64/int64(time.Second)-1 {
			return 0, false
		}
		return v.UnixNano(), true
	case string:
		if t, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(v)); err == nil {
			return eventTime(t, unit)
		}
		switch n := number(strings.TrimSpace(v)).(type) {
		case int64, float64:
			return eventTime(n, unit)
		}
		return 0, false
	case float64, float32:
		f, err := cast.ToFloat64E(v)
		if err != nil || math.IsNaN(f) || f < 0 || f >= math.MaxInt64 {
			return 0, false
		}
		if unit == 0 {
			unit = unitOf(int64(f))
		}
		if ns := f * float64(unit); ns >= math.MaxInt64 {
			return 0, false
		}
		whole := math.Floor(f)
		return int64(whole)*int64(unit) + int64((f-whole)*float64(unit)), true
	}
	n, err := cast.ToInt64E(v)
	if err != nil || n < 0 {
		return 0, false
	}
	if unit == 0 {
		unit = unitOf(n)
	}
	if n > math.MaxInt64/int64(unit) {
		return 0, false
	}
	return n * int64(unit), true
}

// unitOf guesses the unit of a number since the epoch from its size.
func unitOf(n int64) time.Duration {
	switch {
	case n >= 1e18:
		return time.Nanosecond
	case n >= 1e15:
		return time.Microsecond
	case n >= 1e12:
		return time.Millisecond
	case n >= 1e9:
		return time.Second
	}
	return time.Nanosecond
}
