package delegate_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rulego/streamsql/logger"
	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/delegate"
)

// record is a logger that remembers warnings and errors.
type record struct {
	mu    sync.Mutex
	lines []string
}

func (r *record) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

func (r *record) Debug(string, ...any)             {}
func (r *record) Info(string, ...any)              {}
func (r *record) Warn(format string, args ...any)  { r.add(format, args...) }
func (r *record) Error(format string, args ...any) { r.add(format, args...) }
func (r *record) SetLevel(logger.Level)            {}

// take returns the lines since the last call.
func (r *record) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	lines := r.lines
	r.lines = nil
	return lines
}

// Every row that a window loses is logged, throttled, with what to do, and in
// dropped_count.
func TestLossesOfAWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Unix(1_700_000_000, 0)))
		log := &record{}
		e := open(t, "SELECT count(*) AS n FROM s GROUP BY TumblingWindow('1s') WITH (TIMESTAMP='meta.ts', TIMEUNIT='ms')", delegate.Config{Logger: log})
		emit := func(ts any) {
			require.NoError(t, e.Emit(row{"meta": row{"ts": ts}}))
			require.NoError(t, e.Drain(t.Context()))
		}
		emit(5000)
		emit("noon")
		emit(nil)
		emit(1_700_000_000_000 + 48*3600*1000)
		emit(1000)
		emit(2000)
		require.Equal(t, []string{
			`rows without a usable TIMESTAMP were dropped, the last one with meta.ts = "noon" (1 since the last warning, counter bad_timestamp); check the field named by TIMESTAMP, and TIMEUNIT`,
			`rows dated too far in the future were dropped, the last one with meta.ts = 1700172800000 (1 since the last warning, counter future_timestamp); mend the source's clock, or set MAXFUTURESKEW`,
			`rows came after their window was closed and were dropped (1 since the last warning, counter late_dropped); raise MAXOUTOFORDERNESS or ALLOWEDLATENESS, or mend the source's order or clock`,
		}, log.take())
		time.Sleep(10 * time.Second)
		emit(nil)
		lines := log.take()
		require.Len(t, lines, 1)
		require.Contains(t, lines[0], "the last one with no meta.ts (2 since")
		e.Stop()
		stats := e.GetStats()
		require.EqualValues(t, 7, stats["input_count"])
		require.EqualValues(t, 6, stats["late_dropped"])
		require.EqualValues(t, 6, stats["dropped_count"])
		require.InDelta(t, 600.0/7, e.GetDetailedStats()["drop_rate"], 1e-9)
	})
}

func TestLossesOfACountingWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &record{}
		e := open(t, "SELECT count(*) AS n FROM s GROUP BY CountingWindow(3) WITH (STATETTL='5s')", delegate.Config{Logger: log})
		require.NoError(t, e.Emit(row{"a": 1}))
		require.NoError(t, e.Emit(row{"a": 1}))
		time.Sleep(6 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"rows were dropped because their counting window was not filled within STATETTL (2 since the last warning, counter window_rows_expired); raise STATETTL"}, log.take())
		e.Stop()
		require.EqualValues(t, 2, e.GetStats()["dropped_count"])
	})
}

// A flood of failing rows is one line, not one for each.
func TestRowErrorsAreLogged(t *testing.T) {
	for kind, sql := range map[string]string{
		"direct":      "SELECT s.a, m.b FROM s JOIN meta AS m ON s.id = m.id",
		"aggregation": "SELECT count(*) AS n FROM s JOIN meta AS m ON s.id = m.id GROUP BY CountingWindow(2)",
	} {
		log := &record{}
		e := open(t, sql, delegate.Config{Logger: log})
		require.NoError(t, e.RegisterTableSource(&panicking{}))
		log.take()
		for range 3 {
			require.NoError(t, e.Emit(row{"id": 1}))
		}
		e.Stop()
		lines := slices.DeleteFunc(log.take(), func(l string) bool { return !strings.Contains(l, "row_errors") })
		require.Equal(t, []string{"rows failed and were dropped, the last one with this: a table panicked on the row: no table today (1 since the last warning, counter row_errors); mend what the error names, or filter such rows in WHERE"}, lines, kind)
		stats := e.GetStats()
		require.EqualValues(t, 3, stats["row_errors"], kind)
		require.EqualValues(t, 3, stats["row_panics"], kind)
		require.EqualValues(t, 3, stats["dropped_count"], kind)
	}
}

