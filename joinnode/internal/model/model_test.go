package model

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// base is the instant that the times of the examples count from.
const base = 1_700_000_000_000_000_000

// at is one thing that happens in an example; times are in ms after base.
type at struct {
	stream string // "" lets time pass, "stop" stops
	id     string
	key    any
	ts     int64
	clock  int64
}

// join builds a query over sa, sb, sc … joined on k, with windows in ms; a
// negative window means LEFT JOIN.
func join(windows ...int) Query {
	names := "abcdef"
	q := Query{Timestamp: "ts"}
	for i := range len(windows) + 1 {
		a := names[i : i+1]
		q.Sources = append(q.Sources, Source{"s" + a, a})
		q.Columns = append(q.Columns, Column{a, "id", a + "id"})
	}
	for _, w := range windows {
		j := Join{On: []Equality{{Alias: "a", Field: "k", JoinedField: "k"}}, Within: time.Duration(w) * time.Millisecond}
		if w < 0 {
			j.Left, j.Within = true, -j.Within
		}
		q.Joins = append(q.Joins, j)
	}
	return q
}

// run returns the results of every step as text such as "a1∅c1 window".
func run(q Query, steps ...at) ([][]string, *Model) {
	m := New(q)
	var all [][]string
	for _, s := range steps {
		var results []Result
		clock := base + s.clock*1e6
		switch s.stream {
		case "":
			results = m.Advance(clock)
		case "stop":
			results = m.Stop(clock)
		default:
			row := map[string]any{"id": s.id, "k": s.key, "ts": base + s.ts*1e6}
			results = m.Arrive(Arrival{s.stream, row, clock})
		}
		texts := []string{}
		for _, r := range results {
			var b strings.Builder
			for _, c := range q.Columns {
				if id, ok := r.Columns[c.As].(string); ok {
					b.WriteString(id)
				} else {
					b.WriteString("∅")
				}
			}
			if r.Closed != "" {
				b.WriteString(" " + r.Closed)
			}
			texts = append(texts, b.String())
		}
		all = append(all, texts)
	}
	return all, m
}

func TestCascadeExamplesOfThePage(t *testing.T) {
	got, _ := run(join(-10000, -3000),
		at{stream: "sa", id: "a1", key: "k1", ts: 0},
		at{stream: "sa", id: "a2", key: "k2", ts: 8000},
		at{stream: "sb", id: "b2", key: "k2", ts: 8000},
		at{stream: "sa", id: "a3", key: "k3", ts: 11000},
		at{stream: "stop"})
	require.Equal(t, [][]string{{}, {}, {}, {}, {"a1∅∅ stop", "a2b2∅ stop", "a3∅∅ stop"}}, got)

	got, _ = run(join(-10000, 3000),
		at{stream: "sa", id: "a1", key: "x", ts: 0},
		at{stream: "sc", id: "c1", key: "x", ts: 1000},
		at{stream: "sc", id: "c2", key: "y", ts: 5000},
		at{stream: "sa", id: "a2", key: "y", ts: 10001})
	require.Equal(t, [][]string{{}, {}, {}, {"a1∅c1 window"}}, got)
}

func TestProcessingTimeFallsDueOneNanosecondPastTheWindow(t *testing.T) {
	q := join(-10, -5)
	q.Timestamp = ""
	m := New(q)
	row := func(id string) map[string]any { return map[string]any{"id": id, "k": 1} }
	require.Empty(t, m.Arrive(Arrival{"sa", row("a1"), base}))
	const w1, w2 = 10e6, 5e6
	require.Empty(t, m.Advance(base+w1))
	// The NULL row enters stage 2 one nanosecond later, where it meets c1,
	// which is then exactly W2 old.
	require.Empty(t, m.Arrive(Arrival{"sa", row("a2"), base + w1}))
	require.Empty(t, m.Advance(base+w1+w2))
	require.Len(t, m.Advance(base+w1+1+w2+1), 1)
	require.Empty(t, m.Advance(base+w1+w1))
	require.Len(t, m.Advance(base+w1+w1+1+w2+1), 1)
}

func TestProcessingTimeReplaysInstantsThatWereSkipped(t *testing.T) {
	q := join(-10, -5)
	q.Timestamp = ""
	// c1 is 5 ms old when a1's NULL row enters at 10 ms + 1 ns, c0 one
	// nanosecond too old; nobody looked at the clock in between.
	m := New(q)
	row := func(id string) map[string]any { return map[string]any{"id": id, "k": 1} }
	require.Empty(t, m.Arrive(Arrival{"sa", row("a1"), base}))
	require.Empty(t, m.Arrive(Arrival{"sc", row("c0"), base + 5e6}))
	require.Empty(t, m.Arrive(Arrival{"sc", row("c1"), base + 5e6 + 1}))
	got := m.Arrive(Arrival{"sb", row("b1"), base + 100e6})
	require.Equal(t, []Result{{Columns: map[string]any{"aid": "a1", "bid": nil, "cid": "c1"}, Nulls: []string{"b"}, Closed: "window"}}, got)
}

