package operator

import (
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// IntervalJoin joins the rows of two ports, 0 = left and 1 = right, that have
// equal keys and times at most Within apart, or such that Lower ≤ right time −
// left time ≤ Upper, and completes left rows without a match with NULLs when it is
// a LEFT JOIN (semantics.md §4 to §6). Its inputs are insertions only; bad, future
// and late rows were dropped by the source in front of it.
//
// Each port's own watermark ends its rows' lives, as if both streams were of one
// pace: a left row can have partners up to Upper after its time, a right row up to
// −Lower after its own, so that is how long they are kept, and not at all where it
// is negative; for WITHIN both are Within. A left row is complete, and a row at
// either port is too late, when its port's watermark is more than that past its
// time. For partners at distance d this leaves Upper − d, or d − Lower, for
// disorder in a stream and for one running ahead of the other. With bounds that
// begin or end at 0 that is nothing just where most partners are, so the plan can
// ask for longer retentions.
//
// Each side buffers its rows as bytes in an arena (side.go) under keys that both
// sides share (keytable.go). A row costs one hash look-up, one record, the
// records of its partners, and later one visit when it expires; nothing ever
// scans a side.
//
// The look-up, the partners and the rows that expire are cache misses that do not
// depend on each other across records: Prefetch over a batch takes them together
// (prefetch.go). What a row costs is in docs/performance.md.
//
// Its state is bounded by rate × LeftRetention rows on the left, rate ×
// RightRetention on the right, and by the gates.
type IntervalJoin struct {
	cfg       JoinConfig
	out       Output
	keys      *keyTable
	sides     [2]*side
	retention [2]int64
	partners  [2]bounds

	wm       [2]int64 // greatest Seen of each port
	idle     [2]bool
	frontier int64 // the output's progress as last told
	told     bool  // whether it was told to be idle
	flushed  [2]bool
	stats    Stats // what is not counted by the sides

	key     joinKey
	compose composer
	stored  row.Row // columns on their way into the arena
	dropped row.Row // a row on its way to Drop
	ahead   ahead
	cached  int64 // Prefetch does nothing below this size of the state
}

// bounds are the least and the greatest time of a partner, counted from the row's.
type bounds struct{ lower, upper int64 }

// NewIntervalJoin returns an empty join that writes to out. Its errors are
// ErrConfig.
func NewIntervalJoin(cfg JoinConfig, out Output) (*IntervalJoin, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	for port := range cfg.Keep {
		cfg.Keep[port] = max(cfg.Keep[port], cfg.Keys[port])
	}
	j := &IntervalJoin{cfg: cfg, out: out, wm: [2]int64{unseen, unseen}, frontier: unseen, compose: newComposer(&cfg), cached: cachedState}
	for port := range j.retention {
		j.retention[port] = cfg.Retention(port)
		j.partners[port].lower, j.partners[port].upper = cfg.bounds(port)
	}
	j.clear()
	return j, nil
}

// clear empties both sides.
func (j *IntervalJoin) clear() {
	for _, s := range j.sides {
		if s != nil {
			j.stats.Visited += s.count.visited
			j.stats.Moved += s.count.moved
		}
	}
	j.keys = newKeyTable(j.cfg.Keys[0], j.cfg.keyGate() > 0)
	for port := range j.sides {
		j.sides[port] = newSide(port, j.keys, j.cfg.Left && port == 0, j.cfg.keyGate())
	}
}

// Advance implements Operator: it raises the port's watermark and expires what
// is past retention, in (ts, seq) order. A left row of a LEFT JOIN without a
// match leaves as a NULL row at that moment.
func (j *IntervalJoin) Advance(port int, p Progress) {
	why := ClosedByWindow
	if p.Idle {
		why = ClosedByIdle
	}
	if !j.cfg.Clocked {
		j.raise(port, p, why)
		return
	}
	j.raise(0, p, why)
	j.raise(1, p, why)
}

func (j *IntervalJoin) raise(port int, p Progress, why CloseReason) {
	j.idle[port] = p.Idle
	if p.Seen <= j.wm[port] {
		return
	}
	j.wm[port] = p.Seen
	j.expire(j.sides[port], subTime(p.Seen, j.retention[port]), why)
}

// expire removes the rows of s that are older than bound.
func (j *IntervalJoin) expire(s *side, bound int64, why CloseReason) {
	for s.rows > 0 {
		r, rec, ok := s.order.first()
		if !ok || rec.ts() >= bound {
			return
		}
		if s.order.waits && rec.flags()&matched == 0 {
			j.complement(s, r, rec, why)
		}
		s.removeFirst(r, rec)
		j.stats.Expired++
	}
}

// complement emits a left row with NULLs for the right side.
func (j *IntervalJoin) complement(s *side, r ref, rec record, why CloseReason) {
	v := s.view(r, rec)
	j.stats.LeftTimeouts++
	j.out.Emit(Record{TS: v.ts, Diff: 1, Row: j.compose.unmatched(&v), Nulls: v.nulls | 1<<j.cfg.RightSource, Why: why})
	j.compose.forget()
}

// Process implements Operator: gates, probe, store (semantics.md §4, steps 6
// to 8). It takes no records of a port that was flushed.
func (j *IntervalJoin) Process(port int, rec Record) {
	if j.flushed[port] {
		return
	}
	j.keys.read(&j.key, rec.Row)
	k, same := j.keys.find(&j.key)
	if !j.admit(port, k, &rec) {
		return
	}
	var x view
	j.arrived(&x, port, &rec)
	pairs := 0
	if k != 0 {
		pairs = j.probe(port, k, j.keys.cell(k), &x)
	}
	j.store(port, k, same, &x, pairs > 0)
}

// arrived takes an arriving row apart, whose key is j.key: its kept columns are
// cut once for the composites and for the arena. x is the zero view. (It is filled
// in place, as results are written where they stay: copies of what was just
// written cost 30 ns a row.)
func (j *IntervalJoin) arrived(x *view, port int, rec *Record) {
	x.arrive(rec, &j.key, j.cfg.Keep[port]-j.cfg.Keys[port])
}

// arrive makes v a row with this key, of which n columns beside the key are kept.
func (v *view) arrive(rec *Record, key *joinKey, n int) {
	v.ts, v.nulls, v.why = rec.TS, rec.Nulls, rec.Why
	v.key, v.side = key.spelling, rec.Row.Side
	cols := rec.Row.Enc[len(v.key):]
	v.cols = cols[:row.Row{Enc: cols}.Offset(n)]
}

// store buffers a row whose key is j.key and returns the key's cell. same says
// that the cell, if there is one, has the row's spelling; met, that the row has
// met a partner.
func (j *IntervalJoin) store(port int, k keyRef, same bool, x *view, met bool) keyRef {
	s := j.sides[port]
	if k == 0 {
		k, same = j.keys.insert(&j.key), !j.key.values
	}
	h := header{ts: x.ts, key: k, nulls: x.nulls, why: x.why, cols: x.cols}
	if met {
		h.flags |= matched
	}
	if !same || len(x.side) > 0 {
		// The kept columns index into all of the row's Go values: take their own.
		own, flags := x.keep(row.Row{Enc: j.stored.Enc[:0], Side: j.stored.Side[:0]}, same)
		h.flags |= flags
		j.stored, h.cols, h.side = own, own.Enc, own.Side
	}
	s.insert(&h, s.order.waits && !met)
	clear(j.stored.Side)
	return k
}

// EndStep implements Operator: it raises the output's progress (semantics.md
// §6).
func (j *IntervalJoin) EndStep() {
	t, port := j.reached()
	idle := j.idle[port]
	if t <= j.frontier && idle == j.told {
		return
	}
	j.frontier, j.told = max(t, j.frontier), idle
	j.out.Advance(Progress{Seen: j.frontier, Low: j.frontier, Idle: idle})
}

// reached returns the frontier: no later result has a time below it. It is
// port's doing.
func (j *IntervalJoin) reached() (t int64, port int) {
	if j.cfg.Clocked {
		return j.wm[0], 0
	}
	t = subTime(j.wm[0], j.retention[0])
	if !j.cfg.Left {
		if right := subTime(j.wm[1], j.retention[1]); right > t {
			return right, 1
		}
	}
	return t, 0
}

// Wake implements Operator. Only time on the left port makes it emit; time on
// the right port can raise the output of an INNER JOIN. When the clock drives
// both, either port answers for both.
func (j *IntervalJoin) Wake(port int, need int64) (int64, bool) {
	at, ok := int64(farthest), false
	earliest := func(t int64, exists bool) {
		if exists && (!ok || t < at) {
			at, ok = t, true
		}
	}
	left := port == 0 || j.cfg.Clocked
	if s := j.sides[0]; left && s.waiting > 0 {
		if _, rec, found := s.order.firstWaiting(); found {
			earliest(dueAfter(rec.ts(), j.retention[0]))
		}
	}
	if t, _ := j.reached(); need > t && need != farthest {
		switch {
		case j.cfg.Clocked:
			earliest(need, true)
		case left:
			earliest(reach(need, j.retention[0]))
		case !j.cfg.Left:
			earliest(reach(need, j.retention[1]))
		}
	}
	return at, ok
}

// dueAfter returns the least time more than d after t.
func dueAfter(t, d int64) (int64, bool) {
	if t, ok := reach(t, d); ok {
		return reach(t, 1)
	}
	return 0, false
}

// Flush implements Operator. Flushing port 0 emits the left rows that wait for
// a match as NULL rows in (ts, seq) order; they match no more. Flushing port 1
// alone emits nothing, since left rows may still come; so either order of
// flushing gives the same results, as long as no record comes between the two.
// Rows that have matched, and all rows of an INNER JOIN, stay matchable until
// both ports are flushed; then the state is freed, and its rows count as expired.
func (j *IntervalJoin) Flush(port int, why CloseReason) {
	if j.flushed[port] {
		return
	}
	j.flushed[port] = true
	if s := j.sides[0]; port == 0 {
		for s.waiting > 0 {
			r, rec, ok := s.order.firstWaiting()
			if !ok {
				break
			}
			j.complement(s, r, rec, why)
			s.markMatched(rec)
			rec.set(closed)
		}
	}
	if j.flushed[0] && j.flushed[1] {
		j.stats.Expired += int64(j.sides[0].rows + j.sides[1].rows)
		j.clear()
	}
}

// Stats implements Operator. Rows, Keys and Bytes are those of both sides
// together; a key with rows on both sides counts twice, as it does for maxKeys.
func (j *IntervalJoin) Stats() Stats {
	st := j.stats
	st.Bytes = j.keys.bytes()
	for _, s := range j.sides {
		st.Rows += int64(s.rows)
		st.Keys += int64(s.present)
		st.Bytes += s.bytes()
		st.Visited += s.count.visited
		st.Moved += s.count.moved
	}
	return st
}
