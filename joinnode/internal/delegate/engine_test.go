package delegate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rulego/streamsql"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/streamjoin/streamjoin/joinnode/internal/delegate"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type row = map[string]any

func compile(sql string) (*delegate.Plan, error) {
	stmt, err := syntax.Parse(sql)
	if err != nil {
		return nil, err
	}
	return delegate.Compile(stmt, sql)
}

type result struct {
	rows []row
	end  int64
}

// run feeds rows and returns the results that had arrived when Stop returned.
func run(t testing.TB, sql string, rows []row, config ...delegate.Config) ([]result, *delegate.Engine) {
	t.Helper()
	p, err := compile(sql)
	require.NoError(t, err)
	cfg := delegate.Config{}
	if len(config) > 0 {
		cfg = config[0]
	}
	e, err := delegate.Open(p, cfg)
	require.NoError(t, err)
	var out []result
	e.AddSink(func(rows []row, end int64) { out = append(out, result{rows, end}) })
	for _, r := range rows {
		require.NoError(t, e.Emit(r))
	}
	e.Stop()
	return out, e
}

// flat returns the rows of all results without streamsql's window_id.
func flat(results []result) []row {
	var out []row
	for _, r := range results {
		for _, x := range r.rows {
			delete(x, "window_id")
			out = append(out, x)
		}
	}
	return out
}

// theirs runs the same on streamsql alone, waiting for at most wait.
func theirs(t testing.TB, sql string, rows []row, wait time.Duration, want int) []row {
	t.Helper()
	s := streamsql.New(streamsql.WithDiscardLog())
	require.NoError(t, s.Execute(sql))
	defer s.Stop()
	ch := make(chan []row, 10_000)
	s.AddSyncSink(func(r []row) { ch <- r })
	for _, r := range rows {
		s.Emit(r)
	}
	var out []row
	deadline := time.After(wait)
	for len(out) < want {
		select {
		case r := <-ch:
			for _, x := range r {
				delete(x, "window_id")
				out = append(out, x)
			}
		case <-deadline:
			return out
		}
	}
	return out
}

func seq(n int, f func(i int) row) []row {
	rows := make([]row, n)
	for i := range rows {
		rows[i] = f(i)
	}
	return rows
}

// streamsql's AddSink hands results to a pool of workers; and its Stop forgets
// what is queued. Ours come in order, all of them, before Stop returns.
func TestDirectResultsInOrderAndAllBeforeStop(t *testing.T) {
	const n = 20_000
	out, e := run(t, "SELECT i FROM s WHERE i >= 0", seq(n, func(i int) row { return row{"i": i} }))
	require.Len(t, out, n)
	for i, r := range out {
		require.Equal(t, i, r.rows[0]["i"])
	}
	require.EqualValues(t, n, e.GetStats()["input_count"])
	require.EqualValues(t, n, e.GetStats()["output_count"])

	s := streamsql.New(streamsql.WithDiscardLog())
	require.NoError(t, s.Execute("SELECT i FROM s WHERE i >= 0"))
	var got atomic.Int64
	s.AddSyncSink(func([]row) { got.Add(1) })
	for i := range n {
		s.Emit(row{"i": i})
	}
	s.Stop()
	require.Less(t, got.Load(), int64(n), "streamsql alone drops rows")
}

// The queue of streamsql's windows overflows when the aggregation is slower
// than the rows.
func TestCountingWindowLosesNothing(t *testing.T) {
	const n = 60_000
	rows := seq(n, func(int) row { return row{"a": 1.0} })
	sql := "SELECT sum(a) AS x FROM s GROUP BY CountingWindow(2)"
	sum := func(rows []row) (total float64) {
		for _, r := range rows {
			total += r["x"].(float64)
		}
		return total
	}
	out, _ := run(t, sql, rows)
	require.Equal(t, float64(n), sum(flat(out)))
	require.Less(t, sum(theirs(t, sql, rows, time.Second, n/2)), float64(n), "streamsql alone loses results")
}

