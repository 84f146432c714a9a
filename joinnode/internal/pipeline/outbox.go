package pipeline

import (
	"sync"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// outbox is the end of the graph and the way from the loop to the sinks. The
// loop appends to a delivery of its own and hands it over whole; one goroutine
// delivers in order. The loop never waits for it: callers do, at the queue.
type outbox struct {
	p    *Pipeline
	fill *delivery // the loop's

	mu      sync.Mutex
	ready   sync.Cond
	waiting []*delivery
	free    []*delivery
	closed  bool
}

// delivery is a run of results, late rows and markers.
type delivery struct {
	items   []outgoing
	slab    []byte
	waiting int // results and late rows
}

type outgoing struct {
	kind  outgoingKind
	data  span // an encoded row, or the JSON of a late row
	side  []any
	nulls uint64
	why   operator.CloseReason
	late  Late
	mark  chan struct{}
}

type outgoingKind uint8

const (
	outResult outgoingKind = iota
	outLate
	outMarker
)

func newOutbox(p *Pipeline) *outbox {
	o := &outbox{p: p, fill: &delivery{}}
	o.ready.L = &o.mu
	return o
}

func (d *delivery) add(data []byte, o outgoing) {
	if o.kind != outMarker {
		d.waiting++
	}
	from := len(d.slab)
	d.slab = append(d.slab, data...)
	o.data = span{from, len(d.slab)}
	d.items = append(d.items, o)
}

// Process implements operator.Operator: a finished result row.
func (o *outbox) Process(_ int, rec operator.Record) {
	var side []any
	if len(rec.Row.Side) > 0 {
		side = append(side, rec.Row.Side...)
	}
	o.fill.add(rec.Row.Enc, outgoing{kind: outResult, side: side, nulls: rec.Nulls, why: rec.Why})
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
func (p *Pipeline) late(input int, watermark, ts int64, why operator.Reason, json func() []byte) {
	if !p.cfg.WantLate() {
		return
	}
	if watermark == minTime {
		watermark = 0
	}
	p.out.fill.add(json(), outgoing{kind: outLate, late: Late{Input: input, Reason: why, TS: ts, Watermark: watermark}})
}

func (o *outbox) marker(ch chan struct{}) {
	o.fill.add(nil, outgoing{kind: outMarker, mark: ch})
}

// deliver hands what has gathered to the emitter.
func (o *outbox) deliver() {
	if len(o.fill.items) == 0 {
		return
	}
	o.p.queue.addBacklog(o.fill.waiting)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = append(o.waiting, o.fill)
	if n := len(o.free); n > 0 {
		o.fill, o.free = o.free[n-1], o.free[:n-1]
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

// next waits for deliveries; nil means the end.
func (o *outbox) next() []*delivery {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.waiting) == 0 && !o.closed {
		o.ready.Wait()
	}
	ds := o.waiting
	o.waiting = nil
	return ds
}

// maxFreeDeliveries bounds what is kept for reuse.
const maxFreeDeliveries = 4

func (o *outbox) recycle(d *delivery) {
	if cap(d.slab) > maxIdleSlab || cap(d.items) > maxIdleItems {
		return
	}
	clear(d.items)
	d.items, d.slab, d.waiting = d.items[:0], d.slab[:0], 0
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.free) < maxFreeDeliveries {
		o.free = append(o.free, d)
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
	for ds := o.next(); ds != nil; ds = o.next() {
		for _, d := range ds {
			o.emit(d)
			o.recycle(d)
		}
	}
	o.p.cfg.OnEnd()
}

func (o *outbox) emit(d *delivery) {
	done := 0
	for i := range d.items {
		it := &d.items[i]
		data := d.slab[it.data.from:it.data.to:it.data.to]
		switch it.kind {
		case outMarker:
			close(it.mark)
		case outLate:
			it.late.JSON = data
			o.p.cfg.OnLate(&it.late)
			done++
		case outResult:
			o.p.cfg.OnResult(&Result{Row: row.Row{Enc: data, Side: it.side}, Nulls: it.nulls, Why: it.why})
			done++
		}
		if done == publishEvery {
			o.p.queue.addBacklog(-done)
			done = 0
		}
	}
	o.p.queue.addBacklog(-done)
}
