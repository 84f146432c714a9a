package operator

import (
	"fmt"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// RecencyConfig says which rows a Recency lets in. The plan is its only writer.
type RecencyConfig struct {
	Bounds []Bound // all must hold
	Keys   int     // the first Keys columns are the table's key, 0 for a stream
	Text   string  // the comparisons as EXPLAIN shows them
}

// Bound is one comparison of a row with now().
type Bound struct {
	// At returns the instant that now() is compared with, ns; false when the row
	// has none (NULL, out of range): then the comparison never holds.
	At func(row.Row) (ns int64, ok bool)
	// Enter says that the row is in once now() is past At, not until then.
	Enter bool
	// Inclusive says that the row is in at At itself.
	Inclusive bool
}

// Recency lets rows in and out as the script's now() passes. Port 0 has the
// rows, insertions and retractions, port 1 is now(). While now() is unknown it is
// before every instant.
//
// A step's net is emitted, retractions first, then insertions; in each what time
// did comes before what records did. A change that a record caused has the
// record's time, any other is at now().
//
// Rows that are in or will be are kept, those that are out for ever are not: the
// state is bounded by how long a row is in.
type Recency struct {
	cfg RecencyConfig
	out Output

	bag     *rowBag
	due     dueHeap
	arrived uint32
	changes []recencyChange // of the step
	now     int64
	flushed bool // of port 1
	relay   relay
	stats   Stats
}

// A recencyChange is what a step did to one entry.
type recencyChange struct {
	row    keyRef
	count  int // copies now
	ts     int64
	timed  bool // its instant has come
	before int  // copies that were in before the step
	after  int  // and are now
}

// What a Recency keeps in an entry.
const (
	recentArrival = 0 // number of the entry, 4 bytes
	recentState   = 4 // see below, 4 bytes
	recentSize    = 8
)

// The states of an entry.
const (
	recentNew     = iota // came in this step
	recentWaiting        // will be in
	recentIn
)

// NewRecency returns an empty operator that writes to out. Its errors are
// ErrConfig.
func NewRecency(cfg RecencyConfig, out Output) (*Recency, error) {
	if len(cfg.Bounds) == 0 {
		return nil, fmt.Errorf("%w: recency: no bounds", ErrConfig)
	}
	for i, b := range cfg.Bounds {
		if b.At == nil {
			return nil, fmt.Errorf("%w: recency: bound %d has no instant", ErrConfig, i)
		}
	}
	if cfg.Keys < 0 {
		return nil, fmt.Errorf("%w: recency: Keys must not be negative, is %d", ErrConfig, cfg.Keys)
	}
	r := &Recency{cfg: cfg, out: out, bag: newRowBag(recentSize), now: unseen, relay: newRelay()}
	r.due.bag = r.bag
	return r, nil
}

// Advance implements Operator.
func (r *Recency) Advance(port int, p Progress) {
	if port == 0 {
		r.relay.note(p)
		return
	}
	if r.flushed || p.Seen <= r.now {
		return
	}
	r.now = p.Seen
	for {
		d, ok := r.due.first()
		if !ok || d.at > r.now {
			return
		}
		r.due.pop()
		c := r.change(d.row)
		c.timed, c.ts = true, r.now
	}
}

// Process implements Operator: it notes the change.
func (r *Recency) Process(port int, rec Record) {
	if rec.Past {
		return
	}
	own := r.bag.own(rec.Row)
	hash := r.bag.hash(own)
	at := r.bag.find(own, hash)
	if at == 0 {
		if !r.bag.cells.room() {
			r.out.Drop(port, rec, RowsGate, false)
			return
		}
		at = r.bag.insert(own, hash)
		r.arrived++
		put32(r.bag.entry(at).extra()[recentArrival:], r.arrived)
	}
	c := r.change(at)
	c.count = max(0, c.count+int(rec.Diff))
	if !c.timed {
		c.ts = max(c.ts, rec.TS)
	}
}

// change returns the change of an entry in this step.
func (r *Recency) change(at keyRef) *recencyChange {
	e := r.bag.entry(at)
	if n := e.change(); n != 0 {
		return &r.changes[n-1]
	}
	r.changes = append(r.changes, recencyChange{row: at, count: e.count(), ts: unseen})
	e.setChange(len(r.changes))
	return &r.changes[len(r.changes)-1]
}

// EndStep implements Operator: rows enter and leave.
func (r *Recency) EndStep() {
	if len(r.changes) > 0 {
		for i := range r.changes {
			r.settle(&r.changes[i])
		}
		r.emit(-1)
		r.emit(1)
		for i := range r.changes {
			e := r.bag.entry(r.changes[i].row)
			e.setChange(0)
			if e.count() == 0 {
				r.bag.remove(r.changes[i].row)
			}
		}
		r.changes = forget(r.changes)
		r.bag.forget()
		r.due.tidy()
	}
	r.relay.pass(r.out)
}

// settle brings an entry to what it is after the step.
func (r *Recency) settle(c *recencyChange) {
	e := r.bag.entry(c.row)
	state := get32(e.extra()[recentState:])
	if state == recentIn {
		c.before = e.count()
	}
	n := c.count
	if n > 0 && (c.timed || state == recentNew) {
		enter, leave, ever := r.bounds(r.bag.row(e))
		switch {
		case !ever || leave <= r.now:
			if c.timed {
				r.stats.Expired += int64(e.count())
			}
			r.stats.Rejected += int64(max(0, n-e.count()))
			n, state = 0, recentNew
		case enter > r.now:
			state = recentWaiting
			r.due.push(enter, c.row)
		default:
			state = recentIn
			if leave != farthest {
				r.due.push(leave, c.row)
			}
		}
		put32(e.extra()[recentState:], state)
	}
	if state == recentIn {
		c.after = n
	}
	r.bag.recount(e, n)
}

// bounds returns the least instant at which a row is in, and the least later one
// at which it no longer is, farthest for none; ever is false when it never is.
func (r *Recency) bounds(x row.Row) (enter, leave int64, ever bool) {
	enter, leave = unseen, farthest
	for i := range r.cfg.Bounds {
		b := &r.cfg.Bounds[i]
		at, ok := b.At(x)
		if !ok {
			return 0, 0, false
		}
		if b.Enter != b.Inclusive {
			// Times are whole ns: past At is from the next one on, and up to and with
			// At is until the next one.
			if at, ok = reach(at, 1); !ok && b.Enter {
				return 0, 0, false
			} else if !ok {
				at = farthest
			}
		}
		if b.Enter {
			enter = max(enter, at)
		} else {
			leave = min(leave, at)
		}
	}
	return enter, leave, enter < leave
}

// emit emits the changes of one sign.
func (r *Recency) emit(sign int) {
	for i := range r.changes {
		c := &r.changes[i]
		n := (c.after - c.before) * sign
		if n <= 0 {
			continue
		}
		rec := Record{TS: c.ts, Diff: int8(sign), Row: r.bag.row(r.bag.entry(c.row))}
		for range n {
			r.out.Emit(rec)
		}
	}
}

// Wake implements Operator.
func (r *Recency) Wake(port int, need int64) (int64, bool) {
	if port == 0 {
		return r.relay.wake(need)
	}
	if r.flushed {
		return 0, false
	}
	d, ok := r.due.first()
	return d.at, ok
}

// Flush implements Operator. It emits nothing: what is in stays in, since now()
// stands still once the query ends.
func (r *Recency) Flush(port int, _ CloseReason) { r.flushed = r.flushed || port == 1 }

// Stats implements Operator. Rows are those that are in or will be.
func (r *Recency) Stats() Stats {
	st := r.stats
	st.Rows = r.bag.rows
	if r.cfg.Keys > 0 {
		st.Keys = r.bag.entries
	}
	st.Bytes = r.bag.bytes() + r.due.bytes()
	return st
}

// Read implements Reader: the rows that are in.
func (r *Recency) Read(yield func(row.Row) bool) {
	r.bag.each(func(e entry) bool {
		if get32(e.extra()[recentState:]) != recentIn {
			return true
		}
		x := r.bag.row(e)
		for range e.count() {
			if !yield(x) {
				return false
			}
		}
		return true
	})
}

// Describe implements Operator.
func (r *Recency) Describe() Description {
	what := "state: each row until it has left"
	for _, b := range r.cfg.Bounds {
		if !b.Enter {
			return Description{Name: "Recency", Lines: lines(r.cfg.Text, what)}
		}
	}
	return Description{Name: "Recency", Lines: lines(r.cfg.Text, "state: every row, since none leaves")}
}
