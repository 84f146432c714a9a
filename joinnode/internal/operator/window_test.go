package operator_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator/operatortest"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

const millis = int64(1_000_000)

// spending is a window by user and bucket with a sum and a count.
func spending() operator.WindowConfig {
	return operator.WindowConfig{Bucket: 1, AggregateConfig: operator.AggregateConfig{Keys: 2, Aggs: []operator.Aggregation{
		{Kind: operator.AggSum, Arg: 2, Time: -1}, {Kind: operator.AggCount, Arg: -1, Time: -1},
	}}}
}

func newWindowRun(t *testing.T, cfg operator.WindowConfig) *aggregateRun {
	r := &aggregateRun{t: t}
	op, err := operator.NewWindow(cfg, &r.out)
	require.NoError(t, err)
	r.op = op
	return r
}

// low moves the port's watermark, ns.
func (r *aggregateRun) low(ns int64) []string {
	r.op.Advance(0, operator.Progress{Seen: ns, Low: ns})
	return r.end()
}

func TestWindowClosesBehindItsLastInstant(t *testing.T) {
	r := newWindowRun(t, spending())
	require.Empty(t, r.add(5*millis, "a", 9, 1))
	require.Empty(t, r.add(2*millis, "b", 9, 2), "out of order")
	require.Empty(t, r.add(12*millis, "c", 19, 8))
	require.Empty(t, r.add(6*millis, "a", json.Number("9.0"), 3))
	require.Empty(t, r.low(10*millis-1))
	require.Equal(t, 9*millis-1, r.out.progress.Low)
	at, ok := r.op.Wake(0, math.MaxInt64)
	require.True(t, ok)
	require.Equal(t, 10*millis, at)
	require.Equal(t, []string{
		fmt.Sprintf(`+["a" int(9) int64(4) int64(2)]@%d`, 9*millis),
		fmt.Sprintf(`+["b" int(9) int64(2) int64(1)]@%d`, 9*millis),
	}, r.low(10*millis))
	require.Equal(t, 9*millis, r.out.progress.Low)
	require.Equal(t, int64(1), r.op.Stats().Rows)

	require.Equal(t, []string{`drop late ["a" int(9) int(1)]`}, r.add(9*millis, "a", 9, 1))
	require.Empty(t, r.sub(9*millis, "a", 9, 1))
	require.Equal(t, int64(1), r.op.Stats().LateVersions)
	require.Equal(t, []string{`drop bad_timestamp ["a" ∅ int(1)]`}, r.add(1, "a", nil, 1))
	require.Equal(t, []string{`drop bad_timestamp ["a" "soon" int(1)]`}, r.add(1, "a", "soon", 1))
	require.Empty(t, r.sub(1, "a", nil, 1))

	r.add(13*millis, "d", 19, 1)
	r.sub(13*millis, "c", 19, 8)
	r.add(13*millis, "e", 19, 5)
	r.add(14*millis, "c", 19, 7)
	r.op.Flush(0, operator.ClosedByStop)
	require.Equal(t, []string{
		fmt.Sprintf(`+["d" int(19) int64(1) int64(1)]@%d`, 19*millis),
		fmt.Sprintf(`+["e" int(19) int64(5) int64(1)]@%d`, 19*millis),
		fmt.Sprintf(`+["c" int(19) int64(7) int64(1)]@%d`, 19*millis),
	}, r.end(), "a group that was empty in between starts anew")
	require.Zero(t, r.op.Stats().Rows)
}

// TestWindowOfRefusedRows: a row that a sum refused makes no group, nor its
// place, nor its spelling.
func TestWindowOfRefusedRows(t *testing.T) {
	r := newWindowRun(t, spending())
	r.add(1, "a", 9, math.MaxInt64)
	require.Equal(t, []string{`drop sum_overflow [1.0 int(9) uint64(18446744073709551615)]`}, r.add(1, json.Number("1.0"), 9, uint64(math.MaxUint64)))
	r.sub(1, "a", 9, math.MaxInt64)
	require.Empty(t, r.low(10*millis))
	_, ok := r.op.Wake(0, math.MaxInt64)
	require.False(t, ok)

	r.add(1, json.Number("1.0"), 19, uint64(math.MaxUint64))
	r.add(1, "b", 19, 2)
	r.add(1, 1, 19, 3)
	require.Equal(t, []string{
		fmt.Sprintf(`+["b" int(19) int64(2) int64(1)]@%d`, 19*millis),
		fmt.Sprintf(`+[int(1) int(19) int64(3) int64(1)]@%d`, 19*millis),
	}, r.low(20*millis))
}

