package eval

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

func judge(t require.TestingT, ctx *Context, sql string, f fields) value.Tri {
	e, err := syntax.ParseExpr(sql)
	require.NoError(t, err)
	pred, err := CompilePredicateIn(e, f.scope(nil))
	require.NoError(t, err)
	return pred(ctx, f.row())
}

// TestIntervalArithmetic: the sum of a time and an INTERVAL is in milliseconds,
// whatever the time was in; without a time the INTERVAL is a number of them.
func TestIntervalArithmetic(t *testing.T) {
	f := fields{
		"ms_t": 1000, "s_t": 1, "us": int64(1700000000000000), "ns": jsonNumber("5"), "go": time.UnixMilli(1500), "old": time.Unix(-1, 0),
		"text": "1970-01-01T00:00:01.0005Z", "none": nil, "s_none": nil, "word": "x", "o": map[string]any{}, "latest": time.Date(2262, 4, 11, 0, 0, 0, 0, time.UTC),
	}
	for sql, want := range map[string]struct {
		value    any
		mismatch int64
	}{
		"INTERVAL 2 SECOND":                                                 {int64(2000), 0},
		"INTERVAL 1 DAY - INTERVAL 1 HOUR":                                  {int64(23 * hourMillis), 0},
		"2 * INTERVAL 2 SECOND":                                             {int64(4000), 0},
		"ms_t + INTERVAL 2 SECOND":                                          {int64(3000), 0},
		"INTERVAL 2 SECOND + ms_t":                                          {int64(3000), 0},
		"s_t + INTERVAL 2 SECOND":                                           {int64(3000), 0},
		"s_t - INTERVAL 2 SECOND":                                           {int64(-1000), 0},
		"s_t - INTERVAL 2 SECOND + INTERVAL 1 HOUR":                         {int64(3599000), 0},
		"s_t - (INTERVAL 1 HOUR - INTERVAL 59 MINUTE - INTERVAL 59 SECOND)": {int64(0), 0},
		"us + INTERVAL 1 SECOND":                                            {int64(1700000001000), 0},
		"1700000000 + INTERVAL 1 SECOND":                                    {int64(1700000001000), 0},
		"ns + INTERVAL 1 SECOND":                                            {1000.000005, 0},
		"go + INTERVAL 1 SECOND":                                            {int64(2500), 0},
		"old + INTERVAL 1 SECOND":                                           {int64(0), 0},
		"text + INTERVAL 1 SECOND":                                          {2000.5, 0},
		"now() - INTERVAL 1 SECOND":                                         {int64(1699999999000), 0},
		"endOfDay(ms_t) + INTERVAL 1 MINUTE":                                {int64(86459999), 0},
		"timestampToEpoch(s_t) + INTERVAL 1 HOUR":                           {int64(3601000), 0},
		"coalesce(s_none, s_t) + INTERVAL 1 SECOND":                         {int64(2000), 0},
		"s_t + 1 + INTERVAL 1 SECOND":                                       {int64(3000), 0},
		"latest + INTERVAL 300 DAY":                                         {9223372036854.775807e0, 0},
		"none + INTERVAL 1 SECOND":                                          {nil, 0},
		"word + INTERVAL 1 SECOND":                                          {nil, 1},
		"o - INTERVAL 1 SECOND":                                             {nil, 1},
		"word + INTERVAL 1 DAY + INTERVAL 1 DAY":                            {nil, 1},
		"ms_t - s_t":                                                        {int64(999), 0},
		"INTERVAL 1 SECOND - ms_t":                                          {int64(0), 0},
	} {
		ctx := NewContext(func() time.Time { return time.Unix(1700000000, 0) })
		require.Equal(t, want.value, compute(t, ctx, sql, f, "UTC"), sql)
		require.Equal(t, want.mismatch, ctx.TypeMismatch, sql)
	}
	var ctx Context
	compute(t, &ctx, "word - INTERVAL 7 DAY", f, "UTC")
	require.Equal(t, Mismatch{"word - INTERVAL 7 DAY", `the text "x"`}, *ctx.Example)
	// As long as the time of a script is not known it is before all times.
	ctx.Now = func() time.Time { return time.Unix(0, -1<<63) }
	require.Equal(t, value.True, judge(t, &ctx, "go > now() - INTERVAL 7 DAY AND s_t > now() + INTERVAL 7 DAY", f))
}

