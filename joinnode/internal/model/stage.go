package model

import (
	"maps"
	"slices"
	"time"
)

// row is §4 for one arriving row.
func (m *Model) row(n int, a Arrival) {
	s, sd := m.entry(n)
	parts := make([]map[string]any, len(m.q.Sources))
	parts[n] = a.Row
	x := &stored{ts: m.clock, parts: parts}
	if m.eventTime() {
		var ok bool
		if x.ts, ok = rowTime(field(a.Row, m.q.Timestamp), m.q.TimeUnit); !ok {
			s.counters["late_dropped"]++
			s.counters["bad_timestamp"]++
			x.ts = 0
			m.drop(n, sd, x, "bad_timestamp")
			return
		}
		skew := 24 * time.Hour
		if m.q.MaxFutureSkew != nil {
			skew = *m.q.MaxFutureSkew
		}
		if skew > 0 && sub(x.ts, m.clock) > int64(skew) {
			s.counters["late_dropped"]++
			s.counters["future_timestamp"]++
			m.drop(n, sd, x, "future_timestamp")
			return
		}
		sd.wm = max(sd.wm, x.ts)
		if sub(sd.wm, x.ts) > int64(s.join.Within) {
			s.counters["late_dropped"]++
			m.drop(n, sd, x, "late")
			return
		}
		m.raise(n, x.ts)
	}
	if !m.holds(s, x.parts, func(e Expr) bool { return m.filteredAt(e) == n }) {
		s.counters["filtered"]++
		return
	}
	m.enter(s, n, x)
}

// enter is steps 6 to 8 of §4 for a row or composite row; n is the source it
// came from, or −1.
func (m *Model) enter(s *stage, n int, x *stored) {
	own, other := &s.left, &s.right
	if n > 0 {
		own, other = other, own
	}
	m.seq++
	x.seq = m.seq
	x.key = m.key(s, n, x)

	if m.q.MaxRows > 0 && len(own.rows) >= m.q.MaxRows {
		s.counters["rows_dropped"]++
		m.drop(n, own, x, "rows_dropped")
		return
	}
	m.evictFor(s, n, own, x.key)

	var partners []*stored
	for _, y := range other.rows {
		if y.key == x.key && max(sub(x.ts, y.ts), sub(y.ts, x.ts)) <= int64(s.join.Within) {
			partners = append(partners, y)
		}
	}
	sortRows(partners)
	for _, y := range partners {
		l, r := x, y
		if n > 0 {
			l, r = y, x
		}
		l.matched = true
		s.counters["matches_emitted"]++
		pair := &stored{ts: max(l.ts, r.ts), closed: l.closed, parts: slices.Clone(l.parts)}
		pair.parts[s.n] = r.parts[s.n]
		m.emit(s, pair)
	}
	own.rows = append(own.rows, x)
	own.used[x.key] = m.seq
	if len(partners) > 0 {
		other.used[x.key] = m.seq
	}
}

// evictFor makes room for key under the maxKeys gate.
func (m *Model) evictFor(s *stage, n int, sd *side, key string) {
	limit := m.q.MaxKeys
	if limit <= 0 {
		limit = 10000
	}
	keys := map[string]bool{}
	for _, y := range sd.rows {
		keys[y.key] = true
	}
	if keys[key] || len(keys) < limit {
		return
	}
	oldest := slices.MinFunc(slices.Collect(maps.Keys(keys)), func(a, b string) int { return int(sd.used[a] - sd.used[b]) })
	s.counters["keys_evicted"]++
	var kept, gone []*stored
	for _, y := range sd.rows {
		if y.key == oldest {
			gone = append(gone, y)
		} else {
			kept = append(kept, y)
		}
	}
	sd.rows = kept
	sortRows(gone)
	for _, y := range gone {
		if sd == &s.left && s.join.Left && !y.matched {
			s.counters["left_pending_evicted"]++
		}
		m.drop(n, sd, y, "keys_evicted")
	}
}