// TestWindowAtTheEndOfTime: times that ns cannot hold close with everything.
func TestWindowAtTheEndOfTime(t *testing.T) {
	r := newWindowRun(t, spending())
	r.add(1, "far", int64(math.MaxInt64), 1)
	r.add(1, "past", int64(math.MinInt64), 1)
	require.Equal(t, []string{fmt.Sprintf(`+["past" int64(-9223372036854775808) int64(1) int64(1)]@%d`, int64(math.MinInt64))}, r.low(0))
	require.Empty(t, r.low(math.MaxInt64-1))
	require.Equal(t, []string{fmt.Sprintf(`+["far" int64(9223372036854775807) int64(1) int64(1)]@%d`, int64(math.MaxInt64))}, r.low(math.MaxInt64))
	require.Equal(t, int64(math.MaxInt64), r.out.progress.Low)
}

// windowed is an output that keeps rows in order.
type windowed struct {
	rows  []row.Row
	lines []string
}

func (w *windowed) Emit(rec operator.Record) {
	w.rows = append(w.rows, row.AppendRow(row.Row{}, rec.Row))
	w.lines = append(w.lines, fmt.Sprintf("%+d @%d %s", rec.Diff, rec.TS, keyText(decode(rec.Row)[0])))
}
func (w *windowed) Advance(operator.Progress) {}
func (w *windowed) Drop(_ int, rec operator.Record, why operator.Reason, _ bool) {
	w.lines = append(w.lines, why.String()+" "+operatortest.Row(rec.Row))
}

// TestWindowIsThatOfItsRows: with rows out of order, late ones and retractions,
// each bucket leaves once, as what a computation from its rows gives.
func TestWindowIsThatOfItsRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := operator.WindowConfig{Bucket: 1, AggregateConfig: operator.AggregateConfig{Keys: 2}}
		for range rapid.IntRange(0, 3).Draw(t, "aggregations") {
			cfg.Aggs = append(cfg.Aggs, drawAggregation(t, 2, 3))
		}
		var out windowed
		w, err := operator.NewWindow(cfg, &out)
		require.NoError(t, err)
		w.PrefetchAlways()
		m := newModel(cfg.AggregateConfig)
		var low, late int64
		w.Advance(0, operator.Progress{})
		var present []row.Row
		closed := func(end int64) bool { return low >= (end+1)*millis }
		end := func(g *modelGroup) int64 { i, _ := g.key[1].Int64(); return i }
		// leave takes the groups out of the model that leave now.
		leave := func(all bool) (gone []*modelGroup) {
			for key, g := range m.groups {
				if len(g.rows) > 0 && (all || closed(end(g))) {
					gone = append(gone, g)
					delete(m.groups, key)
				}
			}
			sort.Slice(gone, func(i, k int) bool {
				if end(gone[i]) != end(gone[k]) {
					return end(gone[i]) < end(gone[k])
				}
				return gone[i].since < gone[k].since
			})
			return gone
		}
		check := func(gone []*modelGroup) {
			var lines []string
			for _, g := range gone {
				lines = append(lines, fmt.Sprintf("+1 @%d %s", end(g)*millis, keyText(g.key[0].ToGo())))
			}
			require.Equal(t, strings.Join(lines, "\n"), strings.Join(out.lines, "\n"))
			for i, g := range gone {
				m.requireRow(t, g, out.rows[i])
			}
			out = windowed{}
		}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			if rapid.IntRange(0, 2).Draw(t, "advance") == 0 {
				low += rapid.Int64Range(0, 15*millis).Draw(t, "by")
				w.Advance(0, operator.Progress{Seen: low, Low: low})
			}
			for range rapid.IntRange(0, 3).Draw(t, "records") {
				diff := int8(1)
				var r row.Row
				if len(present) > 0 && rapid.IntRange(0, 2).Draw(t, "retract") == 0 {
					i := rapid.IntRange(0, len(present)-1).Draw(t, "which")
					r, diff = present[i], -1
					present = slices.Delete(present, i, i+1)
				} else {
					end := low/millis/10*10 + 9 + 10*rapid.Int64Range(-1, 2).Draw(t, "bucket")
					bucket := rapid.SampledFrom([]any{end, float64(end), nil}).Draw(t, "spelled")
					r = encode([]any{rapid.SampledFrom([]any{"a", "b", 1, 1.0}).Draw(t, "key"), bucket, aggregatedValue().Draw(t, "x"), rapid.IntRange(0, 3).Draw(t, "at")})
					present = append(present, r)
				}
				w.Prefetch([]operator.Arrival{{Record: operator.Record{Row: r}}})
				w.Process(0, operator.Record{Diff: diff, Row: r})
				switch i, ok := r.Col(1).Int64(); {
				case !ok && diff > 0:
					require.Equal(t, []string{"bad_timestamp " + operatortest.Row(r)}, out.lines)
					out.lines = nil
				case !ok:
				case closed(i) && diff > 0:
					require.Equal(t, []string{"late " + operatortest.Row(r)}, out.lines)
					out.lines = nil
				case closed(i):
					late++
				case diff > 0:
					require.True(t, m.insert(r))
				default:
					m.retract(r)
				}
			}
			w.EndStep()
			check(leave(false))
			require.Equal(t, late, w.Stats().LateVersions)
		}
		w.Flush(0, operator.ClosedByStop)
		check(leave(true))
		require.Zero(t, w.Stats().Rows)
	})
}

