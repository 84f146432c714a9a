package operator

// A dueHeap holds the rows of a Recency by the instant at which they enter or
// leave, the earliest first, of equal ones the row that arrived first. Rows that
// were retracted stay in it until they come up or outnumber the others.
type dueHeap struct {
	bag  *rowBag
	rows []dueRow
}

type dueRow struct {
	at      int64
	arrival uint32 // wraps around; fewer than 2³¹ rows exist at a time
	hash    uint32
	row     keyRef
}

func (d *dueRow) before(e *dueRow) bool {
	if d.at != e.at {
		return d.at < e.at
	}
	return int32(d.arrival-e.arrival) < 0
}

// live tells whether the row is still there: its place may have another one.
func (h *dueHeap) live(d *dueRow) bool {
	return h.bag.holds(d.row, d.hash) && get32(h.bag.entry(d.row).extra()[recentArrival:]) == d.arrival
}

func (h *dueHeap) push(at int64, ref keyRef) {
	e := h.bag.entry(ref)
	d := dueRow{at: at, arrival: get32(e.extra()[recentArrival:]), hash: e.hash(), row: ref}
	h.rows = append(h.rows, d)
	i := len(h.rows) - 1
	for i > 0 && d.before(&h.rows[(i-1)/2]) {
		h.rows[i] = h.rows[(i-1)/2]
		i = (i - 1) / 2
	}
	h.rows[i] = d
}

// first returns the row that is due next; false when there is none.
func (h *dueHeap) first() (dueRow, bool) {
	for len(h.rows) > 0 {
		if h.live(&h.rows[0]) {
			return h.rows[0], true
		}
		h.pop()
	}
	return dueRow{}, false
}

func (h *dueHeap) pop() {
	n := len(h.rows) - 1
	h.rows[0] = h.rows[n]
	h.rows = shrink(h.rows[:n])
	if n > 0 {
		h.down(0)
	}
}

func (h *dueHeap) down(i int) {
	d := h.rows[i]
	for {
		child := 2*i + 1
		if child >= len(h.rows) {
			break
		}
		if child+1 < len(h.rows) && h.rows[child+1].before(&h.rows[child]) {
			child++
		}
		if !h.rows[child].before(&d) {
			break
		}
		h.rows[i] = h.rows[child]
		i = child
	}
	h.rows[i] = d
}

// tidy takes rows that are gone out, once they are more than those that are
// there: each such sweep was paid for by as many retractions.
func (h *dueHeap) tidy() {
	const few = 64
	if len(h.rows) <= few || int64(len(h.rows)) <= 2*h.bag.entries {
		return
	}
	kept := h.rows[:0]
	for i := range h.rows {
		if h.live(&h.rows[i]) {
			kept = append(kept, h.rows[i])
		}
	}
	h.rows = shrink(kept)
	for i := len(h.rows)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

func (h *dueHeap) bytes() int64 {
	const rowSize = 24
	return int64(cap(h.rows)) * rowSize
}
