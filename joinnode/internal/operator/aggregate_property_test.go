package operator_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator/operatortest"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

type named float64

// aggregatedValue draws what may be in a column, each number in several
// spellings.
func aggregatedValue() *rapid.Generator[any] {
	return rapid.OneOf(
		rapid.SampledFrom([]any{1, 2, 3, 1.0, json.Number("1"), json.Number("1.0"), json.Number("2.50"), 2.5, int8(2), uint16(3), json.Number("-4e-1"), named(2.5)}),
		rapid.SampledFrom([]any{nil, math.NaN(), "text", "1", true, map[string]any{"a": 1}, map[string]any{"a": json.Number("1.0")}, []any{1}, json.Number("7"), 7}),
		rapid.Map(rapid.Int64Range(-1000, 1000), func(i int64) any { return i }),
		rapid.Map(rapid.Float64Range(-1e3, 1e3), func(f float64) any { return f }),
		rapid.SampledFrom([]any{1e9, -1e9, 12345678.9, json.Number("1000000000.5"), 1e12, json.Number("1e11")}),
	)
}

// extremeValue draws numbers at the edges.
func extremeValue() *rapid.Generator[any] {
	return rapid.SampledFrom([]any{math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, uint64(math.MaxUint64), json.Number("9223372036854775808"),
		json.Number("-9223372036854775808"), json.Number("123456789012345678901234567890"), 1, -1, 0, nil, 0.5, json.Number("18446744073709551615"),
		math.Inf(1), math.Inf(-1), json.Number("1e400"), math.MaxFloat64, -math.MaxFloat64})
}

func drawAggregation(t *rapid.T, arg, at int) operator.Aggregation {
	a := operator.Aggregation{
		Kind:     operator.AggregateKind(rapid.IntRange(int(operator.AggCount), int(operator.AggLastValue)).Draw(t, "kind")),
		Arg:      arg,
		Time:     rapid.SampledFrom([]int{-1, at}).Draw(t, "time"),
		Distinct: rapid.Bool().Draw(t, "distinct"),
	}
	if a.Kind == operator.AggCount && !a.Distinct && rapid.Bool().Draw(t, "*") {
		a.Arg = -1
	}
	return a
}

// net is an output that folds what an aggregate emits into its table and holds
// each step to the rules of a state edge.
type net struct {
	t     *rapid.T
	cols  int
	table map[string]row.Row // by key
	step  map[string]int     // records by key: 1 retracted, 2 inserted
	ts    map[string]int64
	drops []string
}

func newNet(t *rapid.T, cols int) *net {
	return &net{t: t, cols: cols, table: map[string]row.Row{}, step: map[string]int{}, ts: map[string]int64{}}
}

func (n *net) Emit(rec operator.Record) {
	key := keyOf(rec.Row, n.cols)
	had, ok := n.table[key]
	if rec.Diff < 0 {
		require.True(n.t, ok, "retracted what is not there: %s", operatortest.Row(rec.Row))
		require.Equal(n.t, had.Enc, rec.Row.Enc, "retracted as it was inserted")
		require.Equal(n.t, operatortest.Row(had), operatortest.Row(rec.Row))
		require.Zero(n.t, n.step[key])
		n.step[key], n.ts[key] = 1, rec.TS
		delete(n.table, key)
		n.table["old "+key] = had
		return
	}
	require.False(n.t, ok, "two rows of one key")
	require.NotEqual(n.t, 2, n.step[key])
	if n.step[key] == 1 {
		require.NotEqual(n.t, spelled(n.table["old "+key]), spelled(rec.Row), "no change, no record")
		require.Equal(n.t, n.ts[key], rec.TS)
	}
	n.step[key], n.ts[key] = 2, rec.TS
	n.table[key] = row.AppendRow(row.Row{}, rec.Row)
}

// spelled tells values inside of Go values apart.
func spelled(r row.Row) string { return fmt.Sprintf("%x %#v", r.Enc, r.Side) }

func (n *net) Advance(operator.Progress) {}

func (n *net) Drop(_ int, rec operator.Record, why operator.Reason, _ bool) {
	n.drops = append(n.drops, fmt.Sprintf("%s %+d %s", why, rec.Diff, operatortest.Row(rec.Row)))
}

func (n *net) endStep() {
	for key := range n.step {
		delete(n.table, "old "+key)
	}
	clear(n.step)
	clear(n.ts)
	n.drops = nil
}

