package operator_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator/operatortest"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

const ms = 1_000_000

// leaves is the bound of "column col > now() - within", both in ms.
func leaves(col int, within int64) operator.Bound {
	return operator.Bound{At: func(r row.Row) (int64, bool) {
		v := r.Col(col)
		t, ok := v.Int64()
		return (t + within) * ms, ok
	}}
}

// TestRecencyLeavesWhenItIsOld is the example of the page on tables: rows (1000, 5)
// and (4000, 7), 10 s.
func TestRecencyLeavesWhenItIsOld(t *testing.T) {
	log := operatortest.NewLog()
	r, err := operator.NewRecency(operator.RecencyConfig{Bounds: []operator.Bound{leaves(0, 10_000)}}, log)
	require.NoError(t, err)
	at := func(now int64) {
		r.Advance(0, operator.Progress{Seen: now * ms, Low: now * ms})
		r.Advance(1, operator.Progress{Seen: now * ms, Low: now * ms})
	}
	for _, x := range [][]any{{1000, 5}, {4000, 7}} {
		now := int64(x[0].(int))
		at(now)
		r.Process(0, operator.Record{TS: now * ms, Diff: 1, Row: encode(x)})
		r.EndStep()
		require.Equal(t, []string{
			fmt.Sprintf("emit @%d %s", now*ms, operatortest.Row(encode(x))), fmt.Sprintf("advance seen=%d low=%[1]d", now*ms),
		}, log.Take())
	}
	wake, ok := r.Wake(1, math.MaxInt64)
	require.True(t, ok)
	require.Equal(t, int64(11_000*ms), wake)
	at(10_999)
	r.EndStep()
	require.Len(t, log.Take(), 1, "nothing but progress")
	at(11_000)
	r.EndStep()
	require.Equal(t, []string{"emit @11000000000 [int(1000) int(5)] retracted", "advance seen=11000000000 low=11000000000"}, log.Take())
	require.Equal(t, map[string]int{"[int(4000) int(7)]": 1}, readAll(r))
	at(14_000)
	r.EndStep()
	require.Equal(t, []string{"emit @14000000000 [int(4000) int(7)] retracted", "advance seen=14000000000 low=14000000000"}, log.Take())
	require.Zero(t, r.Stats().Rows)
	require.Equal(t, int64(2), r.Stats().Expired)
}

// A recentRow is a row of the model: it says itself when it is in.
type recentRow struct {
	cols []any
	ts   int64
	in   bool // as of the last step
}

var recentKinds = []struct{ enter, inclusive bool }{{false, false}, {false, true}, {true, false}, {true, true}}

// holds is what the comparison of kind i with the instant at means.
func holds(i int, at any, now int64) bool {
	t, ok := at.(int)
	if !ok {
		return false
	}
	switch i {
	case 0:
		return now < int64(t)
	case 1:
		return now <= int64(t)
	case 2:
		return now > int64(t)
	}
	return now >= int64(t)
}

func instantOf(col int) func(row.Row) (int64, bool) {
	return func(r row.Row) (int64, bool) {
		v := r.Col(col)
		return v.Int(), v.Kind == value.Int
	}
}

