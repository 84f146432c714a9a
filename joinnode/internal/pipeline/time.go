package pipeline

import (
	"math"
	"time"
)

const (
	minTime = math.MinInt64 // nothing seen yet
	maxTime = math.MaxInt64
)

// advance brings the query's time to t, through every instant on the way at
// which something falls due. So results do not depend on how late a timer was.
func (p *Pipeline) advance(t int64) {
	if !p.graph.timePasses() {
		p.now = max(p.now, t)
		return
	}
	for {
		due, ok := p.nextDue()
		if !ok || due > t || due <= p.now {
			break
		}
		p.tick(due)
	}
	p.tick(t)
}

// nextDue is the least clock reading at which an operator has something to
// emit, if nothing more arrives.
func (p *Pipeline) nextDue() (int64, bool) {
	if !p.plan.Time.Event() {
		return p.graph.nextClocked()
	}
	return p.graph.nextIdle()
}

// tick is one timer event, or the passing of time before an arrival. In
// processing time the clock drives all ports, downstream first: at one instant
// an operator gives up its own due rows before rows that fall due upstream
// reach it. In event time only idle inputs follow the clock.
func (p *Pipeline) tick(t int64) {
	if t <= p.now {
		return
	}
	p.now = t
	if !p.plan.Time.Event() {
		p.graph.advanceClock(t)
		p.graph.endStep()
		return
	}
	// Idle inputs follow the clock continuously: what was only forgotten before t
	// is gone when something falls due at t.
	for _, at := range [...]int64{t - 1, t} {
		if p.graph.advanceIdle(at) {
			p.graph.endStep()
		}
	}
}

// setTimer arms one timer for the next due instant, or for the coarse sweep that
// frees rows with nothing to emit. It asks the clock afresh: the batch at hand
// may have taken long, and a clock that was set back must be waited for. A timer
// that comes earlier is left alone, it looks again.
func (p *Pipeline) setTimer() {
	if !p.graph.timePasses() {
		return // only rows move time
	}
	now := p.cfg.Clock.Now().UnixNano()
	at := int64(maxTime)
	if due, ok := p.nextDue(); ok {
		at = due
	}
	if p.graph.timePasses() && p.graph.rows() > 0 {
		at = min(at, addTime(now, p.graph.sweep))
	}
	if p.timer != nil && p.timerAt <= at && at < maxTime {
		return
	}
	p.stopTimer()
	if at == maxTime {
		return
	}
	p.timerAt = at
	p.timer = p.cfg.Clock.AfterFunc(time.Duration(max(subTime(at, now), 0)), p.queue.ring)
}

func (p *Pipeline) stopTimer() {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}

// addTime and subTime saturate: time arithmetic never wraps.
func addTime(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}

func subTime(a, b int64) int64 {
	switch {
	case b < 0 && a > math.MaxInt64+b:
		return math.MaxInt64
	case b > 0 && a < math.MinInt64+b:
		return math.MinInt64
	}
	return a - b
}
