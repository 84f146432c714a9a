package operator

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// groupedRows are rows (key, number) of n groups, in random order but one after
// another in memory, as rows that just came in are at hand.
func groupedRows(n int) []row.Row {
	rnd := rand.New(rand.NewPCG(1, 2))
	rows := make([]row.Row, 4*n)
	for i, key := range names(n) {
		for k := range 4 {
			r := row.Append(row.Row{}, value.OfBytes([]byte(key), true))
			rows[4*i+k] = row.Append(r, value.OfNumber(fmt.Appendf(nil, "%d.%d", rnd.IntN(1000), rnd.IntN(9)+1)))
		}
	}
	rnd.Shuffle(len(rows), func(i, k int) { rows[i], rows[k] = rows[k], rows[i] })
	var all []byte
	for _, r := range rows {
		all = append(all, r.Enc...)
	}
	for i, r := range rows {
		rows[i].Enc = all[:len(r.Enc):len(r.Enc)]
		all = all[len(r.Enc):]
	}
	return rows
}

func newBenchAggregate(t testing.TB, cfg AggregateConfig) (*Aggregate, *tally) {
	out := &tally{}
	a, err := NewAggregate(cfg, out)
	require.NoError(t, err)
	return a, out
}

func sumOf(col int) Aggregation { return Aggregation{Kind: AggSum, Arg: col, Time: -1} }

// BenchmarkGroupedSum feeds rows of 100,000 groups to a SUM, a step each, and
// does the same update of a bare map from the same rows; "decoded" is the map
// alone, with keys and numbers at hand.
func BenchmarkGroupedSum(b *testing.B) {
	const n = 100_000
	rows := groupedRows(n)
	sums := map[string]float64{}
	update := func(r row.Row) {
		key, _, _ := row.FirstText(r.Enc)
		x, _ := r.Float(1)
		sums[string(key)] += x
	}
	for _, r := range rows {
		update(r)
	}
	b.Run("map", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			update(rows[i%len(rows)])
		}
	})
	b.Run("map, decoded", func(b *testing.B) {
		type pair struct {
			key string
			x   float64
		}
		pairs := make([]pair, len(rows))
		for i, r := range rows {
			x, _ := r.Float(1)
			pairs[i] = pair{string(r.Col(0).Text), x}
		}
		b.ReportAllocs()
		b.ResetTimer()
		for i := range b.N {
			p := &pairs[i%len(pairs)]
			sums[p.key] += p.x
		}
	})
	aggregate := func(b *testing.B, shown bool) {
		a, _ := newBenchAggregate(b, AggregateConfig{Keys: 1, Aggs: []Aggregation{sumOf(1)}, AppendOnly: true})
		feed := func(i int) {
			a.Process(0, Record{TS: int64(i), Diff: 1, Row: rows[i%len(rows)]})
			a.EndStep()
		}
		for i := range rows {
			feed(i)
		}
		b.ReportAllocs()
		b.ResetTimer()
		batch := make([]Arrival, aheadRows)
		for i := range b.N {
			if shown && i%aheadRows == 0 {
				for k := range batch {
					batch[k].Record.Row = rows[(i+k)%len(rows)]
				}
				a.Prefetch(batch)
			}
			feed(i)
		}
		b.StopTimer()
		b.ReportMetric(float64(a.Stats().Bytes)/n, "B/group")
	}
	b.Run("aggregate", func(b *testing.B) { aggregate(b, false) })
	b.Run("aggregate, shown before", func(b *testing.B) { aggregate(b, true) })
}

// TestStateOfAGroup holds the memory of a grouped sum to a budget and to what
// Stats says.
func TestStateOfAGroup(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector has its own memory")
	}
	const n = 100_000
	rows := groupedRows(n)
	for name, ttl := range map[string]int64{"plain": 0, "with a TTL": 1 << 60} {
		t.Run(name, func(t *testing.T) {
			grown := heapGrowth(func() any {
				a, _ := newBenchAggregate(t, AggregateConfig{Keys: 1, Aggs: []Aggregation{sumOf(1)}, TTL: ttl})
				for _, r := range rows {
					a.Process(0, Record{Diff: 1, Row: r})
					a.EndStep()
				}
				return a
			})
			st := grown.kept.(*Aggregate).Stats()
			require.Equal(t, int64(n), st.Rows)
			require.InEpsilon(t, grown.bytes, st.Bytes, 0.1)
			const own = len("device-00000") + 1 + 9 // its row: text, float
			t.Logf("%d B a group beside its row", grown.bytes/n-int64(own))
			require.LessOrEqual(t, grown.bytes/n-int64(own), int64(120))
			runtime.KeepAlive(rows)
		})
	}
}

// TestStateReturnsToItsBase: what all rows have left holds nothing.
func TestStateReturnsToItsBase(t *testing.T) {
	rows := groupedRows(10_000)
	kinds := []Aggregation{sumOf(1), {Kind: AggMin, Arg: 1, Time: -1}, {Kind: AggCollect, Arg: 1, Time: -1}, {Kind: AggCount, Arg: 1, Distinct: true, Time: -1}, {Kind: AggVar, Arg: 1, Time: -1}}
	a, _ := newBenchAggregate(t, AggregateConfig{Keys: 1, Aggs: kinds})
	for range 2 {
		for diff := int8(1); diff >= -1; diff -= 2 {
			for _, r := range rows {
				a.Process(0, Record{Diff: diff, Row: r})
				a.EndStep()
			}
		}
		require.Zero(t, a.Stats().Rows)
		require.Zero(t, a.groups.held)
		require.Len(t, a.groups.spare, len(a.groups.holdings)-1)
		require.LessOrEqual(t, a.groups.keys.cells.used, int64(sizeClasses*pageMin))
	}
}

func TestAllocationsOfAggregates(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	rows := groupedRows(1000)
	fixed := []Aggregation{sumOf(1), {Kind: AggCount, Arg: -1}, {Kind: AggAvg, Arg: 1}, {Kind: AggCount, Arg: 1}}
	kept := append([]Aggregation{{Kind: AggVar, Arg: 1}, {Kind: AggMin, Arg: 1}, {Kind: AggMax, Arg: 1}, {Kind: AggLastValue, Arg: 1, Time: -1}}, fixed...)
	for name, cfg := range map[string]AggregateConfig{
		"changing":    {Keys: 1, Aggs: fixed, TTL: 1 << 60},
		"append only": {Keys: 1, Aggs: kept, AppendOnly: true},
		"distinct":    {Keys: 2},
	} {
		t.Run(name, func(t *testing.T) {
			a, out := newBenchAggregate(t, cfg)
			i := 0
			feed := func(diff int8) {
				a.Process(0, Record{TS: int64(i), Diff: diff, Row: rows[i%len(rows)]})
				a.EndStep()
			}
			run := func() {
				i++
				feed(1)
				if !cfg.AppendOnly && i%3 == 0 {
					feed(-1)
				}
			}
			for range 4 * len(rows) {
				run()
			}
			before := out.emitted
			require.Zero(t, testing.AllocsPerRun(10_000, run))
			if cfg.Aggs != nil {
				require.Greater(t, out.emitted, before)
			}
		})
	}
}
