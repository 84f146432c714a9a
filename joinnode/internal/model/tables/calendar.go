package tables

import (
	"fmt"
	"math"
	"strings"
	"time"
)

const (
	unseen  = math.MinInt64
	forever = math.MaxInt64
	ms      = int64(time.Millisecond)
)

// instant reads a value as a time in ns: a number in the script's unit, or RFC
// 3339 text.
func instant(v any, unit int64) (int64, bool) {
	switch v := v.(type) {
	case int64:
		if v < 0 {
			return 0, false
		}
		if unit == 0 {
			unit = guess(float64(v))
		}
		if v > math.MaxInt64/unit {
			return 0, false
		}
		return v * unit, true
	case float64:
		if v < 0 || math.IsNaN(v) {
			return 0, false
		}
		if unit == 0 {
			unit = guess(v)
		}
		ns := v * float64(unit)
		return int64(ns), ns < math.MaxInt64
	case string:
		t, err := time.Parse(time.RFC3339Nano, v)
		if err != nil || t.Unix() < 0 {
			return 0, false
		}
		return t.UnixNano(), true
	}
	return 0, false
}

// guess is the rule of semantics.md §2 for a number without a unit.
func guess(v float64) int64 {
	switch {
	case v >= 1e18:
		return 1
	case v >= 1e15:
		return int64(time.Microsecond)
	case v >= 1e12:
		return ms
	case v >= 1e9:
		return int64(time.Second)
	}
	return 1
}

var units = map[string]int64{"ns": 1, "us": 1000, "ms": ms, "ss": 1e9, "s": 1e9, "mi": 60e9, "hh": 3600e9, "dd": 24 * 3600e9}

// add is t + d, saturating.
func add(t, d int64) int64 {
	switch {
	case d > 0 && t > math.MaxInt64-d:
		return math.MaxInt64
	case d < 0 && t < math.MinInt64-d:
		return math.MinInt64
	}
	return t + d
}

// bucket is what endOf… computes with.
type bucket struct {
	unit             string // "second" … "year"
	multiple, offset int
	zone             *time.Location
}

// bucketOf returns the unit of an endOf… function.
func bucketOf(function string) (string, bool) {
	unit, ok := strings.CutPrefix(strings.ToLower(function), "endof")
	if !ok {
		return "", false
	}
	switch unit {
	case "second", "minute", "hour", "day", "week", "month", "year":
		return unit, true
	}
	return "", false
}

var fixed = map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour}

// end returns the last millisecond of the bucket that t lies in, as epoch
// milliseconds.
func (b bucket) end(ns int64) int64 {
	t := time.Unix(0, ns).In(b.zone)
	t = b.shift(t, -b.offset)
	// The origin is the last 1 January that is not after t, for weeks the Monday
	// on or before a 1 January.
	year := t.Year()
	if !b.origin(year + 1).After(t) {
		year++
	}
	start, last := b.origin(year), b.origin(year+1)
	if b.unit == "year" {
		from := year - mod(year, b.multiple)
		return b.shift(b.origin(from+b.multiple), b.offset).UnixMilli() - 1
	}
	if d, ok := fixed[b.unit]; ok {
		d *= time.Duration(b.multiple)
		end := start.Add((t.Sub(start)/d + 1) * d)
		return b.shift(earlier(end, last), b.offset).UnixMilli() - 1
	}
	for !start.After(t) {
		switch b.unit {
		case "day":
			start = start.AddDate(0, 0, b.multiple)
		case "week":
			start = start.AddDate(0, 0, 7*b.multiple)
		case "month":
			start = start.AddDate(0, b.multiple, 0)
		}
	}
	return b.shift(earlier(start, last), b.offset).UnixMilli() - 1
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func mod(a, b int) int { return ((a % b) + b) % b }

func (b bucket) origin(year int) time.Time {
	t := time.Date(year, 1, 1, 0, 0, 0, 0, b.zone)
	if b.unit == "week" {
		t = t.AddDate(0, 0, -mod(int(t.Weekday())-1, 7))
	}
	return t
}

// shift moves t by n of the next smaller unit.
func (b bucket) shift(t time.Time, n int) time.Time {
	switch b.unit {
	case "second":
		return t.Add(time.Duration(n) * time.Millisecond)
	case "minute":
		return t.Add(time.Duration(n) * time.Second)
	case "hour":
		return t.Add(time.Duration(n) * time.Minute)
	case "day":
		return t.Add(time.Duration(n) * time.Hour)
	case "week", "month":
		return t.AddDate(0, 0, n)
	}
	return t.AddDate(0, n, 0)
}

// duration reads an option such as '5s' or '0'.
func duration(s string) (int64, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("duration %q: %w", s, err)
	}
	return int64(d), nil
}
