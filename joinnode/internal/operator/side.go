package operator

import (
	"encoding/binary"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// A side is the buffered rows of one port: records in an arena, chained per key
// in (ts, arrival) order, with the order in which they expire.
type side struct {
	port  int
	keys  *keyTable // shared with the other side
	arena arena
	order timeOrder
	lru   lru
	hot   map[keyRef]*directory // of keys with many rows
	index int64                 // bytes of these
	count counts

	rows    int
	present int // keys with rows
	waiting int // rows of a LEFT JOIN's left side without a match
}

func newSide(port int, keys *keyTable, waits bool, maxKeys int) *side {
	s := &side{port: port, keys: keys, arena: newArena(), hot: map[keyRef]*directory{}}
	s.order = newTimeOrder(&s.arena, waits, &s.count)
	s.lru = lru{on: maxKeys > 0, max: maxKeys, keys: keys, port: port}
	return s
}

// insert stores a row under key h.key. waiting says that it is a LEFT row
// without a match.
func (s *side) insert(h *header, waiting bool) {
	if !s.order.inOrder(h.ts) {
		h.flags |= straggler
	}
	r := s.arena.add(h)
	s.order.add(r, h.ts, waiting)
	c := s.keys.cell(h.key)
	n := c.rows(s.port)
	s.chain(c, h, r, n)
	c.setRows(s.port, n+1)
	s.rows++
	if waiting {
		s.waiting++
	}
	if n == 0 {
		s.present++
	}
	s.lru.use(h.key, c, n == 0, s.present)
	if n >= hotRows && s.hot[h.key] == nil {
		s.hot[h.key] = newDirectory(&s.arena, c.first(s.port), &s.count, &s.index)
	}
}

// chain puts the row at r into the list of its key, behind all rows that are
// not newer. n is the list's length without it.
//
// A row in order is newer than any other of the side. It goes to the end
// without a look at the row before it, to which it only writes: that is a cache
// miss that nothing waits for.
func (s *side) chain(c cell, h *header, r ref, n int) {
	k, ts := h.key, h.ts
	if n == 0 {
		c.setFirst(s.port, r)
		c.setLast(s.port, r)
		return
	}
	s.count.visited++
	last := s.arena.record(c.last(s.port))
	if h.flags&straggler == 0 || last.ts() <= ts {
		last.setNext(r)
		c.setLast(s.port, r)
		if d := s.directory(k, n); d != nil {
			d.append(ts, r)
		}
		return
	}
	d := s.directory(k, n)
	s.count.visited++
	if first := c.first(s.port); s.arena.record(first).ts() > ts {
		s.arena.record(r).setNext(first)
		c.setFirst(s.port, r)
		if d != nil {
			d.insertHead(ts, r, &s.arena, &s.count)
		}
		return
	}
	before, run := c.first(s.port), 0
	if d != nil {
		run = d.upTo(ts)
		before = d.runs[run].row
	}
	rec := s.arena.record(before)
	for {
		s.count.visited++
		next := s.arena.record(rec.next())
		if next.ts() > ts {
			break
		}
		rec = next
	}
	s.arena.record(r).setNext(rec.next())
	rec.setNext(r)
	if d != nil {
		d.grow(run, &s.arena, &s.count)
	}
}

// directory returns the directory of a key with n rows, nil when it has none.
func (s *side) directory(k keyRef, n int) *directory {
	if n < coldRows || len(s.hot) == 0 {
		return nil
	}
	return s.hot[k]
}

// seek returns a row of k's list such that every row before it is older than
// lo, and few rows from it on are; 0 when all rows are older than lo.
func (s *side) seek(k keyRef, c cell, lo int64) ref {
	n := c.rows(s.port)
	if n == 0 {
		return 0
	}
	first := c.first(s.port)
	if n < coldRows {
		return first // most of the rows will be looked at anyway
	}
	s.count.visited++
	if s.arena.record(c.last(s.port)).ts() < lo {
		return 0
	}
	if d := s.directory(k, n); d != nil {
		if r := d.from(lo); r != 0 {
			return r
		}
	}
	return first
}

// removeFirst takes out the oldest row, at r, which is the first one of its
// key's list, and gives its memory up.
func (s *side) removeFirst(r ref, rec record) {
	k, next := rec.key(), rec.next()
	c := s.keys.cell(k)
	n := c.rows(s.port) - 1
	s.uncount(rec)
	s.order.removeFirst(r, rec)
	c.setRows(s.port, n)
	c.setFirst(s.port, next)
	if n == 0 {
		s.removeKey(k, c)
	} else if d := s.directory(k, n+1); d != nil {
		d.removeHead(next)
		if n < coldRows {
			s.cool(k)
		}
	}
	if s.rows == 0 {
		s.order.empty()
		s.lru.empty()
	}
}

// removeAll takes out all rows of k, each after f has seen it.
func (s *side) removeAll(k keyRef, f func(r ref, rec record)) {
	c := s.keys.cell(k)
	for r := c.first(s.port); r != 0; {
		rec := s.arena.record(r)
		next := rec.next()
		s.count.visited++
		f(r, rec)
		s.uncount(rec)
		s.order.remove(r, rec)
		r = next
	}
	c.setRows(s.port, 0)
	s.removeKey(k, c)
	if s.rows == 0 {
		s.order.empty()
		s.lru.empty()
	}
}

func (s *side) uncount(rec record) {
	s.rows--
	if s.order.waits && rec.flags()&matched == 0 {
		s.waiting--
	}
}

// removeKey forgets a key of which no row is left on this side.
func (s *side) removeKey(k keyRef, c cell) {
	s.present--
	if s.lru.on {
		s.lru.remove(c)
	}
	if len(s.hot) > 0 {
		s.cool(k)
	}
	c.setFirst(s.port, 0)
	c.setLast(s.port, 0)
	if c.rows(1-s.port) == 0 {
		s.keys.remove(k)
	}
}

// markMatched notes that a row has met a partner.
func (s *side) markMatched(rec record) {
	if s.order.waits && rec.flags()&matched == 0 {
		rec.set(matched)
		s.waiting--
	}
}

// A view is a stored row taken apart. It is valid until the row is removed.
type view struct {
	ts    int64
	flags uint8
	nulls uint64
	why   CloseReason
	key   []byte // the key columns as the key spells them; unused with ownKey
	cols  []byte // the other columns, or all with ownKey
	side  []any  // what both refer to
}

func (s *side) view(r ref, rec record) view { return viewOf(s.keys, &s.arena, r, rec) }

// viewOf takes the record at r apart, whose key is one of keys.
func viewOf(keys *keyTable, a *arena, r ref, rec record) view {
	v := view{ts: rec.ts(), flags: rec.flags()}
	at, end := recordHeader, rec.len()
	if v.flags&hasNulls != 0 {
		nulls, n := binary.Uvarint(rec[at:])
		at += n
		v.nulls, v.why = nulls, CloseReason(rec[at])
		at++
	}
	if v.flags&hasSide != 0 {
		v.side = a.sideOf(r, int(get32(rec[at:])), int(get32(rec[at+4:])))
		at += 8
	}
	v.cols = rec[at:end:end]
	if v.flags&ownKey == 0 {
		v.key, _ = keys.text(keys.cell(rec.key()))
	}
	return v
}

// whole appends all columns of v to dst.
func (v *view) whole(dst row.Row) row.Row {
	dst = row.AppendRow(dst, row.Row{Enc: v.key, Side: v.side})
	return row.AppendRow(dst, row.Row{Enc: v.cols, Side: v.side})
}

// keep appends to dst what a buffered row has itself: its columns beside the key,
// and the key too unless that is spelled as the key's cell has it. Its Go values
// become its own.
func (v *view) keep(dst row.Row, same bool) (own row.Row, flags uint8) {
	if !same {
		flags = ownKey
		dst = row.AppendRow(dst, row.Row{Enc: v.key, Side: v.side})
	}
	return row.AppendRow(dst, row.Row{Enc: v.cols, Side: v.side}), flags
}

func (s *side) bytes() int64 {
	return s.arena.bytes() + s.order.bytes() + s.lru.bytes() + s.index
}
