package operator

// What a row needs lies in places that it finds one after the other: the slot
// of its key, the key's cell, the records of its partners. Each is a cache miss
// once the state outgrows the cache, and a miss that waits for the one before it
// costs 100 ns and more. So all rows of a batch go to one kind of place
// together: their misses do not depend on each other, and the processor has many
// of them on the way at a time.
//
// How many is a matter of how few instructions lie between two loads. Therefore
// each loop that misses does nothing else, and what it loads was found by a loop
// before it.

// ahead is the working memory of Prefetch.
type ahead struct {
	hash  [aheadRows]uint32   // of the rows' keys
	slots [2 * aheadRows]slot // of keys to be looked up, then of those to be removed
	cells [3 * aheadRows]keyRef
	rows  [2][2 * aheadRows]ref
	sum   uint64 // keeps the compiler from leaving out a load
}

// A slot is where the search for a hash begins in a shard.
type slot struct {
	shard *shard
	home  uint32
}

const (
	// aheadRows is how many rows go together: enough to hide a miss behind the
	// others, few enough that what was touched is still there when it is used.
	aheadRows = 16
	// cachedState is a state of which a core's own cache holds the most.
	cachedState = 512 << 10
)

// Prefetch implements Prefetcher.
func (j *IntervalJoin) Prefetch(batch []Arrival) {
	if j.keys.cells.used+j.keys.slots*8+j.sides[0].arena.buffers+j.sides[1].arena.buffers < j.cached {
		return
	}
	for len(batch) > 0 {
		n := min(len(batch), aheadRows)
		j.touch(batch[:n])
		batch = batch[n:]
	}
}

// touch loads what looking up, probing, storing and expiring will need once the
// batch arrives. What turns out different by then, because of a key that two
// rows share or of a hash that two keys share, costs a miss and nothing else.
func (j *IntervalJoin) touch(batch []Arrival) {
	t, a := j.keys, &j.ahead
	for i := range batch {
		t.read(&j.key, batch[i].Record.Row)
		a.hash[i] = j.key.hash
		a.slots[i] = t.home(j.key.hash)
	}
	sum := a.touchSlots(len(batch))

	found := 0
	for i := range batch {
		if k := t.likely(a.hash[i]); k != 0 {
			a.cells[found] = k
			a.hash[found] = uint32(batch[i].Port & 1)
			found++
		}
	}
	n := j.expiring(batch, found)
	for _, k := range a.cells[:n] {
		c := t.cell(k)
		sum += uint64(c[0]) + uint64(c[t.header])
	}

	var rows [2]int
	for i, k := range a.cells[:found] {
		c, port := t.cell(k), 1-int(a.hash[i])
		if n := c.rows(port); n > 0 {
			a.rows[port][rows[port]] = c.first(port)
			rows[port]++
			if n > 1 {
				a.rows[port][rows[port]] = c.last(port)
				rows[port]++
			}
		}
	}
	for port, s := range j.sides {
		for _, r := range a.rows[port][:rows[port]] {
			rec := s.arena.record(r)
			sum += uint64(rec[0]) + uint64(rec[recordHeader-1]) // it may lie on two cache lines
		}
	}

	leaving := 0
	for _, k := range a.cells[found:n] {
		if c := t.cell(k); c.rows(0)+c.rows(1) == 1 { // the key goes with its row
			a.slots[leaving] = t.home(c.hash())
			leaving++
		}
	}
	a.sum += sum + a.touchSlots(leaving)
}

func (a *ahead) touchSlots(n int) (sum uint64) {
	for _, s := range a.slots[:n] {
		if int(s.home) < len(s.shard.slots) {
			sum += s.shard.slots[s.home]
		}
	}
	return sum
}

// home returns where the search for a hash begins.
func (t *keyTable) home(hash uint32) slot {
	s := t.shard(hash)
	return slot{s, hash & uint32(len(s.slots)-1)}
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

// expiring adds to the first n of ahead.cells the keys of rows that expire when
// time has come as far as the batch says, and returns how many there are then.
func (j *IntervalJoin) expiring(batch []Arrival, n int) int {
	seen := j.wm
	for i := range batch {
		port := batch[i].Port & 1
		seen[port] = max(seen[port], batch[i].Record.TS)
	}
	if j.cfg.Clocked {
		seen[0] = max(seen[0], seen[1])
		seen[1] = seen[0]
	}
	keys := &j.ahead.cells
	for port, s := range j.sides {
		bound := subTime(seen[port], j.retention[port])
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
	}
	return n
}
