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
		d.ahead.touchRows(t, &d.state.key, batch[:n])
		batch = batch[n:]
	}
}

// touchRows loads what looking the keys of the batch up, and reading what is
// stored of them, will need. k is working memory.
func (a *ahead) touchRows(t *keyTable, k *joinKey, batch []Arrival) {
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

	found := 0
	for _, hash := range a.hash[:n] {
		if ref := t.likely(hash); ref != 0 {
			a.cells[found] = ref
			found++
		}
	}
	for _, ref := range a.cells[:found] {
		c := t.cell(ref)
		// The row may begin on the cache line behind the header's.
		sum += uint64(c[0]) + uint64(c[min(rowTimed+cacheLine/2, len(c)-1)])
	}
	a.sum += sum
}

const cacheLine = 64
