package operator

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// recencyBench is a Recency of rows (time, number) that are in for so long.
type recencyBench struct {
	*Recency
	out tally
	row row.Row
}

func newRecencyBench(t testing.TB, within int64) *recencyBench {
	b := &recencyBench{}
	var err error
	b.Recency, err = NewRecency(RecencyConfig{Bounds: []Bound{{At: func(r row.Row) (int64, bool) { return addTime(r.Col(0).Int(), within), true }}}}, &b.out)
	require.NoError(t, err)
	return b
}

func (b *recencyBench) feed(now, ts int64) {
	b.Advance(0, Progress{Seen: now, Low: now})
	b.Advance(1, Progress{Seen: now, Low: now})
	b.row = row.Append(row.Row{Enc: b.row.Enc[:0]}, value.OfInt(ts))
	b.row = row.Append(b.row, value.OfNumber(reading))
	b.Process(0, Record{TS: ts, Diff: 1, Row: b.row})
	b.EndStep()
}

// BenchmarkRecency feeds one row a unit of time: each step one row enters and
// one leaves.
func BenchmarkRecency(b *testing.B) {
	for _, rows := range []int64{10_000, 1_000_000} {
		for _, disorder := range []int64{0, rows / 2} {
			b.Run(fmt.Sprintf("%d rows, disorder %d", rows, disorder), func(b *testing.B) {
				r := newRecencyBench(b, rows)
				rnd := rand.New(rand.NewPCG(1, 2))
				feed := func(i int64) { r.feed(i, i-rnd.Int64N(disorder+1)) }
				for i := range rows {
					feed(i)
				}
				b.ReportAllocs()
				b.ResetTimer()
				for i := range b.N {
					feed(rows + int64(i))
				}
				b.StopTimer()
				st := r.Stats()
				b.ReportMetric(float64(st.Bytes)/float64(st.Rows), "B/row")
			})
		}
	}
}

func TestRecencyAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	r := newRecencyBench(t, 2000)
	i := int64(0)
	feed := func() { i++; r.feed(i, i-i*7919%1000) }
	for range 20_000 {
		feed()
	}
	require.Less(t, testing.AllocsPerRun(20_000, feed), 0.01)
}

// TestRecencyStateOfARow holds a row to its budget over its own bytes, as
// reported and as the heap has it, and an empty operator to its base.
func TestRecencyStateOfARow(t *testing.T) {
	if raceEnabled {
		t.Skip("half a million rows")
	}
	const n, budget = 500_000, 100
	var r *recencyBench
	own := 0
	grown := heapGrowth(func() any {
		r = newRecencyBench(t, n)
		for i := range int64(n) {
			r.feed(i, i)
			own += len(r.row.Enc)
		}
		return r
	})
	over := float64(r.Stats().Bytes-int64(own)) / n
	t.Logf("%.0f B over the row's %d", over, own/n)
	require.Less(t, over, float64(budget))
	require.InEpsilon(t, float64(grown.bytes), float64(r.Stats().Bytes), 0.1)
	r.Advance(1, Progress{Seen: 3 * n, Low: 3 * n})
	r.EndStep()
	require.Zero(t, r.Stats().Rows)
	require.Equal(t, int64(n), r.Stats().Expired)
	require.LessOrEqual(t, r.bag.cells.used, int64(sizeClasses*pageMin))
	require.LessOrEqual(t, cap(r.due.rows), 64)
}
