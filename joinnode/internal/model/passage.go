package model

import "slices"

// passTime replays every instant up to clock at which time alone makes
// something happen, then moves the watermarks that follow the clock to it.
func (m *Model) passTime(clock int64) {
	clock = max(clock, m.clock)
	for {
		next, ok := m.nextInstant()
		if !ok || next > clock {
			break
		}
		// Nothing is emitted before next, but rows that have nothing to emit
		// leave as the watermarks go, and are in nobody's way at next.
		if next-1 > m.clock {
			m.instant(next - 1)
		}
		m.instant(next)
	}
	m.instant(clock)
}

// nextInstant returns the least instant after the last one at which a row may
// fall due or an input may become idle.
func (m *Model) nextInstant() (int64, bool) {
	next, found := int64(0), false
	candidate := func(t int64) {
		if t > m.clock && (!found || t < next) {
			next, found = t, true
		}
	}
	for _, s := range m.stages {
		for _, x := range m.pending(s) {
			if m.eventTime() {
				// Whichever input drives the frontier, the sum of the windows
				// up to this stage lies between its clock and the row.
				candidate(add(add(x.ts, s.total), 1))
			} else {
				candidate(add(add(x.ts, int64(s.join.Within)), 1))
			}
		}
	}
	if !m.eventTime() {
		return next, found
	}
	if m.q.IdleTimeout == 0 {
		return 0, false
	}
	for _, in := range m.inputs {
		if in.seen {
			candidate(add(in.last, int64(m.q.IdleTimeout)))
		}
	}
	return next, found
}

// instant is one timer event at t, which is never in the past.
func (m *Model) instant(t int64) {
	m.clock = t
	if !m.eventTime() {
		m.cause = "window"
		for _, s := range slices.Backward(m.stages) {
			s.left.wm, s.right.wm = t, t
			m.expireLeft(s)
			m.expireRight(s)
		}
		return
	}
	if m.q.IdleTimeout == 0 {
		return
	}
	m.cause = "idle"
	for n, in := range m.inputs {
		if in.seen && sub(t, in.last) >= int64(m.q.IdleTimeout) {
			m.raise(n, t)
		}
	}
	m.endStep()
}

// raise moves the watermark of input n to at least t and expires that side.
func (m *Model) raise(n int, t int64) {
	s, sd := m.entry(n)
	sd.wm = max(sd.wm, t)
	if n == 0 {
		m.expireLeft(s)
	} else {
		m.expireRight(s)
	}
}

// entry returns where source n enters.
func (m *Model) entry(n int) (*stage, *side) {
	if n == 0 {
		return m.stages[0], &m.stages[0].left
	}
	return m.stages[n-1], &m.stages[n-1].right
}

// endStep raises the left watermarks of the later stages to the frontiers of
// the stages before them (§6).
func (m *Model) endStep() {
	if !m.eventTime() {
		return
	}
	for i, s := range m.stages[:len(m.stages)-1] {
		frontier := lower(s.left.wm, int64(s.join.Within))
		if !s.join.Left {
			frontier = max(frontier, lower(s.right.wm, s.total))
		}
		next := m.stages[i+1]
		next.left.wm = max(next.left.wm, frontier)
		m.expireLeft(next)
	}
}

func lower(wm, by int64) int64 {
	if wm == unseen {
		return unseen
	}
	return sub(wm, by)
}
