package eval

import (
	"strings"
	"testing"
	"time"

	"github.com/rulego/streamsql/functions"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// compute evaluates sql over f in f.scope(zone); the result is as it leaves for Go.
func compute(t testing.TB, ctx *Context, sql string, f fields, zone string) any {
	t.Helper()
	expr, err := CompileIn(parse(t, sql), f.scope(zoneNamed(t, zone)))
	require.NoError(t, err, sql)
	return expr(ctx, f.row()).ToGo()
}

func TestTimeFunctionsHaveNamesOfTheirOwn(t *testing.T) {
	for _, f := range timeFunctions() {
		_, taken := functions.Get(strings.ToLower(f.name))
		require.False(t, taken, "StreamSQL has %s", f.name)
		require.Empty(t, exprLangName(f.name))
		for _, name := range []string{f.name, strings.ToUpper(f.name), strings.ToLower(f.name)} {
			require.Equal(t, Class{Kind: Scalar}, Classify(name))
			require.Equal(t, strings.HasPrefix(f.name, "endOf"), IsTimeWindow(name), name)
		}
	}
	require.False(t, IsTimeWindow("endOfDecade"))
	require.False(t, IsTimeWindow("TumblingWindow"))
	require.Equal(t, "endOfMonth", nearest("endOfMnth"))

	register(t, "endofday", 1, 1, func(*functions.FunctionContext, []any) (any, error) { return "mine", nil })
	require.Equal(t, "mine", evaluate(t, &Context{}, "endOfDay(1)", nil), "what the program registered goes first")
	require.True(t, Classify("endOfDay").Custom)
	require.False(t, IsTimeWindow("endOfDay"))
	require.Equal(t, value.AutoUnit, UnitOf(parse(t, "endOfDay(1)"), Scope{}))
}

// TestExamplesOfTheSpecification has times before 2001 too, whose milliseconds
// would be guessed to be seconds or nanoseconds.
func TestExamplesOfTheSpecification(t *testing.T) {
	for sql, want := range map[string]int64{
		"endOfWeek(1678299814083)":                               1678665599999,
		"endOfWeek(1678665600000)":                               1679270399999,
		"endOfMonth(1678299814083)":                              1680307199999,
		"endOfDay(1678299814083)":                                1678319999999,
		"ENDOFDAY(1678299814083)":                                1678319999999,
		"endOfDay('2023-03-08T18:23:34Z')":                       1678319999999,
		"endOfDay(1678299814)":                                   1678319999999,
		"endOfDay(1678299814083.25)":                             1678319999999,
		"endOfDay(s_t)":                                          86399999,
		"endOfDay(ms_t)":                                         86399999,
		"endOfHour(endOfDay(ms_t))":                              86399999,
		"endOfMinute(ms_o.at)":                                   59999,
		"endOfDay(go_time)":                                      1678319999999,
		"endOfSecond(ms_t + INTERVAL 1 DAY)":                     86401999,
		"timestampToEpochMilli(s_t)":                             1000,
		"timestampToEpoch(ms_t)":                                 1,
		"timestampToEpoch(go_time)":                              1678299814,
		"timestampToEpochMilli(endOfDay(timestampToEpoch(s_t)))": 86399999,
		"timestampToEpoch(epochToTimestamp(s_t))":                1,
		"timestampToEpochMilli(epochMilliToTimestamp(1.5))":      1,
		"endOfDay(atZone(ms_t, 'Asia/Tokyo'))":                   86399999,
	} {
		f := fields{"s_t": 1, "ms_t": 1000.0, "ms_o": jsonValue(`{"at":1}`), "go_time": time.UnixMilli(1678299814083)}
		var ctx Context
		require.Equal(t, want, compute(t, &ctx, sql, f, "UTC"), sql)
		require.NoError(t, ctx.LastFunctionError)
	}
	require.Equal(t, int64(1678377599999), compute(t, &Context{}, "endOfDay(1678299814083)", nil, "Asia/Shanghai"))
	require.Equal(t, int64(1678319999999), evaluate(t, &Context{}, "endOfDay(1678299814083)", nil), "without a Scope it is UTC")
}

func TestTimesAndTheirTexts(t *testing.T) {
	instant := time.Date(2024, 7, 1, 12, 0, 0, 500e6, time.UTC)
	for sql, want := range map[string]any{
		"timestampToString(ms)":                         "2024-07-01T14:00:00.5+02:00",
		"timestampToString('2024-07-01T12:00:00Z')":     "2024-07-01T14:00:00+02:00",
		"atZone(ms, 'Asia/Kolkata')":                    "2024-07-01T17:30:00.5+05:30",
		"atZone(ms, 'UTC')":                             "2024-07-01T12:00:00.5Z",
		"parseTimestamp('2024-07-01T12:00:00.5Z')":      instant,
		"parseTimestamp('2024-07-01 12:00:00.5Z')":      instant,
		"parseTimestamp('2024-07-01 14:00:00.500')":     instant,
		"parseTimestamp('2024-07-01T14:00:00.5')":       instant,
		"parseTimestamp('2024-07-01T08:00:00.5-04:00')": instant,
		"parseTimestamp('2024-07-01')":                  time.Date(2024, 6, 30, 22, 0, 0, 0, time.UTC),
		"parseTimestamp('1960-01-01')":                  time.Date(1959, 12, 31, 23, 0, 0, 0, time.UTC),
		"parseTimestamp('9999-12-31 00:00:00')":         time.Date(9999, 12, 30, 23, 0, 0, 0, time.UTC),
		// Skipped, and there twice.
		"parseTimestamp('2024-03-31 02:30:00')":           time.Date(2024, 3, 31, 1, 0, 0, 0, time.UTC),
		"parseTimestamp('2024-10-27 02:30:00.000000001')": time.Date(2024, 10, 27, 0, 30, 0, 1, time.UTC),
		"epochMilliToTimestamp(ms)":                       instant,
		"epochToTimestamp(1719835200.5)":                  instant,
		"parseTimestamp(timestampToString(ms))":           instant,
	} {
		var ctx Context
		got := compute(t, &ctx, sql, fields{"ms": instant.UnixMilli()}, "Europe/Berlin")
		require.NoError(t, ctx.LastFunctionError)
		if at, ok := got.(time.Time); ok {
			require.Equal(t, "Europe/Berlin", at.Location().String(), sql)
			got = at.UTC()
		}
		require.Equal(t, want, got, sql)
	}
}

func TestWhatIsNoTime(t *testing.T) {
	f := fields{
		"none": nil, "text": "yesterday", "flag": true, "neg": -1, "o": map[string]any{},
		"old": time.Unix(-1, 0), "far": time.Date(2500, 1, 1, 0, 0, 0, 0, time.UTC), "late": int64(9_220_000_000_000_000_000),
	}
	for sql, errors := range map[string]int64{
		"endOfDay(none)": 0, "timestampToEpoch(none)": 0, "parseTimestamp(none)": 0, "atZone(none, 'UTC')": 0, "epochToTimestamp(none)": 0,
		"endOfDay(text)": 1, "endOfDay(flag)": 1, "endOfDay(neg)": 1, "endOfDay(o)": 1, "endOfDay(old)": 1, "endOfDay(far)": 1, "endOfDay('1')": 1,
		"endOfYear(late)": 1, "endOfYear(1700000000000, 1000)": 1,
		"timestampToString(text)": 1, "timestampToEpoch(old)": 1, "atZone(text, 'UTC')": 1,
		"epochToTimestamp('2024-01-01T00:00:00Z')": 1, "epochToTimestamp(old)": 1, "epochMilliToTimestamp(neg)": 1,
		"parseTimestamp(1700000000000)": 1, "parseTimestamp(text)": 1, "parseTimestamp('')": 1, "parseTimestamp('2024-02-30')": 1,
		"parseTimestamp('2024-7-01')": 1, "parseTimestamp('2024-07-01T')": 1, "parseTimestamp('2024-07-01 24:00:00')": 1,
		"parseTimestamp('9999-12-31T23:59:59-12:00')": 1, "parseTimestamp('2024-07-01 10:00:00" + strings.Repeat(" ", 100) + "')": 1,
		"parseTimestamp('2024-07-01 1:00:00')": 1, "parseTimestamp('2024-07-01T01:00:00,5Z')": 1,
	} {
		var ctx Context
		require.Nil(t, evaluate(t, &ctx, sql, f), sql)
		require.Equal(t, errors, ctx.FunctionErrors, sql)
		require.Zero(t, ctx.TypeMismatch, sql)
		if errors > 0 {
			name, _, _ := strings.Cut(sql, "(")
			require.ErrorContains(t, ctx.LastFunctionError, name+": the ")
		}
	}
}

func TestCallsOfTimeFunctionsThatAreWrong(t *testing.T) {
	f := fields{"t": 1, "zone": "UTC"}
	for sql, want := range map[string]struct {
		col int
		msg string
	}{
		"endOfDay()":                 {1, "wrong number of arguments of endOfDay: 0 instead of 1 to 3"},
		"endOfDay(t, 1, 2, 3)":       {1, "wrong number of arguments of endOfDay: 4 instead of 1 to 3"},
		"endOfDay(t, t)":             {13, "the multiple of endOfDay must be a constant whole number from 1 on"},
		"endOfDay(t, 0)":             {13, "the multiple of endOfDay must be"},
		"endOfDay(t, 1.5)":           {13, "the multiple of endOfDay must be"},
		"endOfDay(t, '2')":           {13, "the multiple of endOfDay must be"},
		"endOfDay(t, NULL)":          {13, "the multiple of endOfDay must be"},
		"endOfDay(t, 1e30)":          {13, "the multiple of endOfDay must be"},
		"endofday(t, 1, t)":          {16, "the offset of endOfDay must be a constant whole number, at most 8784"},
		"endOfDay(t, 1, 0.5)":        {16, "the offset of endOfDay must be"},
		"endOfDay(t, 1, -8785)":      {16, "the offset of endOfDay must be"},
		"endOfYear(t, 1, 13)":        {17, "the offset of endOfYear must be a constant whole number, at most 12"},
		"endOfDay(DISTINCT t)":       {1, "function endOfDay takes no *, DISTINCT or OVER"},
		"atZone(t, zone)":            {11, "the zone of atZone must be a constant name"},
		"atZone(t, 'Mars/Olympus')":  {11, `unknown time zone "Mars/Olympus"`},
		"atZone(t, 'Local')":         {11, `unknown time zone "Local"`},
		"atZone(t, '../etc/passwd')": {11, `unknown time zone`},
		"endOfDya(t)":                {1, "unknown function endOfDya"},
		"parseTimestamp(nosuch(t))":  {16, "unknown function nosuch"},
	} {
		_, err := CompileIn(parse(t, sql), f.scope(nil))
		var e *syntax.Error
		require.ErrorAs(t, err, &e, sql)
		require.ErrorIs(t, err, ErrFunction)
		require.Equal(t, want.col, e.Pos.Col, sql)
		require.Contains(t, e.Msg, want.msg)
	}
	for _, sql := range []string{"endOfDay(t, 2.0)", "endOfDay(t, 1 + 1, -3)", "endOfYear(t, 1, -12)"} {
		_, err := CompileIn(parse(t, sql), f.scope(nil))
		require.NoError(t, err, sql)
	}
}

// TestTextOfTimesIsTheTime: in every zone, also one whose clocks are off by seconds.
func TestTextOfTimesIsTheTime(t *testing.T) {
	names := append([]string{"Africa/Monrovia", "Asia/Shanghai"}, zones...)
	rapid.Check(t, func(t *rapid.T) {
		zone := zoneNamed(t, rapid.SampledFrom(names).Draw(t, "zone"))
		ns := rapid.Int64Min(0).Draw(t, "ns")
		text := timeText(ns, zone)
		at, ok := parseTime(text.Text, zoneNamed(t, rapid.SampledFrom(names).Draw(t, "other")))
		require.True(t, ok)
		require.Equal(t, ns, at.UnixNano())
		again, ok := value.Timestamp(text, value.AutoUnit)
		require.True(t, ok)
		require.Equal(t, ns, again)
	})
}

// FuzzParseTimestamp: what is read shows the reading that was written, or lies where
// clocks skip it; and nothing panics.
func FuzzParseTimestamp(f *testing.F) {
	for _, s := range []string{"2024-07-01", "2024-07-01 12:00:00.5", "2024-07-01T12:00:00Z", "2024-03-31 02:30:00", "0000-01-01", "9999-12-31T23:59:60Z"} {
		for i := range zones {
			f.Add(s, uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, text string, i uint8) {
		zone := zoneNamed(t, zones[int(i)%len(zones)])
		at, ok := parseTime([]byte(text), zone)
		if !ok {
			return
		}
		require.True(t, isWritable(at))
		if strings.ContainsAny(text[10:], "Z+") || strings.Contains(text[10:], "-") {
			return
		}
		shown, written := at.Format("2006-01-02T15:04:05.999999999"), strings.Replace(text, " ", "T", 1)
		if len(written) == 10 {
			written += "T00:00:00"
		}
		if strings.Contains(written, ".") {
			written = strings.TrimRight(strings.TrimRight(written, "0"), ".")
		}
		if shown != written {
			require.Greater(t, shown, written)
			before := at.Add(-time.Second).Format("2006-01-02T15:04:05")
			require.Less(t, before, written, "the clocks were put forward over it")
		}
	})
}
