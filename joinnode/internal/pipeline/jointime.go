package pipeline

import (
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
)

// clocked implements graph.
func (g *joinGraph) clocked() bool { return !g.event || g.timeout > 0 }

// nextDue implements graph.
func (g *joinGraph) nextDue() (int64, bool) {
	if !g.event {
		return g.nextClocked()
	}
	return g.nextIdle()
}

// tick implements graph. In processing time the clock drives all ports,
// downstream first: at one instant an operator gives up its own due rows before
// rows that fall due upstream reach it. In event time only idle inputs follow the
// clock.
func (g *joinGraph) tick(t int64, _ bool) {
	if !g.event {
		g.advanceClock(t)
		g.endStep()
		return
	}
	// Idle inputs follow the clock continuously: what was only forgotten before t
	// is gone when something falls due at t.
	for _, at := range [...]int64{t - 1, t} {
		if g.advanceIdle(at) {
			g.endStep()
		}
	}
}

// sweep implements graph.
func (g *joinGraph) sweep() (int64, bool) {
	if !g.clocked() {
		return 0, false
	}
	for i := range g.stages {
		if g.stages[i].join.Stats().Rows > 0 {
			return g.sweeps, true
		}
	}
	return 0, false
}

// advanceClock moves every port to t, downstream first.
func (g *joinGraph) advanceClock(t int64) {
	for i := len(g.vertices) - 1; i >= 0; i-- {
		for port := range g.vertices[i].ports {
			g.vertices[i].op.Advance(port, operator.Progress{Seen: t, Low: t})
		}
	}
	for i := range g.sources {
		g.sources[i].progress = operator.Progress{Seen: t, Low: t}
	}
}

// advanceIdle lets the watermark of every idle input follow the clock
// (semantics.md §5), in query order.
func (g *joinGraph) advanceIdle(t int64) (moved bool) {
	if g.timeout == 0 {
		return false
	}
	for i := range g.sources {
		s := &g.sources[i]
		if s.seen && t-s.last >= g.timeout {
			moved = s.advance(t, true) || moved
		}
	}
	return moved
}

// nextClocked is the least instant at which any operator would emit when the
// clock alone moves.
func (g *joinGraph) nextClocked() (int64, bool) {
	least := int64(maxTime)
	for i := range g.vertices {
		for port := range g.vertices[i].ports {
			if at, ok := g.vertices[i].op.Wake(port, maxTime); ok {
				least = min(least, at)
			}
		}
	}
	return least, least < maxTime
}

// nextIdle is the least instant at which an input's idleness would make any
// operator emit: stage by stage from the end, what the left side of stage i+1
// waits for is what stage i's output has to reach.
func (g *joinGraph) nextIdle() (int64, bool) {
	if g.timeout == 0 {
		return 0, false
	}
	least := int64(maxTime)
	need := int64(maxTime)
	for i := len(g.stages) - 1; i >= 0; i-- {
		join := g.stages[i].join
		for _, in := range inputsOf(i) {
			port := 1
			if in == 0 {
				port = 0
			}
			if at, ok := join.Wake(port, need); ok && g.sources[in].seen {
				least = min(least, max(at, addTime(g.sources[in].last, g.timeout)))
			}
		}
		if at, ok := join.Wake(0, need); ok {
			need = at
		}
	}
	return least, least < maxTime
}
