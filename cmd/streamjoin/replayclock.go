package main

import (
	"slices"
	"sync"
	"time"

	"github.com/streamjoin/streamjoin/joinnode"
)

// replayClock is the clock of a replay: it stands still until it is moved, so that a
// message comes at its very instant however busy the machine is.
type replayClock struct {
	mu     sync.Mutex
	now    time.Time
	timers []*replayTimer
	delay  time.Duration // of the timer that was set last
	rung   *ring         // of the last move on which timers went off
}

type replayTimer struct {
	clock  *replayClock
	at     time.Time
	steady bool // set for as long ahead as the one before it
	call   func()
}

// ring is timers that went off together.
type ring struct {
	// steady: they were set for as long ahead as the ones before them. So a query
	// does that only frees memory now and then, and has no result to send.
	steady bool
	// again is closed when as many timers have been set since: who was woken has
	// seen what time it is and waits for the next.
	again   chan struct{}
	missing int
}

var _ joinnode.Clock = (*replayClock)(nil)

// Now implements joinnode.Clock.
func (c *replayClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// AfterFunc implements joinnode.Clock.
func (c *replayClock) AfterFunc(d time.Duration, f func()) joinnode.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &replayTimer{clock: c, at: c.now.Add(d), steady: d == c.delay, call: f}
	c.delay = d
	if c.rung != nil && c.rung.missing > 0 {
		if c.rung.missing--; c.rung.missing == 0 {
			close(c.rung.again)
		}
	}
	if d <= 0 {
		go f()
		return t
	}
	c.timers = append(c.timers, t)
	return t
}

// Stop implements joinnode.Timer.
func (t *replayTimer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	i := slices.Index(t.clock.timers, t)
	if i < 0 {
		return false
	}
	t.clock.timers = slices.Delete(t.clock.timers, i, i+1)
	return true
}

// moveTo moves the clock forward and lets the timers go off that are due by then. It
// returns nil when none is.
func (c *replayClock) moveTo(to time.Time) *ring {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = to
	r := &ring{steady: true, again: make(chan struct{})}
	var due []*replayTimer
	c.timers = slices.DeleteFunc(c.timers, func(t *replayTimer) bool {
		if t.at.After(to) {
			return false
		}
		due = append(due, t)
		r.steady = r.steady && t.steady
		return true
	})
	if len(due) == 0 {
		return nil
	}
	r.missing, c.rung = len(due), r
	for _, t := range due {
		go t.call()
	}
	return r
}

// until is how long it takes to an instant or, when that comes first, to the next
// timer.
func (c *replayClock) until(at time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := at.Sub(c.now)
	for _, t := range c.timers {
		d = min(d, t.at.Sub(c.now))
	}
	return d
}
