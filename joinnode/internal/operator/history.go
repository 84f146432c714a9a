package operator

import (
	"encoding/binary"
)

// A history keeps, for each key of a table, its versions from the newest one at
// or before the horizon on, in a list by rising time. It is bytes in a slab under
// cells of a keyTable; most keys have one version and nothing else. Keys with many
// have a directory, so that finding the version of any time stays logarithmic.
//
// Where something can be dropped once the horizon has come to a version, because
// there is an older one or because the version says that there is no row, its time
// is queued: what the horizon leaves behind goes even if its key is never touched
// again, and nothing is ever searched for it.
//
// The cells are (see cell):
//
//	hash, size 4 bytes each
//	unread     8 bytes: the greatest time of a row of the key that was joined with no version, or with one that is gone
//	waiting    4 bytes: rows of the join that wait with this key; the top bit says that the current step changed it (see TemporalJoin)
//	versions   first and last keyRef, number, 4 bytes each
//	text       the key columns
type history struct {
	keys   *keyTable
	slab   slab
	values sideTable
	hot    map[keyRef]*directory
	index  int64 // bytes of these
	count  counts

	// horizon: no row below it comes any more, but late ones.
	horizon int64
	due     lateHeap
	queued  uint32
	// absent is the greatest time of a version without a row that was dropped: what
	// a key without versions had below it is not known.
	absent int64
	// unread is what the cells of keys that are gone had as unread, the greatest.
	unread int64

	versions, present int
	dropped           int64
	late              int64 // versions that came after rows that they would have changed
}

const (
	inStep = 1 << 31 // in the number of rows that wait

	ofVersions  = 1 // the cell's list of versions
	cellWaiting = cellRows + 8
)

func newHistory(cols int) *history {
	keys := newKeyTable(cols, false)
	return &history{keys: keys, slab: newSlab(), hot: map[keyRef]*directory{}, horizon: unseen, absent: unseen, unread: unseen}
}

func (c cell) unread() int64 { return int64(binary.LittleEndian.Uint64(c[cellRows:])) }

func (c cell) setUnread(t int64) { binary.LittleEndian.PutUint64(c[cellRows:], uint64(t)) }

func (c cell) waiting() int { return int(get32(c[cellWaiting:]) &^ inStep) }

// wait adds n rows to those that wait, and returns how many there are then.
func (c cell) wait(n int32) int {
	put32(c[cellWaiting:], get32(c[cellWaiting:])+uint32(n))
	return c.waiting()
}

func (c cell) stepped() bool { return get32(c[cellWaiting:])&inStep != 0 }

func (c cell) setStepped(is bool) {
	n := get32(c[cellWaiting:]) &^ inStep
	if is {
		n |= inStep
	}
	put32(c[cellWaiting:], n)
}

func (h *history) version(k keyRef) version { return h.slab.cell(k) }

// link implements timedList.
func (h *history) link(r ref) (int64, ref) {
	v := h.version(keyRef(r))
	return v.ts(), ref(v.newer())
}

// room tells whether one more version of any size can be had.
func (h *history) room() bool { return h.keys.cells.room() && h.slab.room() }

// enter returns the cell of key, which is made if there is none, and whether it
// spells the key in the same way.
func (h *history) enter(key *joinKey) (k keyRef, same bool) {
	if k, same = h.keys.find(key); k != 0 {
		return k, same
	}
	k = h.keys.insert(key)
	h.keys.cell(k).setUnread(unseen)
	return k, !key.values
}

// leave frees the cell of a key that has neither versions nor rows that wait nor
// part in the current step.
func (h *history) leave(k keyRef, c cell) {
	if c.rows(ofVersions) > 0 || get32(c[cellWaiting:]) != 0 {
		return
	}
	h.unread = max(h.unread, c.unread())
	h.keys.remove(k)
}

