package operator

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// TestRowStoreIsAMap holds the store against a Go map, with rows that change
// their size, keys that are Go values, and rows that are gone but not removed.
func TestRowStoreIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cols := rapid.IntRange(0, 2).Draw(t, "key columns")
		s := newRowStore(cols, rapid.Bool().Draw(t, "timed"))
		var k joinKey
		type kept struct {
			ref  keyRef
			row  row.Row // Enc nil: gone
			mark uint32
		}
		all := map[string]kept{}
		for i := range rapid.IntRange(1, 200).Draw(t, "operations") {
			var r row.Row
			for range cols {
				r = row.Append(r, value.FromGo(rapid.SampledFrom([]any{"a", "b", 1, 1.0, nil, []any{1}, map[string]any{"x": 1}, []byte("a")}).Draw(t, "key")))
			}
			n := rapid.SampledFrom([]int{0, 1, 10, 17, 250, 300, 5000, 9000, 70000}).Draw(t, "length")
			r = row.Append(r, value.OfText(strings.Repeat("v", n)))
			if rapid.IntRange(0, 3).Draw(t, "Go values") == 0 {
				r = row.Append(row.Append(r, value.OfAny([]any{i})), value.OfAny([]any{-i}))
			}
			s.keys.read(&k, r)
			name := string(k.normal())
			ref := s.find(&k)
			had, ok := all[name]
			require.Equal(t, had.ref, ref)
			switch op := rapid.IntRange(0, 5).Draw(t, "operation"); {
			case op == 0 && ok:
				s.remove(ref)
				delete(all, name)
			case op == 1 && ok:
				s.clear(ref)
				had.row = row.Row{}
				all[name] = had
			default:
				at := s.put(&k, ref, r)
				if !ok {
					require.Zero(t, s.mark(at))
				}
				s.setMark(at, had.mark+1)
				all[name] = kept{at, r, had.mark + 1}
			}
			count := int64(0)
			for _, x := range all {
				require.Equal(t, x.mark, s.mark(x.ref))
				got, ok := s.row(x.ref)
				require.Equal(t, x.row.Enc != nil, ok)
				require.Equal(t, x.row.Enc == nil, s.gone(x.ref))
				if ok {
					count++
					require.True(t, sameRow(x.row, got))
				}
			}
			require.Equal(t, count, s.count)
			seen := int64(0)
			s.each(func(ref keyRef, r row.Row) bool {
				s.keys.read(&k, r)
				require.Equal(t, all[string(k.normal())].ref, ref)
				seen++
				return true
			})
			require.Equal(t, count, seen)
		}
		for _, x := range all {
			s.remove(x.ref)
		}
		require.Zero(t, s.count)
		require.Zero(t, s.side.values)
		require.Len(t, s.side.vacant, len(s.side.rows))
		require.LessOrEqual(t, s.keys.cells.used, int64(sizeClasses*pageMin))
	})
}

// TestRowsOfAnotherSizeDoNotLeak replaces rows by longer and shorter ones for
// long: what was theirs serves others.
func TestRowsOfAnotherSizeDoNotLeak(t *testing.T) {
	const keys, rounds = 1000, 60
	d := newDedupBench(t, DedupConfig{Keys: 1, TTL: 1 << 40})
	d.Advance(1, Progress{})
	rnd := rand.New(rand.NewPCG(1, 2))
	texts := names(keys)
	var early int64
	for i := range keys * rounds {
		d.feed(int64(i), texts[rnd.IntN(keys)], strings.Repeat("v", rnd.IntN(600)))
		if i == 10*keys {
			early = d.Stats().Bytes
		}
	}
	require.Equal(t, int64(keys), d.Stats().Keys)
	require.Less(t, float64(d.Stats().Bytes), 1.2*float64(early))
	d.Advance(1, Progress{Seen: 1 << 50, Low: 1 << 50})
	d.EndStep()
	require.Zero(t, d.Stats().Rows)
	require.LessOrEqual(t, d.state.rows.keys.cells.used, int64(sizeClasses*pageMin))
	require.LessOrEqual(t, cap(d.state.ttl.heap), 64)
}

// dedupBench is a Dedup of rows (key, time, text) with what a test needs to feed
// it.
type dedupBench struct {
	*Dedup
	out tally
	row row.Row
}

