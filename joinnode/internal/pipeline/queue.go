package pipeline

import (
	"errors"
	"slices"
	"sync"
	"time"
)

// The errors of admission; package joinnode shows them under its own names.
var (
	ErrClosed   = errors.New("the query is stopped")
	ErrOverflow = errors.New("the input queue is full")
)

// arrival is one row in the queue. Its bytes lie in the queue's slab.
type arrival struct {
	input   int
	now     int64 // clock reading taken at admission, ns; never falls
	ts      int64 // event time, ns
	badTime bool
	enc     span
	side    []any   // Go values without encoding; owned by the row
	raw     span    // the whole row as JSON, kept only for the late output
	marker  *marker // not nil: this is no row
}

// marker stands in the queue for something to be done when all that stands
// before it is processed.
type marker struct {
	read func()        // runs in the loop; nil: nothing
	done chan struct{} // closed when it has run, or when what came before is delivered
}

// waiter is a caller that waits for room.
type waiter struct{ expired bool }

// span is a stretch of the slab.
type span struct{ from, to int }

// batch is what the loop takes at once. The loop owns it until it gives it back.
type batch struct {
	arrivals []arrival
	lost     []arrival // rows that the drop strategy refused, for the late output
	slab     []byte
}

func (b *batch) bytes(s span) []byte { return b.slab[s.from:s.to:s.to] }

// What an emptied batch or delivery may keep for the next rows. One message can
// be much larger than what is usual.
const (
	maxIdleSlab  = 1 << 20 // bytes
	maxIdleItems = 1 << 14 // arrivals or results
	// maxBusySlab bounds the slab of a batch while batches fill a quarter of it: a
	// full queue of rows that a script keeps whole is more than maxIdleSlab.
	maxBusySlab = 4 << 20
)

func (b *batch) reset() {
	busy := len(b.slab) >= cap(b.slab)/4 && cap(b.slab) <= maxBusySlab
	clear(b.arrivals) // drops references to side values and markers
	b.arrivals, b.lost, b.slab = b.arrivals[:0], b.lost[:0], b.slab[:0]
	if cap(b.arrivals) > maxIdleItems {
		b.arrivals = nil
	}
	if cap(b.slab) > maxIdleSlab && !busy {
		b.slab = nil
	}
}

// queue is the one ordered way in (semantics.md §1): what stands earlier in it
// happened earlier, for every stream. Admission is bounded in rows, and while
// results are backed up nothing is admitted, so that a slow sink slows its
// sources instead of filling memory.
type queue struct {
	clock        Clock
	capacity     int // rows waiting for the loop
	backlogLimit int // results waiting for the emitter
	block        bool
	blockTimeout time.Duration
	onFirst      func() // starts the goroutines; called once, under the lock
	sinks        *SinkGoroutine
	// coarse: rows that wait together share one clock reading, because nothing but
	// skew asks for it. Reading it costs as much as all the rest of putting a row.
	coarse bool
	skew   int64 // how far ahead of the clock a row may be, ns; 0 = no bound

	mu      sync.Mutex
	arrived sync.Cond // the loop waits here
	space   sync.Cond // callers wait here
	fill    batch
	started bool
	closed  bool
	rows    int       // admitted and not yet taken by the loop's current batch
	backlog int       // results not yet delivered
	waiting []*waiter // callers in order of arrival, so that a large group gets its turn
	lastNow int64
	alarm   bool // a timer fired
}

func newQueue(cfg Config) *queue {
	q := &queue{clock: cfg.Clock, capacity: cfg.QueueRows, backlogLimit: cfg.BacklogLimit,
		block: cfg.Block, blockTimeout: cfg.BlockTimeout}
	q.arrived.L, q.space.L = &q.mu, &q.mu
	return q
}

// nowLocked reads the clock so that it never falls in queue order. It stands
// still once the queue is closed: what falls due later is the business of the
// flush, or of the successor.
func (q *queue) nowLocked() int64 {
	if !q.closed {
		q.lastNow = max(q.lastNow, q.clock.Now().UnixNano())
	}
	return q.lastNow
}

// stampLocked returns the clock reading of rows that are admitted. An old reading
// does where it is not too old for their event times: a row that is not too far
// ahead of it is not so of a later one either.
func (q *queue) stampLocked(rows []Row) int64 {
	if !q.coarse || len(q.fill.arrivals) == 0 {
		return q.nowLocked()
	}
	if q.skew > 0 {
		bound := addTime(q.lastNow, q.skew)
		for i := range rows {
			if rows[i].TS > bound {
				return q.nowLocked()
			}
		}
	}
	return q.lastNow
}

