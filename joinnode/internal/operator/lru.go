package operator

import (
	"cmp"
	"slices"
)

// An lru knows which key of one side was least recently used: inserted into or
// matched. It is kept only where the maxKeys gate can bind.
//
// While the side has far fewer keys than the cap nobody asks, so a use only
// writes its number, the stamp, into the key's cell, which is at hand anyway.
// Once the cap is within reach, a used key goes to the end of a list whose links
// take the place of its stamp; every listed key was then used later than every
// stamped one. The stamped keys are collected into a heap meanwhile, a shard of
// the key table for each new key, so that the order is exact and complete when
// the first key has to go, and no single row pays for it.
type lru struct {
	on   bool
	keys *keyTable
	port int
	max  int // the cap

	uses           int64 // the last stamp
	near           bool  // used keys are listed
	oldest, newest keyRef
	collected      int      // shards whose stamped keys are in the heap
	stamped        lateHeap // by stamp; what was used or left since is passed over
	count          counts   // not a matter of rows: not in Stats
}

// reach is the number of keys from which the order is kept.
func (l *lru) reach() int { return l.max / 2 }

// use makes k, with cell c, the newest key. isNew says that it is new to the
// side, which now has present keys.
func (l *lru) use(k keyRef, c cell, isNew bool, present int) {
	switch {
	case !l.on:
	case l.near && present < l.reach()/8:
		l.relax()
		l.stamp(c)
	case l.near:
		l.list(k, c)
		if isNew && l.collected < len(l.keys.shards) {
			l.collect()
		}
	case isNew && present > l.reach():
		l.near = true
		l.list(k, c)
	default:
		l.stamp(c)
	}
}

func (l *lru) stamp(c cell) {
	l.uses++
	c.setStamp(l.port, l.uses)
}

// list makes k the newest key of the list.
func (l *lru) list(k keyRef, c cell) {
	if l.newest == k {
		return
	}
	l.remove(c)
	c.setListed(l.port, true)
	c.setOlder(l.port, l.newest)
	c.setNewer(l.port, 0)
	if l.newest != 0 {
		l.keys.cell(l.newest).setNewer(l.port, k)
	} else {
		l.oldest = k
	}
	l.newest = k
}

// remove takes a key out of the list, if it is there.
func (l *lru) remove(c cell) {
	if !c.listed(l.port) {
		return
	}
	c.setListed(l.port, false)
	older, newer := c.older(l.port), c.newer(l.port)
	if older != 0 {
		l.keys.cell(older).setNewer(l.port, newer)
	} else {
		l.oldest = newer
	}
	if newer != 0 {
		l.keys.cell(newer).setOlder(l.port, older)
	} else {
		l.newest = older
	}
}

// relax turns the list into stamps, now that the cap is far away again.
func (l *lru) relax() {
	for k := l.oldest; k != 0; {
		c := l.keys.cell(k)
		k = c.newer(l.port)
		c.setListed(l.port, false)
		l.stamp(c)
	}
	l.oldest, l.newest = 0, 0
	l.empty()
}

// empty forgets what was noted of keys that have left: none is listed.
func (l *lru) empty() {
	l.near, l.collected, l.stamped = false, 0, nil
}

// collect takes the stamped keys of the next shard into the heap.
func (l *lru) collect() {
	for _, slot := range l.keys.shards[l.collected].slots {
		if slot == 0 {
			continue
		}
		if c := l.keys.cell(keyRef(slot)); l.isStamped(c) {
			l.stamped.push(lateEntry{ts: c.stamp(l.port), arrival: uint32(slot >> 32), row: ref(slot)}, &l.count)
		}
	}
	l.collected++
}

func (l *lru) isStamped(c cell) bool { return c.rows(l.port) > 0 && !c.listed(l.port) }

// least returns the least recently used key. There must be one.
func (l *lru) least() keyRef {
	for l.near = true; l.collected < len(l.keys.shards); {
		l.collect()
	}
	for len(l.stamped) > 0 {
		// The key may have left, and its cell serve another one by now.
		e := l.stamped[0]
		k := keyRef(e.row)
		if l.keys.holds(k, e.arrival) {
			if c := l.keys.cell(k); l.isStamped(c) && c.stamp(l.port) == e.ts {
				return k
			}
		}
		l.stamped.pop(&l.count)
	}
	return l.oldest
}

// order lists the keys from the least to the most recently used one.
func (l *lru) order() []keyRef {
	var stamped, all []keyRef
	for i := range l.keys.shards {
		for _, slot := range l.keys.shards[i].slots {
			if slot != 0 && l.isStamped(l.keys.cell(keyRef(slot))) {
				stamped = append(stamped, keyRef(slot))
			}
		}
	}
	slices.SortFunc(stamped, func(a, b keyRef) int {
		return cmp.Compare(l.keys.cell(a).stamp(l.port), l.keys.cell(b).stamp(l.port))
	})
	for k := l.newest; k != 0; k = l.keys.cell(k).older(l.port) {
		all = append(all, k)
	}
	slices.Reverse(all)
	return append(stamped, all...)
}

func (l *lru) bytes() int64 {
	const entrySize = 16
	return int64(cap(l.stamped)) * entrySize
}
