package operator

// Prefetch implements Prefetcher, as that of the interval join does (prefetch.go):
// what looking up the keys and their newest versions loads is loaded together.
func (j *TemporalJoin) Prefetch(batch []Arrival) {
	if h := j.table; h.keys.cells.used+h.keys.slots*8+h.slab.used < j.cached {
		return
	}
	for len(batch) > 0 {
		n := min(len(batch), aheadRows)
		j.touch(batch[:n])
		batch = batch[n:]
	}
}

func (j *TemporalJoin) touch(batch []Arrival) {
	t, a := j.table.keys, &j.ahead
	for i := range batch {
		t.read(&j.key, batch[i].Record.Row)
		a.hash[i] = j.key.hash
		a.slots[i] = t.home(j.key.hash)
	}
	sum := a.touchSlots(len(batch))

	found := 0
	for _, hash := range a.hash[:len(batch)] {
		if k := t.likely(hash); k != 0 {
			a.cells[found] = k
			found++
		}
	}
	for _, k := range a.cells[:found] {
		c := t.cell(k)
		sum += uint64(c[0]) + uint64(c[t.header])
	}
	for _, k := range a.cells[:found] {
		if newest := keyRef(t.cell(k).last(ofVersions)); newest != 0 {
			v := j.table.version(newest)
			sum += uint64(v[0]) + uint64(v[versionHeader-1]) // it may lie on two cache lines
		}
	}
	a.sum += sum
}