// put admits all rows or none. It waits for room up to the block timeout and
// then, or at once where the strategy is to drop, returns ErrOverflow. A group
// larger than the queue is admitted once the queue is empty.
func (q *queue) put(rows []Row) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.waitForRoom(len(rows)); err != nil {
		if err == ErrOverflow && !q.block { //nolint:errorlint // the sentinel itself
			q.loseLocked(rows)
		}
		return err
	}
	q.startLocked()
	now := q.stampLocked(rows)
	for i := range rows {
		r := &rows[i]
		a := arrival{input: r.Input, now: now, ts: r.TS, badTime: r.BadTime, side: r.Row.Side}
		a.enc = q.copyLocked(r.Row.Enc)
		a.raw = q.copyLocked(r.Raw)
		q.fill.arrivals = append(q.fill.arrivals, a)
	}
	q.rows += len(rows)
	q.arrived.Signal()
	return nil
}

// loseLocked sets rows that were dropped aside for the late output, if they came
// with their JSON: somebody listens. No more of them wait than rows do; beyond
// that they are counted only.
func (q *queue) loseLocked(rows []Row) {
	now := q.nowLocked()
	for i := range rows {
		if r := &rows[i]; len(r.Raw) > 0 && len(q.fill.lost) < q.capacity {
			q.fill.lost = append(q.fill.lost, arrival{input: r.Input, now: now, ts: r.TS, badTime: r.BadTime, raw: q.copyLocked(r.Raw)})
		}
	}
	q.arrived.Signal()
}

func (q *queue) copyLocked(b []byte) span {
	from := len(q.fill.slab)
	q.fill.slab = append(q.fill.slab, b...)
	return span{from, len(q.fill.slab)}
}

func (q *queue) startLocked() {
	if !q.started {
		q.started = true
		q.onFirst()
	}
}

func (q *queue) roomLocked(n int) bool {
	return (q.rows == 0 || q.rows+n <= q.capacity) && q.backlog < q.backlogLimit
}

func (q *queue) waitForRoom(n int) error {
	if q.closed {
		return ErrClosed
	}
	if len(q.waiting) == 0 && q.roomLocked(n) {
		return nil
	}
	if !q.block {
		return ErrOverflow
	}
	// A sink that waits for results to be delivered waits for itself.
	inSink := q.sinks.Current()
	w := &waiter{}
	q.waiting = append(q.waiting, w)
	defer q.leaveLocked(w)
	timer := q.clock.AfterFunc(q.blockTimeout, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		w.expired = true
		q.space.Broadcast()
	})
	defer timer.Stop()
	for q.waiting[0] != w || !q.roomLocked(n) {
		if q.closed {
			return ErrClosed
		}
		if w.expired || inSink && q.backlog >= q.backlogLimit {
			return ErrOverflow
		}
		q.space.Wait()
	}
	if q.closed {
		return ErrClosed
	}
	return nil
}

// leaveLocked takes a caller out of the line; the next one may have room.
func (q *queue) leaveLocked(w *waiter) {
	q.waiting = slices.DeleteFunc(q.waiting, func(x *waiter) bool { return x == w })
	q.space.Broadcast()
}

// mark admits a marker: its channel is closed when all that stands before it
// is processed and delivered. Where none is admitted, closed tells a query that
// has ended, or is about to, from one that has not begun.
func (q *queue) mark(done chan struct{}) (admitted, closed bool) {
	return q.admit(&marker{done: done})
}

// admit admits a marker. It needs no room.
func (q *queue) admit(m *marker) (admitted, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.started || q.closed {
		return false, q.closed
	}
	q.fill.arrivals = append(q.fill.arrivals, arrival{now: q.nowLocked(), marker: m})
	q.arrived.Signal()
	return true, false
}

// ring tells the loop that a timer fired.
func (q *queue) ring() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.alarm = true
	q.arrived.Signal()
}

// close ends admission; blocked callers get ErrClosed. It reports whether the
// loop runs.
func (q *queue) close() (started bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.nowLocked()
	q.closed = true
	q.arrived.Signal()
	q.space.Broadcast()
	return q.started
}

// take waits until there are arrivals, a timer fired or the queue was closed,
// and swaps the filled batch for the empty one. now is the clock at that
// moment, rang says that a timer fired, and more is false when the queue is
// closed and everything was taken.
func (q *queue) take(empty *batch) (taken batch, now int64, rang, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.fill.arrivals)+len(q.fill.lost) == 0 && !q.closed && !q.alarm {
		q.arrived.Wait()
	}
	taken, q.fill = q.fill, *empty
	rang, q.alarm = q.alarm, false
	if len(taken.arrivals) == 0 {
		q.nowLocked() // else the arrivals tell the time
	}
	return taken, q.lastNow, rang, len(taken.arrivals)+len(taken.lost) > 0 || !q.closed
}

// release lets go of the memory for rows once the queue is closed and empty.
func (q *queue) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.fill = batch{}
}

// settle gives room back for rows that the loop has done with, and counts the
// results that wait for delivery; a negative number tells of delivered ones. Both
// at once: no caller finds room for rows whose results are not counted yet.
func (q *queue) settle(rows, results int) {
	if rows == 0 && results == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.rows -= rows
	q.backlog += results
	q.space.Broadcast() // more room, or for a sink that waits, none to hope for
}