func TestRecencyIsWhatItsComparisonsSay(t *testing.T) {
	instants := rapid.OneOf(rapid.Map(rapid.IntRange(0, 40), func(i int) any { return i }), rapid.SampledFrom([]any{nil, math.MaxInt64, "no time"}))
	rapid.Check(t, func(t *rapid.T) {
		var cfg operator.RecencyConfig
		kinds := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 3).Draw(t, "bounds")
		for i, k := range kinds {
			cfg.Bounds = append(cfg.Bounds, operator.Bound{At: instantOf(i), Enter: recentKinds[k].enter, Inclusive: recentKinds[k].inclusive})
		}
		out := newFolded()
		r, err := operator.NewRecency(cfg, out)
		require.NoError(t, err)
		var rows []recentRow
		now, seen := int64(math.MinInt64), int64(0)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			before := now
			if rapid.Bool().Draw(t, "time passes") {
				seen += rapid.Int64Range(0, 9).Draw(t, "by")
				now = seen
				r.Advance(1, operator.Progress{Seen: now, Low: now})
			}
			for range rapid.IntRange(0, 3).Draw(t, "changes") {
				if n := len(rows); n > 0 && rapid.IntRange(0, 2).Draw(t, "retract") == 0 {
					i := rapid.IntRange(0, n-1).Draw(t, "row")
					r.Process(0, operator.Record{TS: 7, Diff: -1, Row: encode(rows[i].cols)})
					rows = slices.Delete(rows, i, i+1)
					continue
				}
				x := recentRow{ts: rapid.Int64Range(0, 50).Draw(t, "ts")}
				for range kinds {
					x.cols = append(x.cols, instants.Draw(t, "instant"))
				}
				if rapid.IntRange(0, 3).Draw(t, "odd") == 0 {
					x.cols = append(x.cols, map[string]any{"a": rapid.IntRange(0, 1).Draw(t, "a")})
				}
				r.Process(0, operator.Record{TS: x.ts, Diff: 1, Row: encode(x.cols)})
				rows = append(rows, x)
			}
			wake := int64(math.MaxInt64)
			want := map[string]int{}
			for i := range rows {
				in := true
				for b, k := range kinds {
					in = in && holds(k, rows[i].cols[b], now)
				}
				if in {
					want[operatortest.Row(encode(rows[i].cols))]++
				}
				rows[i].in = in
				// The next instant at which that changes.
				for next := max(now, -1) + 1; next <= 60; next++ {
					changed := true
					for b, k := range kinds {
						changed = changed && holds(k, rows[i].cols[b], next)
					}
					if changed != in {
						wake = min(wake, next)
						break
					}
				}
			}
			r.EndStep()
			require.Equal(t, want, out.rows)
			require.Equal(t, want, readAll(r))
			for _, rec := range out.step {
				if rec.TS != now && before != now && rec.Diff < 0 {
					require.Equal(t, int64(7), rec.TS, "a retraction that time did not cause")
				}
			}
			out.endStep(t)
			at, ok := r.Wake(1, math.MaxInt64)
			require.Equal(t, wake != math.MaxInt64, ok)
			if ok {
				require.Equal(t, wake, at)
			}
		}
	})
}

func TestRecencyKeepsTheContract(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SampledFrom([]int{-1, 1}).Draw(t, "keys")
		operatortest.Check(t, operatortest.Subject{
			New: func(out operator.Output) (operator.Operator, error) {
				return operator.NewRecency(operator.RecencyConfig{Keys: max(keys, 0), Bounds: []operator.Bound{
					{At: instantOf(1)}, {At: instantOf(2), Enter: true, Inclusive: true},
				}}, out)
			},
			Ports: 2, Lateness: []int64{3, 0}, Script: true, Keys: []int{keys, -1}, Time: []bool{false, true}, Keeps: true,
			Row: func(t *rapid.T, _ int) row.Row {
				return encode([]any{rapid.IntRange(0, 5).Draw(t, "key"), rapid.IntRange(0, 60).Draw(t, "leaves"), rapid.IntRange(0, 30).Draw(t, "enters")})
			},
		})
	})
}

func newRecencyLog(t *testing.T, bounds ...operator.Bound) (*operator.Recency, *operatortest.Log) {
	log := operatortest.NewLog()
	r, err := operator.NewRecency(operator.RecencyConfig{Bounds: bounds, Keys: 1, Text: "t > now() - INTERVAL 10 SECOND"}, log)
	require.NoError(t, err)
	return r, log
}

