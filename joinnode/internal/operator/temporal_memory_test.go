package operator

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// put brings a record to port 1 in the current step.
func (b *temporalBench) put(ts int64, diff int8, past bool, key string) {
	b.encode([]byte(key), ts)
	b.Process(1, Record{TS: ts, Diff: diff, Past: past, Row: b.row})
}

// to ends the step with both ports at ts.
func (b *temporalBench) to(ts int64) {
	for port := range 2 {
		b.Advance(port, Progress{Seen: ts, Low: ts})
	}
	b.EndStep()
}

// requireBase says that an empty join is as small as its caps allow.
func (b *temporalBench) requireBase(t *testing.T) {
	t.Helper()
	require.Zero(t, b.Stats().Rows)
	require.Zero(t, b.Stats().Keys)
	require.Empty(t, b.table.hot)
	require.Zero(t, b.table.index)
	require.Empty(t, b.table.due)
	require.LessOrEqual(t, cap(b.table.due), 128)
	require.Zero(t, b.table.values.values)
	require.LessOrEqual(t, b.table.slab.used, int64(sizeClasses*pageMin))
	require.LessOrEqual(t, b.table.keys.cells.used, int64(sizeClasses*pageMin))
	require.LessOrEqual(t, b.waiting.arena.buffers, int64((spareMax+1)*chunkMax))
}

// TestVersionsLeaveThoughTheirKeysAreNeverTouchedAgain: the watermarks alone
// bring every history down to one version a key, and deleted keys to nothing.
func TestVersionsLeaveThoughTheirKeysAreNeverTouchedAgain(t *testing.T) {
	const n, each = 5000, 5
	b := newTemporalBench(t, true)
	keys := names(n)
	for i := range n * each {
		b.put(int64(i), 1, false, keys[i%n])
		b.EndStep()
	}
	long := b.Stats()
	require.Equal(t, int64(n*each), long.Rows)
	b.to(n*each - n/2 - 1) // between the last but one and the last version of half of the keys
	require.Equal(t, int64(n+n/2), b.Stats().Rows)
	b.to(n * each)
	require.Equal(t, int64(n), b.Stats().Rows)
	require.Equal(t, int64(n*(each-1)), b.Stats().Expired)
	require.Less(t, b.Stats().Bytes, long.Bytes/2)

	for i := range n {
		b.put(n*each+1+int64(i), -1, false, keys[i])
	}
	b.EndStep()
	require.Equal(t, int64(2*n), b.Stats().Rows, "the ends of versions are in the history")
	b.to(n*each + 1 + n)
	b.requireBase(t)
}

func TestTemporalMemoryReturnsToItsBase(t *testing.T) {
	const n = 20_000
	keys := names(n)
	for name, key := range map[string]func(i int) string{
		"a key a row":    func(i int) string { return keys[i] },
		"one key":        func(int) string { return "hot" },
		"keys of length": func(i int) string { return strings.Repeat("k", i%3000) },
	} {
		for _, disorder := range []int64{0, n} {
			t.Run(fmt.Sprintf("%s, disorder %d", name, disorder), func(t *testing.T) {
				b := newTemporalBench(t, true)
				rnd := rand.New(rand.NewPCG(1, 2))
				for i := range n {
					ts := int64(i) + n
					b.put(ts, 1, false, key(i))
					if disorder > 0 {
						b.put(ts-rnd.Int64N(disorder), 1, true, key(i))
						ts -= rnd.Int64N(disorder)
					}
					b.Process(0, Record{TS: ts, Diff: 1, Row: b.row})
					b.EndStep()
				}
				require.GreaterOrEqual(t, b.Stats().Rows, int64(2*n))
				for i := range n {
					b.put(3*n, -1, false, key(i))
				}
				b.EndStep()
				b.to(3 * n)
				require.Equal(t, n, b.out.emitted)
				b.requireBase(t)
			})
		}
	}
}

func TestTemporalMemoryDoesNotGrowWithChurn(t *testing.T) {
	const lag, rounds = 2000, 40
	keys := names(lag * rounds)
	b := newTemporalBench(t, true)
	rnd := rand.New(rand.NewPCG(3, 4))
	var early int64
	for i := range lag * rounds {
		ts := int64(i) + lag
		b.put(ts, 1, false, keys[i])
		if i%3 == 0 {
			b.put(ts-rnd.Int64N(lag), 1, true, keys[i])
		}
		b.Process(0, Record{TS: ts - rnd.Int64N(lag), Diff: 1, Row: b.row})
		b.put(ts, 1, false, keys[i/100%20]) // keys that stay among those that go
		if i > lag {
			b.put(ts, -1, false, keys[i-lag])
		}
		b.to(ts - lag)
		if i == 4*lag {
			early = b.Stats().Bytes
		}
	}
	require.Less(t, float64(b.Stats().Bytes), 1.3*float64(early))
}

func TestTemporalJoinAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const n = 1000
	keys := names(n)
	var texts [n][]byte
	for i, key := range keys {
		texts[i] = []byte(key)
	}
	b := newTemporalBench(t, true)
	i := 0
	step := func() {
		i++
		b.next(i&1, texts[i*7%n])
		b.encode(texts[i%n], b.ts)
		b.Process(0, Record{TS: b.ts + 100, Diff: 1, Row: b.row}) // waits
		b.Process(1, Record{TS: b.ts - 5, Diff: 1, Past: true, Row: b.row})
		b.Process(1, Record{TS: b.ts + 50, Diff: -1, Row: b.row})
		b.Process(1, Record{TS: b.ts + 50, Diff: 1, Row: b.row})
		b.EndStep()
	}
	for range 20 * n {
		step()
	}
	require.Less(t, testing.AllocsPerRun(5*n, step), 0.01)
	require.Positive(t, b.out.emitted)
}

// TestTemporalBytesAreHonest: a key costs at most 120 bytes beside its row.
func TestTemporalBytesAreHonest(t *testing.T) {
	const n = 100_000
	keys := names(n)
	var rows int64
	grown := heapGrowth(func() any {
		b := newTemporalBench(t, false)
		for i, key := range keys {
			b.put(int64(i), 1, false, key)
			rows += int64(len(b.row.Enc))
			b.to(int64(i))
		}
		return b
	})
	st := grown.kept.(*temporalBench).Stats()
	require.Equal(t, int64(n), st.Rows)
	t.Logf("%.1f B a key reported, %.1f B on the heap, rows of %.1f B", float64(st.Bytes)/n, float64(grown.bytes)/n, float64(rows)/n)
	require.InEpsilon(t, grown.bytes, st.Bytes, 0.2)
	require.LessOrEqual(t, (grown.bytes-rows)/n, int64(120))
	runtime.KeepAlive(keys)
}

// TestOldRowsFindTheirVersionInLongHistories holds the work for one key with
// many versions, in order and not, to a budget.
func TestOldRowsFindTheirVersionInLongHistories(t *testing.T) {
	n := int64(50_000)
	if raceEnabled {
		n = 10_000
	}
	for _, shuffled := range []bool{false, true} {
		b := newTemporalBench(t, false)
		times := rand.New(rand.NewPCG(5, 6)).Perm(int(n))
		b.put(10*n, 1, false, "hot")
		for i, ts := range times {
			if !shuffled {
				ts = i
			}
			b.put(10*int64(ts), 1, true, "hot")
		}
		st := b.Stats()
		require.Equal(t, n+1, st.Rows)
		require.LessOrEqual(t, float64(st.Visited+st.Moved)/float64(n), 150.0, "to store a version")

		const rows = 1000
		for i := range int64(rows) {
			b.encode([]byte("hot"), 0)
			b.Process(0, Record{TS: i * 10 * n / rows, Diff: 1, Row: b.row})
		}
		for port := range 2 {
			b.Advance(port, Progress{Idle: true, Seen: unseen, Low: unseen})
		}
		b.EndStep()
		require.Equal(t, rows, b.out.emitted)
		after := b.Stats()
		require.LessOrEqual(t, float64(after.Visited-st.Visited)/rows, 80.0, "to find a version")

		b.to(10 * n)
		require.Equal(t, int64(1), b.Stats().Rows)
		require.Empty(t, b.table.hot)
		require.LessOrEqual(t, float64(b.Stats().Visited-after.Visited)/float64(n), 5.0, "to drop a version")
	}
}

// TestValuesOfGoneVersionsAreCollected: nothing holds on to the Go values of
// versions and rows that have left.
func TestValuesOfGoneVersionsAreCollected(t *testing.T) {
	b := newTemporalBench(t, true)
	var values []weak.Pointer[[64]int]
	func() {
		for i := range int64(8) {
			v := &[64]int{int(i)}
			values = append(values, weak.Make(v))
			r := row.Append(row.Row{}, value.OfInt(i%3))
			r = row.Append(row.Append(r, value.OfAny(v)), value.Value{})
			b.Process(int(i%2), Record{TS: i, Diff: 1, Row: r})
			b.EndStep()
		}
	}()
	for i := range int64(3) {
		b.Process(1, Record{TS: 100, Diff: -1, Row: row.Append(row.Row{}, value.OfInt(i))})
	}
	b.to(100)
	require.Equal(t, 4, b.out.emitted)
	require.Zero(t, b.Stats().Rows)
	runtime.GC()
	for i, v := range values {
		require.Nil(t, v.Value(), "value %d", i)
	}
	runtime.KeepAlive(b)
}

// TestTemporalAddressesRunOut: what cannot be addressed is dropped like above
// the maxRows gate.
func TestTemporalAddressesRunOut(t *testing.T) {
	b := newTemporalBench(t, true)
	b.waiting.arena.limit, b.table.slab.limit = 2, 3 // versions come in two sizes, each with a page of its own
	for i := range int64(10_000) {
		b.put(i, 1, false, "k")
		b.Process(0, Record{TS: i, Diff: 1, Row: b.row})
		b.EndStep()
	}
	kept := b.Stats().Rows
	require.Positive(t, kept)
	require.Equal(t, int64(20_000), kept+int64(b.out.dropped))
	b.to(10_000)
	require.Equal(t, int64(1), b.Stats().Rows)

	emitted, dropped := b.out.emitted, b.out.dropped
	b.put(10_001, 1, false, "k")
	b.Process(0, Record{TS: 10_001, Diff: 1, Row: b.row})
	b.to(10_001)
	require.Equal(t, emitted+1, b.out.emitted, "room again")
	require.Equal(t, dropped, b.out.dropped)
}
