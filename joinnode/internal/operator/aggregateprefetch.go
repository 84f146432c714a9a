package operator

// Prefetch implements Prefetcher, as that of an IntervalJoin does (prefetch.go).
func (a *Aggregate) Prefetch(batch []Arrival) { a.groups.prefetch(batch) }

// Prefetch implements Prefetcher, as that of an IntervalJoin does (prefetch.go).
func (w *Window) Prefetch(batch []Arrival) { w.groups.prefetch(batch) }

func (s *groups) prefetch(batch []Arrival) {
	if s.keys.cells.used+s.keys.slots*8 < s.cached {
		return
	}
	for len(batch) > 0 {
		n := min(len(batch), aheadRows)
		s.ahead.touchRows(s.keys, &s.key, batch[:n])
		batch = batch[n:]
	}
}