func TestStopFlushesOpenWindows(t *testing.T) {
	rows := seq(5, func(i int) row { return row{"a": 1.0, "k": "k", "ts": 1_700_000_000_000 + 1000*i} })
	for _, c := range []struct {
		window string
		want   []float64
		left   int64
	}{
		{"TumblingWindow('2s')", []float64{2, 2, 1}, 0},
		{"TumblingWindow('1h')", []float64{5}, 0},
		{"SlidingWindow('4s', '2s')", []float64{4, 3, 1}, 0},
		{"SessionWindow('3s')", []float64{5}, 0},
	} {
		for _, with := range []string{"", " WITH (TIMESTAMP='ts')"} {
			sql := "SELECT sum(a) AS x FROM s GROUP BY " + c.window + with
			out, e := run(t, sql, rows)
			var got []float64
			total := 0.0
			for _, r := range out {
				require.NotZero(t, r.end, "the window end is known")
				got = append(got, r.rows[0]["x"].(float64))
				total += r.rows[0]["x"].(float64)
			}
			if with != "" {
				require.Equal(t, c.want, got, sql)
			} else {
				require.GreaterOrEqual(t, total, 5.0, sql)
			}
			require.Zero(t, e.GetStats()["late_dropped"])
		}
		require.Empty(t, theirs(t, "SELECT sum(a) AS x FROM s GROUP BY "+c.window, rows, 20*time.Millisecond, 1), "streamsql alone forgets them")
	}
	// Windows without an end in time give nothing for rows that do not fill them.
	for _, window := range []string{"CountingWindow(2)", "GLOBAL WINDOW TRIGGER WHEN count(*) >= 2"} {
		out, e := run(t, "SELECT sum(a) AS x FROM s GROUP BY "+window, rows)
		require.Len(t, out, 2)
		require.EqualValues(t, 1, e.GetStats()["window_rows_unfinished"], "but say so")
	}
}

func TestWindowEnd(t *testing.T) {
	out, _ := run(t, "SELECT k, window_end() AS we, sum(a) AS x FROM s GROUP BY k, TumblingWindow('10s') WITH (TIMESTAMP='ts')",
		[]row{{"k": 1, "a": 1.0, "ts": 1_700_000_003_000}, {"k": 2, "a": 1.0, "ts": 1_700_000_004_000}})
	require.Len(t, out, 1, "one result per window")
	require.Len(t, out[0].rows, 2)
	require.EqualValues(t, 1_700_000_010_000_000_000, out[0].end)
	require.Equal(t, out[0].end, out[0].rows[0]["we"])
}

// Without TIMEUNIT streamsql drops every row of a window in event time; with a
// second option in WITH it forgets the first; a unit of 'us' is taken for ms.
func TestEventTimeOptions(t *testing.T) {
	const base = 1_700_000_000
	for _, c := range []struct {
		with string
		ts   func(sec int) any
	}{
		{"TIMESTAMP='ts'", func(s int) any { return (base + s) * 1000 }},
		{"TIMESTAMP='ts'", func(s int) any { return float64(base + s) }},
		{"TIMESTAMP='ts'", func(s int) any { return json.Number(fmt.Sprint((base + s) * 1000)) }},
		{"TIMESTAMP='ts'", func(s int) any { return time.Unix(int64(base+s), 0) }},
		{"TIMESTAMP='ts'", func(s int) any { return time.Unix(int64(base+s), 0).UTC().Format(time.RFC3339) }},
		{"TIMESTAMP='ts', TIMEUNIT='us'", func(s int) any { return (base + s) * 1_000_000 }},
		{"TIMEUNIT='ss', TIMESTAMP='ts'", func(s int) any { return base + s }},
		{"TIMESTAMP='p.ts[0]', MAXOUTOFORDERNESS='1s'", func(s int) any { return (base + s) * 1000 }},
	} {
		rows := seq(4, func(i int) row { ts := c.ts(i); return row{"a": 1.0, "ts": ts, "p": row{"ts": []any{ts}}} })
		out, e := run(t, "SELECT sum(a) AS x FROM s GROUP BY TumblingWindow('2s') WITH ("+c.with+")", rows)
		require.Len(t, out, 2, "%s: %v", c.with, e.GetStats())
		require.EqualValues(t, (base+2)*int64(time.Second), out[0].end, c.with)
		require.Equal(t, 2.0, out[1].rows[0]["x"])
	}
	// streamsql does not look at a WITH behind ORDER BY: the query runs by the clock.
	rows := append(seq(4, func(i int) row { return row{"a": 1.0, "ts": (base + i) * 1000} }), row{"a": 1.0, "ts": (base + 100) * 1000})
	last := "SELECT sum(a) AS x FROM s GROUP BY TumblingWindow('2s') ORDER BY x WITH (TIMESTAMP='ts', TIMEUNIT='ms')"
	out, _ := run(t, last, rows)
	require.Len(t, out, 3)
	require.Empty(t, theirs(t, last, rows, 300*time.Millisecond, 1))
	require.Empty(t, theirs(t, "SELECT sum(a) AS x FROM s GROUP BY TumblingWindow('2s') WITH (TIMESTAMP='ts')", rows, 300*time.Millisecond, 1))
}

