package tables

import (
	"fmt"
	"slices"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// Evaluator runs one script.
type Evaluator struct {
	inputs  []*input
	nodes   []*node // every node behind those it reads
	exports []*export
	tables  map[string]*table

	clock, start int64 // ns; start is the clock of the first arrival
	now          int64 // the script's now()
	stopped      bool
	sequence     int64

	sent         []Message
	late         []Late
	lateVersions int64
	unit         int64 // of numbers that are times: the script's TIMEUNIT, 0 = guessed
}

// export is a table whose rows leave.
type export struct {
	name  string
	table *table
}

// Message is what an exported table sends: a row of a stream (Change is ""), or
// an insert, update or delete of a state with the new, for a delete the last row.
type Message struct {
	Table  string
	Change string
	Key    string // of a state: its spelling is the sender's own
	Row    map[string]any
	TS     int64 // ns
}

// Late is a row that the late output gets.
type Late struct {
	Table  string // whose computation dropped it; an input's name for bad times
	Reason string
	TS     int64
	Row    map[string]any
}

// New returns an evaluator of a script with nothing seen.
func New(sql string) (*Evaluator, error) {
	script, err := syntax.ParseScript(sql)
	if err != nil {
		return nil, err
	}
	e := &Evaluator{clock: unseen, start: unseen, now: unseen, tables: map[string]*table{}}
	if err := (&builder{e: e}).script(script); err != nil {
		return nil, fmt.Errorf("%s: %w", sql, err)
	}
	return e, nil
}

func (e *Evaluator) next() int64 {
	e.sequence++
	return e.sequence
}

func (e *Evaluator) drop(table, reason string, ts int64, row object) {
	e.late = append(e.late, Late{table, reason, ts, row})
}

// Arrive takes one row at a clock reading, in ms.
func (e *Evaluator) Arrive(stream string, row map[string]any, clock int64) error {
	i := slices.IndexFunc(e.inputs, func(in *input) bool { return in.name == stream })
	if i < 0 || e.stopped {
		return fmt.Errorf("no input %q, or stopped", stream)
	}
	e.pass(clock * ms)
	if e.start == unseen {
		e.start = e.clock
	}
	e.inputs[i].arrive(e, normal(row).(object))
	e.step()
	return nil
}

// Tick lets time pass without a row.
func (e *Evaluator) Tick(clock int64) { e.pass(clock * ms) }

// Stop ends the script: joins and windows get the end of time, now() stays.
func (e *Evaluator) Stop(clock int64) {
	e.pass(clock * ms)
	e.stopped = true
	e.step()
}

// pass lets the clock run to t, through every instant on the way at which that
// alone changes something.
func (e *Evaluator) pass(t int64) {
	for {
		next := int64(forever)
		passed := func(at int64) {
			if at > e.clock {
				next = min(next, at)
			}
		}
		if e.start != unseen {
			clocked := true // now() follows the clock
			for _, in := range e.inputs {
				if in.field == nil {
					continue
				}
				if in.timeout > 0 {
					since := e.start
					if in.seen {
						since = in.last
					}
					passed(add(since, in.timeout))
				}
				clocked = clocked && in.idle(e)
			}
			for _, n := range e.nodes {
				if n.due != nil && (clocked || e.clocked()) {
					n.due(passed)
				}
			}
		}
		if next > t {
			break
		}
		e.clock = next
		e.step()
	}
	// The passing of time before an arrival is a step of its own.
	moved := t > e.clock
	e.clock = max(e.clock, t)
	if moved && e.start != unseen {
		e.step()
	}
}

// clocked says whether any input is timed by arrival.
func (e *Evaluator) clocked() bool {
	return slices.ContainsFunc(e.inputs, func(in *input) bool { return in.field == nil })
}

// step is one arrival or one instant: first time moves, then every node computes
// what it is now from what its inputs are now, and exported tables tell what that
// changed.
func (e *Evaluator) step() {
	e.moveNow()
	for _, n := range e.nodes {
		n.changes = nil
		n.run(n)
	}
	for _, x := range e.exports {
		for _, c := range x.table.node.changes {
			e.sent = append(e.sent, x.message(c))
		}
	}
}

// moveNow raises now() to the least watermark of the inputs that are not idle,
// to the clock where all are.
func (e *Evaluator) moveNow() {
	if e.stopped {
		return
	}
	least, all := int64(forever), true
	for _, in := range e.inputs {
		if p := in.progress(e); !p.idle {
			least, all = min(least, p.low), false
		}
	}
	if all {
		least = e.clock
	}
	e.now = max(e.now, least)
}

func (x *export) message(c change) Message {
	m := Message{Table: x.name, TS: c.ts, Key: c.key()}
	switch {
	case !x.table.node.state:
		m.Key = ""
	case c.old == nil:
		m.Change = "insert"
	case c.now == nil:
		m.Change = "delete"
	default:
		m.Change = "update"
	}
	if c.now != nil {
		m.Row = c.now.parts[0].row
	} else {
		m.Row = c.old.parts[0].row
	}
	return m
}

// Messages returns everything that was sent so far, in order.
func (e *Evaluator) Messages() []Message { return e.sent }

// Late returns the rows that went to the late output so far.
func (e *Evaluator) Late() []Late { return e.late }

// LateVersions counts the versions and retractions that came after results they
// would have changed.
func (e *Evaluator) LateVersions() int64 { return e.lateVersions }

// Now returns the script's now() in ns; false while it is unknown.
func (e *Evaluator) Now() (int64, bool) { return e.now, e.now != unseen }

// Exported returns the names of the tables that leave, in order.
func (e *Evaluator) Exported() []string {
	var names []string
	for _, x := range e.exports {
		names = append(names, x.name)
	}
	return names
}

// State says whether a table is a state table.
func (e *Evaluator) State(name string) bool {
	t := e.tables[name]
	return t != nil && t.node.state
}

// Table returns the rows of a table: of a state those of now by key, of a stream
// all that it ever had, with their number as key.
func (e *Evaluator) Table(name string) (map[string]map[string]any, bool) {
	t := e.tables[name]
	if t == nil {
		return nil, false
	}
	rows := map[string]map[string]any{}
	for _, r := range t.node.rows {
		rows[r.key] = r.parts[0].row
	}
	return rows, true
}
