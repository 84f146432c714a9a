package eval

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/rulego/streamsql/functions"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// timeFunction is a function of the time package, which StreamSQL does not have.
// Where it takes a time, that is whatever value.Timestamp takes, in the unit that
// UnitOf tells. For anything else it is NULL, and that is counted as an error of
// the function unless it was NULL.
type timeFunction struct {
	name        string // as the documentation spells it
	least, most int    // arguments
	// unit is that of the result as a time, AutoUnit when it is not meant to be one.
	unit    value.Unit
	window  bool // makes a time window in GROUP BY
	compile func(c *compiler, e *syntax.Call, f timeFunction, args []term) (Expr, error)
}

// timeFunctions returns the time package, the time windows first.
func timeFunctions() []timeFunction {
	const ms, seconds = value.Millisecond, value.Second
	return append(timeWindows(), []timeFunction{
		{name: "epochMilliToTimestamp", least: 1, most: 1, unit: ms, compile: fromEpoch(ms)},
		{name: "epochToTimestamp", least: 1, most: 1, unit: ms, compile: fromEpoch(seconds)},
		{name: "timestampToEpochMilli", least: 1, most: 1, unit: ms, compile: toEpoch(ms)},
		{name: "timestampToEpoch", least: 1, most: 1, unit: seconds, compile: toEpoch(seconds)},
		{name: "parseTimestamp", least: 1, most: 1, unit: ms, compile: (*compiler).parseTimestamp},
		{name: "timestampToString", least: 1, most: 1, compile: (*compiler).timestampToString},
		{name: "atZone", least: 2, most: 2, unit: ms, compile: (*compiler).atZone},
	}...)
}

// timeFunctionOf looks a function of the time package up, regardless of case. A
// function that the program registered under the name goes first.
func timeFunctionOf(name string) (timeFunction, bool) {
	for _, f := range timeFunctions() {
		if strings.EqualFold(f.name, name) {
			_, taken := functions.Get(strings.ToLower(name))
			return f, !taken
		}
	}
	return timeFunction{}, false
}

func (c *compiler) timeCall(e *syntax.Call, f timeFunction) (term, error) {
	args, err := c.compileAll(e.Args)
	if err != nil {
		return term{}, err
	}
	if err := checkCount(e, f.least, f.most); err != nil {
		return term{}, err
	}
	expr, err := f.compile(c, e, f, args)
	return fold(term{expr: expr}, args...), err
}

// failed counts that a function could not make anything of v.
func (c *Context) failed(name string, v value.Value, reason string) {
	if v.Resolve().IsNull() {
		return
	}
	c.FunctionErrors++
	c.LastFunctionError = fmt.Errorf("%s: %s %s", name, describe(v), reason)
}

// ofTime returns the expression that applies f to the time that x computes.
func (c *compiler) ofTime(name string, x term, f func(ns int64) (value.Value, bool)) Expr {
	unit, at := UnitOf(x.sql, c.scope), x.asMoments()
	return func(ctx *Context, r row.Row) value.Value {
		m := at(ctx, r)
		ns, ok := m.time(unit)
		if !ok || ns < 0 {
			ctx.failed(name, m.v, "is no time")
			return value.Value{}
		}
		v, ok := f(ns)
		if !ok {
			ctx.failed(name, m.v, "is too late a time")
		}
		return v
	}
}

// fromEpoch makes an instant of a number of units since the epoch.
func fromEpoch(unit value.Unit) func(*compiler, *syntax.Call, timeFunction, []term) (Expr, error) {
	return func(c *compiler, _ *syntax.Call, f timeFunction, args []term) (Expr, error) {
		x, zone := args[0].asExpr(), c.scope.zone()
		return func(ctx *Context, r row.Row) value.Value {
			v := x(ctx, r)
			if ns, ok := value.Timestamp(v, unit); ok && isNumeric(v) {
				return value.OfTime(time.Unix(0, ns).In(zone))
			}
			ctx.failed(f.name, v, "is no number of time")
			return value.Value{}
		}, nil
	}
}

