// Package model is a slow and obvious implementation of the join semantics, to
// be compared with the engine in tests. It keeps rows in slices, scans all of
// them for everything, and shares no code with the engine. References to
// sections are to the page "Join semantics, made exact".
//
// Where that page leaves a choice, the model takes these readings:
//
//   - An input is "seen" by any row that names it, bad ones included (§5).
//   - At one instant the watermarks of several idle inputs move in the order
//     last joined first, so rows of later stages leave before new NULL rows
//     of earlier stages come (§5).
//   - A future timestamp counts in late_dropped and future_timestamp, not in
//     bad_timestamp (§2).
//   - A result with NULLs from several stages is closed by the reason of the
//     last stage that complemented it (§7).
//   - matches_emitted and left_timeout_emitted count what leaves the join,
//     before WHERE looks at it (§7).
//   - Stop reads the clock: what is due by then is closed by its window (§5).
package model

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// Arrival is one row with the clock's reading when it was accepted.
type Arrival struct {
	Stream string
	Row    map[string]any
	Clock  int64 // ns since the epoch
}

// Result is one result row.
type Result struct {
	Columns map[string]any // by column name; nil where NULL
	Nulls   []string       // the aliases that are NULL, in query order
	Closed  string         // "window", "idle", "stop"; "" for a full match
}

// Late is a row that the late output gets.
type Late struct {
	Stream    string // "" for a composite row
	Reason    string
	TS        int64
	Watermark int64 // 0 = unseen
	Parts     []map[string]any
}

const unseen = math.MinInt64

// Model runs one query.
type Model struct {
	q      Query
	stages []*stage
	inputs []input
	seq    int64
	clock  int64
	cause  string // what a row closed in this step is closed by
	out    []Result
	late   []Late
}

// input is what IDLETIMEOUT knows of one stream.
type input struct {
	seen bool
	last int64 // clock of the last row that named it
}

// stage is one binary join.
type stage struct {
	n           int // 1-based
	join        Join
	total       int64 // W_1 + … + W_n
	left, right side
	counters    map[string]int64
}

type side struct {
	rows []*stored
	wm   int64
	used map[string]int64 // key → when it was last inserted into or matched
}

// stored is a row or composite row at one side of a stage.
type stored struct {
	ts, seq int64
	key     string
	parts   []map[string]any // by source, nil where NULL or not joined yet
	closed  string
	matched bool
}

// New returns a model of q with nothing seen.
func New(q Query) *Model {
	m := &Model{q: q, clock: unseen, inputs: make([]input, len(q.Sources))}
	var total int64
	for i, j := range q.Joins {
		total = add(total, int64(j.Within))
		m.stages = append(m.stages, &stage{
			n: i + 1, join: j, total: total,
			left:     side{wm: unseen, used: map[string]int64{}},
			right:    side{wm: unseen, used: map[string]int64{}},
			counters: map[string]int64{},
		})
	}
	return m
}

func (m *Model) eventTime() bool { return m.q.Timestamp != "" }

// Arrive processes one row and returns the results it causes, those of the
// time that passed since the last call among them.
func (m *Model) Arrive(a Arrival) []Result {
	m.passTime(a.Clock)
	n := slices.IndexFunc(m.q.Sources, func(s Source) bool { return s.Stream == a.Stream })
	m.inputs[n] = input{seen: true, last: m.clock}
	m.cause = "window"
	m.row(n, a)
	m.endStep()
	return m.take()
}

// Advance lets time pass without a row and returns the results of that.
func (m *Model) Advance(clock int64) []Result {
	m.passTime(clock)
	return m.take()
}

// Stop ends the query and returns its last results.
func (m *Model) Stop(clock int64) []Result {
	m.passTime(clock)
	m.cause = "stop"
	for _, s := range m.stages {
		pending := m.pending(s)
		sortRows(pending)
		s.left.rows = nil
		for _, x := range pending {
			m.complement(s, x)
		}
	}
	return m.take()
}

// TakeLate returns the rows that went to the late output since the last call.
func (m *Model) TakeLate() []Late {
	late := m.late
	m.late = nil
	return late
}

// Counters returns the counters and gauges of all stages under the names of
// the page.
func (m *Model) Counters() map[string]int64 {
	all := map[string]int64{}
	for _, s := range m.stages {
		prefix := fmt.Sprintf("join_stage%d_", s.n)
		for _, name := range []string{"matches_emitted", "left_timeout_emitted", "late_dropped", "input_dropped",
			"rows_dropped", "keys_evicted", "bad_timestamp", "future_timestamp", "filtered",
			"left_pending_evicted", "type_mismatch"} {
			all[prefix+name] = s.counters[name]
		}
		all[prefix+"buffered_rows"] = int64(len(s.left.rows) + len(s.right.rows))
		all[prefix+"left_watermark"] = gauge(s.left.wm)
		all[prefix+"right_watermark"] = gauge(s.right.wm)
	}
	return all
}