func TestAggregateAndWindowKeepTheContract(t *testing.T) {
	aggs := []operator.Aggregation{{Kind: operator.AggSum, Arg: 2, Time: -1}, {Kind: operator.AggLastValue, Arg: 2, Time: -1}, {Kind: operator.AggStddev, Arg: 2, Time: -1}, {Kind: operator.AggCollect, Arg: 2, Time: -1}}
	drawn := func(t *rapid.T, _ int) row.Row {
		return encode([]any{rapid.IntRange(0, 3).Draw(t, "id"), rapid.SampledFrom([]any{0, 1, 2.0, nil}).Draw(t, "group"), aggregatedValue().Draw(t, "x")})
	}
	aggregate := func(ttl int64) func(out operator.Output) (operator.Operator, error) {
		return func(out operator.Output) (operator.Operator, error) {
			project := func(dst, src row.Row) row.Row { return row.AppendColumns(dst, src, []int{1, 0, 2}) }
			a, err := operator.NewAggregate(operator.AggregateConfig{Keys: 1, Aggs: aggs, TTL: ttl}, out)
			return projected{a, project}, err
		}
	}
	subjects := map[string]operatortest.Subject{
		"aggregate": {New: aggregate(0), Ports: 1, Lateness: []int64{3}, Script: true, Keys: []int{1}, Keeps: true},
		"aggregate with STATETTL": {New: aggregate(9), Ports: 2, Lateness: []int64{3, 0}, Script: true, Keys: []int{1, -1},
			Time: []bool{false, true}, Keeps: true},
		"window": {New: func(out operator.Output) (operator.Operator, error) {
			return operator.NewWindow(operator.WindowConfig{Bucket: 1, AggregateConfig: operator.AggregateConfig{Keys: 2, Aggs: aggs}}, out)
		}, Ports: 1, Lateness: []int64{0}, Script: true, Keys: []int{1}},
	}
	for name, s := range subjects {
		s.Row = drawn
		if name == "window" {
			s.Row = func(t *rapid.T, _ int) row.Row {
				return encode([]any{rapid.IntRange(0, 3).Draw(t, "id"), rapid.SampledFrom([]any{0, -1, nil}).Draw(t, "bucket"), aggregatedValue().Draw(t, "x")})
			}
		}
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) { operatortest.Check(t, s) }))
	}
}

// projected is an operator behind a projection.
type projected struct {
	operator.Operator
	apply func(dst, src row.Row) row.Row
}

func (p projected) Process(port int, rec operator.Record) {
	rec.Row = p.apply(row.Row{}, rec.Row)
	p.Operator.Process(port, rec)
}

