package operatortest

import (
	"fmt"
	"math"
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// A Subject is a kind of operator to be held to the contract.
type Subject struct {
	New   func(out operator.Output) (operator.Operator, error)
	Ports int
	// Clocked: the clock drives all ports, rows take its time.
	Clocked bool
	// Lateness is how far Low is behind Seen at a port.
	Lateness []int64
	// Row draws a row for a port.
	Row func(t *rapid.T, port int) row.Row

	// The following are for operators of table scripts.

	// Script: a step can bring many records, rows can be below their port's Low,
	// and results too.
	Script bool
	// Keys, where not nil, has for each port that carries state the number of key
	// columns, and −1 for the others. Rows of state are retracted and replaced.
	Keys []int
	// Time, where not nil, says which ports have progress only: the script's time.
	Time []bool
	// Keeps: the operator's rows can still be read after it was flushed.
	Keeps bool
}

func (s *Subject) keys(port int) int {
	if s.Keys == nil {
		return -1
	}
	return s.Keys[port]
}

func (s *Subject) time(port int) bool { return s.Time != nil && s.Time[port] }

// A Call is one call on an operator, kept so that a history can be replayed.
type Call struct {
	Method string // "advance", "process", "end" or "flush"
	Port   int
	P      operator.Progress
	Rec    operator.Record
	Why    operator.CloseReason
}

// Do makes the call.
func (c Call) Do(op operator.Operator) {
	switch c.Method {
	case "advance":
		op.Advance(c.Port, c.P)
	case "process":
		op.Process(c.Port, c.Rec)
	case "end":
		op.EndStep()
	case "flush":
		op.Flush(c.Port, c.Why)
	default:
		panic("no such call: " + c.Method) // a defect of this package
	}
}

func (c Call) String() string {
	switch c.Method {
	case "advance":
		return fmt.Sprintf("advance %d to %d low %d idle %t", c.Port, c.P.Seen, c.P.Low, c.P.Idle)
	case "process":
		return fmt.Sprintf("process %d %s", c.Port, Record(c.Rec))
	case "flush":
		return fmt.Sprintf("flush %d %s", c.Port, c.Why)
	}
	return c.Method
}

// Check drives the subject through a random history and holds it to the
// contract of package operator:
//
//   - Seen and Low of its output never fall, and no record is below Low.
//   - It is a function of its calls: replayed, they give the same output.
//   - Wake is exact: one ns before it nothing is emitted and the output does not
//     reach need, at it one of them happens; without a Wake no time does it.
//   - Flushing twice is flushing once, and when all ports are flushed nothing
//     is left, except rows that can be read.
//   - Stats never count below zero.
func Check(t *rapid.T, s Subject) {
	h := &history{t: t, s: s, seen: make([]int64, s.Ports), low: make([]int64, s.Ports)}
	for port := range s.Ports {
		h.seen[port], h.low[port] = math.MinInt64, math.MinInt64
		h.state = append(h.state, map[string]row.Row{})
	}
	h.op, h.log = h.fresh()
	for range rapid.IntRange(1, 40).Draw(t, "steps") {
		h.step()
		if rapid.IntRange(0, 3).Draw(t, "ask Wake") == 0 {
			h.checkWake()
		}
	}
	h.checkReplay()
	h.checkFlush()
}

// history is an operator with everything that was done to it.
type history struct {
	t     *rapid.T
	s     Subject
	op    operator.Operator
	log   *Log
	calls []Call
	lines []string
	seen  []int64
	low   []int64
	seq   uint64
	state []map[string]row.Row // of each port that carries state, by key
}

func (h *history) fresh() (operator.Operator, *Log) {
	log := NewLog()
	log.Clocked = h.s.Clocked || h.s.Script
	op, err := h.s.New(log)
	require.NoError(h.t, err)
	return op, log
}

func (h *history) do(c Call) {
	h.calls = append(h.calls, c)
	c.Do(h.op)
	h.lines = append(h.lines, h.log.Take()...)
	require.Empty(h.t, h.log.Broken, "after %v", c)
	st := h.op.Stats()
	for _, n := range []int64{st.Matches, st.LeftTimeouts, st.KeysEvicted, st.Expired, st.Rows, st.Keys, st.Bytes, st.Visited, st.Moved, st.Rejected, st.LateVersions, st.Fallen} {
		require.GreaterOrEqual(h.t, n, int64(0), "stats %+v", st)
	}
}

// step is one arrival or one timer event.
func (h *history) step() {
	port := rapid.IntRange(0, h.s.Ports-1).Draw(h.t, "port")
	timer := rapid.IntRange(0, 4).Draw(h.t, "timer") == 0
	now := max(slices.Max(h.seen), 0)
	ts := now + rapid.Int64Range(-12, 6).Draw(h.t, "ts")
	if h.s.Clocked {
		ts = max(ts, now)
	}
	ts = max(ts, 0)
	if ts > h.seen[port] {
		h.advance(port, ts, timer && rapid.Bool().Draw(h.t, "idle"))
	}
	switch {
	case timer || h.s.time(port):
	case h.s.Script:
		for range rapid.IntRange(1, 3).Draw(h.t, "records") {
			h.arrive(port, max(0, ts-rapid.Int64Range(0, 3).Draw(h.t, "older by")))
		}
	case ts >= h.low[port]:
		h.process(port, ts, 1, h.s.Row(h.t, port))
	}
	h.do(Call{Method: "end"})
}

func (h *history) process(port int, ts int64, diff int8, r row.Row) {
	h.seq++
	h.do(Call{Method: "process", Port: port, Rec: operator.Record{TS: ts, Seq: h.seq, Diff: diff, Row: r}})
}

// arrive brings a row of a stream, or changes the row of a key of a state.
func (h *history) arrive(port int, ts int64) {
	r := h.s.Row(h.t, port)
	keys := h.s.keys(port)
	if keys < 0 {
		h.process(port, ts, 1, r)
		return
	}
	var key []byte
	for i := range keys {
		key = value.AppendKey(key, r.Col(i))
	}
	old, has := h.state[port][string(key)]
	if has {
		h.process(port, ts, -1, old)
		delete(h.state[port], string(key))
	}
	if !has || rapid.IntRange(0, 2).Draw(h.t, "retracted only") > 0 {
		h.state[port][string(key)] = r
		h.process(port, ts, 1, r)
	}
}

func (h *history) advance(port int, ts int64, idle bool) {
	for p := range h.s.Ports {
		if p == port || h.s.Clocked {
			c := h.to(p, ts)
			c.P.Idle = idle
			h.seen[p], h.low[p] = c.P.Seen, c.P.Low
			h.do(c)
		}
	}
}

// to is the call that advances a port to ts.
func (h *history) to(port int, ts int64) Call {
	low := max(h.low[port], ts)
	if !h.s.Clocked && !h.s.time(port) {
		low = max(h.low[port], ts-min(h.s.Lateness[port], ts))
	}
	return Call{Method: "advance", Port: port, P: operator.Progress{Seen: ts, Low: low}}
}

func (h *history) replayed() (operator.Operator, *Log) {
	op, log := h.fresh()
	for _, c := range h.calls {
		c.Do(op)
	}
	return op, log
}

func (h *history) checkReplay() {
	_, log := h.replayed()
	require.Equal(h.t, h.lines, append([]string(nil), log.Take()...), "replayed")
}

func (h *history) checkWake() {
	port := rapid.IntRange(0, h.s.Ports-1).Draw(h.t, "port of Wake")
	need := int64(math.MaxInt64)
	if rapid.Bool().Draw(h.t, "need something") {
		need = max(h.log.Progress.Seen, 0) + rapid.Int64Range(1, 20).Draw(h.t, "need")
	}
	at, ok := h.op.Wake(port, need)
	require.Empty(h.t, h.log.Take(), "Wake does nothing")
	happens := func(ts int64) bool {
		op, log := h.replayed()
		before := log.Emitted
		for p := range h.s.Ports {
			if p == port || h.s.Clocked {
				h.to(p, ts).Do(op)
			}
		}
		op.EndStep()
		require.Empty(h.t, log.Broken)
		return log.Emitted > before || need != math.MaxInt64 && log.Progress.Seen >= need
	}
	if !ok {
		require.False(h.t, happens(math.MaxInt64), "no Wake(%d, %d), but time does something", port, need)
		return
	}
	require.Greater(h.t, at, h.seen[port], "Wake(%d, %d) in the past", port, need)
	require.False(h.t, happens(at-1), "before Wake(%d, %d) = %d", port, need, at)
	require.True(h.t, happens(at), "at Wake(%d, %d) = %d", port, need, at)
}

// checkFlush flushes all ports, in a random order.
func (h *history) checkFlush() {
	ports := make([]int, h.s.Ports)
	for i := range ports {
		ports[i] = i
	}
	for _, port := range rapid.Permutation(ports).Draw(h.t, "order of flushing") {
		h.do(Call{Method: "flush", Port: port, Why: operator.ClosedByStop})
		h.do(Call{Method: "end"})
		n := len(h.lines)
		h.do(Call{Method: "flush", Port: port, Why: operator.ClosedByReload})
		h.do(Call{Method: "end"})
		require.Len(h.t, h.lines, n, "flushed twice")
	}
	st := h.op.Stats()
	if !h.s.Keeps {
		require.Zero(h.t, st.Rows, "rows after flushing")
		require.Zero(h.t, st.Keys, "keys after flushing")
	}
	emitted := h.log.Emitted
	for port := range h.s.Ports {
		if h.s.Keeps && h.s.time(port) {
			continue // the script's time stays when it stops
		}
		h.do(h.to(port, math.MaxInt64))
	}
	h.do(Call{Method: "end"})
	require.Equal(h.t, emitted, h.log.Emitted, "emitted after flushing")
}
