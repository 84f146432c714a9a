package eval

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// zones have, in this order: none; an hour of summer time; the same, elsewhere; an
// odd offset; half an hour of summer time; changes at midnight; a change one minute
// behind midnight (until 2011); the same day twice as long before, and a day that
// never was (30 December 2011).
var zones = []string{
	"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe",
	"America/Sao_Paulo", "America/St_Johns", "America/Havana", "Pacific/Apia",
}

func zoneNamed(t require.TestingT, name string) *time.Location {
	zone, err := LoadZone(name)
	require.NoError(t, err)
	return zone
}

func TestEndOfBucket(t *testing.T) {
	for sql, want := range map[string]string{
		"endOfSecond(t)":           "2023-03-08T18:23:34.999Z",
		"endOfSecond(t, 7)":        "2023-03-08T18:23:35.999Z",
		"endOfSecond(t, 10, 500)":  "2023-03-08T18:23:40.499Z",
		"endOfMinute(t)":           "2023-03-08T18:23:59.999Z",
		"endOfMinute(t, 15)":       "2023-03-08T18:29:59.999Z",
		"endOfMinute(t, 15, 30)":   "2023-03-08T18:30:29.999Z",
		"endOfMinute(t, 1, -20)":   "2023-03-08T18:23:39.999Z",
		"endOfHour(t)":             "2023-03-08T18:59:59.999Z",
		"endOfHour(t, 6, 15)":      "2023-03-09T00:14:59.999Z",
		"endOfHour(t, 100)":        "2023-03-12T19:59:59.999Z", // 1700 h, that is 70 d 20 h, from 1 January
		"endOfDay(t)":              "2023-03-08T23:59:59.999Z",
		"endOfDay(t, 2)":           "2023-03-09T23:59:59.999Z", // 1 March is day 60, 8 March is day 67
		"endOfDay(t, 1, 20)":       "2023-03-08T19:59:59.999Z",
		"endOfDay(t, 365)":         "2023-12-31T23:59:59.999Z",
		"endOfDay(t, 9000000000)":  "2023-12-31T23:59:59.999Z",
		"endOfDay(leap, 365)":      "2024-12-30T23:59:59.999Z",
		"endOfDay(silvester, 365)": "2024-12-31T23:59:59.999Z",
		"endOfWeek(t)":             "2023-03-12T23:59:59.999Z",
		"endOfWeek(t, 4)":          "2023-03-19T23:59:59.999Z", // from 26 December: 26 Dec, 23 Jan, 20 Feb, 20 Mar
		"endOfWeek(t, 1, -1)":      "2023-03-11T23:59:59.999Z",
		"endOfWeek(silvester)":     "2025-01-05T23:59:59.999Z",
		"endOfWeek(silvester, 52)": "2025-12-28T23:59:59.999Z", // the week of 1 January 2025 is 2025's first
		"endOfWeek(december, 50)":  "2024-12-29T23:59:59.999Z", // cut: 50 weeks from 1 January 2024 end on 15 December
		"endOfMonth(t)":            "2023-03-31T23:59:59.999Z",
		"endOfMonth(t, 3)":         "2023-03-31T23:59:59.999Z",
		"endOfMonth(t, 2)":         "2023-04-30T23:59:59.999Z",
		"endOfMonth(t, 5)":         "2023-05-31T23:59:59.999Z",
		"endOfMonth(silvester, 5)": "2024-12-31T23:59:59.999Z",
		"endOfMonth(t, 1, 7)":      "2023-04-07T23:59:59.999Z",
		"endOfMonth(leap)":         "2024-02-29T23:59:59.999Z",
		"endOfYear(t)":             "2023-12-31T23:59:59.999Z",
		"endOfYear(t, 10)":         "2029-12-31T23:59:59.999Z",
		"endOfYear(t, 4)":          "2023-12-31T23:59:59.999Z",
		"endOfYear(t, 1, 3)":       "2023-03-31T23:59:59.999Z",
		"endOfYear(leap, 1, 1)":    "2025-01-31T23:59:59.999Z",
		"endOfYear(t, 2, -3)":      "2023-09-30T23:59:59.999Z",
	} {
		f := fields{
			"t":    int64(1678299814083), // Wednesday 2023-03-08T18:23:34.083Z
			"leap": "2024-02-10T00:00:00Z", "december": "2024-12-20T00:00:00Z",
			"silvester": "2024-12-31T12:00:00Z", // a Tuesday
		}
		var ctx Context
		end := evaluate(t, &ctx, sql, f)
		require.NoError(t, ctx.LastFunctionError)
		require.Equal(t, want, time.UnixMilli(end.(int64)).UTC().Format(time.RFC3339Nano), sql)
	}
}

