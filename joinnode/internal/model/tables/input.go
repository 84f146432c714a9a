package tables

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// input is a stream that rows are fed to.
type input struct {
	name     string
	field    []string // of the event time; nil: arrival time
	unit     int64    // ns; 0: guessed
	disorder int64
	timeout  int64 // IDLETIMEOUT; 0: never idle
	skew     int64
	node     *node

	seen    bool
	last    int64 // clock of the last arrival that named it
	arrived *record
}

const (
	defaultTimeout = 5e9
	defaultSkew    = 24 * 3600e9
)

func newInput(e *Evaluator, name string) *input {
	in := &input{name: name, timeout: defaultTimeout, skew: defaultSkew}
	in.node = &node{e: e, table: name, run: func(n *node) {
		n.before, n.after = in.progress(e), in.progress(e)
		if in.arrived != nil {
			n.emit(in.arrived)
			in.arrived = nil
		}
	}}
	in.node.after = progress{unseen, unseen, false}
	e.inputs = append(e.inputs, in)
	e.nodes = append(e.nodes, in.node)
	return in
}

func (in *input) configure(options []syntax.Option) error {
	for _, o := range options {
		var err error
		switch o.Name {
		case "TIMESTAMP":
			in.field = strings.Split(o.Value, ".")
		case "TIMEUNIT":
			unit, ok := units[strings.ToLower(o.Value)]
			if !ok {
				return fmt.Errorf("unknown unit %q", o.Value)
			}
			in.unit = unit
		case "MAXOUTOFORDERNESS":
			in.disorder, err = duration(o.Value)
			in.node.disorder = in.disorder
		case "IDLETIMEOUT":
			in.timeout, err = duration(o.Value)
		case "MAXFUTURESKEW":
			in.skew, err = duration(o.Value)
		default:
			return fmt.Errorf("unknown option %s of IMPORT", o.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// idle says whether the input is left out of minima: silent for its timeout, or
// never heard of since the start and that long.
func (in *input) idle(e *Evaluator) bool {
	if in.field == nil || in.timeout == 0 || e.start == unseen {
		return false
	}
	since := e.start
	if in.seen {
		since = in.last
	}
	return e.clock-since >= in.timeout
}

// progress is the watermark: the clock without TIMESTAMP, otherwise the greatest
// time less MAXOUTOFORDERNESS.
func (in *input) progress(e *Evaluator) progress {
	if e.stopped {
		return progress{forever, forever, false}
	}
	if in.field == nil {
		return progress{e.clock, e.clock, false}
	}
	p := progress{unseen, unseen, in.idle(e)}
	if r := in.arrived; r != nil {
		p.seen = r.ts
	}
	p.seen = max(p.seen, in.node.after.seen)
	if p.seen != unseen {
		p.low = add(p.seen, -in.disorder)
	}
	return p
}

// arrive takes a row, or drops one whose time is none or too far ahead.
func (in *input) arrive(e *Evaluator, row object) {
	in.seen, in.last = true, e.clock
	ts := e.clock
	if in.field != nil {
		var ok bool
		switch ts, ok = instant(field(row, in.field), in.unit); {
		case !ok:
			e.drop(in.name, "bad_timestamp", 0, row)
			return
		case in.skew > 0 && ts > e.clock && ts-e.clock > in.skew:
			e.drop(in.name, "future_timestamp", ts, row)
			return
		}
	}
	seq := e.next()
	key := "#" + strconv.FormatInt(seq, 10)
	in.arrived = &record{key: key, parts: []part{{key: key, row: row}}, ts: ts, seq: seq}
}

// field follows a path of names into an object.
func field(v any, path []string) any {
	for _, name := range path {
		o, ok := v.(object)
		if !ok {
			return nil
		}
		v = o[name]
	}
	return v
}
