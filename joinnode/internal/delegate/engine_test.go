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

func TestTables(t *testing.T) {
	// streamsql takes the left side of ON for the stream's, whatever it says.
	const sql = "SELECT s.id, m.place, m.n + a AS n FROM s JOIN meta AS m ON m.id = s.id WHERE m.place != 'x' OR a > 5"
	e := open(t, sql, delegate.Config{})
	defer e.Stop()
	require.Equal(t, []string{"meta"}, e.Unregistered())
	err := e.Emit(row{"id": 1, "a": 1})
	require.ErrorIs(t, err, delegate.ErrNotRegistered)
	require.ErrorContains(t, err, `join table "meta" is not registered`)
	require.ErrorContains(t, err, "WITHIN")

	_, err = e.RegisterTable("other", nil)
	require.Error(t, err)
	_, err = e.RegisterTable("meta", nil, "place")
	require.ErrorContains(t, err, "[id]")
	table := []row{{"id": 1, "place": "a", "n": 10}}
	_, err = e.RegisterTable("meta", table)
	require.NoError(t, err)
	table[0]["place"] = "changed by its owner"
	require.Empty(t, e.Unregistered())
	require.NoError(t, e.UpsertTable("meta", row{"id": 2, "place": "x", "n": 20}))

	out, err := e.EmitSync(row{"id": json.Number("1"), "a": 1})
	require.NoError(t, err)
	require.Equal(t, row{"id": int64(1), "place": "a", "n": 11.0}, out)
	out, err = e.EmitSync(row{"id": 2, "a": 1})
	require.NoError(t, err)
	require.Nil(t, out, "WHERE")
	out, err = e.EmitSync(row{"id": 3, "a": 9})
	require.NoError(t, err)
	require.Nil(t, out, "no match")
}

func TestTableInWindow(t *testing.T) {
	e := open(t, "SELECT m.place, sum(s.a) AS x FROM s LEFT JOIN meta m ON s.id = m.id GROUP BY m.place, CountingWindow(2)", delegate.Config{})
	_, err := e.RegisterTable("meta", []row{{"id": 1, "place": "p"}, {"id": 2, "place": "p"}, {"id": 3, "place": "q"}})
	require.NoError(t, err)
	var got []result
	e.AddSink(func(rows []row, end int64) { got = append(got, result{rows, end}) })
	for i, id := range []int{1, 3, 2, 3} {
		require.NoError(t, e.Emit(row{"id": id, "a": float64(i)}))
	}
	e.Stop()
	require.Equal(t, []row{{"place": "p", "x": 2.0}, {"place": "q", "x": 4.0}}, flat(got), "rows are counted per nested key")
}

// Conditions over joined columns, in every clause, with and without a match.
func TestTableColumnsEverywhere(t *testing.T) {
	for _, c := range []struct {
		sql  string
		want []row
	}{
		{"SELECT id, CASE WHEN m.n > 5 OR a > 5 THEN m.place ELSE 'none' END AS v, m.n IS NULL AS lone FROM s LEFT JOIN meta m ON s.id = m.id",
			[]row{{"id": 1, "v": "p", "lone": false}, {"id": 9, "v": "none", "lone": true}}},
		{"SELECT m.place, sum(m.n * 2) AS x FROM s JOIN meta m ON s.id = m.id GROUP BY m.place, TumblingWindow('1h') HAVING m.place = 'p' ORDER BY m.place",
			[]row{{"place": "p", "x": 20.0}}},
		{"SELECT count(*) AS n FROM s JOIN meta m ON s.id = m.id GROUP BY m.place, TumblingWindow('1h')",
			[]row{{"place": "p", "n": 1.0}}},
		{"SELECT sum(CASE WHEN m.n IS NULL THEN 1 ELSE 0 END) AS lone FROM s LEFT JOIN meta m ON s.id = m.id GROUP BY TumblingWindow('1h')",
			[]row{{"lone": 1.0}}},
		{"SELECT m.place AS p FROM s LEFT JOIN meta AS m ON m.id = id WHERE NOT (m.n > 5) OR m.n IS NULL",
			[]row{{"p": nil}}},
	} {
		t.Run(c.sql, func(t *testing.T) {
			e := open(t, c.sql, delegate.Config{})
			_, err := e.RegisterTable("meta", []row{{"id": 1, "place": "p", "n": 10}})
			require.NoError(t, err)
			var got []result
			e.AddSink(func(rows []row, end int64) { got = append(got, result{rows, end}) })
			for _, id := range []int{1, 9} {
				require.NoError(t, e.Emit(row{"id": id, "a": 1.0}))
			}
			e.Stop()
			require.Equal(t, c.want, flat(got))
		})
	}
}

