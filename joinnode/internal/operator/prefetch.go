package operator

// What a row needs lies in four places that it finds one after the other: the
// slot of its key, the key's cell, the oldest partner, the newest partner. Each
// is a cache miss once the state outgrows the cache, and a miss that has to wait
// for the one before it costs 100 ns and more. So all rows of a batch go to the
// same place together: their misses do not depend on each other, and the
// processor has many of them on the way at a time.

// ahead is the working memory of Prefetch.
type ahead struct {
	hash [aheadRows]uint32
	ref  [aheadRows]keyRef
	gone [2 * aheadRows]keyRef // keys whose rows will expire
	sum  uint64                // keeps the compiler from dropping a load
}

const (
	// aheadRows is how many rows go together: enough to hide a miss behind the
	// others, few enough that what was touched is still there when it is used.
	aheadRows = 16
	// cached is a state of which a core's own cache holds the most.
	cached = 512 << 10
)

// Prefetch implements Prefetcher.
func (j *IntervalJoin) Prefetch(batch []Arrival) {
	if j.keys.cells.used+j.keys.slots*8+j.sides[0].arena.buffers+j.sides[1].arena.buffers < cached {
		return
	}
	for len(batch) > 0 {
		n := min(len(batch), aheadRows)
		j.touchKeys(batch[:n])
		j.touchExpiring(batch[:n])
		batch = batch[n:]
	}
}

// touchKeys touches what looking up, probing and storing the rows will need.
func (j *IntervalJoin) touchKeys(batch []Arrival) {
	t, a := j.keys, &j.ahead
	sum := uint64(0)
	for i := range batch {
		t.read(&j.key, batch[i].Record.Row)
		a.hash[i] = j.key.hash
		if s := t.shard(j.key.hash); len(s.slots) > 0 {
			sum += s.slots[j.key.hash&uint32(len(s.slots)-1)]
		}
	}
	for i := range batch {
		if a.ref[i] = t.likely(a.hash[i]); a.ref[i] != 0 {
			c := t.cell(a.ref[i])
			sum += uint64(c[0]) + uint64(c[t.header])
		}
	}
	for i := range batch {
		if a.ref[i] == 0 {
			continue
		}
		c, port := t.cell(a.ref[i]), 1-batch[i].Port&1
		switch n, other := c.rows(port), &j.sides[port].arena; {
		case n > 1:
			sum += other.touch(c.last(port))
			fallthrough
		case n > 0:
			sum += other.touch(c.first(port))
		}
	}
	a.sum += sum
}

// touchExpiring touches the keys of the rows that will expire when time has come
// as far as the batch says.
func (j *IntervalJoin) touchExpiring(batch []Arrival) {
	seen := j.wm
	for i := range batch {
		port := batch[i].Port & 1
		seen[port] = max(seen[port], batch[i].Record.TS)
	}
	if j.cfg.Clocked {
		seen[0] = max(seen[0], seen[1])
		seen[1] = seen[0]
	}
	t, a := j.keys, &j.ahead
	n := 0
	for port, s := range j.sides {
		n = s.expiring(subTime(seen[port], j.retention(port)), a.gone[:], n)
	}
	sum := uint64(0)
	for _, k := range a.gone[:n] {
		sum += uint64(t.cell(k)[0])
	}
	for _, k := range a.gone[:n] {
		c := t.cell(k)
		if c.rows(0)+c.rows(1) == 1 { // the key goes with its row
			s := t.shard(c.hash())
			sum += s.slots[c.hash()&uint32(len(s.slots)-1)]
		}
	}
	a.sum += sum
}

// likely returns the first cell whose key has this hash, 0 when there is none.
func (t *keyTable) likely(hash uint32) keyRef {
	s := t.shard(hash)
	if s.n == 0 {
		return 0
	}
	mask := uint32(len(s.slots) - 1)
	for i := hash & mask; s.slots[i] != 0; i = (i + 1) & mask {
		if uint32(s.slots[i]>>32) == hash {
			return keyRef(s.slots[i])
		}
	}
	return 0
}

// touch loads the record at r, which may lie on two cache lines.
func (a *arena) touch(r ref) uint64 {
	rec := a.record(r)
	return uint64(rec[0]) + uint64(rec[recordHeader-1])
}

// expiring appends to keys[:n] those of the rows in order that are older than
// bound, as far as there is room, and returns how many there are now.
func (s *side) expiring(bound int64, keys []keyRef, n int) int {
	c, visited := s.order.next, int64(0)
	for n < len(keys) {
		_, rec, ok := s.arena.seek(&c, straggler|dead, &visited)
		if !ok || rec.ts() >= bound {
			break
		}
		keys[n] = rec.key()
		n++
		c.off += align(rec.len())
	}
	return n
}
