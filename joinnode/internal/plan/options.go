package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// defaultFutureSkew is how far ahead of the wall clock an event time may be
// before it counts as a wrong clock (semantics.md §2).
const defaultFutureSkew = 24 * time.Hour

// withOptions are the WITH options of a join and what reading them does.
var withOptions = map[string]func(b *builder, o syntax.Option) error{
	"TIMESTAMP": func(b *builder, o syntax.Option) error {
		path, err := parsePath(o.Value)
		if err != nil {
			return b.errorf(o.Pos, ErrOption, "name a field of the rows: TIMESTAMP = 'ts' or 'payload.ts'", "TIMESTAMP: %v", err)
		}
		b.plan.Time.Field, b.plan.Time.Text = path, o.Value
		return nil
	},
	"TIMEUNIT": func(b *builder, o syntax.Option) error {
		if _, err := value.ParseUnit(o.Value); err != nil {
			return b.errorf(o.Pos, ErrOption, "", "TIMEUNIT: %v", err)
		}
		b.plan.Time.Unit = o.Value
		return nil
	},
	"IDLETIMEOUT": func(b *builder, o syntax.Option) error {
		d, err := b.optionDuration(o)
		b.plan.Time.IdleTimeout = d
		return err
	},
	"MAXFUTURESKEW": func(b *builder, o syntax.Option) error {
		d, err := b.optionDuration(o)
		b.plan.Time.MaxFutureSkew = d
		return err
	},
	"MAXOUTOFORDERNESS": refuseUnlessZero("MaxOutOfOrderness"),
	"ALLOWEDLATENESS":   refuseUnlessZero("AllowedLateness"),
}

// readOptions reads WITH (…): any order, any case, each once.
func (b *builder) readOptions() error {
	b.plan.Time.MaxFutureSkew = defaultFutureSkew
	given := map[string]syntax.Option{}
	for _, o := range b.stmt.With {
		read, ok := withOptions[o.Name]
		if !ok {
			return b.errorf(o.Pos, ErrOption, "a WITHIN join takes TIMESTAMP, TIMEUNIT, IDLETIMEOUT and MAXFUTURESKEW",
				"unknown WITH option %s", o.Name)
		}
		if _, twice := given[o.Name]; twice {
			return b.errorf(o.Pos, ErrOption, "", "WITH option %s is given twice", o.Name)
		}
		given[o.Name] = o
		if err := read(b, o); err != nil {
			return err
		}
	}
	if !b.plan.Time.Event() {
		for _, name := range []string{"TIMEUNIT", "IDLETIMEOUT", "MAXFUTURESKEW"} {
			if _, ok := given[name]; ok {
				b.warnf("%s has no effect without TIMESTAMP: rows take their arrival time", name)
			}
		}
		b.plan.Time = Time{} // so that such an option makes no difference to a reload either
	}
	return nil
}

func (b *builder) warnf(format string, args ...any) {
	b.plan.Warnings = append(b.plan.Warnings, fmt.Sprintf(format, args...))
}

// optionDuration reads '30s', '0' and the spellings of WITHIN.
func (b *builder) optionDuration(o syntax.Option) (time.Duration, error) {
	return OptionDuration(b.sql, o)
}

// OptionDuration reads the value of an option of sql that is a length of time:
// '30s', '0' and the spellings of WITHIN. Its errors are *syntax.Error.
func OptionDuration(sql string, o syntax.Option) (time.Duration, error) {
	if strings.TrimSpace(o.Value) == "0" {
		return 0, nil
	}
	d, err := syntax.ParseDuration(o.Value)
	if err != nil {
		return 0, newError(sql, o.Pos, ErrOption, "write a duration such as "+o.Name+" = '30s', or '0' to switch it off", "%s: %v", o.Name, err)
	}
	if d < 0 {
		return 0, newError(sql, o.Pos, ErrOption, "", "%s must not be negative, found %s", o.Name, o.Value)
	}
	return d, nil
}

// refuseUnlessZero reads an option that only a value of zero is compatible with
// (docs/sql.md, "WITH").
func refuseUnlessZero(name string) func(*builder, syntax.Option) error {
	return func(b *builder, o syntax.Option) error {
		d, err := b.optionDuration(o)
		if err != nil {
			return err
		}
		if d > 0 {
			return b.errorf(o.Pos, ErrUnsupported, "leave headroom for disorder in WITHIN instead; IDLETIMEOUT is allowed",
				"%s cannot be combined with a WITHIN join: it has no out-of-orderness margin", name)
		}
		return nil
	}
}

// parsePath reads a.b[0].c.
func parsePath(text string) (row.Path, error) {
	e, err := syntax.ParseExpr(text)
	if err != nil {
		return nil, fmt.Errorf("%q is not a field", text)
	}
	c, ok := e.(*syntax.Column)
	if !ok {
		return nil, fmt.Errorf("%q is not a field", text)
	}
	return row.Path(c.Path), nil
}