// panicking is a table whose every look-up panics.
type panicking struct{}

func (*panicking) Name() string                      { return "meta" }
func (*panicking) Init() error                       { return nil }
func (*panicking) Lookup(any) (map[string]any, bool) { panic("no table today") }
func (*panicking) Close() error                      { return nil }

// A full queue that drops says so.
func TestOverflowIsLogged(t *testing.T) {
	log := &record{}
	e := open(t, "SELECT a FROM s", delegate.Config{Logger: log, QueueSize: 1, Drop: true})
	hold, held := make(chan struct{}), make(chan struct{}, 10)
	e.AddSink(func([]row, int64) { held <- struct{}{}; <-hold })
	require.NoError(t, e.Emit(row{"a": 1}))
	<-held
	for range 3 {
		require.NoError(t, e.Emit(row{"a": 2})) // the first one waits in the queue
	}
	close(hold)
	e.Stop()
	require.Equal(t, []string{"rows found no room in the input queue and were dropped (1 since the last warning, counter input_dropped_count); use overflow=block, raise bufferSize, or speed up the consumer of the results"}, log.take())
	require.EqualValues(t, 2, e.GetStats()["dropped_count"])
}

func TestExpressionErrorsAreLogged(t *testing.T) {
	log := &record{}
	e := open(t, "SELECT CASE WHEN a > 1 THEN sqrt(b) ELSE 0 END AS x FROM s", delegate.Config{Logger: log})
	for range 2 {
		require.NoError(t, e.Emit(row{"a": 2, "b": "text"}))
	}
	require.NoError(t, e.Emit(row{"a": math.Inf(1), "b": 4.0}))
	e.Stop()
	lines := log.take()
	require.Len(t, lines, 1)
	require.Contains(t, lines[0], "1 expressions failed and gave NULL (counter expression_errors), the last one with: ")
	require.EqualValues(t, 2, e.GetStats()["expression_errors"])
	require.Zero(t, e.GetStats()["dropped_count"])
}

// A row that WHERE cannot be computed for is lost, unless the rest of the condition
// keeps it; NULL is no failure.
func TestFailuresOfWhereAreLosses(t *testing.T) {
	log := &record{}
	e := open(t, "SELECT a FROM s WHERE regexp_matches(s, p) OR a = 1", delegate.Config{Logger: log})
	for _, r := range []row{{"s": "x", "p": "("}, {"s": "x", "p": "("}, {"s": "x", "p": "(", "a": 1}, {"p": "("}, {"s": "x", "p": "y"}, {"s": "x", "p": "x"}} {
		require.NoError(t, e.Emit(r))
	}
	e.Stop()
	lines := log.take()
	require.Len(t, lines, 2)
	require.Contains(t, lines[0], "rows were dropped because WHERE could not be computed for them, the last one with this: regexp_matches: ")
	require.Contains(t, lines[1], "1 expressions failed")
	stats := e.GetStats()
	require.EqualValues(t, 3, stats["expression_errors"])
	require.EqualValues(t, 2, stats["where_errors"])
	require.EqualValues(t, 2, stats["dropped_count"])
}

// Options of event time are worth a warning where rows take their arrival time,
// and change nothing.
func TestOptionsWithoutTimestamp(t *testing.T) {
	p, err := compile("SELECT k, count(*) AS c FROM s GROUP BY k, GLOBAL WINDOW TRIGGER WHEN count(*) >= 2 WITH (STATETTL='1h', IDLETIMEOUT='60s')")
	require.NoError(t, err)
	require.Equal(t, []string{"IDLETIMEOUT has no effect without TIMESTAMP: rows take their arrival time"}, p.Warnings)
	synctest.Test(t, func(t *testing.T) {
		e := open(t, "SELECT count(*) AS c FROM s GROUP BY TumblingWindow('1s') WITH (MAXOUTOFORDERNESS='1h')", delegate.Config{})
		defer e.Stop()
		got := make(chan []row, 1)
		e.AddSink(func(rows []row, _ int64) { got <- rows })
		require.NoError(t, e.Emit(row{"a": 1}))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Len(t, got, 1)
	})
}