func newDedupBench(t testing.TB, cfg DedupConfig) *dedupBench {
	d := &dedupBench{}
	cfg.Order = []OrderKey{{Col: cfg.Keys, Desc: true}}
	var err error
	d.Dedup, err = NewDedup(cfg, &d.out)
	require.NoError(t, err)
	return d
}

func (d *dedupBench) record(ts int64, key, text string) Record {
	d.row = row.Append(row.Row{Enc: d.row.Enc[:0]}, value.OfText(key))
	d.row = row.Append(row.Append(d.row, value.OfInt(ts)), value.OfText(text))
	return Record{TS: ts, Diff: 1, Row: d.row}
}

func (d *dedupBench) feed(ts int64, key, text string) {
	d.Process(0, d.record(ts, key, text))
	d.EndStep()
}

// TestStateOfAKey holds a key's state to its budget, as reported and as the heap
// has it.
func TestStateOfAKey(t *testing.T) {
	const n, budget = 1_000_000, 120
	if raceEnabled {
		t.Skip("a million keys")
	}
	keys := names(n)
	payload := strings.Repeat("v", 20)
	for _, ttl := range []int64{0, 1 << 50} {
		own := int64(0)
		grown := heapGrowth(func() any {
			d := newDedupBench(t, DedupConfig{Keys: 1, TTL: ttl})
			for i, key := range keys {
				d.feed(int64(i), key, payload)
				own += int64(len(d.row.Enc))
			}
			for i := 0; i < n; i += 10 { // rows that move
				d.feed(int64(n+i), keys[i], payload+payload)
				own += int64(len(payload))
			}
			return d
		})
		st := grown.kept.(*dedupBench).Stats()
		require.Equal(t, int64(n), st.Keys)
		t.Logf("STATETTL %t: %.1f B a key over its row's own %.1f", ttl > 0, float64(grown.bytes-own)/n, float64(own)/n)
		require.LessOrEqual(t, (grown.bytes-own)/n, int64(budget))
		require.InEpsilon(t, grown.bytes, st.Bytes, 0.1)
		runtime.KeepAlive(grown.kept)
	}
	runtime.KeepAlive(keys)
}

func TestTablesAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const keys = 2000
	texts := names(keys)
	payload := strings.Repeat("v", 60)
	for name, cfg := range map[string]DedupConfig{
		"plain":    {Keys: 1},
		"history":  {Keys: 1, History: true},
		"STATETTL": {Keys: 1, TTL: keys / 2},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDedupBench(t, cfg)
			var table tally
			tables, err := NewTable(TableConfig{Keys: 1, Keep: true, TTL: cfg.TTL}, &table)
			require.NoError(t, err)
			var added tally
			stream, err := NewStreamOn(StreamOnConfig{On: Updated, Keys: 1}, &added)
			require.NoError(t, err)
			d.Dedup.out = fork{tables, stream}
			rnd := rand.New(rand.NewPCG(3, 4))
			i := int64(1 << 20)
			feed := func() {
				i++
				p := Progress{Seen: i, Low: i}
				d.Advance(0, p)
				tables.Advance(0, p)
				if cfg.TTL > 0 {
					d.Advance(1, p)
					tables.Advance(1, p)
				}
				d.feed(i-int64(rnd.IntN(100)), texts[rnd.IntN(keys)], payload[:30+rnd.IntN(30)])
				tables.EndStep()
				stream.EndStep()
			}
			for range 20 * keys {
				feed()
			}
			require.Greater(t, table.emitted, keys)
			require.Greater(t, added.emitted, keys)
			require.Less(t, testing.AllocsPerRun(4*keys, feed), 0.01)
		})
	}
}

// fork is an Output that gives records to two operators.
type fork [2]Operator

func (f fork) Emit(rec Record) {
	for _, op := range f {
		op.Process(0, rec)
	}
}
func (f fork) Advance(Progress)               {}
func (f fork) Drop(int, Record, Reason, bool) {}