func TestComparingTimes(t *testing.T) {
	f := fields{
		"ms_t": int64(1700000000000), "s_t": int64(1700000000), "us": int64(1700000000000000), "text": "2023-11-14T22:13:20Z", "east": "2023-11-14T23:13:20+01:00",
		"go": time.Unix(1700000000, 0), "ms_small": 5000, "s_small": 5, "most": 6000, "none": nil, "word": "x", "ms_word": "y", "old": time.Unix(-5, 0),
	}
	for sql, want := range map[string]struct {
		is       value.Tri
		mismatch int64
	}{
		// Units that are known, and times that have none.
		"ms_t = s_t": {yes, 0}, "s_t >= ms_t": {yes, 0}, "s_t < ms_t": {no, 0}, "ms_t != s_t": {no, 0},
		"ms_small = s_small": {yes, 0}, "ms_t = text": {yes, 0}, "text = s_t": {yes, 0}, "go = s_t": {yes, 0}, "east = ms_t": {yes, 0},
		"s_t BETWEEN text AND go": {yes, 0}, "text BETWEEN ms_t AND s_t": {yes, 0}, "s_t NOT BETWEEN text AND go": {no, 0},
		"s_t = '2023-11-14T22:13:20Z'": {yes, 0}, "old < s_t": {yes, 0},
		"ms_t = us": {yes, 0}, // a column whose unit is guessed

		// A literal and arithmetic are numbers in the unit of the other side.
		"ms_small = 5000": {yes, 0}, "s_small < 5.5": {yes, 0}, "5 = s_small": {yes, 0}, "-1 < s_small": {yes, 0}, "ms_small > s_small - 4": {yes, 0},
		"ms_small = 1000 * s_small": {yes, 0}, "ms_small - 1000 = s_small - 1": {yes, 0}, "ms_small BETWEEN 4999 AND 5001": {yes, 0},
		"go > 1699999999.5 AND s_t = go": {unknown, 1}, // without a unit it is as it always was
		"ms_small - s_small > most":      {no, 0},

		// INTERVAL and the functions of time.
		"ms_t < s_t + INTERVAL 1 SECOND": {yes, 0}, "s_t + INTERVAL 1 SECOND > us": {yes, 0}, "text > ms_t - INTERVAL 1 SECOND": {yes, 0},
		"go = ms_t + INTERVAL 0 SECOND": {yes, 0}, "us - INTERVAL 1 SECOND = go - INTERVAL 1 SECOND": {yes, 0},
		"s_t BETWEEN ms_t - INTERVAL 5 MINUTE AND ms_t + INTERVAL 1 HOUR": {yes, 0},
		"s_small > ms_small - INTERVAL 1 DAY":                             {yes, 0}, "s_small BETWEEN ms_small - INTERVAL 1 DAY AND ms_small": {yes, 0},
		"s_small < ms_small - INTERVAL 1 DAY": {no, 0},
		"endOfDay(s_t) > text":                {yes, 0}, "endOfDay(s_t) = 1700006399999": {yes, 0}, "endOfDay(ms_small) = 86399999": {yes, 0},
		"endOfDay(ms_t) = endOfDay(s_t)": {yes, 0}, "parseTimestamp(text) = s_t": {yes, 0}, "epochToTimestamp(s_t) = ms_t": {yes, 0},
		"timestampToEpoch(ms_small) = 5": {yes, 0}, "timestampToEpoch(ms_t) = s_t": {yes, 0}, "timestampToEpoch(ms_t) = ms_t": {yes, 0},
		"atZone(s_t, 'Asia/Tokyo') = text": {yes, 0}, "atZone(s_t, 'Asia/Tokyo') = atZone(s_t, 'UTC')": {yes, 0},
		"timestampToString(s_t) = text": {yes, 0}, "timestampToString(s_t) = east": {no, 0},
		"s_t = now()": {yes, 0}, "s_t > now()": {no, 0},

		// Without a time on either side it is a comparison of values.
		"ms_t > none": {unknown, 0}, "ms_t = word": {unknown, 1}, "ms_word = word": {no, 0}, "none + INTERVAL 1 DAY > ms_t": {unknown, 0},
		"word + INTERVAL 1 DAY > ms_t": {unknown, 1}, "s_t BETWEEN word AND go": {unknown, 1}, "s_t BETWEEN go AND word": {unknown, 1},
		"us = go": {unknown, 1}, "now() > us": {unknown, 1}, "text = east": {no, 0},
	} {
		ctx := NewContext(func() time.Time { return time.Unix(1700000000, 0) })
		require.Equal(t, want.is, judge(t, ctx, sql, f), sql)
		require.Equal(t, want.mismatch, ctx.TypeMismatch, sql)
	}
}

