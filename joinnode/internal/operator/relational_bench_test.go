package operator

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// relationalBench is a join of orders (user, id, amount) and users (user,
// country) with what a test needs to feed it.
type relationalBench struct {
	*RelationalJoin
	out  tally
	row  row.Row
	text []byte
}

func newRelationalBench(t testing.TB, left bool, ttl int64) *relationalBench {
	b := &relationalBench{}
	var err error
	b.RelationalJoin, err = NewRelationalJoin(RelationalJoinConfig{
		Keys: [2]int{1, 1}, Keep: [2]int{3, 2}, Left: left, TTL: ttl,
		Out: []OutCol{{0, 1}, {0, 2}, {1, 1}},
	}, &b.out)
	require.NoError(t, err)
	return b
}

func (b *relationalBench) order(diff int8, user string, id int) {
	b.begin(user)
	b.row = row.Append(b.row, value.OfInt(int64(id)))
	b.row = row.Append(b.row, value.OfNumber(reading))
	b.Process(0, Record{TS: int64(id), Diff: diff, Row: b.row})
}

func (b *relationalBench) user(diff int8, user, country string) {
	b.begin(user)
	b.row = row.Append(b.row, value.OfText(country))
	b.Process(1, Record{TS: 1, Diff: diff, Row: b.row})
}

func (b *relationalBench) begin(user string) {
	b.text = append(b.text[:0], user...)
	b.row = row.Append(row.Row{Enc: b.row.Enc[:0]}, value.OfBytes(b.text, true))
}

func (b *relationalBench) move(user string, i int) {
	countries := [2]string{"DE", "US"}
	b.user(-1, user, countries[i%2])
	b.user(1, user, countries[1-i%2])
	b.EndStep()
}

// BenchmarkRelationalJoin replaces one of many orders by another, with one user
// each: two changes, two pairs.
func BenchmarkRelationalJoin(b *testing.B) {
	for _, orders := range []int{10_000, 1_000_000} {
		for _, kind := range []string{"inner", "left", "left with TTL"} {
			b.Run(fmt.Sprintf("%d orders %s", orders, kind), func(b *testing.B) {
				var ttl int64
				if kind == "left with TTL" {
					ttl = 1 << 40
				}
				j := newRelationalBench(b, kind != "inner", ttl)
				j.fill(orders, orders/10)
				users := names(orders / 10)
				b.ReportAllocs()
				b.ResetTimer()
				for i := range b.N {
					j.order(-1, users[i%len(users)], i)
					j.order(1, users[i%len(users)], i+orders)
					j.EndStep()
				}
				b.StopTimer()
				st := j.Stats()
				b.ReportMetric(float64(st.Bytes)/float64(st.Rows), "B/row")
			})
		}
	}
}

// BenchmarkRelationalJoinFanOut changes a user of so many orders; the time is
// that of an order.
func BenchmarkRelationalJoinFanOut(b *testing.B) {
	for _, orders := range []int{1, 10, 1000, 100_000} {
		b.Run(fmt.Sprintf("%d orders a user", orders), func(b *testing.B) {
			j := newRelationalBench(b, true, 0)
			j.fill(orders, 1)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				j.move("device-00000", i)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*orders), "ns/order")
		})
	}
}

// fill brings orders, in turn of so many users.
func (b *relationalBench) fill(orders, users int) {
	all := names(users)
	for _, u := range all {
		b.user(1, u, "DE")
		b.EndStep()
	}
	for i := range orders {
		b.order(1, all[i%users], i)
		b.EndStep()
	}
}

// TestRelationalJoinRemovesFromAHotKey: what a retraction costs does not grow
// with its key's rows.
func TestRelationalJoinRemovesFromAHotKey(t *testing.T) {
	const n = 100_000
	j := newRelationalBench(t, true, 0)
	j.fill(n, 1)
	before := j.Stats().Visited
	for i := range n {
		j.order(-1, "device-00000", (i*7919)%n)
		j.EndStep()
	}
	require.Equal(t, int64(1), j.Stats().Rows)
	require.Equal(t, int64(n), j.Stats().Visited-before, "each visits its user")
	require.Equal(t, 2*n, j.out.emitted)
	j.user(-1, "device-00000", "DE")
	j.EndStep()
	require.Zero(t, j.Stats().Rows)
	require.Zero(t, j.keys.cells.used-int64(pageMin), "keys")
	for _, b := range j.bags {
		require.LessOrEqual(t, b.cells.used, int64(sizeClasses*pageMin))
		require.LessOrEqual(t, b.slots, int64(len(b.shards)*slotsMin))
	}
}

func TestRelationalJoinAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, ttl := range []int64{0, 1 << 40} {
		for _, fan := range []int{1, 100} {
			j := newRelationalBench(t, true, ttl)
			users := names(1000)
			j.fill(1000*fan, 1000)
			i := 0
			step := func() {
				i++
				j.order(-1, users[i%1000], i)
				j.order(1, users[i%1000], i+1000*fan)
				j.EndStep()
				j.move(users[i%1000], i/1000)
			}
			for range 4000 {
				step()
			}
			require.Less(t, testing.AllocsPerRun(2000, step), 0.05, "fan-out %d", fan)
		}
	}
}

// TestRelationalJoinStateOfARow holds a row to its budget over its own bytes, as
// reported and as the heap has it: also where each has a key to itself, without
// a partner that would share the key's cell.
func TestRelationalJoinStateOfARow(t *testing.T) {
	const n = 500_000
	if raceEnabled {
		t.Skip("half a million rows")
	}
	for users, budget := range map[int]float64{n: 130, n / 100: 75} {
		var reported int64
		own := 0
		grown := heapGrowth(func() any {
			j := newRelationalBench(t, true, 0)
			all := names(users)
			for i := range n {
				j.order(1, all[i%users], i)
				j.EndStep()
				own += len(j.row.Enc)
			}
			reported = j.Stats().Bytes
			return j
		})
		over := float64(reported-int64(own)) / n
		t.Logf("%d users: %.0f B over the row's %d", users, over, own/n)
		require.Less(t, over, budget)
		require.InEpsilon(t, float64(grown.bytes), float64(reported), 0.1)
	}
}

func TestRelationalJoinHoldsNoGoneValues(t *testing.T) {
	j := newRelationalBench(t, true, 0)
	for i := range 100 {
		for _, diff := range []int8{1, -1} {
			r := row.Append(row.Append(encodedKey("k"), value.OfAny(map[string]any{"i": i})), value.OfAny([]any{i}))
			j.Process(0, Record{TS: 1, Diff: diff, Row: r})
			j.EndStep()
		}
	}
	require.Equal(t, 200, j.out.emitted)
	require.Zero(t, j.Stats().Rows)
	require.Zero(t, j.bags[0].side.values)
	require.Len(t, j.bags[0].side.rows, 1)
	requireNoValues := func(values []any) {
		for _, v := range values[:cap(values)] {
			require.Nil(t, v)
		}
	}
	requireNoValues(j.bags[0].taken.Side)
	requireNoValues(j.compose.out.Side)
	requireNoValues(j.net.side)
}

func encodedKey(key string) row.Row { return row.Append(row.Row{}, value.OfText(key)) }