func TestNestedGroupingField(t *testing.T) {
	sql := "SELECT o.x, sum(a) AS s FROM s GROUP BY o.x, CountingWindow(1) HAVING o.x > 1 ORDER BY o.x"
	rows := []row{{"a": 1.0, "o": row{"x": 1}}, {"a": 2.0, "o": row{"x": 2}}}
	out, _ := run(t, sql, rows)
	require.Equal(t, []row{{"o.x": 2, "s": 2.0}}, flat(out))
	require.Contains(t, theirs(t, sql, rows, time.Second, 1), row{"o.x": 1, "s": 1.0}, "streamsql drops a HAVING that ORDER BY follows")
	sql = "SELECT o.x, sum(a) AS s FROM s GROUP BY o.x, CountingWindow(1) HAVING o.x > 1"
	out, _ = run(t, sql, rows)
	require.Equal(t, []row{{"o.x": 2, "s": 2.0}}, flat(out))
	require.Empty(t, theirs(t, sql, rows, 30*time.Millisecond, 1), "and looks for x inside o in the result")
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

func TestSelectWhatStreamsqlDrops(t *testing.T) {
	r := row{"a": 7.0, "t": "abc", "s": "it's", "order": 5.0, "arr": []any{1.0, 2.0}}
	for _, c := range []struct {
		items string
		want  row
	}{
		{"1 AS one, -2.5 AS two, 'x' AS x, true AS yes, NULL AS none", row{"one": int64(1), "two": -2.5, "x": "x", "yes": true, "none": nil}},
		{"upper(t)", row{"upper(t)": "ABC"}},
		{"t || '-' || s AS v", row{"v": "abc-it's"}},
		{"a % 4 AS v", row{"v": 3.0}},
		{"t v", row{"v": "abc"}},
		{"s.a", row{"a": 7.0}},
		{"`order` AS `select`", row{"select": 5.0}},
		{"a > 5 AS v, t LIKE 'a%' AS l, missing = 1 AS m", row{"v": true, "l": true, "m": nil}},
		{"CASE WHEN missing > 1 OR a IN (7, 8) THEN true ELSE false END AS v", row{"v": true}},
		{"*, a AS v", row{"a": 7.0, "t": "abc", "s": "it's", "order": 5.0, "arr": []any{1.0, 2.0}, "v": 7.0}},
		{"concat(\"it's \", t) AS v", row{"v": "it's abc"}},
	} {
		t.Run(c.items, func(t *testing.T) {
			out, _ := run(t, "SELECT "+c.items+" FROM s", []row{r})
			require.Equal(t, []row{c.want}, flat(out))
		})
	}
	out, _ := run(t, "SELECT unnest(arr) AS v, t FROM s", []row{r})
	require.Equal(t, []row{{"v": 1.0, "t": "abc"}, {"v": 2.0, "t": "abc"}}, flat(out))
}

func TestWindowsThatStreamsqlGetsWrong(t *testing.T) {
	rows := []row{{"a": 1.0, "k": "k"}, {"a": 2.0, "k": "k"}}
	for _, c := range []struct {
		query string
		want  []row
	}{
		{"SELECT sum(a) AS x, 1 AS one FROM s GROUP BY CountingWindow(2)", []row{{"x": 3.0, "one": int64(1)}}},
		{"SELECT s.k, sum(s.a) AS x FROM s GROUP BY s.k, CountingWindow(2)", []row{{"k": "k", "x": 3.0}}},
		{"SELECT `k`, sum(`a`) AS `x y` FROM s GROUP BY `k`, CountingWindow(2)", []row{{"k": "k", "x y": 3.0}}},
		{"SELECT sum(a) AS x FROM s GROUP BY CountingWindow(2) HAVING NOT x > 1", nil},
		{"SELECT sum(a) AS x FROM s GROUP BY CountingWindow(2) HAVING x NOT IN (3)", nil},
		{"SELECT sum(a) AS x FROM s GROUP BY CountingWindow(2) HAVING x NOT BETWEEN 1 AND 9", nil},
		{"SELECT sum(a) AS x FROM s GROUP BY CountingWindow(2) HAVING avg(zz) > 1 OR x > 1", []row{{"x": 3.0}}},
		{"SELECT sum(a) AS x FROM s GROUP BY CountingWindow(2) HAVING avg(zz) != 1", nil},
		{"SELECT sum(CASE WHEN zz > 1 OR a > 1 THEN 1 ELSE 0 END) AS x FROM s GROUP BY CountingWindow(2)", []row{{"x": 1.0}}},
	} {
		t.Run(c.query, func(t *testing.T) {
			out, _ := run(t, c.query, rows)
			require.Equal(t, c.want, flat(out))
			require.NotEqual(t, c.want, theirs(t, c.query, rows, 30*time.Millisecond, 1), "streamsql alone")
		})
	}
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
