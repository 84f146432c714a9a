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

// tally is an Output that only counts.
type tally struct{ emitted, dropped int }

func (c *tally) Emit(Record)                    { c.emitted++ }
func (c *tally) Advance(Progress)               {}
func (c *tally) Drop(int, Record, Reason, bool) { c.dropped++ }

// bench is a join of rows (key, number, number) with what a test needs to feed
// it.
type bench struct {
	*IntervalJoin
	out  tally
	row  row.Row
	text []byte
	wm   [2]int64
}

var reading, instant = []byte("80.5"), []byte("1700000000123")

func newBench(t testing.TB, cfg JoinConfig) *bench {
	b := &bench{wm: [2]int64{unseen, unseen}}
	cfg.RightRetention, cfg.RightSource = cfg.Within, 1
	cfg.Keys, cfg.Keep = [2]int{1, 1}, [2]int{3, 3}
	cfg.Out = []OutCol{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}}
	var err error
	b.IntervalJoin, err = NewIntervalJoin(cfg, &b.out)
	require.NoError(t, err)
	return b
}

func (b *bench) feed(port int, ts int64, key string) {
	if ts > b.wm[port] {
		b.wm[port] = ts
		b.Advance(port, Progress{Seen: ts, Low: subTime(ts, b.cfg.Within)})
	}
	b.text = append(b.text[:0], key...)
	b.row = row.Append(row.Row{Enc: b.row.Enc[:0]}, value.OfBytes(b.text, true))
	b.row = row.Append(b.row, value.OfNumber(reading))
	b.row = row.Append(b.row, value.OfNumber(instant))
	b.Process(port, Record{TS: ts, Diff: 1, Row: b.row})
	b.EndStep()
}

func names(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("device-%05d", i)
	}
	return all
}

// requireBase says that an empty join is as small as its caps allow.
func (b *bench) requireBase(t *testing.T) {
	t.Helper()
	require.Zero(t, b.Stats().Rows)
	require.Zero(t, b.Stats().Keys)
	for _, s := range b.sides {
		require.LessOrEqual(t, s.arena.buffers, int64((spareMax+1)*chunkMax))
		require.Equal(t, s.arena.first, s.arena.last, "chunks beside the open one")
		require.Zero(t, s.arena.values)
		require.Empty(t, s.hot)
		require.Zero(t, s.index)
		require.Empty(t, s.order.late)
		require.LessOrEqual(t, cap(s.order.late)+cap(s.order.lateWait), 256)
	}
	require.LessOrEqual(t, b.keys.cells.used, int64(sizeClasses*pageMin))
	require.LessOrEqual(t, b.keys.slots, int64(len(b.keys.shards)*slotsMin))
	require.Zero(t, b.keys.cells.classes[1].partial)
}

func TestMemoryReturnsToItsBase(t *testing.T) {
	const n = 60_000
	keys := names(n)
	for name, key := range map[string]func(i int) string{
		"a key a row":    func(i int) string { return keys[i] },
		"one key":        func(int) string { return "hot" },
		"keys of length": func(i int) string { return strings.Repeat("k", i%3000) },
	} {
		for _, disorder := range []int64{0, n} {
			t.Run(fmt.Sprintf("%s, disorder %d", name, disorder), func(t *testing.T) {
				b := newBench(t, JoinConfig{Within: n, Left: true})
				rnd := rand.New(rand.NewPCG(1, 2))
				for i := range n {
					ts := int64(i) + n
					if disorder > 0 {
						ts -= rnd.Int64N(disorder)
					}
					b.feed(0, ts, key(i))
				}
				rows := b.Stats().Rows
				require.GreaterOrEqual(t, rows, int64(n/3))
				require.Greater(t, b.Stats().Bytes, rows*recordHeader)
				b.Advance(0, Progress{Seen: 10 * n, Low: 9 * n})
				require.Equal(t, n, b.out.emitted)
				b.requireBase(t)
			})
		}
	}
}

func TestMemoryDoesNotGrowWithChurn(t *testing.T) {
	const window, rounds = 2000, 40
	keys := names(window * rounds)
	b := newBench(t, JoinConfig{Within: window, Left: true, MaxKeys: 2 * window})
	rnd := rand.New(rand.NewPCG(3, 4))
	var early int64
	for i := range window * rounds {
		ts := int64(i) + window
		if i%3 == 0 {
			ts -= rnd.Int64N(window) // stragglers
		}
		key := keys[i]
		if i%100 == 0 {
			key = keys[i/100%20] // keys that stay among those that go
		}
		b.feed(i%2, ts, key)
		if i == 4*window {
			early = b.Stats().Bytes
		}
	}
	require.Less(t, float64(b.Stats().Bytes), 1.3*float64(early))
}

