package operator

import (
	"fmt"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// TableConfig says what a Table is.
type TableConfig struct {
	Keys int   // the first Keys columns of a row are its key; 0 = it has one row at most
	Keep bool  // hold the rows, so that they can be read
	TTL  int64 // STATETTL, ns; 0 = none. The rows are held then, and port 1 is the script's time.
	// Net promises that of each key a step brings one −1 and one +1 at most, in this
	// order with nothing between, as Dedup and Aggregate send them and filters and
	// projections pass them on. Nothing is gathered then, and no rows are held.
	Net  bool
	Text string // the table as EXPLAIN shows it
}

func (cfg *TableConfig) check() error {
	switch {
	case cfg.Keys < 0:
		return fmt.Errorf("%w: table: Keys must not be negative, is %d", ErrConfig, cfg.Keys)
	case cfg.TTL < 0:
		return fmt.Errorf("%w: table: TTL must not be negative, is %d", ErrConfig, cfg.TTL)
	case cfg.Net && (cfg.Keep || cfg.TTL > 0):
		return fmt.Errorf("%w: table: a table of net changes holds no rows", ErrConfig)
	}
	return nil
}

// Table stands at the end of a table of state: of all that a step did to a key it
// makes one record with a Change, or none when the row is as it was before
// (docs/tables.md). Port 0 takes the changes, port 1, where STATETTL is on, the
// script's time. What it emits is for outputs and readers, not for operators: an
// update has no retraction.
//
// Where it holds the rows, a change is measured against them, so a key that
// STATETTL has deleted here returns as an insert although its source never knew
// that it was away.
type Table struct {
	cfg   TableConfig
	out   Output
	net   netChange
	list  netList     // in the place of net where changes are net
	state *keyedState // nil when the rows are not held
	relay relay
}

// NewTable returns an empty table that writes to out. Its errors are ErrConfig.
func NewTable(cfg TableConfig, out Output) (*Table, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	t := &Table{cfg: cfg, out: out, net: newNetChange(cfg.Keys), list: netList{cols: cfg.Keys}, relay: newRelay()}
	if cfg.Keep || cfg.TTL > 0 {
		t.state = newKeyedState(cfg.Keys, cfg.TTL)
	}
	return t, nil
}

// Advance implements Operator.
func (t *Table) Advance(port int, p Progress) {
	if port == 0 {
		t.relay.note(p)
	} else if t.state != nil {
		t.state.advance(p.Seen)
	}
}

// Process implements Operator.
func (t *Table) Process(_ int, rec Record) {
	switch {
	case rec.Past:
	case t.cfg.Net:
		t.list.add(&rec)
	default:
		t.net.add(&rec)
	}
}

// EndStep implements Operator.
func (t *Table) EndStep() {
	t.settle()
	t.relay.pass(t.out)
}

// settle emits the changes of the step.
func (t *Table) settle() {
	if t.cfg.Net {
		for i := range t.list.changes {
			t.out.Emit(t.list.changes[i])
		}
		t.list.reset()
		return
	}
	for i := range t.net.keys {
		res := t.net.result(i)
		if t.state != nil {
			t.apply(&res)
		} else if res.what != NoChange {
			t.emit(&res)
		}
	}
	if t.state != nil {
		for i := range t.state.changed {
			var res netResult
			res.old, res.new, res.what = t.state.net(i)
			if res.ts = t.state.changed[i].ts; res.what != NoChange {
				t.emit(&res)
			}
		}
		t.state.endStep()
	}
	t.net.reset()
}

func (t *Table) emit(res *netResult) {
	if res.what == Updated && equalRow(res.old, res.new) {
		return
	}
	rec := Record{TS: res.ts, Diff: 1, Change: res.what, Row: res.new, Nulls: res.nulls, Why: res.why}
	if res.what == Deleted {
		rec.Diff, rec.Row = -1, res.old
	}
	t.out.Emit(rec)
}

// apply makes the change of a key to the rows that are held.
func (t *Table) apply(res *netResult) {
	switch res.what {
	case Inserted, Updated:
		if ref := t.state.load(res.new); !t.state.set(ref, res.ts) {
			t.out.Drop(0, Record{TS: res.ts, Diff: 1, Row: res.new}, RowsGate, false)
		}
	case Deleted:
		if ref := t.state.load(res.old); ref != 0 {
			t.state.delete(ref, res.ts)
		}
	}
}

// Wake implements Operator.
func (t *Table) Wake(port int, need int64) (int64, bool) {
	switch {
	case port == 0:
		return t.relay.wake(need)
	case t.state != nil:
		return t.state.wake()
	}
	return 0, false
}

// Flush implements Operator: the step's changes leave. The rows stay, as the
// table can still be read.
func (t *Table) Flush(int, CloseReason) { t.settle() }

// Stats implements Operator.
func (t *Table) Stats() Stats {
	var st Stats
	if t.state != nil {
		st = t.state.stats()
	}
	st.Bytes += t.net.bytes() + t.list.bytes()
	return st
}

// Describe implements Operator.
func (t *Table) Describe() Description {
	state := "state: none"
	if t.state != nil {
		state = "state: one row a key"
	}
	return Description{Name: "Table", Lines: lines(t.cfg.Text, state, ttlLine(t.cfg.TTL))}
}

// Read implements Reader. A table that does not hold its rows has none to read.
func (t *Table) Read(yield func(row.Row) bool) {
	if t.state != nil {
		t.state.read(yield)
	}
}