func TestBadTimestampsAreCounted(t *testing.T) {
	const base = 1_700_000_000_000
	out, e := run(t, "SELECT count(*) AS n FROM s GROUP BY TumblingWindow('1s') WITH (TIMESTAMP='ts')",
		[]row{{"ts": base}, {"ts": "soon"}, {}, {"ts": -1}, {"ts": time.Now().Add(25 * time.Hour)}, {"ts": base + 5000}, {"ts": base + 1}})
	require.Len(t, out, 2)
	stats := e.GetStats()
	require.EqualValues(t, 3, stats["bad_timestamp"])
	require.EqualValues(t, 1, stats["future_timestamp"])
	require.EqualValues(t, 5, stats["late_dropped"], "those and the late one")
}

// Rows that are early by less than MAXOUTOFORDERNESS count, also when their
// window is before the first row's.
func TestOutOfOrderBeforeTheFirstWindow(t *testing.T) {
	const base = 1_700_000_000_000
	out, _ := run(t, "SELECT sum(a) AS x FROM s GROUP BY TumblingWindow('1s') WITH (TIMESTAMP='ts', MAXOUTOFORDERNESS='5s')",
		[]row{{"a": 1.0, "ts": base + 2000}, {"a": 2.0, "ts": base}, {"a": 4.0, "ts": base + 9000}})
	require.Equal(t, []row{{"x": 2.0}, {"x": 1.0}, {"x": 4.0}}, flat(out))
}

func open(t testing.TB, sql string, cfg delegate.Config) *delegate.Engine {
	t.Helper()
	p, err := compile(sql)
	require.NoError(t, err)
	e, err := delegate.Open(p, cfg)
	require.NoError(t, err)
	return e
}

func TestProcessingTimeWindowsFireByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := open(t, "SELECT sum(a) AS x FROM s GROUP BY TumblingWindow('10s')", delegate.Config{})
		var end atomic.Int64
		e.AddSink(func(_ []row, e int64) { end.Store(e) })
		require.NoError(t, e.Emit(row{"a": 1.0}))
		synctest.Wait()
		require.Zero(t, end.Load())
		start := time.Now()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Greater(t, end.Load(), start.UnixNano())
		require.LessOrEqual(t, end.Load(), time.Now().UnixNano())
		e.Stop()
	})
}

func TestIdleTimeoutClosesWindows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := open(t, "SELECT sum(a) AS x FROM s GROUP BY TumblingWindow('1s') WITH (TIMESTAMP='ts', IDLETIMEOUT='5s')", delegate.Config{})
		var got atomic.Int64
		e.AddSink(func([]row, int64) { got.Add(1) })
		require.NoError(t, e.Emit(row{"a": 1.0, "ts": time.Now()}))
		time.Sleep(5*time.Second - time.Millisecond)
		synctest.Wait()
		require.Zero(t, got.Load())
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		require.EqualValues(t, 1, got.Load())
		e.Stop()
	})
}

func TestDrainLeavesWindowsOpen(t *testing.T) {
	e := open(t, "SELECT sum(a) AS x FROM s WHERE a > 0 GROUP BY CountingWindow(3)", delegate.Config{})
	var got []result
	e.AddSink(func(rows []row, end int64) { got = append(got, result{rows, end}) })
	for range 5 {
		require.NoError(t, e.Emit(row{"a": 1.0}))
	}
	require.NoError(t, e.Drain(t.Context()))
	require.Len(t, got, 1)
	require.NoError(t, e.Emit(row{"a": 1.0}))
	require.NoError(t, e.Drain(t.Context()))
	require.Len(t, got, 2)
	require.EqualValues(t, 6, e.GetStats()["input_count"], "barriers are not counted")
	e.Stop()
	require.NoError(t, e.Drain(t.Context()))
	require.ErrorIs(t, e.Emit(row{}), delegate.ErrStopped)
	e.Stop()
}

