package eval

import (
	"math"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// IsTimeWindow reports whether a call of name makes a time window when a query
// groups by it: endOfSecond … endOfYear, in any case, unless the program has
// registered a function of its own under that name.
func IsTimeWindow(name string) bool {
	f, ok := timeFunctionOf(name)
	return ok && f.window
}

// timeWindows returns the functions endOf…(t [, multiple [, offset]]): the last
// millisecond of the bucket that t lies in, as an integer since the epoch. The
// offset moves the boundaries on, in the next smaller unit; for months that is days.
func timeWindows() []timeFunction {
	window := func(name string, unit windowUnit) timeFunction {
		return timeFunction{name: name, least: 1, most: 3, unit: value.Millisecond, window: true, compile: unit.compile}
	}
	return []timeFunction{
		window("endOfSecond", windowUnit{cut: inYear, unit: secondMillis, offset: 1, repeats: true}),
		window("endOfMinute", windowUnit{cut: inYear, unit: minuteMillis, offset: secondMillis, repeats: true}),
		window("endOfHour", windowUnit{cut: inYear, unit: hourMillis, offset: minuteMillis, repeats: true}),
		window("endOfDay", windowUnit{cut: inYear, unit: dayMillis, offset: hourMillis}),
		window("endOfWeek", windowUnit{cut: inWeeks, unit: 7 * dayMillis, offset: dayMillis}),
		window("endOfMonth", windowUnit{cut: inMonths, unit: 1, offset: dayMillis}),
		window("endOfYear", windowUnit{unit: 1, offset: 1}),
	}
}

// windowUnit is the unit of a time window.
type windowUnit struct {
	// cut makes buckets of a width in years; nil for years themselves.
	cut     func(width int64) func(reading int64) int64
	unit    int64 // what cut takes for one unit
	offset  int64 // the unit of the offset in ms; of years, in months
	repeats bool  // see buckets
}

// The largest arguments. A bucket cannot be longer than the year it lies in, and a
// larger offset says nothing that a smaller one does not; years end with the calendar.
const (
	mostYears    = 9999
	mostOffset   = 366 * dayMillis
	mostOfMonths = 12
)

func (u windowUnit) buckets(multiple, offset int64, zone *time.Location) *buckets {
	b := &buckets{repeats: u.repeats, zone: zone}
	if u.cut == nil {
		b.next = inYears(min(multiple, mostYears), offset)
		return b
	}
	width := int64(longYear)
	if multiple <= longYear/u.unit {
		width = multiple * u.unit
	}
	b.next = shifted(u.cut(width), offset*u.offset)
	return b
}

func (u windowUnit) compile(c *compiler, e *syntax.Call, f timeFunction, args []term) (Expr, error) {
	multiple, offset := int64(1), int64(0)
	if len(args) > 1 {
		var ok bool
		if multiple, ok = wholeNumber(args[1]); !ok || multiple < 1 {
			return nil, functionErrorAt(args[1].sql.Position(), "the multiple of %s must be a constant whole number from 1 on", f.name)
		}
	}
	if len(args) > 2 {
		most := int64(mostOfMonths)
		if u.cut != nil {
			most = mostOffset / u.offset
		}
		var ok bool
		if offset, ok = wholeNumber(args[2]); !ok || offset < -most || offset > most {
			return nil, functionErrorAt(args[2].sql.Position(), "the offset of %s must be a constant whole number, at most %d", f.name, most)
		}
	}
	b := u.buckets(multiple, offset, c.scope.zone())
	return c.ofTime(f.name, args[0], func(ns int64) (value.Value, bool) {
		end := b.end(ns / int64(value.Millisecond))
		// A window must be able to wait for the time behind its bucket.
		if end > math.MaxInt64/int64(value.Millisecond) {
			return value.Value{}, false
		}
		return value.OfInt(end - 1), true
	}), nil
}

// wholeNumber returns what a constant is, false when it is no constant integer.
func wholeNumber(t term) (int64, bool) {
	if !t.constant {
		return 0, false
	}
	return t.val.Int64()
}
