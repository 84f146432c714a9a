package operator

// A timeOrder yields the rows of one side in (ts, arrival) order, which is the
// order in which they expire.
//
// Rows whose times rise need nothing: their order is that of the arena, and a
// cursor walks it. A row that came after one with a greater time is a straggler
// and goes into a heap beside it. So order costs O(1) a row for streams in
// order, O(log stragglers) otherwise, and no memory for rows in order.
// (Should disorder ever dominate a profile: a heap of wider fan-out, or buckets
// of time that are sorted when they come due, touch fewer cache lines.)
//
// On the left side of a LEFT JOIN the same is kept a second time for the rows
// that still wait for a match: the oldest of them is when the operator next has
// something to emit.
type timeOrder struct {
	arena   *arena
	count   *counts
	newest  int64 // greatest time of the rows in order
	arrived uint32

	next cursor // of the rows in order
	late lateHeap
	dead int // entries of late whose row was evicted

	waits    bool // keep the following
	nextWait cursor
	lateWait lateHeap // a subset of late, so its rows are in the arena
}

// counts is what timeOrder, lists and probes add to Stats.
type counts struct {
	visited int64
	moved   int64
}

func newTimeOrder(a *arena, waits bool, count *counts) timeOrder {
	return timeOrder{arena: a, count: count, newest: unseen, waits: waits}
}

// inOrder tells whether a row of time ts that arrives now is in order.
func (o *timeOrder) inOrder(ts int64) bool { return ts >= o.newest }

// add enters the row that was just stored at r. Its record is flagged straggler
// iff it was not in order.
func (o *timeOrder) add(r ref, ts int64, waiting bool) {
	if o.inOrder(ts) {
		o.newest = ts
		return
	}
	e := lateEntry{ts: ts, arrival: o.arrived, row: r}
	o.arrived++
	o.late.push(e, o.count)
	if waiting && o.waits {
		o.lateWait.push(e, o.count)
	}
}

// first returns the oldest row.
func (o *timeOrder) first() (ref, record, bool) {
	for len(o.late) > 0 && o.arena.record(o.late[0].row).flags()&dead != 0 {
		o.popLate()
		o.dead--
	}
	r, rec, ok := o.arena.seek(&o.next, straggler|dead, &o.count.visited)
	// Of equal times the row in order came first: what came after it with a
	// greater time made the straggler one.
	if len(o.late) > 0 && (!ok || o.late[0].ts < rec.ts()) {
		r = o.late[0].row
		return r, o.arena.record(r), true
	}
	return r, rec, ok
}

// firstWaiting returns the oldest row that waits for a match.
func (o *timeOrder) firstWaiting() (ref, record, bool) {
	for len(o.lateWait) > 0 && o.arena.record(o.lateWait[0].row).flags()&(dead|matched) != 0 {
		o.lateWait.pop(o.count)
	}
	r, rec, ok := o.arena.seek(&o.nextWait, straggler|dead|matched, &o.count.visited)
	if len(o.lateWait) > 0 && (!ok || o.lateWait[0].ts < rec.ts()) {
		r = o.lateWait[0].row
		return r, o.arena.record(r), true
	}
	return r, rec, ok
}

// removeFirst takes the row that first returned out and gives its memory up.
func (o *timeOrder) removeFirst(r ref, rec record) {
	if rec.flags()&straggler != 0 {
		o.popLate()
		return
	}
	rec.set(dead)
	o.release(r)
}

func (o *timeOrder) popLate() {
	e := o.late[0]
	for len(o.lateWait) > 0 && !e.before(o.lateWait[0]) {
		o.lateWait.pop(o.count)
	}
	o.late.pop(o.count)
	o.arena.record(e.row).set(dead)
	o.release(e.row)
}

// remove takes any row out. A straggler's memory is kept until its entry in the
// heap is gone, which is soon: entries of removed rows are never the majority.
func (o *timeOrder) remove(r ref, rec record) {
	rec.set(dead)
	if rec.flags()&straggler == 0 {
		o.release(r)
		return
	}
	if o.dead++; o.dead > 32 && o.dead > len(o.late)/2 {
		o.dropDead()
	}
}

func (o *timeOrder) dropDead() {
	gone := func(e lateEntry) bool { return o.arena.record(e.row).flags()&dead != 0 }
	o.lateWait.filter(gone, func(lateEntry) {}, o.count)
	o.late.filter(gone, func(e lateEntry) { o.release(e.row) }, o.count)
	o.dead = 0
}

// empty is called when no row is left: the next one is in order whatever its
// time.
func (o *timeOrder) empty() {
	if o.dead > 0 {
		o.dropDead()
	}
	o.newest = unseen
}

func (o *timeOrder) release(r ref) {
	gone, next := o.arena.release(r)
	if gone == 0 {
		return
	}
	for _, c := range [...]*cursor{&o.next, &o.nextWait} {
		if c.chunk == gone {
			*c = cursor{chunk: next}
		}
	}
}

func (o *timeOrder) bytes() int64 {
	const entrySize = 16
	return int64(cap(o.late)+cap(o.lateWait)) * entrySize
}
