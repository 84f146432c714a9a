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
	const most = 64 // header, nulls, side
	return j.keys.cells.room() && j.sides[port].arena.room(size+most)
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
