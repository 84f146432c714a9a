package delegate

import (
	"strconv"
	"strings"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// options are the WITH options of streamsql. streamsql itself loses the first
// of several (each but the first overwrites the window definition while no
// window is known), takes an unknown unit for milliseconds and ignores an
// unreadable duration, so it never sees them: the engine applies them.
type options struct {
	timestamp       string
	path            []syntax.Step // of timestamp
	unit            time.Duration // 0: by size
	maxOutOfOrder   time.Duration
	allowedLateness time.Duration
	idleTimeout     time.Duration
	stateTTL        time.Duration
	maxFutureSkew   time.Duration
}

const defaultFutureSkew = 24 * time.Hour

var timeUnits = map[string]time.Duration{
	"ns": time.Nanosecond, "us": time.Microsecond, "µs": time.Microsecond, "ms": time.Millisecond,
	"s": time.Second, "ss": time.Second, "m": time.Minute, "mi": time.Minute,
	"h": time.Hour, "hh": time.Hour, "d": 24 * time.Hour, "dd": 24 * time.Hour,
}

// readOptions reads WITH. Order and case do not matter, an option given twice
// or unknown is an error.
func (c *compiler) readOptions() error {
	o := &c.plan.options
	o.maxFutureSkew = defaultFutureSkew
	seen := map[string]bool{}
	for _, opt := range c.stmt.With {
		if seen[opt.Name] {
			return c.errorf(opt.Pos, ErrOption, "keep one of them", "WITH option %s is given twice", opt.Name)
		}
		seen[opt.Name] = true
		var err error
		switch opt.Name {
		case "TIMESTAMP":
			o.timestamp = strings.TrimSpace(opt.Value)
			if o.path, err = parsePath(o.timestamp); err != nil {
				return c.errorf(opt.Pos, ErrOption, "TIMESTAMP='ts' or TIMESTAMP='payload.ts'", "TIMESTAMP=%q is not the name of a field", opt.Value)
			}
		case "TIMEUNIT":
			unit, ok := timeUnits[strings.ToLower(opt.Value)]
			if !ok {
				return c.errorf(opt.Pos, ErrOption, "use 'ns', 'us', 'ms', 'ss', 'mi', 'hh' or 'dd'", "unknown TIMEUNIT %q", opt.Value)
			}
			o.unit = unit
		case "MAXOUTOFORDERNESS":
			o.maxOutOfOrder, err = c.duration(opt)
		case "ALLOWEDLATENESS":
			o.allowedLateness, err = c.duration(opt)
		case "IDLETIMEOUT":
			o.idleTimeout, err = c.duration(opt)
		case "STATETTL":
			o.stateTTL, err = c.duration(opt)
		case "MAXFUTURESKEW":
			o.maxFutureSkew, err = c.duration(opt)
		default:
			return c.errorf(opt.Pos, ErrOption, "known are TIMESTAMP, TIMEUNIT, MAXOUTOFORDERNESS, ALLOWEDLATENESS, IDLETIMEOUT, STATETTL, MAXFUTURESKEW",
				"unknown WITH option %s", opt.Name)
		}
		if err != nil {
			return err
		}
	}
	if o.timestamp == "" {
		for _, opt := range c.stmt.With {
			switch opt.Name {
			case "TIMEUNIT", "MAXOUTOFORDERNESS", "ALLOWEDLATENESS", "IDLETIMEOUT", "MAXFUTURESKEW":
				c.plan.Warnings = append(c.plan.Warnings, opt.Name+" has no effect without TIMESTAMP: rows take their arrival time")
			}
		}
		o.unit, o.maxOutOfOrder, o.allowedLateness, o.idleTimeout = 0, 0, 0, 0
	}
	return nil
}

func (c *compiler) duration(opt syntax.Option) (time.Duration, error) {
	d, err := time.ParseDuration(opt.Value)
	if err != nil || d < 0 {
		return 0, c.errorf(opt.Pos, ErrOption, "write a number with a unit, such as '5s' or '500ms'", "%s=%q is not a duration", opt.Name, opt.Value)
	}
	return d, nil
}

// parsePath reads a field path such as a.b[0].c.
func parsePath(text string) ([]syntax.Step, error) {
	var steps []syntax.Step
	for _, part := range strings.Split(text, ".") {
		name, rest, indexed := strings.Cut(part, "[")
		if name == "" {
			return nil, strconv.ErrSyntax
		}
		steps = append(steps, syntax.Step{Name: strings.Trim(name, "`")})
		for indexed {
			var index string
			var closed bool
			index, rest, closed = strings.Cut(rest, "]")
			n, err := strconv.Atoi(index)
			if !closed || err != nil {
				return nil, strconv.ErrSyntax
			}
			steps = append(steps, syntax.Step{Index: n, IsIndex: true})
			if rest == "" {
				break
			}
			if rest[0] != '[' {
				return nil, strconv.ErrSyntax
			}
			rest = rest[1:]
		}
	}
	return steps, nil
}