// at returns the version of k at time t: the one with the greatest time at or
// before it; 0 when there is none.
func (h *history) at(k keyRef, c cell, t int64) keyRef {
	n := c.rows(ofVersions)
	if n == 0 {
		return 0
	}
	h.count.visited++
	if last := keyRef(c.last(ofVersions)); h.version(last).ts() <= t {
		return last
	}
	at := keyRef(c.first(ofVersions))
	if n == 1 || h.version(at).ts() > t {
		return 0
	}
	if d := h.directory(k, n); d != nil {
		at = keyRef(d.runs[d.upTo(t)].row)
	}
	for {
		h.count.visited++
		next := h.version(at).newer()
		if h.version(next).ts() > t { // the last one is, at the latest
			return at
		}
		at = next
	}
}

// lacks tells whether the version of time t, for which at returned 0, may have
// been dropped.
func (h *history) lacks(c cell, t int64) bool {
	if first := keyRef(c.first(ofVersions)); first != 0 && h.version(first).ts() <= h.horizon {
		return true
	}
	return t < h.absent
}

// read notes that a row of time t was joined with the version at, 0 for none.
func (h *history) read(c cell, at keyRef, t int64) {
	if at == 0 {
		c.setUnread(max(c.unread(), t))
		return
	}
	if v := h.version(at); v.read() < t {
		v.setRead(t)
	}
}

// newest returns the time of a key's newest version, unseen when it has none.
func (h *history) newest(c cell) int64 {
	if c.rows(ofVersions) == 0 {
		return unseen
	}
	return h.version(keyRef(c.last(ofVersions))).ts()
}

// settle drops what can be dropped once the horizon is at the version at, now or
// later.
func (h *history) settle(k keyRef, c cell, at keyRef) {
	if h.version(at).ts() <= h.horizon {
		h.prune(k, c, h.horizon)
		return
	}
	h.queue(k, at)
}

func (h *history) queue(k, at keyRef) {
	v := h.version(at)
	if v.has(versionQueued) {
		return
	}
	v.setQueued()
	h.due.push(lateEntry{ts: v.ts(), arrival: h.queued, row: ref(k)}, &h.count)
	h.queued++
}

// raise moves the horizon and drops what it leaves behind.
func (h *history) raise(horizon int64) {
	if horizon <= h.horizon {
		return
	}
	for len(h.due) > 0 && h.due[0].ts <= horizon {
		// The version with this time is there: it is dropped at a later horizon.
		e := h.due[0]
		h.due.pop(&h.count)
		k := keyRef(e.row)
		h.prune(k, h.keys.cell(k), e.ts)
	}
	h.horizon = horizon
}

// prune drops the versions of k but the newest at or before horizon and those
// after it, and that one too when it says that there was no row.
func (h *history) prune(k keyRef, c cell, horizon int64) {
	for {
		at := keyRef(c.first(ofVersions))
		if at == 0 {
			break
		}
		v := h.version(at)
		none := v.has(versionNone)
		if next := v.newer(); (next == 0 || h.version(next).ts() > horizon) && !(none && v.ts() <= horizon) {
			break
		}
		if none {
			h.absent = max(h.absent, v.ts())
		}
		h.dropFirst(k, c, at, v)
	}
	h.leave(k, c)
}

// dropFirst drops the oldest version.
func (h *history) dropFirst(k keyRef, c cell, at keyRef, v version) {
	c.setUnread(max(c.unread(), v.read()))
	next, n := ref(v.newer()), c.rows(ofVersions)-1
	h.values.put(v.side(), nil)
	h.slab.release(at)
	h.versions--
	h.dropped++
	c.setRows(ofVersions, n)
	c.setFirst(ofVersions, next)
	if n == 0 {
		c.setLast(ofVersions, 0)
		h.present--
	} else if d := h.directory(k, n+1); d != nil {
		d.removeHead(next)
		if n < coldRows {
			d.setRuns(nil)
			delete(h.hot, k)
		}
	}
}

// directory returns the directory of a key with n versions, nil when it has none.
func (h *history) directory(k keyRef, n int) *directory {
	if n < coldRows || len(h.hot) == 0 {
		return nil
	}
	return h.hot[k]
}

func (h *history) bytes() int64 {
	const entrySize = 16
	return h.keys.bytes() + h.slab.bytes() + h.values.bytes() + h.index + int64(cap(h.due))*entrySize
}
