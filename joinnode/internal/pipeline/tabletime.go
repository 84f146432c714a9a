package pipeline

import (
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/script"
)

// tableInput is one input of a script, with the watermark that its rows drive.
type tableInput struct {
	script.Input
	event    bool
	out      *outlet
	progress operator.Progress
	last     int64 // clock reading of its last arrival, or of the script's first one
	seen     bool  // it had an arrival
	inputCounts
}

func newTableInput(g *tableGraph, i int) tableInput {
	in := tableInput{Input: g.program.Inputs[i], out: newOutlet(g, -1-i), progress: unseen}
	in.event = in.TimeCol >= 0
	in.inputCounts = newInputCounts(g.p.counters, in.Stream)
	return in
}

// heard is an arrival at event time ts, where that is good: it ends idleness and
// raises the watermark. It tells whether there was news.
func (in *tableInput) heard(ts int64, good bool) bool {
	p := in.progress
	p.Idle = false
	if good && ts > p.Seen {
		p.Seen, p.Low = ts, subTime(ts, int64(in.Disorder))
	}
	return in.advance(p)
}

// advance tells the edges of progress, if there is any.
func (in *tableInput) advance(p operator.Progress) bool {
	if p == in.progress {
		return false
	}
	in.progress = p
	in.out.Advance(p)
	return true
}

// idleAt returns the instant at which the input becomes idle if it stays silent.
func (in *tableInput) idleAt(started bool) (int64, bool) {
	if !started || !in.event || in.IdleTimeout <= 0 || in.progress.Idle {
		return 0, false
	}
	return addTime(in.last, int64(in.IdleTimeout)), true
}

// follower lets the time of a WITHIN join's port follow the clock while the
// inputs behind it are silent.
type follower struct {
	to       target
	timeout  int64
	inputs   []int
	progress operator.Progress // of the port
}

// advance is progress of the edge.
func (f *follower) advance(p operator.Progress) {
	p.Seen, p.Low = max(p.Seen, f.progress.Seen), max(p.Low, f.progress.Low)
	f.progress = p
	f.to.advance(p)
}

// raise brings the port to the clock's t, if that is news.
func (f *follower) raise(t int64) bool {
	if t <= f.progress.Seen {
		return false
	}
	f.progress.Seen, f.progress.Idle = t, true
	f.to.advance(f.progress)
	return true
}

// followsAt returns the instant from which on the port follows the clock: as with
// stream joins, streams that were never seen hold it until they are.
func (g *tableGraph) followsAt(f *follower) (int64, bool) {
	last, seen := int64(minTime), false
	for _, i := range f.inputs {
		if in := &g.inputs[i]; in.seen {
			last, seen = max(last, in.last), true
		}
	}
	return addTime(last, f.timeout), seen
}

// clocked implements graph.
func (g *tableGraph) clocked() bool {
	if g.arrival || len(g.follows) > 0 {
		return true
	}
	for i := range g.inputs {
		if g.inputs[i].IdleTimeout > 0 {
			return true
		}
	}
	return false
}

// sweepEvery is how often rows are freed that have nothing to emit, in ns.
const sweepEvery = int64(10e9)

// sweep implements graph.
func (g *tableGraph) sweep() (int64, bool) {
	if !g.driven() {
		return 0, false
	}
	for i := range g.vertices {
		if g.vertices[i].op.Stats().Rows > 0 {
			return sweepEvery, true
		}
	}
	return 0, false
}

// driven tells whether the clock moves any port at present.
func (g *tableGraph) driven() bool {
	if g.arrival || len(g.follows) > 0 {
		return true
	}
	_, follows := g.nowUntil()
	return follows && len(g.nowPorts) > 0
}

// tick implements graph. What follows the clock does so continuously: what was
// only forgotten before t is gone when something falls due at t.
func (g *tableGraph) tick(t int64, due bool) {
	if due {
		g.reach(t - 1)
	}
	g.reach(t)
}

// reach is the clock coming to t: inputs with arrival time, inputs that become
// idle, ports that follow, and now().
func (g *tableGraph) reach(t int64) {
	moved := false
	for i := range g.inputs {
		in := &g.inputs[i]
		if !in.event {
			if t > in.progress.Seen {
				moved = in.advance(operator.Progress{Seen: t, Low: t}) || moved
			}
			continue
		}
		if at, ok := in.idleAt(g.started); ok && at <= t {
			p := in.progress
			p.Idle = true
			moved = in.advance(p) || moved
		}
	}
	for _, f := range g.follows {
		if at, ok := g.followsAt(f); ok && at <= t {
			moved = f.raise(t) || moved
		}
	}
	if g.raiseNow(t) || moved {
		g.endStep()
	}
}

// raiseNow brings now() up to date: the least watermark of the inputs that are
// not idle, unknown while one of them was never seen, and the clock when all are
// idle. It never falls.
func (g *tableGraph) raiseNow(clock int64) bool {
	now, idle := int64(maxTime), true
	for i := range g.inputs {
		if p := &g.inputs[i].progress; !p.Idle {
			now, idle = min(now, p.Low), false
		}
	}
	if idle {
		now = clock
	}
	if now <= g.now {
		return false
	}
	g.setNow(now)
	return true
}

// setNow tells the ports that carry now() of it.
func (g *tableGraph) setNow(now int64) {
	g.now = now
	for i := range g.nowPorts {
		g.nowPorts[i].advance(operator.Progress{Seen: now, Low: now})
	}
}

// nowUntil tells whether now() follows the clock, and up to which time at most
// while no row comes.
func (g *tableGraph) nowUntil() (until int64, follows bool) {
	until, follows = maxTime, true
	clock := false // an input with arrival time
	for i := range g.inputs {
		switch in := &g.inputs[i]; {
		case !in.event:
			clock = true
		case !in.progress.Idle:
			until, follows = min(until, in.progress.Low), false
		}
	}
	return until, (follows || clock) && g.now < until
}

// nextDue implements graph: inputs that become idle, and what falls due on ports
// that the clock drives. The vertices are asked downstream first, since what a
// vertex needs of its port depends on what those behind it need of its output.
func (g *tableGraph) nextDue() (int64, bool) {
	d := dueTime{after: g.p.now, least: maxTime}
	for i := range g.inputs {
		if at, ok := g.inputs[i].idleAt(g.started); ok {
			d.add(at)
		}
	}
	if g.driven() {
		g.addNeeds(&d)
	}
	return d.least, d.least < maxTime
}

// dueTime is the least of some instants that are still to come.
type dueTime struct{ after, least int64 }

func (d *dueTime) add(at int64) {
	if at > d.after {
		d.least = min(d.least, at)
	}
}

// addNeeds adds the instants at which the clock brings a port to what its operator
// needs.
func (g *tableGraph) addNeeds(d *dueTime) {
	until, follows := g.nowUntil()
	for i := range g.needs {
		g.needs[i] = maxTime
	}
	for i := len(g.vertices) - 1; i >= 0; i-- {
		v := &g.vertices[i]
		for n := range v.ports {
			need, ok := v.op.Wake(n, g.needs[i])
			if !ok {
				continue
			}
			port := &v.ports[n]
			switch port.From {
			case script.FromVertex:
				g.needs[port.Index] = min(g.needs[port.Index], need)
			case script.FromInput:
				if !g.inputs[port.Index].event {
					d.add(need)
				}
			case script.FromNow:
				if follows && need > g.now && need <= until {
					d.add(need)
				}
			}
			if f := port.follow; f != nil && need > f.progress.Seen {
				if at, ok := g.followsAt(f); ok {
					d.add(max(at, need))
				}
			}
		}
	}
}