func TestTriggerWindow(t *testing.T) {
	e := open(t, "SELECT sum(a) AS x FROM s GROUP BY TumblingWindow('1h')", delegate.Config{})
	var got []result
	e.AddSink(func(rows []row, end int64) { got = append(got, result{rows, end}) })
	require.NoError(t, e.Emit(row{"a": 1.0}))
	e.TriggerWindow()
	require.NoError(t, e.Emit(row{"a": 2.0}))
	e.Stop()
	require.Equal(t, []row{{"x": 1.0}, {"x": 2.0}}, flat(got))
}

func TestPatterns(t *testing.T) {
	sql := "SELECT * FROM s MATCH_RECOGNIZE (ORDER BY i MEASURES FIRST(A.i) AS first, LAST(A.i) AS last PATTERN (A+) DEFINE A AS a > 0) WHERE a < 5"
	out, e := run(t, sql, []row{{"i": 1, "a": 1}, {"i": 2, "a": 9}, {"i": 3, "a": 2}})
	require.True(t, e.IsCEPQuery())
	require.Equal(t, []row{{"first": 1, "last": 3}}, flat(out), "the open match leaves at Stop, and WHERE holds")
}

func TestRowsAreCopied(t *testing.T) {
	e := open(t, "SELECT o.x AS x FROM s", delegate.Config{})
	gate := make(chan struct{})
	var got []any
	e.AddSink(func(rows []row, _ int64) { <-gate; got = append(got, rows[0]["x"]) })
	r := row{"o": row{"x": 1}}
	require.NoError(t, e.Emit(r))
	require.NoError(t, e.Emit(r))
	r["o"].(row)["x"] = 2
	close(gate)
	e.Stop()
	require.Equal(t, []any{1, 1}, got)
}

func TestOverflow(t *testing.T) {
	for _, drop := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			e := open(t, "SELECT i FROM s", delegate.Config{QueueSize: 2, Drop: drop, BlockTimeout: time.Second})
			gate := make(chan struct{})
			var got []any
			e.AddSink(func(rows []row, _ int64) { <-gate; got = append(got, rows[0]["i"]) })
			var last error
			for i := range 4 { // one in the sink, two wait
				last = e.Emit(row{"i": i})
				synctest.Wait()
			}
			if drop {
				require.NoError(t, last)
			} else {
				require.ErrorIs(t, last, delegate.ErrOverflow)
			}
			require.EqualValues(t, 1, e.GetStats()["input_dropped_count"])
			close(gate)
			e.Stop()
			require.Equal(t, []any{0, 1, 2}, got)
		})
	}
}

func TestSinkPanicsAndCloses(t *testing.T) {
	e := open(t, "SELECT i FROM s", delegate.Config{})
	var got []any
	e.AddSink(func([]row, int64) { panic("no") })
	e.AddSink(func(rows []row, _ int64) {
		got = append(got, rows[0]["i"])
		e.Close() // from a sink
	})
	require.NoError(t, e.Emit(row{"i": 1}))
	<-e.Done()
	require.Equal(t, []any{1}, got)
	require.EqualValues(t, 1, e.GetStats()["sink_panics"])
}

// Close from a sink does not wait for callers that wait for the sink.
func TestCloseFromSinkOverAFullQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := open(t, "SELECT i FROM s", delegate.Config{QueueSize: 1})
		gate := make(chan struct{})
		n := 0
		e.AddSink(func([]row, int64) { <-gate; n++; e.Close() })
		require.NoError(t, e.Emit(row{"i": 0}))
		synctest.Wait()
		require.NoError(t, e.Emit(row{"i": 1}))
		start := time.Now()
		blocked := make(chan error)
		go func() { blocked <- e.Emit(row{"i": 2}) }()
		synctest.Wait()
		close(gate)
		require.ErrorIs(t, <-blocked, delegate.ErrStopped)
		<-e.Done()
		require.Equal(t, 2, n, "what was accepted is processed")
		require.Equal(t, start, time.Now(), "without waiting for a timeout")
	})
}