// TestComparingTimesIsComparingInstants: however two instants are written.
func TestComparingTimesIsComparingInstants(t *testing.T) {
	write := func(t *rapid.T, name string, seconds int64) (string, any) {
		switch rapid.IntRange(0, 5).Draw(t, name) {
		case 0:
			return "s_" + name, seconds
		case 1:
			return "ms_" + name, float64(seconds * 1000)
		case 2:
			return name, time.Unix(seconds, 0)
		case 3:
			return name, time.Unix(seconds, 0).UTC().Format(time.RFC3339)
		case 4:
			return "ms_" + name + " - INTERVAL 90 SECOND", (seconds + 90) * 1000
		}
		return "endOfSecond(s_" + name + ") - INTERVAL '999ms'", seconds
	}
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Int64Range(0, 1<<32).Draw(t, "a")
		b := a + rapid.Int64Range(0, 1).Draw(t, "b - a")
		x, vx := write(t, "x", a)
		y, vy := write(t, "y", b)
		if x == "x" && y == "y" {
			t.Skip("nothing says that these are times")
		}
		f := fields{nameIn(x): vx, nameIn(y): vy}
		var ctx Context
		require.Equal(t, value.TriOf(a < b), judge(t, &ctx, x+" < "+y, f), "%v", f)
		require.Equal(t, value.TriOf(a == b), judge(t, &ctx, x+" = "+y, f), "%v", f)
		require.Equal(t, value.True, judge(t, &ctx, y+" BETWEEN "+x+" AND "+y, f), "%v", f)
		require.Zero(t, ctx.TypeMismatch)
	})
}

// nameIn returns the column that an expression of the test above is about.
func nameIn(sql string) string {
	name := ""
	e, err := syntax.ParseExpr(sql)
	if err != nil {
		panic(err)
	}
	syntax.Walk(e, func(e syntax.Expr) bool {
		if c, ok := e.(*syntax.Column); ok {
			name = c.Path[0].Name
		}
		return true
	})
	return name
}

func TestComparingTimesAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	f := fields{"ms_t": int64(1700000000000), "s_t": int64(1700000000), "text": "2023-11-14T22:13:20Z"}
	for _, sql := range []string{
		"ms_t = s_t", "text = ms_t", "s_t BETWEEN ms_t - INTERVAL 5 MINUTE AND ms_t + INTERVAL 1 HOUR",
		"endOfDay(s_t) = endOfDay(ms_t)", "endOfMonth(text, 3) > ms_t",
	} {
		e := parse(t, sql)
		pred, err := CompilePredicateIn(e, f.scope(zoneNamed(t, "Europe/Berlin")))
		require.NoError(t, err)
		var ctx Context
		r := f.row()
		require.Equal(t, value.True, pred(&ctx, r), sql)
		require.Zero(t, testing.AllocsPerRun(100, func() { pred(&ctx, r) }), sql)
	}
}
