package operator

import "github.com/streamjoin/streamjoin/joinnode/internal/row"

// How versions enter a history. What a version would have changed in rows that
// were joined before it is counted from the greatest time of the rows that each
// version was joined with; a version that takes some of them over from an older one
// leaves that one with an upper bound, since no more is known of its rows.

// current makes x what the table has for k from ts on. A time below that of the
// newest version counts as that one's.
func (h *history) current(k keyRef, ts int64, x *state) {
	c := h.keys.cell(k)
	if c.rows(ofVersions) == 0 {
		h.insertOnly(k, c, ts, x)
		return
	}
	h.insert(k, c, max(ts, h.newest(c)), x)
}

// past makes x what the table had for k from ts to the next version. What lies
// below the versions that were dropped changes nothing any more.
func (h *history) past(k keyRef, ts int64, x *state) {
	c := h.keys.cell(k)
	switch {
	case c.rows(ofVersions) > 0:
		h.insert(k, c, ts, x)
	case ts >= h.absent:
		h.insertOnly(k, c, ts, x)
	default:
		h.tooLate(max(c.unread(), h.unread), ts, x)
		h.leave(k, c)
	}
}

// tooLate counts a version that begins at ts, at or before rows that were joined
// with no version; the greatest of them has time unread.
func (h *history) tooLate(unread, ts int64, x *state) {
	if unread >= ts && x.flags&versionNone == 0 {
		h.late++
	}
}

// insert makes x a version of a key that has some.
func (h *history) insert(k keyRef, c cell, ts int64, x *state) {
	switch at := h.at(k, c, ts); {
	case at == 0:
		h.insertFirst(k, c, ts, x)
	case h.version(at).ts() == ts:
		h.replace(k, c, at, x)
	default:
		h.insertAfter(k, c, at, ts, x)
	}
}

// insertOnly makes x the first version of a key without any.
func (h *history) insertOnly(k keyRef, c cell, ts int64, x *state) {
	own := c.unread()
	unread := max(own, h.unread) // an upper bound: others' rows are in it
	h.tooLate(unread, ts, x)
	read := int64(unseen)
	if own >= ts {
		read = own
	}
	c.setUnread(below(unread, ts))
	at := h.add(ts, read, x)
	c.setFirst(ofVersions, ref(at))
	c.setLast(ofVersions, ref(at))
	h.added(k, c, at, x.flags&versionNone != 0)
}

// insertFirst inserts before the oldest version.
func (h *history) insertFirst(k keyRef, c cell, ts int64, x *state) {
	unread := c.unread()
	h.tooLate(unread, ts, x)
	if h.lacks(c, ts) {
		return
	}
	first := keyRef(c.first(ofVersions))
	read := int64(unseen)
	if unread >= ts {
		read = below(unread, h.version(first).ts())
	}
	c.setUnread(below(unread, ts))
	at := h.add(ts, read, x)
	h.version(at).setNewer(first)
	c.setFirst(ofVersions, ref(at))
	if d := h.directory(k, c.rows(ofVersions)); d != nil {
		d.insertHead(ts, ref(at), h, &h.count)
	}
	h.queue(k, first)
	h.added(k, c, at, x.flags&versionNone != 0)
}

// insertAfter inserts behind the version before.
func (h *history) insertAfter(k keyRef, c cell, before keyRef, ts int64, x *state) {
	v := h.version(before)
	read := int64(unseen)
	if v.read() >= ts {
		read = v.read()
		v.setRead(below(v.read(), ts))
		if !h.says(v, x) {
			h.late++
		}
	}
	at := h.add(ts, read, x)
	next, n := v.newer(), c.rows(ofVersions)
	v.setNewer(at)
	h.version(at).setNewer(next)
	d := h.directory(k, n)
	switch {
	case next == 0:
		c.setLast(ofVersions, ref(at))
		if d != nil {
			d.append(ts, ref(at))
		}
	case d != nil:
		d.grow(d.upTo(ts), h, &h.count)
	}
	h.added(k, c, at, true)
}

// replace makes the version at say x.
func (h *history) replace(k keyRef, c cell, at keyRef, x *state) {
	v := h.version(at)
	if h.says(v, x) {
		return
	}
	if v.read() != unseen {
		h.late++
	}
	side := h.values.put(v.side(), x.row.Side)
	x.flags |= get32(v[versionLength:]) & versionQueued
	was, _ := sizeClass(v.size())
	is, _ := sizeClass(x.size())
	if is == was && is != oversize {
		v.setState(x, side)
	} else {
		at = h.move(k, c, at, v, x, side)
	}
	if x.flags&versionNone != 0 {
		h.settle(k, c, at)
	}
}

// move makes the version at, which is v, say x in a cell of another size.
func (h *history) move(k keyRef, c cell, at keyRef, v version, x *state, side uint32) keyRef {
	to, ts := h.slab.alloc(x.size()), v.ts()
	moved := h.version(to)
	moved.write(ts, v.read(), x, side)
	moved.setNewer(v.newer())
	if keyRef(c.first(ofVersions)) == at {
		c.setFirst(ofVersions, ref(to))
	} else {
		h.version(h.at(k, c, ts-1)).setNewer(to)
	}
	if keyRef(c.last(ofVersions)) == at {
		c.setLast(ofVersions, ref(to))
	}
	if d := h.directory(k, c.rows(ofVersions)); d != nil {
		d.move(ts, ref(at), ref(to))
	}
	h.slab.release(at)
	return to
}

// says tells whether v says x.
func (h *history) says(v version, x *state) bool {
	const what = versionNone | versionOwnKey
	return get32(v[versionLength:])&what == x.flags&what && sameRow(row.Row{Enc: v.cols(), Side: h.values.at(v.side())}, x.row)
}

func (h *history) add(ts, read int64, x *state) keyRef {
	at := h.slab.alloc(x.size())
	h.version(at).write(ts, read, x, h.values.put(noSide, x.row.Side))
	return at
}

// added counts the version at, which is in the list of k. drops says that its
// time is one at which something can be dropped.
func (h *history) added(k keyRef, c cell, at keyRef, drops bool) {
	n := c.rows(ofVersions)
	c.setRows(ofVersions, n+1)
	h.versions++
	if n == 0 {
		h.present++
	}
	if n >= hotRows && h.hot[k] == nil {
		h.hot[k] = newDirectory(h, c.first(ofVersions), &h.count, &h.index)
	}
	if drops {
		h.settle(k, c, at)
	}
}

// below returns t, or the time before bound when it is not below that.
func below(t, bound int64) int64 {
	if t >= bound {
		return subTime(bound, 1)
	}
	return t
}
