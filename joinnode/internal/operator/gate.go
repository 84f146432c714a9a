package operator

import "github.com/streamjoin/streamjoin/joinnode/internal/row"

// admit is the gates of semantics.md §4.6 for a row with key k that arrives at
// port: it makes room among the keys, or tells that there is none among the
// rows.
func (j *IntervalJoin) admit(port int, k keyRef, rec *Record) bool {
	s := j.sides[port]
	if j.cfg.MaxRows > 0 && s.rows >= j.cfg.MaxRows || !j.addressable(port, len(rec.Row.Enc)) {
		j.out.Drop(port, *rec, RowsGate, false)
		return false
	}
	if j.cfg.MaxBytes > 0 && j.sideBytes(port)+j.need(port, k, &rec.Row) > j.cfg.MaxBytes {
		j.out.Drop(port, *rec, BytesGate, false)
		return false
	}
	if s.lru.on && (k == 0 || j.keys.cell(k).rows(port) == 0) {
		for s.present >= j.cfg.MaxKeys {
			j.evict(port, s.lru.least())
		}
	}
	return true
}

// addressable tells whether the arena and the key table have addresses left for
// one more row; they end at 16 GiB a side and 64 GiB of keys.
func (j *IntervalJoin) addressable(port, size int) bool {
	return j.keys.cells.room() && j.sides[port].arena.room(size+aroundRow)
}

// aroundRow bounds what a record has beside its columns: header, nulls, side.
const aroundRow = 64

// sideBytes is the state of one side as the maxBytes gate sees it: its own
// memory, and of the key table, which both sides share, the part that its keys
// are of the keys of both. While there are keys the two sides are Stats.Bytes.
//
// It is memory, not the sum of what the rows would take packed: a chunk counts
// until the last of its rows has left, since only then can others have it.
func (j *IntervalJoin) sideBytes(port int) int64 {
	s := j.sides[port]
	n := s.bytes()
	if s.present > 0 {
		part := float64(s.present) / float64(s.present+j.sides[1-port].present)
		n += int64(part * float64(j.keys.bytes()))
	}
	return n
}

// need is what a side has to grow by for a row with key k (0: a new one), as far
// as the row itself decides: its chunk and its key. What finds and orders rows
// grows in steps; such a step, a small part of the side, is seen by the next
// row.
func (j *IntervalJoin) need(port int, k keyRef, r *row.Row) int64 {
	const valueSize = 16
	n := j.sides[port].arena.need(len(r.Enc)+aroundRow) + int64(len(r.Side))*valueSize
	if k == 0 {
		n += int64(j.keys.header + len(j.key.spelling))
	}
	return n
}

// evict drops all rows of a key of one side.
func (j *IntervalJoin) evict(port int, k keyRef) {
	s := j.sides[port]
	j.stats.KeysEvicted++
	s.removeAll(k, func(r ref, stored record) {
		v := s.view(r, stored)
		j.dropped = v.whole(row.Row{Enc: j.dropped.Enc[:0], Side: j.dropped.Side[:0]})
		rec := Record{TS: v.ts, Diff: 1, Row: j.dropped, Nulls: v.nulls, Why: v.why}
		j.out.Drop(port, rec, KeyEvicted, s.order.waits && v.flags&matched == 0)
		clear(j.dropped.Side)
	})
}
