package operator

// A backlog is rows that wait for their time, in (ts, arrival) order.
type backlog struct {
	arena arena
	order timeOrder
	count counts
	rows  int
}

func newBacklog() *backlog {
	b := &backlog{arena: newArena()}
	b.order = newTimeOrder(&b.arena, false, &b.count)
	return b
}

// room tells whether a row of size bytes can be added.
func (b *backlog) room(size int) bool { return b.arena.room(size + aroundRow) }

func (b *backlog) add(h *header) {
	if !b.order.inOrder(h.ts) {
		h.flags |= straggler
	}
	b.order.add(b.arena.add(h), h.ts, false)
	b.rows++
}

// first returns the oldest row; false when there is none.
func (b *backlog) first() (ref, record, bool) {
	if b.rows == 0 {
		return 0, nil, false
	}
	return b.order.first()
}

// removeFirst takes the row that first returned out.
func (b *backlog) removeFirst(r ref, rec record) {
	b.order.removeFirst(r, rec)
	if b.rows--; b.rows == 0 {
		b.order.empty()
	}
}

func (b *backlog) bytes() int64 { return b.arena.bytes() + b.order.bytes() }