func TestProcessingTimeDownstreamFirstAtOneInstant(t *testing.T) {
	q := join(-10, -5)
	q.Timestamp = ""
	m := New(q)
	row := func(id string, k int) map[string]any { return map[string]any{"id": id, "k": k} }
	m.Arrive(Arrival{"sa", row("a1", 1), base})
	m.Arrive(Arrival{"sa", row("a2", 2), base + 5e6})
	m.Arrive(Arrival{"sb", row("b2", 2), base + 5e6}) // a2b2 is due at 10 ms + 1 ns in stage 2, a1 in stage 1
	require.Empty(t, m.Advance(base+10e6))
	got := m.Advance(base + 10e6 + 1)
	require.Len(t, got, 1)
	require.Equal(t, "a2", got[0].Columns["aid"])
	require.Equal(t, map[string]any{"aid": "a1", "bid": nil, "cid": nil}, m.Advance(base + 15e6 + 2)[0].Columns)
}

func TestIdleInput(t *testing.T) {
	q := join(-10)
	q.IdleTimeout = 50 * time.Millisecond
	got, m := run(q,
		at{stream: "sa", id: "a1", key: 1, ts: 0, clock: 0},
		at{stream: "sa", id: "a2", key: 1, ts: 45, clock: 45}, // closes a1 by its own time
		at{clock: 94},
		at{clock: 95}, // idle now, and a2 is 50 ms old
		at{stream: "sa", id: "a3", key: 2, ts: 50, clock: 100},  // late: the watermark followed the clock
		at{stream: "sa", id: "a4", key: 2, ts: 100, clock: 120}, // not idle any more
		at{clock: 169},
		at{clock: 170},
	)
	require.Equal(t, [][]string{{}, {"a1∅ window"}, {}, {"a2∅ idle"}, {}, {}, {}, {"a4∅ idle"}}, got)
	require.EqualValues(t, 1, m.Counters()["join_stage1_late_dropped"])
	require.EqualValues(t, base+170e6, m.Counters()["join_stage1_left_watermark"])
	require.Zero(t, m.Counters()["join_stage1_right_watermark"], "never seen, never idle")
}

func TestIdleReachesLaterStagesThroughTheFrontier(t *testing.T) {
	q := join(-10, -5)
	q.IdleTimeout = 2 * time.Millisecond
	m := New(q)
	row := map[string]any{"id": "a1", "k": 1, "ts": base}
	m.Arrive(Arrival{"sa", row, base})
	m.Arrive(Arrival{"sb", map[string]any{"id": "b1", "k": 1, "ts": base}, base})
	require.Empty(t, m.Advance(base+15e6))
	require.Equal(t, "idle", m.Advance(base + 15e6 + 1)[0].Closed)
}

// TestIdleInputsExpireContinuously: sc is idle since 2 and c1 leaves at 10 + 5 +
// 1 ns, long before sa becomes idle and lets a1 go, although nothing happened in
// between.
func TestIdleInputsExpireContinuously(t *testing.T) {
	q := join(-10, 5)
	q.IdleTimeout = 100 * time.Millisecond
	steps := []at{
		{stream: "sc", id: "c1", key: 1, ts: 0, clock: 0},
		{stream: "sa", id: "a1", key: 1, ts: 0, clock: 0},
		{stream: "sa", id: "a2", key: 2, ts: 0, clock: 50},
		{clock: 1000},
	}
	got, _ := run(q, steps...)
	require.Equal(t, [][]string{{}, {}, {}, {}}, got)
	got, _ = run(q, append(steps[:2:2], at{clock: 1000})...)
	require.Equal(t, [][]string{{}, {}, {"a1∅c1 idle"}}, got, "both inputs become idle at once")
}

func TestGates(t *testing.T) {
	q := join(-1000)
	q.MaxKeys = 2
	got, m := run(q,
		at{stream: "sa", id: "a1", key: 1, ts: 0},
		at{stream: "sa", id: "a2", key: 2, ts: 1},
		at{stream: "sb", id: "b1", key: 1, ts: 2}, // uses key 1 of the left side
		at{stream: "sa", id: "a3", key: 3, ts: 3}, // so key 2 goes
		at{stream: "sb", id: "b2", key: 2, ts: 4},
		at{stream: "stop"})
	require.Equal(t, [][]string{{}, {}, {"a1b1"}, {}, {}, {"a3∅ stop"}}, got)
	require.EqualValues(t, 1, m.Counters()["join_stage1_keys_evicted"])
	require.EqualValues(t, 1, m.Counters()["join_stage1_left_pending_evicted"])
	late := m.TakeLate()
	require.Len(t, late, 1)
	require.Equal(t, "a2", late[0].Parts[0]["id"])

	q = join(-1000)
	q.MaxRows = 1
	got, m = run(q,
		at{stream: "sa", id: "a1", key: 1, ts: 0},
		at{stream: "sa", id: "a2", key: 1, ts: 1},
		at{stream: "sb", id: "b1", key: 1, ts: 2},
		at{stream: "sa", id: "a3", key: 1, ts: 1001}, // a1 is gone by now, but W is inclusive
	)
	require.Equal(t, [][]string{{}, {}, {"a1b1"}, {"a3b1"}}, got)
	require.EqualValues(t, 1, m.Counters()["join_stage1_rows_dropped"])
}