// toEpoch makes an integer of a time: the whole units since the epoch.
func toEpoch(unit value.Unit) func(*compiler, *syntax.Call, timeFunction, []term) (Expr, error) {
	return func(c *compiler, _ *syntax.Call, f timeFunction, args []term) (Expr, error) {
		return c.ofTime(f.name, args[0], func(ns int64) (value.Value, bool) { return value.OfInt(ns / int64(unit)), true }), nil
	}
}

// timestampToString writes a time in RFC 3339 with the offset of the zone.
func (c *compiler) timestampToString(_ *syntax.Call, f timeFunction, args []term) (Expr, error) {
	zone := c.scope.zone()
	return c.ofTime(f.name, args[0], func(ns int64) (value.Value, bool) { return timeText(ns, zone), true }), nil
}

// atZone is timestampToString with the offset of the zone that is named. The text
// is the same time for all that takes a time, and for comparisons.
func (c *compiler) atZone(_ *syntax.Call, f timeFunction, args []term) (Expr, error) {
	name := args[1]
	if !name.constant || name.val.Kind != value.Text {
		return nil, functionErrorAt(name.sql.Position(), "the zone of atZone must be a constant name")
	}
	zone, err := LoadZone(string(name.val.Text))
	if err != nil {
		return nil, functionErrorAt(name.sql.Position(), "%s", err)
	}
	return c.ofTime(f.name, args[0], func(ns int64) (value.Value, bool) { return timeText(ns, zone), true }), nil
}

// timeText writes a time in RFC 3339. That has no seconds in its offsets; clocks
// that were off by some (Monrovia's, until 1972) are shown without them.
func timeText(ns int64, zone *time.Location) value.Value {
	t := time.Unix(0, ns).In(zone)
	if _, offset := t.Zone(); offset%60 != 0 {
		t = t.In(time.FixedZone("", offset-offset%60))
	}
	return value.OfBytes(t.AppendFormat(nil, time.RFC3339Nano), true)
}

// parseTimestamp makes an instant of text.
func (c *compiler) parseTimestamp(_ *syntax.Call, f timeFunction, args []term) (Expr, error) {
	x, zone := args[0].asExpr(), c.scope.zone()
	return func(ctx *Context, r row.Row) value.Value {
		v := x(ctx, r)
		if text := v.Resolve(); text.Kind == value.Text {
			if t, ok := parseTime(text.Text, zone); ok {
				return value.OfTime(t)
			}
		}
		ctx.failed(f.name, v, "cannot be read as a time: write 2006-01-02T15:04:05Z or 2006-01-02 15:04:05")
		return value.Value{}
	}, nil
}

// parseTime reads RFC 3339, with a blank for the T if need be, and the same without
// an offset or with the date only, which is then what clocks in the zone show: the
// first time that they do or, if they skip it, the instant at which they do.
func parseTime(text []byte, zone *time.Location) (time.Time, bool) {
	const date, longest = len("2006-01-02"), 64
	if len(text) < date || len(text) > longest {
		return time.Time{}, false
	}
	buf := append(make([]byte, 0, longest+len("T00:00:00Z")), text...)
	if len(buf) > date && buf[date] == ' ' {
		buf[date] = 'T'
	}
	if len(buf) == date {
		buf = append(buf, "T00:00:00"...)
	}
	// UnmarshalText takes an hour of one digit and a comma too.
	if len(buf) < len("2006-01-02T15:04:05") || buf[len("2006-01-02T15")] != ':' || bytes.IndexByte(buf, ',') >= 0 {
		return time.Time{}, false
	}
	var t time.Time
	if t.UnmarshalText(buf) == nil {
		t = t.In(zone)
		return t, isWritable(t)
	}
	if t.UnmarshalText(append(buf, 'Z')) != nil {
		return time.Time{}, false
	}
	reading, below := t.UnixMilli(), time.Duration(t.Nanosecond()%int(value.Millisecond))
	t = time.UnixMilli(firstInstant(reading, zone)).Add(below).In(zone)
	return t, isWritable(t)
}

// isWritable reports whether t has a text in RFC 3339, as results need.
func isWritable(t time.Time) bool { return t.Year() >= 0 && t.Year() <= 9999 }