// TestEndOfBucketInZones has the examples of the specification and the changes of
// clocks. Times are written with their offset, ends without their millisecond.
func TestEndOfBucketInZones(t *testing.T) {
	for _, tt := range []struct{ zone, call, at, end string }{
		{"UTC", "endOfDay(t)", "2023-03-08T18:23:34.083Z", "2023-03-09T00:00:00Z"},
		{"Asia/Shanghai", "endOfDay(t)", "2023-03-08T18:23:34.083Z", "2023-03-10T00:00:00+08:00"},
		{"Asia/Kolkata", "endOfHour(t)", "2023-03-08T18:23:34Z", "2023-03-09T00:00:00+05:30"},
		{"Asia/Kolkata", "endOfHour(t, 6)", "2023-03-08T18:23:34Z", "2023-03-09T00:00:00+05:30"},
		{"Asia/Kolkata", "endOfWeek(t)", "2023-03-12T18:29:59.999Z", "2023-03-13T00:00:00+05:30"},
		{"Asia/Kolkata", "endOfWeek(t)", "2023-03-12T18:30:00Z", "2023-03-20T00:00:00+05:30"},
		{"America/New_York", "endOfMonth(t)", "2023-11-02T12:00:00Z", "2023-12-01T00:00:00-05:00"},
		{"America/New_York", "endOfYear(t, 1, 6)", "2023-11-02T12:00:00Z", "2024-07-01T00:00:00-04:00"},

		// A day of 23 hours, one of 25, and days that begin in the skipped and in the
		// repeated hour.
		{"Europe/Berlin", "endOfDay(t)", "2024-03-31T00:00:00+01:00", "2024-04-01T00:00:00+02:00"},
		{"Europe/Berlin", "endOfDay(t)", "2024-10-27T00:00:00+02:00", "2024-10-28T00:00:00+01:00"},
		{"Europe/Berlin", "endOfDay(t, 1, 2)", "2024-03-31T01:00:00+01:00", "2024-03-31T03:00:00+02:00"},
		{"Europe/Berlin", "endOfDay(t, 1, 2)", "2024-10-27T01:00:00+02:00", "2024-10-27T02:00:00+02:00"},
		{"Europe/Berlin", "endOfDay(t, 1, 2)", "2024-10-27T02:30:00+02:00", "2024-10-28T02:00:00+01:00"},
		{"Europe/Berlin", "endOfDay(t, 1, 2)", "2024-10-27T02:30:00+01:00", "2024-10-28T02:00:00+01:00"},

		// Hours go by the clock, before and behind a change, and so do several of them.
		{"Europe/Berlin", "endOfHour(t)", "2024-03-31T01:10:00+01:00", "2024-03-31T03:00:00+02:00"},
		{"Europe/Berlin", "endOfHour(t)", "2024-10-27T02:10:00+02:00", "2024-10-27T02:00:00+01:00"},
		{"Europe/Berlin", "endOfHour(t)", "2024-10-27T02:10:00+01:00", "2024-10-27T03:00:00+01:00"},
		{"Europe/Berlin", "endOfHour(t, 2)", "2024-03-31T01:10:00+01:00", "2024-03-31T03:00:00+02:00"},
		{"Europe/Berlin", "endOfHour(t, 2)", "2024-03-31T03:10:00+02:00", "2024-03-31T04:00:00+02:00"},
		{"Europe/Berlin", "endOfHour(t, 3)", "2024-10-27T00:00:00+02:00", "2024-10-27T03:00:00+01:00"},
		{"Europe/Berlin", "endOfHour(t, 6)", "2024-03-31T00:00:00+01:00", "2024-03-31T06:00:00+02:00"},
		{"Europe/Berlin", "endOfHour(t, 6)", "2024-10-27T00:00:00+02:00", "2024-10-27T06:00:00+01:00"},
		{"Europe/Berlin", "endOfHour(t, 6)", "2024-07-01T07:00:00+02:00", "2024-07-01T12:00:00+02:00"},
		{"Europe/Berlin", "endOfHour(t, 24)", "2024-07-01T07:00:00+02:00", "2024-07-02T00:00:00+02:00"},
		{"Europe/Berlin", "endOfMinute(t)", "2024-10-27T02:59:10+02:00", "2024-10-27T02:00:00+01:00"},
		{"Europe/Berlin", "endOfMinute(t, 45)", "2024-07-01T00:10:00+02:00", "2024-07-01T00:45:00+02:00"},
		{"Europe/Berlin", "endOfSecond(t, 1, 250)", "2024-10-27T02:59:59.5+02:00", "2024-10-27T02:00:00+01:00"},
		{"Australia/Lord_Howe", "endOfHour(t)", "2024-04-07T01:10:00+11:00", "2024-04-07T02:00:00+10:30"},
		{"Australia/Lord_Howe", "endOfHour(t)", "2024-04-07T01:40:00+10:30", "2024-04-07T02:00:00+10:30"},
		{"Australia/Lord_Howe", "endOfHour(t)", "2024-10-06T02:40:00+11:00", "2024-10-06T03:00:00+11:00"},
		{"Australia/Lord_Howe", "endOfHour(t)", "2024-07-01T02:40:00+10:30", "2024-07-01T03:00:00+10:30"},

		// Here the zone's table ends and its rule begins, in a leap year.
		{"Europe/Berlin", "endOfDay(t)", "2040-12-31T12:00:00+01:00", "2041-01-01T00:00:00+01:00"},
		{"Europe/Berlin", "endOfHour(t, 5)", "2080-12-31T23:10:00+01:00", "2081-01-01T00:00:00+01:00"},

		// Midnights that never were and that were twice, and a day that never was.
		{"America/Sao_Paulo", "endOfDay(t)", "2018-11-03T12:00:00-03:00", "2018-11-04T01:00:00-02:00"},
		{"America/Sao_Paulo", "endOfDay(t)", "2018-02-17T12:00:00-02:00", "2018-02-18T00:00:00-03:00"},
		{"America/Havana", "endOfDay(t)", "2024-11-02T12:00:00-04:00", "2024-11-03T00:00:00-04:00"},
		{"America/Havana", "endOfDay(t)", "2024-11-03T00:30:00-04:00", "2024-11-04T00:00:00-05:00"},
		{"America/St_Johns", "endOfDay(t)", "2010-11-07T00:00:30-02:30", "2010-11-08T00:00:00-03:30"},
		{"America/St_Johns", "endOfDay(t)", "2010-11-06T23:30:00-03:30", "2010-11-08T00:00:00-03:30"},
		{"Pacific/Apia", "endOfDay(t)", "2011-12-29T12:00:00-10:00", "2011-12-31T00:00:00+14:00"},
	} {
		at, err := time.Parse(time.RFC3339, tt.at)
		require.NoError(t, err)
		expr, err := CompileIn(parse(t, tt.call), fields{"t": at}.scope(zoneNamed(t, tt.zone)))
		require.NoError(t, err)
		end := expr(&Context{}, fields{"t": at}.row())
		require.Equal(t, tt.end, time.UnixMilli(end.Int()+1).In(zoneNamed(t, tt.zone)).Format(time.RFC3339Nano), "%v", tt)
	}
}

