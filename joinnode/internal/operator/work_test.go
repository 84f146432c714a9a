package operator

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// TestRowsOfAHotKeyAreFound holds the work for one key with 100,000 rows in the
// window, of which 10 match each arriving row, to a budget.
func TestRowsOfAHotKeyAreFound(t *testing.T) {
	n := int64(100_000)
	if raceEnabled {
		n = 20_000
	}
	for _, test := range []struct {
		name           string
		shuffled, edge bool // edge: the newest rows match, otherwise the oldest
		budget         float64
	}{
		{"in order, the oldest match", false, false, 30},
		{"in order, the newest match", false, true, 30},
		{"shuffled, the oldest match", true, false, 100},
		{"shuffled, the newest match", true, true, 100},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, JoinConfig{Within: n, Left: true})
			times := make([]int64, n)
			for i := range times {
				times[i] = int64(i) + 1
			}
			if test.shuffled {
				rand.New(rand.NewPCG(7, 8)).Shuffle(len(times), func(i, k int) { times[i], times[k] = times[k], times[i] })
			}
			for _, ts := range times {
				b.feed(0, ts, "hot")
			}
			require.Equal(t, n, b.Stats().Rows)
			st := b.Stats()
			work := float64(st.Visited+st.Moved) / float64(n)
			require.LessOrEqual(t, work, test.budget, "to store a row")
			t.Logf("%.1f visits and moves to store a row", work)

			const probes = 1000
			for range probes {
				ts := 10 - n // matches times 1 … 10
				if test.edge {
					ts = 2*n - 9 // matches the last ten
				}
				b.row = row.Append(row.Row{}, value.OfText("hot"))
				b.row = row.Append(row.Append(b.row, value.Value{}), value.Value{})
				b.Process(1, Record{TS: ts, Diff: 1, Row: b.row})
			}
			require.Equal(t, 10*probes, b.out.emitted)
			after := b.Stats()
			work = float64(after.Visited+after.Moved-st.Visited-st.Moved) / probes
			require.LessOrEqual(t, work, test.budget, "to probe")
			t.Logf("%.1f visits and moves to probe", work)

			b.Advance(0, Progress{Seen: 3 * n, Low: 2 * n})
			last := b.Stats()
			require.Equal(t, n, last.Expired)
			require.LessOrEqual(t, float64(last.Visited+last.Moved-after.Visited-after.Moved)/float64(n), test.budget, "to expire")
		})
	}
}

// TestDirectoriesComeAndGo: a key has one while it is hot, and none survives its
// key.
func TestDirectoriesComeAndGo(t *testing.T) {
	b := newBench(t, JoinConfig{Within: 1000, MaxKeys: 1})
	fill := func(key string, from int64) {
		for i := range int64(200) {
			b.feed(0, from+i*7%200, key)
		}
	}
	fill("a", 1000)
	require.Len(t, b.sides[0].hot, 1)
	fill("b", 1000) // evicts a
	require.Len(t, b.sides[0].hot, 1)
	require.Equal(t, 200, b.out.dropped)
	b.feed(1, 1100, "b")
	require.Equal(t, 200, b.out.emitted)

	b.Advance(0, Progress{Seen: 2000 + 200 - coldRows})
	require.Equal(t, int64(coldRows), b.Stats().Rows-1)
	require.Len(t, b.sides[0].hot, 1)
	b.Advance(0, Progress{Seen: 2000 + 200 - coldRows + 1})
	require.Empty(t, b.sides[0].hot)
	b.feed(1, 1100, "b")
	require.Equal(t, 200+coldRows-1, b.out.emitted)

	b.feed(0, 2100, "c")
	require.Empty(t, b.sides[0].hot)
	require.Equal(t, 200+coldRows-1, b.out.dropped)
}

// TestOrderCostsNothingInOrder: rows in order, of equal times too, never enter
// the heap, and one row from the future makes no later window a disorder.
func TestOrderCostsNothingInOrder(t *testing.T) {
	b := newBench(t, JoinConfig{Within: 100})
	for i := range 10_000 {
		b.feed(0, int64(i/3), "k")
	}
	require.Zero(t, b.Stats().Moved)
	b.Advance(0, Progress{Seen: 1 << 40, Low: 1 << 39})
	b.feed(0, 100, "k") // a source may start anew, below what was seen
	require.Zero(t, b.Stats().Moved)
}

// TestAskingForWakeStaysCheap: matched rows in front of the waiting ones are
// passed once, not once a call.
func TestAskingForWakeStaysCheap(t *testing.T) {
	const n = 20_000
	for _, step := range []int64{1, -1} {
		b := newBench(t, JoinConfig{Within: 4 * n, Left: true})
		keys := names(n)
		b.feed(0, 2*n, "newest")
		for i := range n {
			ts := 2*n + step*int64(i)
			b.feed(0, ts, keys[i])
			if i < n-1 {
				b.feed(1, ts, keys[i])
			}
			_, ok := b.Wake(0, farthest)
			require.True(t, ok)
		}
		st := b.Stats()
		require.Less(t, float64(st.Visited+st.Moved)/n, 60.0)
	}
}
