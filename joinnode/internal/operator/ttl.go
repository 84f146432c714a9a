package operator

import "encoding/binary"

// A ttlQueue finds the keys of a rowStore that STATETTL deletes: those that were
// not touched for ttl.
//
// A touch only writes the time and the touch's number into the key's cell, which
// is at hand anyway. Keys wait in a heap under the time at which they entered it;
// one that was touched since goes back into it when it comes up. So a key costs a
// walk through the heap once a ttl, not once a touch, and the head is exact
// whenever somebody asks.
type ttlQueue struct {
	ttl  int64
	rows *rowStore
	heap []ttlEntry
	uses uint32 // the number of the last touch; it wraps around
	// since is when now() became known: keys that were there count as touched then.
	since int64
}

// A ttlEntry is one key as it was when it entered the heap. The key may have been
// touched, moved or removed since.
type ttlEntry struct {
	touched int64
	use     uint32
	hash    uint32
	ref     keyRef
}

func (e *ttlEntry) before(f *ttlEntry) bool {
	if e.touched != f.touched {
		return e.touched < f.touched
	}
	return int32(e.use-f.use) < 0
}

// touch notes that the key at ref was touched at time t. isNew says that it has
// no row from before.
func (q *ttlQueue) touch(ref keyRef, t int64, isNew bool) {
	q.uses++
	c := q.rows.keys.cell(ref)
	had := int64(binary.LittleEndian.Uint64(c[rowTouched:]))
	binary.LittleEndian.PutUint64(c[rowTouched:], uint64(t))
	put32(c[rowUse:], q.uses)
	// Time runs backwards only while now() is unknown.
	if isNew || t < had {
		q.enter(ref)
	}
}

// enter puts the key at ref into the heap: also one that is in it under an older
// address.
func (q *ttlQueue) enter(ref keyRef) {
	if len(q.heap) >= 64 && len(q.heap) >= 2*int(q.rows.count) {
		q.rebuild()
		return
	}
	q.heap = append(q.heap, q.entry(ref))
	i := len(q.heap) - 1
	e := q.heap[i]
	for i > 0 && e.before(&q.heap[(i-1)/2]) {
		q.heap[i] = q.heap[(i-1)/2]
		i = (i - 1) / 2
	}
	q.heap[i] = e
}

func (q *ttlQueue) entry(ref keyRef) ttlEntry {
	c := q.rows.keys.cell(ref)
	return ttlEntry{touched: int64(binary.LittleEndian.Uint64(c[rowTouched:])), use: get32(c[rowUse:]), hash: c.hash(), ref: ref}
}

// rebuild makes the heap anew of the keys that have a row. So entries that
// became void never outnumber them, and each rebuilding was paid for by as many
// entries.
func (q *ttlQueue) rebuild() {
	q.heap = shrink(q.heap[:0])
	for i := range q.rows.keys.shards {
		for _, slot := range q.rows.keys.shards[i].slots {
			if ref := keyRef(slot); slot != 0 && !q.rows.gone(ref) {
				q.heap = append(q.heap, q.entry(ref))
			}
		}
	}
	for i := len(q.heap)/2 - 1; i >= 0; i-- {
		q.down(i)
	}
}

// first returns the key that was not touched for longest, and the time at which
// it falls; false when there is none, or it never does.
func (q *ttlQueue) first() (ref keyRef, falls int64, ok bool) {
	for len(q.heap) > 0 {
		e := &q.heap[0]
		if !q.rows.keys.holds(e.ref, e.hash) || q.rows.gone(e.ref) {
			q.pop()
			continue
		}
		if now := q.entry(e.ref); now.use != e.use {
			*e = now
			q.down(0)
			continue
		}
		falls, ok = reach(max(e.touched, q.since), q.ttl)
		return e.ref, falls, ok
	}
	return 0, 0, false
}

func (q *ttlQueue) pop() {
	n := len(q.heap) - 1
	q.heap[0] = q.heap[n]
	q.heap = shrink(q.heap[:n])
	if n > 0 {
		q.down(0)
	}
}

func (q *ttlQueue) down(i int) {
	h := q.heap
	e := h[i]
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].before(&h[child]) {
			child++
		}
		if !h[child].before(&e) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = e
}

func (q *ttlQueue) bytes() int64 {
	const entrySize = 24
	return int64(cap(q.heap)) * entrySize
}