func TestWherePlacement(t *testing.T) {
	q := join(-10, 10)
	q.Where = []Expr{
		Compare{Operand{Alias: "a", Field: "v"}, Operand{Literal: int64(1)}, ">"}, // at a's input
		IsNull{X: Operand{Alias: "b", Field: "id"}},                               // behind stage 1
		Compare{Operand{Alias: "c", Field: "v"}, Operand{Literal: "x"}, "="},      // at c's input
	}
	m := New(q)
	require.Equal(t, []int{0, -1, 2}, []int{m.filteredAt(q.Where[0]), m.filteredAt(q.Where[1]), m.filteredAt(q.Where[2])})
	row := func(id string, v any, ts int64) map[string]any {
		return map[string]any{"id": id, "k": 1, "v": v, "ts": base + ts*1e6}
	}
	arrive := func(stream string, r map[string]any) []Result { return m.Arrive(Arrival{stream, r, base}) }
	arrive("sa", row("a1", 2, 0))
	arrive("sa", row("a2", 0, 1)) // filtered
	arrive("sc", row("c1", "x", 0))
	arrive("sc", row("c2", 7, 0))                   // filtered, kinds differ
	require.Empty(t, arrive("sb", row("b1", 1, 0))) // a1b1 is rejected, and a1 is matched all the same
	require.Empty(t, m.Stop(base))
	c := m.Counters()
	require.EqualValues(t, 1, c["join_stage1_filtered"])
	require.EqualValues(t, 1, c["join_stage2_filtered"])
	require.EqualValues(t, 1, c["join_stage2_type_mismatch"])
	require.EqualValues(t, 1, c["join_stage1_matches_emitted"])
	require.Zero(t, c["join_stage1_left_timeout_emitted"])
}

func TestKeys(t *testing.T) {
	equal := [][]any{
		{1, int8(1), uint64(1), 1.0, float32(1), json.Number("1"), json.Number("1.0"), json.Number("10e-1")},
		{nil, math.NaN()},
		{0, math.Copysign(0, -1), json.Number("-0")},
		{"1"}, {true}, {false}, {""}, {"null"},
		{uint64(math.MaxUint64), json.Number("18446744073709551615")},
		{9007199254740993, json.Number("9007199254740993")},
		{9007199254740992, 9007199254740992.0},
		{map[string]any{"a": 1, "b": 2}}, {[]any{1, 2}}, {[]any{2, 1}},
		{math.Inf(1)}, {math.Inf(-1)},
	}
	classOf := map[string]int{}
	for class, values := range equal {
		for _, v := range values {
			text := keyText(v)
			if other, seen := classOf[text]; seen {
				require.Equal(t, class, other, "%T %v", v, v)
			}
			classOf[text] = class
		}
	}
	require.Len(t, classOf, len(equal))
	require.NotEqual(t, tupleText([]any{"a\x1fs:b", "c"}), tupleText([]any{"a", "b\x1fs:c"}))
}

func TestRowTime(t *testing.T) {
	instant := time.Date(2023, 11, 14, 22, 13, 20, 5e8, time.UTC)
	want := instant.UnixNano()
	for _, v := range []any{want, uint64(want), json.Number("1700000000500000000"), want / 1e3, want / 1e6,
		json.Number("1.7000000005e9"), 1700000000.5, instant, "2023-11-14T23:13:20.5+01:00"} {
		got, ok := rowTime(v, "")
		require.True(t, ok, "%v", v)
		require.Equal(t, want, got, "%v", v)
	}
	got, ok := rowTime(7, "ss")
	require.True(t, ok)
	require.EqualValues(t, 7e9, got)
	got, ok = rowTime(999_999_999, "")
	require.True(t, ok)
	require.EqualValues(t, 999_999_999, got)
	for _, v := range []any{nil, -1, "soon", true, math.NaN(), math.Inf(1), json.Number("1e400"), time.Unix(-1, 0), map[string]any{}, uint64(math.MaxUint64)} {
		_, ok := rowTime(v, "")
		require.False(t, ok, "%v", v)
	}
}

func TestBadAndFutureTimestampsMoveNothing(t *testing.T) {
	m := New(join(-10))
	late := func(ts any) {
		require.Empty(t, m.Arrive(Arrival{"sb", map[string]any{"ts": ts}, base}))
	}
	late(nil)
	late("x")
	late(base + int64(24*time.Hour) + 1)
	c := m.Counters()
	require.EqualValues(t, 3, c["join_stage1_late_dropped"])
	require.EqualValues(t, 2, c["join_stage1_bad_timestamp"])
	require.EqualValues(t, 1, c["join_stage1_future_timestamp"])
	require.Zero(t, c["join_stage1_right_watermark"])
	late(base + int64(24*time.Hour))
	require.EqualValues(t, base+int64(24*time.Hour), m.Counters()["join_stage1_right_watermark"])
}
