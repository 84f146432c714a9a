package operator

// A lateHeap is a binary heap of stragglers, the oldest first.
type lateHeap []lateEntry

type lateEntry struct {
	ts      int64
	arrival uint32 // wraps around; fewer than 2³¹ entries exist at a time
	row     ref
}

func (e lateEntry) before(f lateEntry) bool {
	if e.ts != f.ts {
		return e.ts < f.ts
	}
	return int32(e.arrival-f.arrival) < 0
}

func (h *lateHeap) push(e lateEntry, count *counts) {
	s := append(*h, e)
	*h = s
	i := len(s) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(s[parent]) {
			break
		}
		s[i] = s[parent]
		i = parent
		count.moved++
	}
	s[i] = e
	count.moved++
}

func (h *lateHeap) pop(count *counts) {
	s := *h
	n := len(s) - 1
	s[0] = s[n]
	*h = shrink(s[:n])
	if n > 0 {
		h.down(0, count)
	}
}

func (h lateHeap) down(i int, count *counts) {
	e := h[i]
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].before(h[child]) {
			child++
		}
		if !h[child].before(e) {
			break
		}
		h[i] = h[child]
		i = child
		count.moved++
	}
	h[i] = e
	count.moved++
}

// filter removes the entries that are gone and tells each to removed.
func (h *lateHeap) filter(gone func(lateEntry) bool, removed func(lateEntry), count *counts) {
	s := *h
	kept := s[:0]
	for _, e := range s {
		if gone(e) {
			removed(e)
		} else {
			kept = append(kept, e)
		}
	}
	count.moved += int64(len(s))
	*h = shrink(kept)
	for i := len(kept)/2 - 1; i >= 0; i-- {
		h.down(i, count)
	}
}

// shrink gives memory back once three quarters of it are unused.
func shrink[S ~[]E, E any](s S) S {
	const keep = 64
	if cap(s) <= keep || len(s) > cap(s)/4 {
		return s
	}
	return append(make(S, 0, max(keep, cap(s)/2)), s...)
}
