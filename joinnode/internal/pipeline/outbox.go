package pipeline

import (
	"sync"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
)

// outbox is the end of the graph, with a port for each output, and the way from the loop to the sinks. The
// loop appends to a delivery of its own and hands it over whole; one goroutine
// delivers in order. The loop never waits for it: callers do, at the queue.
type outbox struct {
	p     *Pipeline
	fill  *delivery // the loop's
	timed bool      // results have times

	mu        sync.Mutex
	ready     sync.Cond
	waiting   []*delivery
	free      []*delivery // emptied, for reuse
	freeBytes int         // that they hold
	closed    bool
}

func newOutbox(p *Pipeline) *outbox {
	o := &outbox{p: p, fill: &delivery{}}
	o.ready.L = &o.mu
	return o
}

// Process implements operator.Operator: a finished result row.
func (o *outbox) Process(port int, rec operator.Record) {
	if rec.Past {
		return
	}
	o.fill.result(port, &rec, o.timed)
	o.p.counters.rowsOut++
}

// Advance implements operator.Operator; results have no time of their own.
func (o *outbox) Advance(int, operator.Progress) {}

// EndStep implements operator.Operator.
func (o *outbox) EndStep() {}

// Wake implements operator.Operator.
func (o *outbox) Wake(int, int64) (int64, bool) { return 0, false }

// Flush implements operator.Operator.
func (o *outbox) Flush(int, operator.CloseReason) {}

// Stats implements operator.Operator.
func (o *outbox) Stats() operator.Stats { return operator.Stats{} }

// Describe implements operator.Operator.
func (o *outbox) Describe() operator.Description {
	return operator.Description{Name: "Sinks", Lines: []string{"in order, one result at a time"}}
}

// late passes a dropped row to the late output, if somebody listens.
func (p *Pipeline) late(l Late, json func() []byte) {
	if !p.cfg.WantLate() {
		return
	}
	if l.Watermark == minTime {
		l.Watermark = 0
	}
	p.out.fill.add(json(), outgoing{kind: outLate, late: l})
}

func (o *outbox) marker(ch chan struct{}) {
	o.fill.add(nil, outgoing{kind: outMarker, mark: ch})
}

// deliver hands what has gathered to the emitter. The queue knows of it already.
func (o *outbox) deliver() {
	if o.fill.empty() {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = append(o.waiting, o.fill)
	if n := len(o.free); n > 0 {
		o.fill, o.free = o.free[n-1], o.free[:n-1]
		o.freeBytes -= o.fill.memory()
	} else {
		o.fill = &delivery{}
	}
	o.ready.Signal()
}

// close lets the emitter end once everything is delivered.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.ready.Signal()
}

// next waits for deliveries; none means the end. The list that it returned
// before is used again.
func (o *outbox) next(used []*delivery) []*delivery {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.waiting) == 0 && !o.closed {
		o.ready.Wait()
	}
	ds := o.waiting
	clear(used)
	o.waiting = used[:0]
	return ds
}

// The bounds of what is kept for reuse. While the loop works on a large batch the
// emitter may not run at all (on one core it does not), so there must be as many
// as a batch fills; else each costs an allocation and the collector a round.
const (
	maxFreeDeliveries = 256
	maxFreeBytes      = 2 << 20
)

func (o *outbox) recycle(d *delivery) {
	if d.oversized() {
		return
	}
	d.reset()
	o.mu.Lock()
	defer o.mu.Unlock()
	if size := d.memory(); len(o.free) < maxFreeDeliveries && o.freeBytes+size <= maxFreeBytes {
		o.free = append(o.free, d)
		o.freeBytes += size
	}
}

// run is the emitter goroutine. After a reload it starts once the old query's
// last result is out.
func (o *outbox) run(after <-chan struct{}) {
	defer close(o.p.done)
	o.p.sinks.Enter()
	defer o.p.sinks.Leave()
	if after != nil {
		<-after
		o.p.sinks.Follow(nil)
	}
	e := emitter{cfg: &o.p.cfg, queue: o.p.queue}
	for ds := o.next(nil); len(ds) > 0; ds = o.next(ds) {
		for _, d := range ds {
			e.emit(d)
			o.recycle(d)
		}
	}
	o.release()
	o.p.cfg.OnEnd()
}

// release lets go of what was kept for results: none follow, but the query may be
// held on to for its statistics.
func (o *outbox) release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fill, o.waiting, o.free, o.freeBytes = nil, nil, nil, 0
}