// emit takes a row that stage s lets out, filters it by the conjuncts that are
// bound now, and passes it on.
func (m *Model) emit(s *stage, x *stored) {
	if !m.holds(s, x.parts, func(e Expr) bool { return m.filteredAt(e) < 0 && m.boundAt(e) == s.n }) {
		s.counters["composite_filtered"]++
		return
	}
	if s.n < len(m.stages) {
		if !m.eventTime() {
			x.ts = m.clock
		}
		x.matched = false
		m.enter(m.stages[s.n], -1, x)
		return
	}
	res := Result{Columns: map[string]any{}, Closed: x.closed}
	for i, p := range x.parts {
		if p == nil {
			res.Nulls = append(res.Nulls, m.q.Sources[i].Alias)
		}
	}
	for _, c := range m.q.Columns {
		res.Columns[c.As] = m.read(x.parts, c.Alias, c.Field)
	}
	m.out = append(m.out, res)
}

// complement lets the pending row x of stage s out with a NULL right side.
func (m *Model) complement(s *stage, x *stored) {
	s.counters["left_timeout_emitted"]++
	m.emit(s, &stored{ts: x.ts, parts: slices.Clone(x.parts), closed: m.cause})
}

// pending returns the left rows of s that still wait for their NULL row.
func (m *Model) pending(s *stage) []*stored {
	var rows []*stored
	for _, x := range s.left.rows {
		if s.join.Left && !x.matched {
			rows = append(rows, x)
		}
	}
	return rows
}

func (m *Model) expireLeft(s *stage) {
	gone := s.left.expire(int64(s.join.Within))
	for _, x := range gone {
		if s.join.Left && !x.matched {
			m.complement(s, x)
		}
	}
}

func (m *Model) expireRight(s *stage) {
	retention := int64(s.join.Within)
	if m.eventTime() {
		retention = s.total
	}
	s.right.expire(retention)
}

// expire removes what is past retention and returns it in (ts, seq) order.
func (sd *side) expire(retention int64) []*stored {
	var kept, gone []*stored
	for _, x := range sd.rows {
		if sd.wm != unseen && sub(sd.wm, x.ts) > retention {
			gone = append(gone, x)
		} else {
			kept = append(kept, x)
		}
	}
	sd.rows = kept
	sortRows(gone)
	return gone
}

// filteredAt returns the source whose input e filters (§7), or −1 when e runs
// on the composite.
func (m *Model) filteredAt(e Expr) int {
	names := e.aliases()
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) != 1 {
		return -1
	}
	n := m.q.source(names[0])
	if n > 0 && m.q.Joins[n-1].Left {
		return -1
	}
	return n
}

// boundAt returns the stage whose output has all aliases of e.
func (m *Model) boundAt(e Expr) int {
	n := 1
	for _, name := range e.aliases() {
		n = max(n, m.q.source(name))
	}
	return n
}

// holds evaluates the conjuncts of WHERE that here selects as one AND.
func (m *Model) holds(s *stage, parts []map[string]any, here func(Expr) bool) bool {
	ev := &evaluation{get: func(alias, name string) any { return m.read(parts, alias, name) }}
	v := yes
	for _, e := range m.q.Where {
		if here(e) && v != no {
			v = min(v, e.eval(ev))
		}
	}
	s.counters["type_mismatch"] += ev.mismatches
	return v == yes
}

func (m *Model) read(parts []map[string]any, alias, name string) any {
	return field(parts[m.q.source(alias)], name)
}

// key returns the join key of x, which enters s from source n (−1: composite).
func (m *Model) key(s *stage, n int, x *stored) string {
	var values []any
	for _, e := range s.join.On {
		if n > 0 {
			values = append(values, field(x.parts[n], e.JoinedField))
		} else {
			values = append(values, m.read(x.parts, e.Alias, e.Field))
		}
	}
	return tupleText(values)
}

func (m *Model) drop(n int, sd *side, x *stored, reason string) {
	l := Late{Reason: reason, TS: x.ts, Watermark: gauge(sd.wm), Parts: x.parts}
	if n >= 0 {
		l.Stream = m.q.Sources[n].Stream
	}
	m.late = append(m.late, l)
}

func sortRows(rows []*stored) {
	slices.SortFunc(rows, func(a, b *stored) int {
		if a.ts != b.ts {
			if a.ts < b.ts {
				return -1
			}
			return 1
		}
		return int(a.seq - b.seq)
	})
}