func TestTTLOfGroups(t *testing.T) {
	r := newAggregateRun(t, operator.AggregateConfig{Keys: 1, TTL: 10, Aggs: []operator.Aggregation{{Kind: operator.AggSum, Arg: 1, Time: -1}}})
	now := func(at int64) { r.op.Advance(1, operator.Progress{Seen: at, Low: at}) }
	r.add(3, "early", 1)
	_, ok := r.op.Wake(1, math.MaxInt64)
	require.False(t, ok, "nobody knows the time")
	now(100)
	r.add(100, "a", 1)
	now(105)
	r.add(90, "b", 2)
	r.sub(91, "a", 1)
	r.add(92, "a", 5)
	at, ok := r.op.Wake(1, math.MaxInt64)
	require.True(t, ok)
	require.Equal(t, int64(110), at, "early counts from 100")
	now(109)
	require.Empty(t, r.end())
	now(110)
	require.Equal(t, []string{`-["early" int64(1)]@110`}, r.end())
	now(112)
	r.add(93, "b", 4)
	require.Equal(t, int64(1), r.op.Stats().Fallen)

	now(115)
	r.send(94, 1, "a", 7)
	require.Equal(t, []string{`-["a" int64(5)]@115`, `+["a" int64(7)]@115`}, r.end(), "what comes with the time that deletes its group finds it gone")
	require.Equal(t, int64(2), r.op.Stats().Fallen)
	now(200)
	require.Equal(t, []string{`-["b" int64(6)]@200`, `-["a" int64(7)]@200`}, r.end(), "in the order in which they were touched")
	require.Empty(t, r.sub(201, "a", 7), "its group fell")
	require.Empty(t, r.table())
	r.op.Flush(1, operator.ClosedByStop)
	r.add(202, "a", 1)
	now(math.MaxInt64)
	require.Empty(t, r.end(), "the script's time stands when it stops")
	require.Equal(t, []string{`["a" int64(1)]`}, r.table())
}

// TestSpellings: a group and its values are shown as they were spelled by the
// first row that is there.
func TestSpellings(t *testing.T) {
	var aggs []operator.Aggregation
	for _, k := range []operator.AggregateKind{operator.AggMin, operator.AggMax, operator.AggFirstValue, operator.AggLastValue, operator.AggCollect} {
		aggs = append(aggs, operator.Aggregation{Kind: k, Arg: 1, Time: 2})
	}
	r := newAggregateRun(t, operator.AggregateConfig{Keys: 1, Aggs: aggs})
	r.add(1, json.Number("1.0"), json.Number("1.50"), 5)
	require.Equal(t, []string{"[1.0 1.50 1.50 1.50 1.50 [1.50]]"}, r.table())
	r.add(1, 1, 1.5, 5)
	require.Equal(t, []string{"[1.0 1.50 1.50 1.50 float64(1.5) [1.50,1.5]]"}, r.table())
	r.send(2, -1, json.Number("1.0"), json.Number("1.50"), 5)
	r.end()
	require.Equal(t, []string{"[1.0 float64(1.5) float64(1.5) float64(1.5) float64(1.5) [1.5]]"}, r.table())
	r.send(3, -1, 1, 1.5, 5)
	r.send(3, 1, int8(1), "x", 4)
	require.Equal(t, `+[int8(1) "x" "x" "x" "x" ["x"]]@3`, r.end()[1], "no row spells the key as 1.0 any more")
}

// TestTheRowThatLeaves: of equal values that one leaves whose row is retracted,
// where it shows.
func TestTheRowThatLeaves(t *testing.T) {
	r := newAggregateRun(t, operator.AggregateConfig{Aggs: []operator.Aggregation{
		{Kind: operator.AggFirstValue, Arg: 0, Time: 2}, {Kind: operator.AggLastValue, Arg: 0, Time: 2}, {Kind: operator.AggCollect, Arg: 0, Time: -1},
	}})
	r.add(1, "a", 1, 7)
	r.add(1, "b", 2, 7)
	r.add(1, "a", 3, 7)
	r.sub(2, "a", 3, 7)
	require.Equal(t, []string{`["a" "b" ["a","b"]]`}, r.table())
	r.add(3, "a", 4, 7)
	r.sub(4, "a", 1, 7)
	require.Equal(t, []string{`["b" "a" ["b","a"]]`}, r.table())
}

