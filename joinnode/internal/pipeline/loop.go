package pipeline

// loop is the one goroutine that touches operators. What it does for every row
// is in this file and in the graph's arrive: there is no lock, no clock and no
// allocation in it. What can be done for many rows at once is done every
// publishEvery rows.
func (p *Pipeline) loop(from handover) {
	defer close(p.loopDone)
	p.outside.Lock()
	p.begun = true
	p.outside.Unlock()
	p.inherit(from)
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
			p.graph.show(b, i)
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

// lose hands rows that found no room to the late output.
func (p *Pipeline) lose(b *batch) {
	for i := range b.lost {
		a := &b.lost[i]
		p.late(p.graph.lost(a), func() []byte { return b.bytes(a.raw) })
	}
}

// step is one arrival.
func (p *Pipeline) step(a *arrival) {
	p.current = a
	if a.now > p.now {
		p.advance(a.now)
	}
	if a.marker != nil {
		p.reach(a.marker)
		return
	}
	p.counters.rowsIn++
	p.graph.arrive(a)
}

// reach does what a marker stands for.
func (p *Pipeline) reach(m *marker) {
	if m.read == nil {
		p.out.marker(m.done)
		return
	}
	m.read()
	close(m.done)
}

// publish makes counters visible, hands results to the emitter and gives room
// back for rows that are done with.
func (p *Pipeline) publish(rows int) {
	p.counters.publish()
	p.queue.settle(rows, p.out.fill.waiting)
	p.out.deliver()
}

// end flushes, or leaves the state to the successor, and delivers what is left.
func (p *Pipeline) end() {
	p.mu.Lock()
	why, successor := p.closeWhy, p.successor
	p.mu.Unlock()
	if successor == nil {
		p.graph.flush(why)
	}
	p.publish(0)
	p.queue.release()
	p.out.close()
}