func gauge(wm int64) int64 {
	if wm == unseen {
		return 0
	}
	return wm
}

func (m *Model) take() []Result {
	out := m.out
	m.out = nil
	return out
}

// passTime replays every instant up to clock at which time alone makes
// something happen, then moves the watermarks that follow the clock to it.
func (m *Model) passTime(clock int64) {
	clock = max(clock, m.clock)
	for {
		next, ok := m.nextInstant()
		if !ok || next > clock {
			break
		}
		m.instant(next)
	}
	m.instant(clock)
}

// nextInstant returns the least instant after the last one at which a row may
// fall due or an input may become idle.
func (m *Model) nextInstant() (int64, bool) {
	next, found := int64(0), false
	candidate := func(t int64) {
		if t > m.clock && (!found || t < next) {
			next, found = t, true
		}
	}
	for _, s := range m.stages {
		for _, x := range m.pending(s) {
			if m.eventTime() {
				// Whichever input drives the frontier, the sum of the windows
				// up to this stage lies between its clock and the row.
				candidate(add(add(x.ts, s.total), 1))
			} else {
				candidate(add(add(x.ts, int64(s.join.Within)), 1))
			}
		}
	}
	if !m.eventTime() {
		return next, found
	}
	if m.q.IdleTimeout == 0 {
		return 0, false
	}
	for _, in := range m.inputs {
		if in.seen {
			candidate(add(in.last, int64(m.q.IdleTimeout)))
		}
	}
	return next, found
}

// instant is one timer event at t, which is never in the past.
func (m *Model) instant(t int64) {
	m.clock = t
	if !m.eventTime() {
		m.cause = "window"
		for _, s := range slices.Backward(m.stages) {
			s.left.wm, s.right.wm = t, t
			m.expireLeft(s)
			m.expireRight(s)
		}
		return
	}
	if m.q.IdleTimeout == 0 {
		return
	}
	m.cause = "idle"
	for n, in := range slices.Backward(m.inputs) {
		if in.seen && sub(t, in.last) >= int64(m.q.IdleTimeout) {
			m.raise(n, t)
		}
	}
	m.endStep()
}

// raise moves the watermark of input n to at least t and expires that side.
func (m *Model) raise(n int, t int64) {
	s, sd := m.entry(n)
	sd.wm = max(sd.wm, t)
	if n == 0 {
		m.expireLeft(s)
	} else {
		m.expireRight(s)
	}
}

// entry returns where source n enters.
func (m *Model) entry(n int) (*stage, *side) {
	if n == 0 {
		return m.stages[0], &m.stages[0].left
	}
	return m.stages[n-1], &m.stages[n-1].right
}

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
	for _, e := range m.q.Where {
		if m.filteredAt(e) != n {
			continue
		}
		if !m.holds(s, e, x.parts) {
			s.counters["filtered"]++
			return
		}
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
	var kept []*stored
	for _, y := range sd.rows {
		if y.key != oldest {
			kept = append(kept, y)
			continue
		}
		if sd == &s.left && s.join.Left && !y.matched {
			s.counters["left_pending_evicted"]++
		}
		m.drop(n, sd, y, "keys_evicted")
	}
	sd.rows = kept
}

// emit takes a row that stage s lets out, filters it by the conjuncts that are
// bound now, and passes it on.
func (m *Model) emit(s *stage, x *stored) {
	for _, e := range m.q.Where {
		if m.filteredAt(e) < 0 && m.boundAt(e) == s.n && !m.holds(s, e, x.parts) {
			return
		}
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

// endStep raises the left watermarks of the later stages to the frontiers of
// the stages before them (§6).
func (m *Model) endStep() {
	if !m.eventTime() {
		return
	}
	for i, s := range m.stages[:len(m.stages)-1] {
		frontier := lower(s.left.wm, int64(s.join.Within))
		if !s.join.Left {
			frontier = max(frontier, lower(s.right.wm, s.total))
		}
		next := m.stages[i+1]
		next.left.wm = max(next.left.wm, frontier)
		m.expireLeft(next)
	}
}

func lower(wm, by int64) int64 {
	if wm == unseen {
		return unseen
	}
	return sub(wm, by)
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

func (m *Model) holds(s *stage, e Expr, parts []map[string]any) bool {
	v, mismatch := e.eval(func(alias, name string) any { return m.read(parts, alias, name) })
	if v != yes && mismatch {
		s.counters["type_mismatch"]++
	}
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
