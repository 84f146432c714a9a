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
	if !p.graph.clocked() {
		p.now = max(p.now, t)
		return
	}
	for {
		due, ok := p.graph.nextDue()
		if !ok || due > t || due <= p.now {
			break
		}
		p.tick(due, true)
	}
	p.tick(t, false)
}

func (p *Pipeline) tick(t int64, due bool) {
	if t > p.now {
		p.now = t
		p.graph.tick(t, due)
	}
}

// setTimer arms one timer for the next due instant, or for the coarse sweep that
// frees rows with nothing to emit. It asks the clock afresh: the batch at hand
// may have taken long, and a clock that was set back must be waited for. A timer
// that comes earlier is left alone, it looks again.
func (p *Pipeline) setTimer() {
	if !p.graph.clocked() {
		return // only rows move time
	}
	now := p.cfg.Clock.Now().UnixNano()
	at := int64(maxTime)
	if due, ok := p.graph.nextDue(); ok {
		at = due
	}
	if sweep, ok := p.graph.sweep(); ok {
		at = min(at, addTime(now, sweep))
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
