// Package model is a slow and obvious implementation of the join semantics, to
// be compared with the engine in tests. It keeps rows in slices, scans all of
// them for everything, and shares no code with the engine. References to
// sections are to the page "Join semantics, made exact".
//
// Where that page leaves a choice, the model takes these readings:
//
//   - An input is "seen" by any row that names it, bad ones included (§5).
//   - At one instant the watermarks of several idle inputs move in query order
//     and the frontiers behind them, as they would for a row of each: a NULL
//     row still meets a partner that leaves at the same instant (§5).
//   - Rows that an evicted key takes along go in (ts, seq) order (§4).
//   - A future timestamp counts in late_dropped and future_timestamp, not in
//     bad_timestamp (§2).
//   - A result with NULLs from several stages is closed by the reason of the
//     last stage that complemented it (§7).
//   - matches_emitted and left_timeout_emitted count what leaves the join,
//     before WHERE looks at it (§7).
//   - Objects and arrays in WHERE are equal when their canonical JSON is; which
//     of two different ones is less is unknown and a type mismatch (§7).
//   - type_mismatch counts comparisons, those that are evaluated when AND stops
//     at false and OR at true; filtered counts at inputs, composite_filtered
//     behind a stage (§7).
//   - A reload that keeps the state applies the new WHERE to buffered rows.
//   - Stop reads the clock: what is due by then is closed by its window (§5).
package model

import (
	"fmt"
	"math"
	"slices"
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
func (m *Model) Stop(clock int64) []Result { return m.Close(clock, "stop") }

// Close is Stop for the reason that cause gives: "stop" or "reload".
func (m *Model) Close(clock int64, cause string) []Result {
	m.passTime(clock)
	m.cause = cause
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

// Continue goes on as q with the state that there is: a reload that changes
// nothing but WHERE and the SELECT list. Buffered rows that the new WHERE would
// have kept away are filtered.
func (m *Model) Continue(q Query) {
	m.q = q
	for _, s := range m.stages {
		s.left.rows = m.stillIn(s, s.left.rows, func(e Expr) bool {
			n := m.filteredAt(e)
			return n >= 0 && n < s.n || n < 0 && m.boundAt(e) < s.n
		})
		s.right.rows = m.stillIn(s, s.right.rows, func(e Expr) bool { return m.filteredAt(e) == s.n })
	}
}

func (m *Model) stillIn(s *stage, rows []*stored, passed func(Expr) bool) []*stored {
	var kept []*stored
	for _, x := range rows {
		if m.holds(s, x.parts, passed) {
			kept = append(kept, x)
		} else {
			s.counters["filtered"]++
		}
	}
	return kept
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
			"left_pending_evicted", "type_mismatch", "composite_filtered"} {
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