func aggregateProperty(t *rapid.T, values *rapid.Generator[any]) {
	cfg := operator.AggregateConfig{Keys: rapid.IntRange(0, 2).Draw(t, "keys"), AppendOnly: rapid.IntRange(0, 3).Draw(t, "append only") == 0}
	for range rapid.IntRange(0, 4).Draw(t, "aggregations") {
		cfg.Aggs = append(cfg.Aggs, drawAggregation(t, cfg.Keys+rapid.IntRange(0, 1).Draw(t, "arg"), cfg.Keys+2))
	}
	out := newNet(t, cfg.Keys)
	a, err := operator.NewAggregate(cfg, out)
	require.NoError(t, err)
	a.PrefetchAlways()
	m := newModel(cfg)
	keys := rapid.SampledFrom([]any{"a", "a", "b", 1, 1.0, json.Number("1e0"), nil, map[string]any{"x": 1}, map[string]any{"x": json.Number("1.0")}})
	times := rapid.SampledFrom([]any{1, 2, 3, json.Number("2.0"), nil, "then"})
	var present []row.Row
	changed := map[string]int64{}
	for step := range rapid.IntRange(1, 25).Draw(t, "steps") {
		for range rapid.IntRange(1, 4).Draw(t, "records") {
			ts := int64(step)
			if len(present) > 0 && !cfg.AppendOnly && rapid.IntRange(0, 9).Draw(t, "retract") < 5 {
				i := rapid.IntRange(0, len(present)-1).Draw(t, "which")
				r := present[i]
				present = append(present[:i:i], present[i+1:]...)
				if m.retract(r) {
					changed[keyOf(r, cfg.Keys)] = ts
				}
				a.Prefetch([]operator.Arrival{{Record: operator.Record{Row: r}}, {Port: 1}})
				a.Process(0, operator.Record{TS: ts, Diff: -1, Row: r})
				continue
			}
			var cols []any
			for range cfg.Keys {
				cols = append(cols, keys.Draw(t, "key"))
			}
			r := encode(append(cols, values.Draw(t, "x"), values.Draw(t, "y"), times.Draw(t, "at")))
			dropped := len(out.drops)
			a.Process(0, operator.Record{TS: ts, Diff: 1, Row: r})
			if m.insert(r) {
				changed[keyOf(r, cfg.Keys)] = ts
			} else {
				require.Equal(t, []string{"sum_overflow +1 " + operatortest.Row(r)}, out.drops[dropped:])
			}
			present = append(present, r)
		}
		a.EndStep()
		for key, ts := range out.ts {
			require.Equal(t, changed[key], ts, "time of the change")
		}
		out.endStep()
		clear(changed)
		requireTable(t, m, out.table, a)
	}
}

func requireTable(t *rapid.T, m *model, table map[string]row.Row, a *operator.Aggregate) {
	n := 0
	for key, g := range m.groups {
		if len(g.rows) == 0 {
			require.NotContains(t, table, key)
			continue
		}
		require.Contains(t, table, key)
		m.requireRow(t, g, table[key])
		n++
	}
	require.Len(t, table, n)
	read := map[string]string{}
	a.Read(func(r row.Row) bool {
		read[keyOf(r, m.cfg.Keys)] = operatortest.Row(r)
		return true
	})
	require.Len(t, read, n)
	for key, r := range table {
		require.Equal(t, operatortest.Row(r), read[key])
	}
	st := a.Stats()
	require.Equal(t, int64(n), st.Rows)
	require.Equal(t, int64(n), st.Keys)
	require.GreaterOrEqual(t, st.Bytes, int64(0))
}

// TestAggregateIsThatOfItsRows: after any history the table is what a
// computation from the rows that are there gives, and every step sends the net
// change of each group.
func TestAggregateIsThatOfItsRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { aggregateProperty(t, aggregatedValue()) })
}

// TestAggregateOfExtremes does so with numbers that overflow.
func TestAggregateOfExtremes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { aggregateProperty(t, extremeValue()) })
}

// TestMomentsOutliveOutliers: variances stay exact when numbers far away, the
// first one of all, have come and gone.
func TestMomentsOutliveOutliers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var aggs []operator.Aggregation
		for _, k := range []operator.AggregateKind{operator.AggVar, operator.AggStddev, operator.AggVarSamp, operator.AggStddevSamp} {
			aggs = append(aggs, of(k))
		}
		out := newNet(t, 0)
		a, err := operator.NewAggregate(operator.AggregateConfig{Aggs: aggs}, out)
		require.NoError(t, err)
		m := newModel(operator.AggregateConfig{Aggs: aggs})
		feed := func(diff int8, x any) {
			r := encode([]any{x})
			a.Process(0, operator.Record{Diff: diff, Row: r})
			a.EndStep()
			out.endStep()
			if diff > 0 {
				m.insert(r)
			} else {
				m.retract(r)
			}
		}
		outliers := rapid.SliceOfN(rapid.SampledFrom([]any{1e3, 1e6, -1e9, 1e15, 1e18, math.MaxInt64, 1e200, math.Inf(1)}), 1, 3).Draw(t, "outliers")
		base := rapid.SampledFrom([]float64{0, 0.1, 100, 1e6}).Draw(t, "base")
		numbers := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 6).Draw(t, "numbers")
		for _, x := range outliers {
			feed(1, x)
		}
		for _, x := range numbers {
			feed(1, base+x)
		}
		for _, x := range outliers {
			feed(-1, x)
		}
		requireTable(t, m, out.table, a)
		for _, x := range numbers[1:] {
			feed(-1, base+x)
		}
		require.Equal(t, "[float64(0) float64(0) float64(0) float64(0)]", operatortest.Row(out.table[""]), "of one number")
	})
}

func TestCompareOfModelCoversAllKinds(t *testing.T) {
	ordered := []any{false, true, -1, 2.5, json.Number("3"), "", "a", []any{1}}
	for i := range ordered[1:] {
		require.Negative(t, kindsThenValues(value.FromGo(ordered[i]), value.FromGo(ordered[i+1])))
	}
}