// TestValuesOfReplacedRowsAreCollected: neither the state nor the memory of a
// step holds on to the Go values of rows that have left.
func TestValuesOfReplacedRowsAreCollected(t *testing.T) {
	var out tally
	table, err := NewTable(TableConfig{Keys: 1, Keep: true}, &out)
	require.NoError(t, err)
	d, err := NewDedup(DedupConfig{Keys: 1, TTL: 10}, fork{table, table})
	require.NoError(t, err)
	d.Advance(1, Progress{})
	var values []weak.Pointer[[64]int]
	func() {
		for i := range 12 {
			for n := range 1 + i%3 {
				v := &[64]int{i, n}
				values = append(values, weak.Make(v))
				r := row.Append(row.Row{}, value.OfInt(int64(i%4)))
				d.Process(0, Record{TS: int64(i), Diff: 1, Row: row.Append(row.Append(r, value.OfAny(v)), value.OfAny(&v[0]))})
			}
			d.EndStep()
			table.EndStep()
		}
	}()
	d.Advance(1, Progress{Seen: 1000})
	d.EndStep()
	table.EndStep()
	require.Equal(t, int64(0), table.Stats().Rows)
	runtime.GC()
	for i, v := range values {
		require.Nil(t, v.Value(), "value %d", i)
	}
	runtime.KeepAlive(d)
	runtime.KeepAlive(table)
}

// TestRowsRunOutOfAddresses: what cannot be addressed is dropped like a row above
// maxRows.
func TestRowsRunOutOfAddresses(t *testing.T) {
	d := newDedupBench(t, DedupConfig{Keys: 1})
	d.state.rows.keys.cells.limit = 2
	for i, key := range names(1000) {
		d.feed(int64(i), key, "")
	}
	require.Positive(t, d.out.dropped)
	require.Equal(t, int64(1000), d.Stats().Keys+int64(d.out.dropped))

	var out tally
	table, err := NewTable(TableConfig{Keys: 1, Keep: true}, &out)
	require.NoError(t, err)
	table.state.rows.keys.cells.limit = -1
	table.Process(0, d.record(1, "key", ""))
	table.EndStep()
	require.Equal(t, tally{dropped: 1}, out)
}

// BenchmarkDedup updates random keys of a million, and does the same on a bare Go
// map.
func BenchmarkDedup(b *testing.B) {
	const n = 1_000_000
	keys := names(n)
	payload := strings.Repeat("v", 20)
	order := rand.New(rand.NewPCG(5, 6)).Perm(n)
	b.Run("map", func(b *testing.B) {
		type entry struct {
			ts  int64
			row []byte
		}
		m := map[string]entry{}
		var d dedupBench
		feed := func(i int, key string) {
			rec := d.record(int64(i), key, payload)
			text, _, _ := row.FirstText(rec.Row.Enc)
			e, ok := m[string(text)]
			if ok && e.ts > rec.TS {
				return
			}
			e.ts, e.row = rec.TS, append(e.row[:0], rec.Row.Enc...)
			if ok {
				m[string(text)] = e
			} else {
				m[strings.Clone(string(text))] = e
			}
		}
		for i := range n {
			feed(i, keys[i])
		}
		b.ReportAllocs()
		b.ResetTimer()
		for i := range b.N {
			feed(n+i, keys[order[i%n]])
		}
	})
	for _, ttl := range []int64{0, 1 << 50} {
		b.Run(fmt.Sprintf("Dedup, STATETTL %t", ttl > 0), func(b *testing.B) {
			d := newDedupBench(b, DedupConfig{Keys: 1, TTL: ttl})
			for i := range n {
				d.feed(int64(i), keys[i], payload)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				d.feed(int64(n+i), keys[order[i%n]], payload)
			}
			b.StopTimer()
			b.ReportMetric(float64(d.Stats().Bytes)/n, "B/key")
		})
	}
	b.Run("Dedup, shown before", func(b *testing.B) {
		d := newDedupBench(b, DedupConfig{Keys: 1})
		for i := range n {
			d.feed(int64(i), keys[i], payload)
		}
		batch := make([]Arrival, aheadRows)
		b.ReportAllocs()
		b.ResetTimer()
		for i := range b.N {
			if i%aheadRows == 0 {
				for k := range batch {
					d.row = row.Row{Enc: batch[k].Record.Row.Enc}
					batch[k].Record = d.record(int64(n+i+k), keys[order[(i+k)%n]], payload)
				}
				d.Prefetch(batch)
			}
			d.Process(0, batch[i%aheadRows].Record)
			d.EndStep()
		}
	})
}