// drawWindow draws a kind of time window and its arguments, mostly sensible ones.
func drawWindow(t *rapid.T) (windowUnit, *buckets) {
	units := []windowUnit{
		{cut: inYear, unit: secondMillis, offset: 1, repeats: true}, {cut: inYear, unit: minuteMillis, offset: secondMillis, repeats: true},
		{cut: inYear, unit: hourMillis, offset: minuteMillis, repeats: true}, {cut: inYear, unit: dayMillis, offset: hourMillis},
		{cut: inWeeks, unit: 7 * dayMillis, offset: dayMillis}, {cut: inMonths, unit: 1, offset: dayMillis}, {unit: 1, offset: 1},
	}
	unit := rapid.SampledFrom(units).Draw(t, "unit")
	multiple := rapid.OneOf(rapid.Just(int64(1)), rapid.Int64Range(1, 100), rapid.Int64Min(1)).Draw(t, "multiple")
	offset := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(-12, 12)).Draw(t, "offset")
	zone := zoneNamed(t, rapid.SampledFrom(zones).Draw(t, "zone"))
	return unit, unit.buckets(multiple, offset, zone)
}

// drawInstant draws an instant in ms: any, or one near a change of clocks.
func drawInstant(t *rapid.T, zone *time.Location) int64 {
	const latest = 4_000_000_000_000 // 2096
	ms := rapid.Int64Range(0, latest).Draw(t, "t")
	if _, change := offsetAt(ms, zone); change < latest && rapid.Bool().Draw(t, "near a change") {
		ms = max(0, change+rapid.Int64Range(-2*hourMillis, 2*hourMillis).Draw(t, "from it"))
	}
	return ms
}

func TestBucketsTileTheTimeLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, b := drawWindow(t)
		at := drawInstant(t, b.zone)
		end := b.end(at)
		require.Greater(t, end, at, "a bucket has its instants")
		require.Equal(t, end, b.end(end-1), "the last of them lies in it")
		require.Equal(t, end, b.end(rapid.Int64Range(at, end-1).Draw(t, "later")), "and so do all between")
		require.Greater(t, b.end(end), end, "what follows lies in the next one")
	})
}

// TestBucketsEndByTheClock: where a bucket ends, clocks show the reading of a
// boundary or have just been changed, and within it they never do so where the
// unit repeats.
func TestBucketsEndByTheClock(t *testing.T) {
	boundary := func(multiple, unit, ms int64, zone *time.Location) bool {
		local := time.UnixMilli(ms).In(zone)
		clock := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), local.Second(), local.Nanosecond(), time.UTC)
		return clock.Sub(time.Date(local.Year(), 1, 1, 0, 0, 0, 0, time.UTC)).Milliseconds()%(multiple*unit) == 0
	}
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]int64{minuteMillis, hourMillis}).Draw(t, "unit")
		multiple := rapid.Int64Range(1, 100).Draw(t, "multiple")
		zone := zoneNamed(t, rapid.SampledFrom(zones).Draw(t, "zone"))
		b := windowUnit{cut: inYear, unit: unit, offset: 1, repeats: true}.buckets(multiple, 0, zone)
		at := drawInstant(t, zone)
		end := b.end(at)
		if before, change := offsetAt(end-1, zone); change != end {
			require.True(t, boundary(multiple, unit, end, zone))
		} else if after, _ := offsetAt(end, zone); after == before {
			require.True(t, boundary(multiple, unit, end, zone))
		}
		for ms := (at/minuteMillis + 1) * minuteMillis; ms < end; ms += minuteMillis {
			require.False(t, boundary(multiple, unit, ms, zone), time.UnixMilli(ms).In(zone))
		}
	})
}

// TestBucketsNest: every boundary of a multiple is one of the unit, and every
// boundary of a larger unit one of the smaller.
func TestBucketsNest(t *testing.T) {
	day := windowUnit{cut: inYear, unit: dayMillis, offset: hourMillis}
	hour := windowUnit{cut: inYear, unit: hourMillis, offset: minuteMillis, repeats: true}
	week := windowUnit{cut: inWeeks, unit: 7 * dayMillis, offset: dayMillis}
	month := windowUnit{cut: inMonths, unit: 1, offset: dayMillis}
	year := windowUnit{unit: 1, offset: 1}
	rapid.Check(t, func(t *rapid.T) {
		zone := zoneNamed(t, rapid.SampledFrom(zones).Draw(t, "zone"))
		at := drawInstant(t, zone)
		multiple := rapid.Int64Range(1, 60).Draw(t, "multiple")
		for _, u := range []windowUnit{hour, day, week, month, year} {
			end := u.buckets(multiple, 0, zone).end(at)
			require.Equal(t, end, u.buckets(1, 0, zone).end(end-1))
		}
		for _, nested := range [][2]windowUnit{{day, hour}, {week, day}, {month, day}, {year, month}} {
			end := nested[0].buckets(1, 0, zone).end(at)
			require.Equal(t, end, nested[1].buckets(1, 0, zone).end(end-1))
		}
	})
}

func BenchmarkEndOfDay(b *testing.B) {
	for _, zone := range []string{"UTC", "Europe/Berlin"} {
		b.Run(zone, func(b *testing.B) {
			f := fields{"t": int64(1678299814083)}
			expr, err := CompileIn(parse(b, "endOfDay(t)"), f.scope(zoneNamed(b, zone)))
			require.NoError(b, err)
			r := f.row()
			var ctx Context
			b.ReportAllocs()
			for b.Loop() {
				expr(&ctx, r)
			}
		})
	}
}