func TestRecencyTimesAndOrder(t *testing.T) {
	r, log := newRecencyLog(t, operator.Bound{At: instantOf(1)}, operator.Bound{At: instantOf(2), Enter: true, Inclusive: true})
	process := func(ts int64, diff int8, cols ...any) {
		r.Process(0, operator.Record{TS: ts, Diff: diff, Row: encode(cols)})
	}
	advance := func(now int64) { r.Advance(1, operator.Progress{Seen: now, Low: now}) }
	advance(10)
	process(9, 1, "a", 20, 0)
	process(8, 1, "b", 30, 20)
	process(8, 1, "c", 10, 0)
	process(7, 1, "d", 15, 0)
	process(7, 1, "d", 15, 0)
	process(6, 1, "e", 30, 30)
	r.EndStep()
	require.Equal(t, []string{`emit @9 ["a" int(20) int(0)]`, `emit @7 ["d" int(15) int(0)]`, `emit @7 ["d" int(15) int(0)]`}, log.Take())
	require.Equal(t, int64(2), r.Stats().Rejected, "c is too old, e never in")
	require.Equal(t, int64(4), r.Stats().Rows)
	require.Equal(t, int64(3), r.Stats().Keys)

	advance(20) // d leaves, then a; b enters; and the records:
	process(19, -1, "a", 20, 0)
	process(19, 1, "f", 40, 0)
	r.EndStep()
	require.Equal(t, []string{
		`emit @20 ["d" int(15) int(0)] retracted`, `emit @20 ["d" int(15) int(0)] retracted`, `emit @20 ["a" int(20) int(0)] retracted`,
		`emit @20 ["b" int(30) int(20)]`, `emit @19 ["f" int(40) int(0)]`,
	}, log.Take())
	process(21, -1, "f", 40, 0)
	process(21, 1, "f", 41, 0)
	process(21, -1, "d", 15, 0) // has left
	r.EndStep()
	require.Equal(t, []string{`emit @21 ["f" int(40) int(0)] retracted`, `emit @21 ["f" int(41) int(0)]`}, log.Take())
	process(22, -1, "f", 41, 0)
	process(22, 1, "f", 41, 0)
	r.EndStep()
	require.Empty(t, log.Take())

	r.Flush(0, operator.ClosedByStop)
	r.Flush(1, operator.ClosedByStop)
	advance(100)
	r.EndStep()
	require.Empty(t, log.Take(), "now() stays when the query ends")
}

func TestRecencyForgetsRetractedRows(t *testing.T) {
	r, _ := newRecencyLog(t, operator.Bound{At: instantOf(1)})
	empty := r.Stats().Bytes
	for i := range 20_000 {
		r.Process(0, operator.Record{TS: 1, Diff: 1, Row: encode([]any{"k", 1_000_000 + i})})
		r.Process(0, operator.Record{TS: 1, Diff: -1, Row: encode([]any{"k", 1_000_000 + i - 1})})
		r.EndStep()
	}
	require.Equal(t, int64(1), r.Stats().Rows)
	require.Less(t, r.Stats().Bytes, empty+16<<10)
}

func TestRecencyRefusesABadConfiguration(t *testing.T) {
	for name, cfg := range map[string]operator.RecencyConfig{
		"no bounds":     {},
		"no instant":    {Bounds: []operator.Bound{{}}},
		"negative keys": {Bounds: []operator.Bound{leaves(0, 1)}, Keys: -1},
	} {
		_, err := operator.NewRecency(cfg, operatortest.NewLog())
		require.ErrorIs(t, err, operator.ErrConfig, name)
	}
}

func TestRecencyDescribesItself(t *testing.T) {
	r, _ := newRecencyLog(t, leaves(0, 1))
	require.Equal(t, operator.Description{Name: "Recency", Lines: []string{"t > now() - INTERVAL 10 SECOND", "state: each row until it has left"}}, r.Describe())
	r, _ = newRecencyLog(t, operator.Bound{At: instantOf(1), Enter: true})
	require.Equal(t, []string{"t > now() - INTERVAL 10 SECOND", "state: every row, since none leaves"}, r.Describe().Lines)
}
