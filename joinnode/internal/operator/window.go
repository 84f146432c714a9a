package operator

import (
	"math"
	"slices"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// Window keeps the aggregates of groups of rows, a time window (a bucket) among
// their keys, and sends each group once, when its bucket is over: a stream. It
// has one port, which takes rows, +1 and −1.
//
// A bucket is closed once the port's Low has reached the first instant behind it:
// no row that is in time belongs to it any more. What still comes for it is
// dropped as Late, or counted as a late version when it is a retraction. Sums
// overflow as in an Aggregate.
type Window struct {
	why    CloseReason // of the rows that leave: NotClosed until Flush
	cfg    WindowConfig
	out    Output
	relay  relay
	low    int64 // of the port
	groups *groups

	open  []*bucket // by end
	spare *bucket   // an empty one
	row   row.Row   // memory of the last row
	late  int64
}

// A bucket is a time window that is not closed yet.
type bucket struct {
	end     int64    // its last instant, ms since the epoch
	groups  []keyRef // in order of their first row; 0 where one has left. A group's mark is its place + 1
	count   int      // groups
	visible int      // those with rows
}

const millisecond = 1_000_000

// NewWindow returns a window without groups.
func NewWindow(cfg WindowConfig, out Output) (*Window, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	return &Window{cfg: cfg, out: out, relay: newRelay(), low: unseen, groups: newGroups(&cfg.AggregateConfig)}, nil
}

// Advance implements Operator.
func (w *Window) Advance(port int, p Progress) {
	if port != 0 {
		return
	}
	w.low = max(w.low, p.Low)
	if p.Low != math.MaxInt64 { // after the end of time nothing comes
		p.Low = subTime(p.Low, millisecond) // groups leave with the last instant of their bucket
	}
	w.relay.note(p)
}

// closing returns the Low at which a bucket is closed.
func closing(end int64) int64 {
	if end == math.MaxInt64 {
		return end
	}
	return msToTime(end + 1)
}

// msToTime turns ms since the epoch into ns.
func msToTime(ms int64) int64 {
	switch {
	case ms > math.MaxInt64/millisecond:
		return math.MaxInt64
	case ms < math.MinInt64/millisecond:
		return math.MinInt64
	}
	return ms * millisecond
}

func (w *Window) closed(end int64) bool { return w.low != unseen && closing(end) <= w.low }

// Process implements Operator.
func (w *Window) Process(port int, rec Record) {
	if port != 0 || rec.Past {
		return
	}
	end, ok := rec.Row.Col(w.cfg.Bucket).Int64()
	switch {
	case !ok && rec.Diff > 0:
		w.out.Drop(port, rec, BadTimestamp, false)
		return
	case !ok:
		return
	case w.closed(end) && rec.Diff > 0:
		w.out.Drop(port, rec, Late, false)
		return
	case w.closed(end):
		w.late++
		return
	}
	ref, same := w.groups.find(rec.Row)
	if ref == 0 {
		if rec.Diff < 0 {
			return
		}
		if !w.groups.room() {
			w.out.Drop(port, rec, RowsGate, false)
			return
		}
		ref = w.groups.insert(rec.Row)
		w.bucket(end).add(ref, w.groups.keys.cell(ref))
	}
	before := w.groups.keys.cell(ref).groupRows()
	if before == 0 && !same && rec.Diff > 0 {
		ref = w.respell(end, ref, rec.Row)
	}
	_, overflow := w.groups.fold(ref, rec.Row, int64(rec.Diff), !w.cfg.AppendOnly)
	if overflow {
		w.out.Drop(port, rec, SumOverflow, false)
	}
	w.changed(end, ref, before > 0)
}

func (w *Window) respell(end int64, ref keyRef, r row.Row) keyRef {
	to := w.groups.respell(ref, r)
	w.bucket(end).groups[w.groups.keys.cell(to).mark()-1] = to
	return to
}

// changed keeps the order of groups by their first row: a group that gets one
// goes to the end, one that has lost its last leaves.
func (w *Window) changed(end int64, ref keyRef, had bool) {
	c := w.groups.keys.cell(ref)
	has := c.groupRows() > 0
	b := w.bucket(end)
	switch {
	case has && !had:
		b.visible++
		b.remove(c)
		b.add(ref, c)
	case had && !has:
		b.visible--
	}
	if !has && w.groups.needless(ref) {
		b.remove(c)
		w.groups.remove(ref)
	}
	switch {
	case b.count == 0:
		w.drop(end)
	case len(b.groups) > 64 && len(b.groups) > 2*b.count:
		w.compact(b)
	}
}

func (w *Window) find(end int64) (int, bool) {
	return slices.BinarySearchFunc(w.open, end, func(b *bucket, end int64) int {
		switch {
		case b.end < end:
			return -1
		case b.end > end:
			return 1
		}
		return 0
	})
}

// bucket returns the bucket that ends at end.
func (w *Window) bucket(end int64) *bucket {
	i, ok := w.find(end)
	if ok {
		return w.open[i]
	}
	b := w.spare
	if w.spare = nil; b == nil {
		b = &bucket{}
	}
	b.end = end
	w.open = slices.Insert(w.open, i, b)
	return b
}

func (w *Window) drop(end int64) {
	if i, ok := w.find(end); ok {
		b := w.open[i]
		w.open = slices.Delete(w.open, i, i+1)
		*b = bucket{groups: forget(b.groups)}
		w.spare = b
	}
}

func (b *bucket) add(ref keyRef, c cell) {
	b.groups = append(b.groups, ref)
	c.setMark(uint32(len(b.groups)))
	b.count++
}

func (b *bucket) remove(c cell) {
	b.groups[c.mark()-1] = 0
	b.count--
}

// compact gives up the places of groups that have left.
func (w *Window) compact(b *bucket) {
	all := b.groups
	b.groups, b.count = all[:0], 0
	for _, ref := range all {
		if ref != 0 {
			b.add(ref, w.groups.keys.cell(ref))
		}
	}
}

// EndStep implements Operator.
func (w *Window) EndStep() {
	for len(w.open) > 0 && w.closed(w.open[0].end) {
		w.emit(w.open[0])
	}
	w.relay.pass(w.out)
}

// emit sends the groups of a bucket and forgets them.
func (w *Window) emit(b *bucket) {
	ts := msToTime(b.end)
	for _, ref := range b.groups {
		if ref == 0 {
			continue
		}
		if w.groups.keys.cell(ref).groupRows() > 0 {
			w.row.Enc, w.row.Side = w.row.Enc[:0], w.row.Side[:0]
			w.groups.appendRow(&w.row, ref)
			w.out.Emit(Record{TS: ts, Diff: 1, Row: w.row, Why: w.why})
			clear(w.row.Side)
		}
		w.groups.remove(ref)
	}
	w.drop(b.end)
}

// Wake implements Operator. A clock that drives the port makes Low what Seen is.
func (w *Window) Wake(port int, need int64) (int64, bool) {
	at, ok := w.relay.wake(need)
	for _, b := range w.open {
		if b.visible > 0 {
			if c := closing(b.end); !ok || c < at {
				return c, true
			}
			break
		}
	}
	return at, ok
}

// Flush implements Operator: no window stays open.
func (w *Window) Flush(_ int, why CloseReason) {
	w.why = why // their buckets may be incomplete
	for len(w.open) > 0 {
		w.emit(w.open[0])
	}
}

// Stats implements Operator.
func (w *Window) Stats() Stats {
	st := Stats{Rows: w.groups.visible, Keys: w.groups.visible, Bytes: w.groups.bytes(), LateVersions: w.late}
	const bucketSize = 56
	for _, b := range w.open {
		st.Bytes += bucketSize + int64(cap(b.groups))*4
	}
	return st
}

// Describe implements Operator.
func (w *Window) Describe() Description {
	return Description{Name: "Window", Lines: lines(w.cfg.Text,
		"state: one row a group"+w.cfg.keeps()+", until the watermark has passed the end of its time window")}
}
