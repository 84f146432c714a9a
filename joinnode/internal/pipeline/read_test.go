package pipeline

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/script"
)

// readRows returns the rows of a vertex as JSON, by Read.
func readRows(t *testing.T, p *Pipeline, vertex script.Port, names ...string) (rows []string) {
	t.Helper()
	require.NoError(t, p.Read(func(s Snapshot) {
		r, ctx := s.Reader(vertex.Index)
		require.NotNil(t, r)
		require.NotNil(t, ctx)
		r.Read(func(x row.Row) bool {
			rows = append(rows, string(shapeOf(names...).AppendJSON(nil, x)))
			return true
		})
	}))
	return rows
}

// TestReadAlways: before the first row, in between, and after Stop.
func TestReadAlways(t *testing.T) {
	var s sketch
	latest := s.latest("latest", s.input("in", eventTime))
	r := s.run(t)
	require.Empty(t, readRows(t, r.Pipeline, latest, "k", "v"))
	r.put(t, r.at("in", 1, "a", second), r.at("in", 1, "b", 2*second))
	require.Equal(t, []string{`{"k":1,"v":"b"}`}, readRows(t, r.Pipeline, latest, "k", "v"), "what was admitted before")
	require.NoError(t, r.Read(func(s Snapshot) {
		now, known := s.Now()
		require.True(t, known)
		require.Equal(t, epoch+2*second, now)
	}))
	r.put(t, r.at("in", 1, "c", 3*second))
	r.Stop()
	require.Equal(t, []string{`{"k":1,"v":"c"}`}, readRows(t, r.Pipeline, latest, "k", "v"))

	join := begin(t, inner)
	require.ErrorIs(t, join.Read(func(Snapshot) { t.Error("there is nothing to read") }), ErrNoTables)
	join.Stop()
}

// TestReadIsAsOfNow: what is due by then has happened.
func TestReadIsAsOfNow(t *testing.T) {
	var s sketch
	recent := s.recent("recent", 10*second, s.input("in"))
	c := newClock()
	r := s.run(t, c.use)
	r.put(t, r.at("in", 1, "a", 0*second), r.at("in", 2, "b", 5*second))
	r.drain(t)
	c.pass(10*second - 1)
	require.Len(t, readRows(t, r.Pipeline, recent, "k"), 2)
	c.pass(10 * second)
	require.Equal(t, []string{`{"k":2}`}, readRows(t, r.Pipeline, recent, "k"))
	r.Stop()
}

// TestReadFromASink while its results are backed up and callers wait.
func TestReadFromASink(t *testing.T) {
	var s sketch
	table := s.table("t", s.latest("t", s.input("in", eventTime)))
	s.output("t", script.State, table)
	r := s.run(t, func(c *Config) { c.QueueRows, c.BacklogLimit = 2, 1 })
	var read [][]string
	r.onOut = func(string) { read = append(read, readRows(t, r.Pipeline, table, "k", "v")) }
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { r.put(t, r.at("in", 1, "a", second)) })
	}
	wg.Wait()
	r.drain(t)
	require.Equal(t, [][]string{{`{"k":1,"v":"a"}`}}, read)
	r.put(t, r.at("in", 1, "b", 2*second))
	r.Stop() // the sink reads a query that is about to end, or has
	require.Equal(t, []string{`{"k":1,"v":"b"}`}, read[1])
}

// TestReadIsConsistent: what several tables say belongs to one moment, whatever
// producers do meanwhile.
func TestReadIsConsistent(t *testing.T) {
	var s sketch
	in := s.input("in")
	latest := s.dedup("latest", operator.DedupConfig{Keys: 1}, in)
	sums := s.sums("sums", 0, in)
	changes := s.sums("changes", 0, latest)
	r := s.run(t)
	count := func(s Snapshot, vertex script.Port, col int) (rows, total int64) {
		reader, _ := s.Reader(vertex.Index)
		reader.Read(func(x row.Row) bool {
			n, _ := x.Col(col).Int64()
			rows, total = rows+1, total+n
			return true
		})
		return rows, total
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for p := range 3 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					r.put(t, r.at("in", p*7+i%7, 1, nil))
				}
			}
		})
	}
	for i := range 300 {
		require.NoError(t, r.Read(func(s Snapshot) {
			keys, _ := count(s, latest, 0)
			groups, rows := count(s, sums, 1)
			_, sum := count(s, sums, 2)
			one, each := count(s, changes, 1)
			require.Equal(t, keys, groups)
			require.Equal(t, rows, sum)
			require.Equal(t, one, each, "one row a key is all there is")
			require.Equal(t, keys, one)
		}))
		if i%100 == 0 {
			wait(t, r.Mark())
		}
	}
	close(stop)
	wg.Wait()
	r.Stop()
}

// TestReadBesideTheBeginning and the end: readers exclude each other and the loop.
func TestReadBesideTheBeginning(t *testing.T) {
	for range 50 {
		var s sketch
		latest := s.latest("latest", s.input("in", eventTime))
		r := s.run(t)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { readRows(t, r.Pipeline, latest, "k") })
		}
		wg.Go(func() { r.put(t, r.at("in", 1, "a", second)) })
		wg.Wait()
		for range 2 {
			wg.Go(func() { readRows(t, r.Pipeline, latest, "k") })
		}
		wg.Go(r.Stop)
		wg.Wait()
		require.Len(t, readRows(t, r.Pipeline, latest, "k"), 1)
	}
}

// TestReadHoldsTheLoop, not the callers: before the first row as in between.
func TestReadHoldsTheLoop(t *testing.T) {
	var s sketch
	latest := s.latest("latest", s.input("in", eventTime))
	r := s.run(t)
	for before := range 2 {
		begun, admitted := make(chan struct{}), make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			err := r.Read(func(s Snapshot) {
				close(begun)
				<-admitted
				rows := 0
				reader, _ := s.Reader(latest.Index)
				reader.Read(func(row.Row) bool { rows++; return true })
				if rows != before {
					t.Errorf("%d rows, expected %d", rows, before)
				}
			})
			if err != nil {
				t.Error(err)
			}
		})
		wait(t, begun)
		r.put(t, r.at("in", before, "a", second))
		close(admitted)
		wg.Wait()
		r.drain(t)
	}
	r.Stop()
}