func TestToChannelLosesNothing(t *testing.T) {
	const n = 3000 // more than its places
	e := open(t, "SELECT i FROM s", delegate.Config{})
	ch := e.ToChannel()
	go func() {
		for i := range n {
			if err := e.Emit(row{"i": i}); err != nil {
				t.Error(err)
			}
		}
		e.Close()
	}()
	for i := range n {
		require.Equal(t, i, (<-ch)[0]["i"])
		runtime.Gosched()
	}
	<-e.Done()
}

// One window may have more groups than streamsql keeps by default.
func TestManyGroups(t *testing.T) {
	const n = 10_050
	out, e := run(t, "SELECT k, count(*) AS n FROM s GROUP BY k, TumblingWindow('1h') WITH (TIMESTAMP='ts')",
		seq(n, func(i int) row { return row{"k": i, "ts": 1_700_000_000} }))
	require.Len(t, out, 1)
	require.Len(t, out[0].rows, n)
	require.Zero(t, e.GetStats()["group_evicted_count"])
}

func TestManyResultsRaiseNoFalseAlarm(t *testing.T) {
	_, e := run(t, "SELECT sum(a) AS x FROM s GROUP BY CountingWindow(1)", seq(500, func(int) row { return row{"a": 1.0} }))
	require.Zero(t, e.GetStats()["output_dropped_count"], "nobody reads streamsql's result channel")
}

func TestFailedOpenLeavesNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	p, err := compile("SELECT a FROM s")
	require.NoError(t, err)
	p.SQL = "SELECT a FROM s WHERE a >" // what Compile would have refused
	_, err = delegate.Open(p, delegate.Config{})
	require.Error(t, err)
	require.NoError(t, goleak.Find(before))
}

func TestDrainGivesUpWithItsContext(t *testing.T) {
	e := open(t, "SELECT i FROM s", delegate.Config{})
	gate := make(chan struct{})
	e.AddSink(func([]row, int64) { <-gate })
	require.NoError(t, e.Emit(row{"i": 1}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, e.Drain(ctx), context.Canceled)
	close(gate)
	e.Stop()
}

// Where streamsql alone is right, we say the same: same windows, same bounds,
// same values.
func TestAgreesWithStreamsql(t *testing.T) {
	const base = 1_700_000_000_000
	steps := []int{0, 300, 700, 200, 2500, 0, 900, 4100, 50, 600}
	var rows []row
	ts := base
	for i, step := range steps {
		ts += step
		rows = append(rows, row{"a": float64(i), "k": i % 2, "ts": ts})
	}
	rows = append(rows, row{"a": 100.0, "k": 0, "ts": base + 3_600_000}) // lets streamsql close the rest
	for _, sql := range []string{
		"SELECT k, sum(a) AS x, window_start() AS ws, window_end() AS we FROM s GROUP BY k, TumblingWindow('1s') WITH (TIMESTAMP='ts', TIMEUNIT='ms') ORDER BY k",
		"SELECT sum(a) AS x, window_start() AS ws, window_end() AS we FROM s GROUP BY SlidingWindow('2s', '1s') WITH (TIMESTAMP='ts', TIMEUNIT='ms')",
		"SELECT sum(a) AS x, window_start() AS ws, window_end() AS we FROM s WHERE a > 1 GROUP BY TumblingWindow('3s') HAVING sum(a) > 3 WITH (TIMESTAMP='ts', TIMEUNIT='ms')",
		"SELECT k, sum(a) AS x, count(*) AS n FROM s GROUP BY k, CountingWindow(2)",
		"SELECT k, sum(a) AS x FROM s GROUP BY k, GLOBAL WINDOW TRIGGER WHEN sum(a) >= 6 AND count(*) > 1",
	} {
		t.Run(sql, func(t *testing.T) {
			out, _ := run(t, sql, rows)
			var want []row
			for _, r := range flat(out) {
				if r["x"].(float64) < 100 { // the last window: streamsql keeps it open
					want = append(want, r)
				}
			}
			got := theirs(t, sql, rows, 2*time.Second, len(want))
			for _, list := range [][]row{want, got} {
				for _, r := range list { // of a global window: the clock
					delete(r, "window_start")
					delete(r, "window_end")
				}
			}
			require.NotEmpty(t, want)
			require.Equal(t, want, got)
		})
	}
}
