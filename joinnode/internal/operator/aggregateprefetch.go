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
		found := s.ahead.touchKeys(s.keys, &s.key, batch[:n])
		s.touchState(found)
		batch = batch[n:]
	}
}

// touchState loads the rest of the groups in the first n cells: a cell lies across
// two cache lines or more.
func (s *groups) touchState(n int) {
	sum := uint64(0)
	for _, ref := range s.ahead.cells[:n] {
		c := s.keys.cell(ref)
		for at := cacheLine; at < s.keys.header; at += cacheLine {
			sum += uint64(c[at])
		}
		sum += uint64(c[min(s.keys.header, len(c)-1)]) // the key
	}
	s.ahead.sum += sum
}
