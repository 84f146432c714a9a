package pipeline

import (
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// delivery is a run of results, late rows and markers, in order. Nearly all of
// them are results without Go values: these lie packed and free of pointers, so
// that they cost little memory traffic, and nothing when the collector comes by.
// The others lie beside them, each with its place among the packed ones.
type delivery struct {
	packed  []packedResult
	times   []int64 // of the packed results, where results have times
	items   []outgoing
	slab    []byte
	waiting int // results and late rows
}

// packedResult is a result whose row has no Side.
type packedResult struct {
	data   span
	nulls  uint64
	output int32
	why    operator.CloseReason
	change operator.Change
}

// outgoing is anything else on its way out.
type outgoing struct {
	behind int // packed results before it
	kind   outgoingKind
	data   span // an encoded row, or the JSON of a late row
	side   []any
	result Result // without its row
	late   Late
	mark   chan struct{}
}

type outgoingKind uint8

const (
	outResult outgoingKind = iota
	outLate
	outMarker
)

// result adds a result row; timed says that the query's results have times.
func (d *delivery) result(output int, rec *operator.Record, timed bool) {
	if len(rec.Row.Side) > 0 {
		d.add(rec.Row.Enc, outgoing{kind: outResult, side: append([]any(nil), rec.Row.Side...),
			result: Result{Output: output, Nulls: rec.Nulls, Why: rec.Why, TS: rec.TS, Change: rec.Change}})
		return
	}
	d.waiting++
	from := len(d.slab)
	d.slab = append(d.slab, rec.Row.Enc...)
	d.packed = append(d.packed, packedResult{data: span{from, len(d.slab)}, nulls: rec.Nulls, output: int32(output), why: rec.Why, change: rec.Change})
	if timed {
		d.times = append(d.times, rec.TS)
	}
}

// add adds what is not packed; data is copied.
func (d *delivery) add(data []byte, o outgoing) {
	if o.kind != outMarker {
		d.waiting++
	}
	from := len(d.slab)
	d.slab = append(d.slab, data...)
	o.behind, o.data = len(d.packed), span{from, len(d.slab)}
	d.items = append(d.items, o)
}

func (d *delivery) empty() bool { return len(d.packed)+len(d.items) == 0 }

func (d *delivery) bytes(s span) []byte { return d.slab[s.from:s.to:s.to] }

// memory is what the delivery keeps for the next results, in bytes.
func (d *delivery) memory() int {
	const packedSize, timeSize, itemSize = 32, 8, 256
	return cap(d.slab) + cap(d.packed)*packedSize + cap(d.times)*timeSize + cap(d.items)*itemSize
}

// oversized tells whether it has grown beyond what is usual.
func (d *delivery) oversized() bool {
	return cap(d.slab) > maxIdleSlab || cap(d.packed) > maxIdleItems || cap(d.items) > maxIdleItems
}

// reset empties the delivery and lets go of what it held.
func (d *delivery) reset() {
	clear(d.items)
	d.packed, d.times, d.items, d.slab, d.waiting = d.packed[:0], d.times[:0], d.items[:0], d.slab[:0], 0
}

// emitter calls the sinks. Its Result is used for every row, since one on the
// stack would be allocated for each.
type emitter struct {
	cfg   *Config
	queue *queue
	out   Result
	done  int // given out and not yet told to the queue
}

// emit gives everything out, in order.
func (e *emitter) emit(d *delivery) {
	next := 0 // of the packed results
	for i := range d.items {
		it := &d.items[i]
		e.results(d, next, it.behind)
		next = it.behind
		e.item(d, it)
	}
	e.results(d, next, len(d.packed))
	e.tell(0)
}

func (e *emitter) results(d *delivery, from, to int) {
	e.out = Result{}
	for i := from; i < to; i++ {
		p := &d.packed[i]
		e.out.Row.Enc = d.bytes(p.data)
		e.out.Output, e.out.Nulls, e.out.Why, e.out.Change = int(p.output), p.nulls, p.why, p.change
		if len(d.times) > 0 {
			e.out.TS = d.times[i]
		}
		e.cfg.OnResult(&e.out)
		e.tell(1)
	}
}

func (e *emitter) item(d *delivery, it *outgoing) {
	switch it.kind {
	case outMarker:
		close(it.mark)
		return
	case outLate:
		it.late.JSON = d.bytes(it.data)
		e.cfg.OnLate(&it.late)
	case outResult:
		e.out = it.result
		e.out.Row = row.Row{Enc: d.bytes(it.data), Side: it.side}
		e.cfg.OnResult(&e.out)
		e.out = Result{} // the values are not kept alive
	}
	e.tell(1)
}

// tell gives room back for n more that were given out: a lock for each publishEvery
// of them, and for the rest when n is 0.
func (e *emitter) tell(n int) {
	if e.done += n; n == 0 || e.done >= publishEvery {
		e.queue.settle(0, -e.done)
		e.done = 0
	}
}
