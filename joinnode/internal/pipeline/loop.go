package pipeline

import (
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// loop is the one goroutine that touches operators. What it does for every row
// is in this file: there is no lock, no clock and no allocation in it. What can
// be done for many rows at once is done every publishEvery rows.
func (p *Pipeline) loop(pre *Pipeline) {
	defer close(p.loopDone)
	p.inherit(pre)
	// The batch at hand is known to other code by its address, so it lives on the
	// heap: one for all rounds, or each wake-up would cost an allocation.
	var taken, spare batch
	for {
		var now int64
		var rang, more bool
		taken, now, rang, more = p.queue.take(&spare)
		if rang {
			p.stopTimer() // it has fired; setTimer arms the next one
		}
		p.run(&taken)
		if len(taken.arrivals) == 0 {
			p.advance(now)
			p.publish(0)
		}
		if !more {
			break
		}
		taken.reset()
		spare = taken
		p.setTimer()
	}
	p.stopTimer()
	p.end()
}

// publishEvery is after how many rows of a large batch results and room are
// handed on.
const publishEvery = 64

func (p *Pipeline) run(b *batch) {
	p.batch = b
	p.lose(b)
	open := 0
	for i := range b.arrivals {
		if i%aheadRows == 0 {
			p.graph.ahead.show(b, i)
		}
		p.step(&b.arrivals[i])
		if b.arrivals[i].marker == nil {
			open++
		}
		if (i+1)%publishEvery == 0 || i == len(b.arrivals)-1 {
			p.publish(open)
			open = 0
		}
	}
	p.current, p.batch = nil, nil
}

// step is one arrival (semantics.md §4; the operators do points 4 to 8).
func (p *Pipeline) step(a *arrival) {
	p.current = a
	if a.now > p.now {
		p.advance(a.now)
	}
	if a.marker != nil {
		p.out.marker(a.marker)
		return
	}
	p.counters.rowsIn++
	src := &p.graph.sources[a.input]
	rec := operator.Record{TS: a.now, Diff: 1, Row: row.Row{Enc: p.batch.bytes(a.enc), Side: a.side}}
	if p.graph.event {
		src.heard(a.now)
		rec.TS = a.ts
		switch {
		case a.badTime:
			p.drop(src, rec, operator.BadTimestamp)
			return
		case p.future(a):
			p.drop(src, rec, operator.FutureTimestamp)
			return
		}
		src.advance(a.ts, false)
		if a.ts < src.progress.Low {
			p.drop(src, rec, operator.Late)
			return
		}
	}
	src.head.Emit(rec)
	p.graph.endStep()
}

func (p *Pipeline) future(a *arrival) bool {
	skew := p.plan.Time.MaxFutureSkew
	return skew > 0 && a.ts > a.now && a.ts-a.now > int64(skew)
}

// publish makes counters visible, hands results to the emitter and gives room
// back for rows that are done with.
func (p *Pipeline) publish(rows int) {
	p.counters.publish()
	p.queue.settle(rows, p.out.fill.waiting)
	p.out.deliver()
}
