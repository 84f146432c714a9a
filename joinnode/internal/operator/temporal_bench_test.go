package operator

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// temporalBench feeds a TemporalJoin of rows (key, number, number) as the
// pipeline does: one record a step, every port at the record's time.
type temporalBench struct {
	*TemporalJoin
	out tally
	row row.Row
	ts  int64
}

func newTemporalBench(t testing.TB, left bool) *temporalBench {
	b := &temporalBench{}
	var err error
	b.TemporalJoin, err = NewTemporalJoin(TemporalJoinConfig{Keys: [2]int{1, 1}, Keep: [2]int{3, 3}, Left: left,
		Out: []OutCol{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}}}, &b.out)
	require.NoError(t, err)
	return b
}

// encode makes b.row the row of a key.
func (b *temporalBench) encode(key []byte, n int64) {
	b.row = row.Append(row.Row{Enc: b.row.Enc[:0]}, value.OfBytes(key, true))
	b.row = row.Append(b.row, value.OfNumber(reading))
	b.row = row.Append(b.row, value.OfInt(n))
}

// feed is one step: a record comes to port, and both ports to its time.
func (b *temporalBench) feed(port int, rec Record) {
	b.Advance(0, Progress{Seen: rec.TS, Low: rec.TS})
	b.Advance(1, Progress{Seen: rec.TS, Low: rec.TS})
	b.Process(port, rec)
	b.EndStep()
}

func (b *temporalBench) next(port int, key []byte) {
	b.ts++
	b.encode(key, b.ts)
	b.feed(port, Record{TS: b.ts, Diff: 1, Row: b.row})
}

// bareMap does the same with a Go map, and no history, order or lateness.
type bareMap struct {
	rows map[string]bareVersion
	out  []byte
}

type bareVersion struct {
	ts  int64
	row []byte
}

func (m *bareMap) update(key []byte, ts int64, r []byte) {
	v, ok := m.rows[string(key)]
	v.ts, v.row = ts, append(v.row[:0], r...)
	if ok {
		m.rows[string(key)] = v
		return
	}
	m.rows[string(key)] = v
}

func (m *bareMap) lookup(key []byte, ts int64, r []byte) bool {
	v, ok := m.rows[string(key)]
	if !ok || v.ts > ts {
		return false
	}
	m.out = append(append(m.out[:0], r...), v.row...)
	return true
}

// BenchmarkTemporalJoin has 100,000 keys, random ones being updated or looked up.
func BenchmarkTemporalJoin(b *testing.B) {
	const n = 100_000
	keys := make([][]byte, n)
	for i, name := range names(n) {
		keys[i] = []byte(name)
	}
	order := make([]int32, 1<<20)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range order {
		order[i] = rnd.Int32N(n)
	}
	batch := make([]Arrival, 16)
	ahead := func(j *temporalBench, batch []Arrival, from int) {
		for i := range batch {
			r := &batch[i].Record.Row
			*r = row.Append(row.Row{Enc: r.Enc[:0]}, value.OfBytes(keys[order[(from+i)&(len(order)-1)]], true))
		}
		j.Prefetch(batch)
	}
	for _, updates := range []int{0, 8, 16} {
		b.Run(fmt.Sprintf("%d updates of 16/join", updates), func(b *testing.B) {
			j := newTemporalBench(b, false)
			for _, key := range keys {
				j.next(1, key)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if i%len(batch) == 0 {
					ahead(j, batch, i)
				}
				port := 0
				if i%16 < updates {
					port = 1
				}
				j.next(port, keys[order[i&(len(order)-1)]])
			}
			b.StopTimer()
			b.ReportMetric(float64(j.Stats().Bytes)/n, "B/key")
		})
		b.Run(fmt.Sprintf("%d updates of 16/map", updates), func(b *testing.B) {
			m := &bareMap{rows: map[string]bareVersion{}}
			var j temporalBench
			ts, found := int64(0), 0
			for _, key := range keys {
				ts++
				j.encode(key, ts)
				m.update(key, ts, j.row.Enc)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				ts++
				key := keys[order[i&(len(order)-1)]]
				j.encode(key, ts)
				if i%16 < updates {
					m.update(key, ts, j.row.Enc)
				} else if m.lookup(key, ts, j.row.Enc) {
					found++
				}
			}
		})
	}
}