// TestDistinctSum: the next of equal numbers takes the place of the one that
// leaves.
func TestDistinctSum(t *testing.T) {
	r := newAggregateRun(t, operator.AggregateConfig{Aggs: []operator.Aggregation{{Kind: operator.AggSum, Arg: 0, Time: -1, Distinct: true}}})
	r.add(1, 1)
	r.add(1, json.Number("1.0"))
	r.add(1, 2)
	require.Equal(t, []string{"[int64(3)]"}, r.table())
	r.sub(2, 1)
	require.Equal(t, []string{"[float64(3)]"}, r.table())
	r.sub(2, json.Number("1.0"))
	require.Equal(t, []string{"[int64(2)]"}, r.table())
	r.add(3, math.MaxInt64-2)
	require.Empty(t, r.add(3, math.MaxInt64-2), "it is there already")
	require.Len(t, r.add(3, 1), 1, "refused")
}

// TestMismatch: text in a sum is skipped, and told of once.
func TestMismatch(t *testing.T) {
	var told []string
	r := newAggregateRun(t, operator.AggregateConfig{
		Aggs:     []operator.Aggregation{of(operator.AggSum), of(operator.AggVar), of(operator.AggCount)},
		Mismatch: func(v value.Value) { told = append(told, operatortest.Value(v)) },
	})
	require.Equal(t, []string{"+[int64(0) ∅ int64(1)]@1"}, r.add(1, "text"))
	require.Equal(t, []string{"-[int64(0) ∅ int64(1)]@2", "+[int64(7) float64(0) int64(2)]@2"}, r.add(2, 7))
	r.add(2, nil)
	require.Equal(t, []string{"-[int64(7) float64(0) int64(2)]@3", "+[int64(7) float64(0) int64(1)]@3"}, r.sub(3, "text"))
	require.Equal(t, []string{`"text"`}, told)
}

func TestSelectDistinct(t *testing.T) {
	r := newAggregateRun(t, operator.AggregateConfig{Keys: 1})
	require.Equal(t, []string{`+[int(1)]@1`}, r.add(1, 1))
	require.Empty(t, r.add(2, 1.0))
	require.Empty(t, r.sub(3, 1))
	require.Equal(t, []string{`-[int(1)]@4`}, r.sub(4, 1.0))
	require.Equal(t, []string{`+[∅]@5`}, r.add(5, nil), "NULL is a key like any other")
}

func TestAggregateNames(t *testing.T) {
	for name, kind := range map[string]operator.AggregateKind{"SUM": operator.AggSum, "Stddevs": operator.AggStddevSamp, "vars": operator.AggVarSamp, "Last_Value": operator.AggLastValue, "count": operator.AggCount} {
		k, ok := operator.ParseAggregate(name)
		require.True(t, ok)
		require.Equal(t, kind, k)
		ok, known := operator.Retractable(name)
		require.True(t, ok && known)
	}
	for _, name := range []string{"median", "Percentile", "deduplicate", "merge_agg"} {
		_, ok := operator.ParseAggregate(name)
		require.False(t, ok)
		ok, known := operator.Retractable(name)
		require.True(t, !ok && known)
	}
	_, known := operator.Retractable("upper")
	require.False(t, known)
}

func TestAggregateConfigs(t *testing.T) {
	sum := operator.Aggregation{Kind: operator.AggSum, Arg: -1}
	for name, cfg := range map[string]operator.AggregateConfig{
		"keys":            {Keys: -1},
		"ttl":             {TTL: -1},
		"no column":       {Aggs: []operator.Aggregation{sum}},
		"no such kind":    {Aggs: []operator.Aggregation{{Kind: 99}}},
		"distinct of all": {Aggs: []operator.Aggregation{{Kind: operator.AggCount, Arg: -1, Distinct: true}}},
	} {
		_, err := operator.NewAggregate(cfg, operatortest.NewLog())
		require.ErrorIs(t, err, operator.ErrConfig, name)
	}
	for name, cfg := range map[string]operator.WindowConfig{
		"bucket": {Bucket: 1, AggregateConfig: operator.AggregateConfig{Keys: 1}},
		"ttl":    {AggregateConfig: operator.AggregateConfig{Keys: 1, TTL: 1}},
	} {
		_, err := operator.NewWindow(cfg, operatortest.NewLog())
		require.ErrorIs(t, err, operator.ErrConfig, name)
	}
}
