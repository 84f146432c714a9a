package operator

import (
	"cmp"
	"fmt"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// DedupConfig says which row of each key a Dedup keeps.
type DedupConfig struct {
	Keys  int        // the first Keys columns of a row are its key; 0 = all rows have one
	Order []OrderKey // ORDER BY; empty: the row that came last wins
	// History: Order[0] is the event time, descending, and rows that do not win
	// go into the table's history.
	History bool
	TTL     int64  // STATETTL, ns; 0 = none. Port 1 is then the script's time.
	Text    string // DISTINCT ON … as EXPLAIN shows it
}

// OrderKey is one column of ORDER BY. NULL and NaN come last either way; other
// values compare as in WHERE, and those of different kinds by kind: booleans,
// numbers, text, times, then objects and arrays.
type OrderKey struct {
	Col  int
	Desc bool
}

func (cfg *DedupConfig) check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: dedup: "+format, append([]any{ErrConfig}, args...)...)
	}
	switch {
	case cfg.Keys < 0:
		return bad("Keys must not be negative, is %d", cfg.Keys)
	case cfg.TTL < 0:
		return bad("TTL must not be negative, is %d", cfg.TTL)
	case cfg.History && (len(cfg.Order) == 0 || !cfg.Order[0].Desc):
		return bad("a history needs an order that begins with the event time, descending")
	}
	for i, o := range cfg.Order {
		if o.Col < 0 {
			return bad("column of Order %d must not be negative, is %d", i, o.Col)
		}
	}
	return nil
}

// Dedup is DISTINCT ON: of the rows of each key it keeps the one that is first
// by ORDER BY, of equal ones the later arrival (docs/tables.md). Port 0 takes
// rows of a stream, port 1, where STATETTL is on, the script's time. A step's
// change of a key is the old row with Diff −1 and the new one with Diff +1.
//
// Rows may come late: only their order counts. With History a row that is older than its key's row goes out at once as a
// record of the past, and so does a row that was the key's only within a step.
//
// Its state is one row a key.
type Dedup struct {
	cfg   DedupConfig
	out   Output
	state *keyedState
	relay relay

	ahead  ahead
	cached int64 // Prefetch does nothing below this size of the state
}

// NewDedup returns an empty Dedup that writes to out. Its errors are ErrConfig.
func NewDedup(cfg DedupConfig, out Output) (*Dedup, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	return &Dedup{cfg: cfg, out: out, state: newKeyedState(cfg.Keys, cfg.TTL), relay: newRelay(), cached: cachedState}, nil
}

// Advance implements Operator. What STATETTL deletes by the new time goes before
// the step's records come, so a row for such a key begins it anew.
func (d *Dedup) Advance(port int, p Progress) {
	if port == 0 {
		d.relay.note(p)
	} else {
		d.state.advance(p.Seen)
	}
}

// Process implements Operator.
func (d *Dedup) Process(port int, rec Record) {
	if rec.Past || rec.Diff < 0 {
		return // not on a stream
	}
	ref := d.state.load(rec.Row)
	if current, ok := d.state.get(ref); ok {
		order, sameTime := d.compare(rec.Row, current)
		if order > 0 {
			d.state.touch(ref)
			if d.cfg.History && !sameTime {
				rec.Past = true
				d.out.Emit(rec)
			}
			return
		}
		if ts, ok := d.state.pending(ref); ok && d.cfg.History && !sameTime {
			d.out.Emit(Record{TS: ts, Diff: 1, Past: true, Row: current})
		}
	}
	if !d.state.set(ref, rec.TS) {
		d.out.Drop(port, rec, RowsGate, false)
	}
}

// compare orders two rows of a key: −1 when a comes first, 0 for a tie.
// sameTime says that the first column of Order is equal.
func (d *Dedup) compare(a, b row.Row) (order int, sameTime bool) {
	for i, o := range d.cfg.Order {
		if order := compareColumn(a, b, o); order != 0 {
			return order, i > 0
		}
	}
	return 0, true
}

func compareColumn(a, b row.Row, o OrderKey) int {
	if x, ok := a.Int(o.Col); ok { // as the time of a row is
		if y, ok := b.Int(o.Col); ok {
			if o.Desc {
				x, y = y, x
			}
			return cmp.Compare(x, y)
		}
	}
	va, vb := a.Col(o.Col), b.Col(o.Col)
	order := compareTotal(va, vb)
	if o.Desc && order != 0 && !isMissing(va) && !isMissing(vb) {
		return -order
	}
	return order
}

// EndStep implements Operator.
func (d *Dedup) EndStep() {
	d.settle()
	d.relay.pass(d.out)
}

// settle emits the net changes of the step, in the order of the keys' first
// change.
func (d *Dedup) settle() {
	for i := range d.state.changed {
		before, after, what := d.state.net(i)
		ts := d.state.changed[i].ts
		if what == Updated || what == Deleted {
			d.out.Emit(Record{TS: ts, Diff: -1, Row: before})
		}
		if what == Updated || what == Inserted {
			d.out.Emit(Record{TS: ts, Diff: 1, Row: after})
		}
	}
	d.state.endStep()
}

// Wake implements Operator.
func (d *Dedup) Wake(port int, need int64) (int64, bool) {
	if port == 0 {
		return d.relay.wake(need)
	}
	return d.state.wake()
}

// Flush implements Operator: the step's changes leave. The rows stay, as the
// table can still be read.
func (d *Dedup) Flush(int, CloseReason) { d.settle() }

// Stats implements Operator.
func (d *Dedup) Stats() Stats { return d.state.stats() }

// Describe implements Operator.
func (d *Dedup) Describe() Description {
	history := ""
	if d.cfg.History {
		history = "older rows go into the history"
	}
	return Description{Name: "Dedup", Lines: lines(d.cfg.Text, history, "state: one row a key", ttlLine(d.cfg.TTL))}
}

// ttlLine is what EXPLAIN shows of STATETTL, which is no line when there is none.
func ttlLine(ttl int64) string {
	if ttl == 0 {
		return ""
	}
	return fmt.Sprintf("state: a key not touched for %s is deleted (STATETTL)", time.Duration(ttl))
}

// Read implements Reader.
func (d *Dedup) Read(yield func(row.Row) bool) { d.state.read(yield) }
