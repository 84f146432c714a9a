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
}

type replayTimer struct {
	clock *replayClock
	at    time.Time
	call  func()
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
	t := &replayTimer{clock: c, at: c.now.Add(d), call: f}
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

// moveTo moves the clock forward and lets the timers go off that are due by then.
func (c *replayClock) moveTo(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = to
	c.timers = slices.DeleteFunc(c.timers, func(t *replayTimer) bool {
		if t.at.After(to) {
			return false
		}
		go t.call()
		return true
	})
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
