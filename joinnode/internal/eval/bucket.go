package eval

import (
	"math"
	"time"
)

// buckets is the time line cut into pieces that neither overlap nor leave gaps:
// those of endOfHour(t), endOfMonth(t, 3), endOfDay(t, 1, 6) and so on.
//
// Boundaries are readings of the clocks in the zone. They start with the year, 1
// January 00:00 plus the offset, and follow one another multiple units apart; the
// year's end cuts its last bucket short. The first week of a year is the one that 1
// January lies in, from its Monday on. Multiples of years start from the years that
// they divide, so that ten of them are a decade.
//
// When clocks are put forward or back, a boundary between days, weeks, months and
// years is the first instant at which they show its reading or a later one, so
// such a bucket may last 23 or 25 hours. Of seconds, minutes and hours every
// instant is a boundary at which the clocks show the reading of one, and so is a
// change of the clocks that leads from one bucket into another. Berlin's hour that
// comes twice is two buckets then, its six hours around it are one of seven hours,
// and Lord Howe's half an hour makes one hour a bucket of 90 minutes and, in spring,
// one of 30: whatever the zone, an hour ends when clocks show a full hour.
type buckets struct {
	// next returns the least boundary above a reading. A reading is what clocks
	// show, in ms since they showed 1970-01-01 00:00.
	next func(reading int64) int64
	// repeats says that a reading that comes twice is a boundary twice.
	repeats bool
	zone    *time.Location
}

// end returns the first instant behind the bucket of the instant ms; both in epoch
// milliseconds.
func (b *buckets) end(ms int64) int64 {
	switch {
	case b.zone == time.UTC:
		return b.next(ms)
	case b.repeats:
		return b.endByClock(ms)
	}
	offset, _ := offsetAt(ms, b.zone)
	for reading := ms + offset; ; {
		reading = b.next(reading)
		if end := firstInstant(reading, b.zone); end > ms {
			return end
		}
	}
}

func (b *buckets) endByClock(ms int64) int64 {
	offset, until := offsetAt(ms, b.zone)
	boundary := b.next(ms + offset)
	for boundary-offset >= until {
		ms = until
		offset, until = offsetAt(ms, b.zone)
		if now := ms + offset; b.next(now) != boundary || b.next(now-1) == now {
			return ms
		}
	}
	return boundary - offset
}

// offsetAt returns what clocks in the zone show at the instant ms more than UTC,
// and an instant until which they do, at least; all in milliseconds.
func offsetAt(ms int64, zone *time.Location) (offset, until int64) {
	t := time.UnixMilli(ms).In(zone)
	_, seconds := t.Zone()
	until = math.MaxInt64
	if _, end := t.ZoneBounds(); !end.IsZero() {
		until = end.UnixMilli()
	}
	if until <= ms {
		// Years behind the zone's table have 365 days for ZoneBounds, so that on the
		// last day of a leap year it names an end that is over.
		until = startOf(yearOf(ms)+1, time.January)
	}
	return int64(seconds) * 1000, until
}

// firstInstant returns the first instant, in epoch ms, at which clocks in the zone
// show the reading or, if they skip it, a later one.
func firstInstant(reading int64, zone *time.Location) int64 {
	const furthest = 26 * hourMillis // no zone is that far ahead of UTC
	at := reading - furthest
	for {
		offset, until := offsetAt(at, zone)
		if exact := max(reading-offset, at); exact < until {
			return exact
		}
		at = until
	}
}

const (
	secondMillis = 1000
	minuteMillis = 60 * secondMillis
	hourMillis   = 60 * minuteMillis
	dayMillis    = 24 * hourMillis
	// longYear is longer than every year, those of 53 weeks too.
	longYear = 372 * dayMillis
)

// inYear cuts years into pieces of width.
func inYear(width int64) func(int64) int64 {
	return func(reading int64) int64 {
		year := yearOf(reading)
		return nextFrom(startOf(year, time.January), reading, width, startOf(year+1, time.January))
	}
}

// inWeeks cuts years that start with a Monday into pieces of width.
func inWeeks(width int64) func(int64) int64 {
	return func(reading int64) int64 {
		year := yearOf(reading)
		start, end := firstMonday(year), firstMonday(year+1)
		if reading >= end {
			start, end = end, firstMonday(year+2)
		}
		return nextFrom(start, reading, width, end)
	}
}

func nextFrom(start, reading, width, end int64) int64 {
	return min(start+((reading-start)/width+1)*width, end)
}

// inMonths cuts years into pieces of some months.
func inMonths(months int64) func(int64) int64 {
	return func(reading int64) int64 {
		year, month, _ := time.UnixMilli(reading).UTC().Date()
		next := (int64(month-time.January)/months + 1) * months
		return startOf(year, time.January+time.Month(min(next, 12)))
	}
}

// inYears makes buckets of some years that each begin some months behind 1 January.
func inYears(years, behind int64) func(int64) int64 {
	return func(reading int64) int64 {
		year, month, _ := time.UnixMilli(reading).UTC().Date()
		year = int(floorDiv(int64(year)*12+int64(month-time.January)-behind, 12))
		next := (floorDiv(int64(year), years) + 1) * years
		return startOf(int(next), time.January+time.Month(behind))
	}
}

// shifted moves boundaries by some ms.
func shifted(next func(int64) int64, by int64) func(int64) int64 {
	if by == 0 {
		return next
	}
	return func(reading int64) int64 { return next(reading-by) + by }
}

func yearOf(reading int64) int { return time.UnixMilli(reading).UTC().Year() }

// startOf returns the reading at the start of a month.
func startOf(year int, month time.Month) int64 {
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
}

// firstMonday returns the reading at the start of the Monday on or before 1 January.
func firstMonday(year int) int64 {
	start := time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC)
	return start.AddDate(0, 0, -int(start.Weekday()+6)%7).UnixMilli()
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
