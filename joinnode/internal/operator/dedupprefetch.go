package operator

// Prefetch implements Prefetcher, as that of an IntervalJoin does (prefetch.go):
// the slots of the batch's keys are loaded together, then their cells, which hold
// the rows.
func (d *Dedup) Prefetch(batch []Arrival) {
	t := d.state.rows.keys
	if t.cells.used+t.slots*8 < d.cached {
		return
	}
	for len(batch) > 0 {
		n := min(len(batch), aheadRows)
		found := d.ahead.touchKeys(t, &d.state.key, batch[:n])
		d.ahead.touchRows(&d.state.rows, found)
		batch = batch[n:]
	}
}

// mostLines is how many cache lines of a row are loaded ahead: all of them is read
// and written, but a long one would put others out of the cache.
const mostLines = 8

// touchRows loads the rows in the first n cells.
func (a *ahead) touchRows(s *rowStore, n int) {
	sum := uint64(0)
	for _, ref := range a.cells[:n] {
		c := s.keys.cell(ref)
		size := s.end(c)
		for at := cacheLine; at < min(size, mostLines*cacheLine); at += cacheLine {
			sum += uint64(c[at])
		}
		sum += uint64(c[size-1])
	}
	a.sum += sum
}

// touchKeys loads what looking the keys of the batch up will need: the slots, then
// the cells' headers. It leaves the cells in a.cells and returns how many there are.
// k is working memory.
func (a *ahead) touchKeys(t *keyTable, k *joinKey, batch []Arrival) (found int) {
	n := 0
	for i := range batch {
		if batch[i].Port != 0 {
			continue
		}
		t.read(k, batch[i].Record.Row)
		a.hash[n] = k.hash
		a.slots[n] = t.home(k.hash)
		n++
	}
	sum := a.touchSlots(n)

	for _, hash := range a.hash[:n] {
		if ref := t.likely(hash); ref != 0 {
			a.cells[found] = ref
			found++
		}
	}
	for _, ref := range a.cells[:found] {
		sum += uint64(t.cell(ref)[0])
	}
	a.sum += sum
	return found
}

const cacheLine = 64