// TestEvictedStragglersFreeTheirMemory: the maxKeys gate bounds memory also when
// nothing expires.
func TestEvictedStragglersFreeTheirMemory(t *testing.T) {
	b := newBench(t, JoinConfig{Within: 1 << 40, Left: true, MaxKeys: 100})
	keys := names(50_000)
	b.feed(0, 1<<39, "first")
	for i, key := range keys {
		b.feed(0, 1<<39-int64(i), key)
	}
	require.Equal(t, int64(100), b.Stats().Rows)
	require.LessOrEqual(t, b.Stats().Bytes, int64(256<<10))
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	const window = 4000
	keys := names(2 * window)
	for _, disorder := range []int64{0, window / 2} {
		b := newBench(t, JoinConfig{Within: window, Left: true, MaxKeys: 4 * window})
		rnd := rand.New(rand.NewPCG(5, 6))
		i := 0
		feed := func() {
			ts := int64(i) + window
			if disorder > 0 {
				ts -= rnd.Int64N(disorder)
			}
			b.feed(i%2, ts, keys[i/2%len(keys)])
			i++
		}
		for i < 10*window {
			feed()
		}
		require.Greater(t, b.out.emitted, window)
		if !raceEnabled {
			require.Less(t, testing.AllocsPerRun(4*window, feed), 0.01)
		}
	}
}

func TestBytesAreHonest(t *testing.T) {
	const n = 200_000
	for _, nkeys := range []int{2000, n} {
		keys := names(nkeys)
		grown := heapGrowth(func() any {
			b := newBench(t, JoinConfig{Within: n, Left: true})
			for i := range n {
				b.feed(0, int64(i), keys[i%nkeys])
			}
			return b
		})
		b := grown.kept.(*bench)
		st := b.Stats()
		require.Equal(t, int64(n), st.Rows)
		t.Logf("%d keys: %.1f B a row reported, %.1f B on the heap", nkeys, float64(st.Bytes)/n, float64(grown.bytes)/n)
		require.InEpsilon(t, grown.bytes, st.Bytes, 0.2)
		budget := int64(48)
		if nkeys == n {
			budget = 128
		}
		require.LessOrEqual(t, grown.bytes/n, budget, "bytes a row")
		runtime.KeepAlive(keys)
	}
}

// TestValuesOfGoneRowsAreCollected: nothing holds on to the Go values of rows
// that have left.
func TestValuesOfGoneRowsAreCollected(t *testing.T) {
	b := newBench(t, JoinConfig{Within: 10, Left: true, MaxKeys: 3})
	var values []weak.Pointer[[64]int]
	func() {
		for i := range 8 {
			v := &[64]int{i}
			values = append(values, weak.Make(v))
			r := row.Append(row.Row{}, value.OfInt(int64(i%5)))
			r = row.Append(row.Append(r, value.OfAny(v)), value.Value{})
			b.Process(i%2, Record{TS: int64(i), Diff: 1, Row: r})
		}
	}()
	require.Positive(t, b.out.emitted)
	require.Positive(t, b.out.dropped)
	b.Advance(0, Progress{Seen: 1000})
	b.Advance(1, Progress{Seen: 1000})
	runtime.GC()
	for i, v := range values {
		require.Nil(t, v.Value(), "value %d", i)
	}
	runtime.KeepAlive(b)
}

type growth struct {
	bytes int64
	kept  any
}

func heapGrowth(make func() any) growth {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept := make()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return growth{bytes: int64(after.HeapAlloc) - int64(before.HeapAlloc), kept: kept}
}

// TestAddressesRunOut: a side that cannot address one more row drops it like
// the maxRows gate.
func TestAddressesRunOut(t *testing.T) {
	b := newBench(t, JoinConfig{Within: 1000})
	b.sides[0].arena.limit = 2
	for i := range 10_000 {
		b.feed(0, int64(i/100), "k")
	}
	kept := b.Stats().Rows
	require.Positive(t, b.out.dropped)
	require.Equal(t, int64(10_000), kept+int64(b.out.dropped))
	b.Advance(0, Progress{Seen: 1_000_000})
	b.feed(0, 1_000_000, "k")
	require.Equal(t, int64(1), b.Stats().Rows, "room again")

	b.keys.cells.limit = 0
	before := b.out.dropped
	b.feed(0, 1_000_001, strings.Repeat("another page", 100))
	require.Equal(t, before+1, b.out.dropped)
}
