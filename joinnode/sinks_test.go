package joinnode_test

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rulego/streamsql/logger"
	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode"
)

const matchAll = `SELECT a.id AS aid, b.id AS bid FROM sa AS a JOIN sb AS b WITHIN 1 HOUR ON a.k = b.k`

func emitTo(t *testing.T, e *joinnode.Streamsql, stream string, r map[string]any) {
	t.Helper()
	require.NoError(t, e.EmitTo(stream, r))
}

// kinds are one query of each of the two ways to run SQL, and how to get a
// result out of it.
var kinds = map[string]struct {
	sql  string
	emit func(t *testing.T, e *joinnode.Streamsql, id string)
	want string // the JSON of the result, with %s for the id
}{
	"join": {matchAll, func(t *testing.T, e *joinnode.Streamsql, id string) {
		emitTo(t, e, "sa", row(id, id))
		emitTo(t, e, "sb", row(id, id))
	}, `[{"aid":"%[1]s","bid":"%[1]s"}]`},
	"delegated": {"SELECT id FROM s", func(t *testing.T, e *joinnode.Streamsql, id string) {
		emitTo(t, e, "s", row(id, id))
	}, `[{"id":"%s"}]`},
}

func eachKind(t *testing.T, test func(t *testing.T, sql string, emit func(e *joinnode.Streamsql, id string), want func(id string) string)) {
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			test(t, k.sql, func(e *joinnode.Streamsql, id string) { k.emit(t, e, id) },
				func(id string) string { return fmt.Sprintf(k.want, id) })
		})
	}
}

// TestSinksBeforeExecute see every result; all kinds of sink see the same one,
// in the order JSON, Result, rows.
func TestSinksBeforeExecute(t *testing.T) {
	eachKind(t, func(t *testing.T, sql string, emit func(*joinnode.Streamsql, string), want func(string) string) {
		e := joinnode.New(joinnode.WithDiscardLog())
		var got []string
		e.AddSink(func(rows []map[string]any) { got = append(got, fmt.Sprint("rows ", len(rows))) })
		e.AddResultSink(func(r joinnode.Result) { got = append(got, "result "+string(r.JSON)) })
		e.AddSyncSink(func(rows []map[string]any) { got = append(got, fmt.Sprint("sync ", len(rows))) })
		e.AddJSONSink(func(text []byte) { got = append(got, "json "+string(text)) })
		e.AddSink(nil)
		e.AddJSONSink(nil)
		e.AddResultSink(nil)
		e.AddLateSink(nil)
		require.NoError(t, e.Execute(sql))
		emit(e, "x")
		within(t, e.Stop)
		require.Equal(t, []string{"json " + want("x"), "result " + want("x"), "rows 1", "sync 1"}, got)
	})
}

// TestPanickingSink ends neither the query nor the sinks behind it, and is
// counted and logged.
func TestPanickingSink(t *testing.T) {
	eachKind(t, func(t *testing.T, sql string, emit func(*joinnode.Streamsql, string), want func(string) string) {
		var log bytes.Buffer
		e := joinnode.New(joinnode.WithLogger(logger.NewLogger(logger.ERROR, &log)))
		require.NoError(t, e.Execute(sql))
		var got []string
		e.AddJSONSink(func([]byte) { panic("broken sink") })
		e.AddSink(func([]map[string]any) { panic("another") })
		e.AddResultSink(func(r joinnode.Result) { got = append(got, string(r.JSON)) })
		emit(e, "x")
		emit(e, "y")
		within(t, e.Stop)
		require.Equal(t, []string{want("x"), want("y")}, got)
		require.EqualValues(t, 4, e.GetStats()["sink_panics"])
		require.Contains(t, log.String(), "a result sink panicked: broken sink")
	})
}

func TestPanickingLateSink(t *testing.T) {
	e := joinnode.New(joinnode.WithDiscardLog())
	require.NoError(t, e.Execute(matchAll+" WITH (TIMESTAMP='ts')"))
	var reasons []string
	e.AddLateSink(func(joinnode.LateRow) { panic("broken sink") })
	e.AddLateSink(func(l joinnode.LateRow) { reasons = append(reasons, l.Reason) })
	emitTo(t, e, "sa", row("a", 1))
	within(t, e.Stop)
	require.Equal(t, []string{"bad_timestamp"}, reasons)
	require.EqualValues(t, 1, e.GetStats()["sink_panics"])
}

// TestToChannel: nil before Execute, one channel however often it is asked for,
// closed behind the last result.
func TestToChannel(t *testing.T) {
	eachKind(t, func(t *testing.T, sql string, emit func(*joinnode.Streamsql, string), _ func(string) string) {
		e := joinnode.New(joinnode.WithDiscardLog())
		require.Nil(t, e.ToChannel())
		require.NoError(t, e.Execute(sql))
		ch := e.ToChannel()
		require.Equal(t, ch, e.ToChannel())
		emit(e, "x")
		emit(e, "y")
		within(t, e.Stop)
		var n int
		within(t, func() {
			for rows := range ch {
				require.Len(t, rows, 1)
				n++
			}
		})
		require.Equal(t, 2, n)
	})
}

// TestToChannelAfterTheEnd is closed already: a reader must not wait for ever.
func TestToChannelAfterTheEnd(t *testing.T) {
	eachKind(t, func(t *testing.T, sql string, emit func(*joinnode.Streamsql, string), _ func(string) string) {
		for _, rows := range []bool{false, true} {
			e := joinnode.New(joinnode.WithDiscardLog())
			require.NoError(t, e.Execute(sql))
			if rows {
				emit(e, "x")
			}
			within(t, e.Stop)
			within(t, func() {
				for range e.ToChannel() {
					t.Error("a result came from nowhere")
				}
			})
		}
	})
}

// TestToChannelThatNobodyReads: results wait for the block timeout and are then
// dropped and counted. Stop waits for one of them, not for each.
func TestToChannelThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := joinnode.New(joinnode.WithDiscardLog(), joinnode.WithOverflowStrategy("block", 3*time.Second))
		require.NoError(t, e.Execute(matchAll))
		ch := e.ToChannel()
		require.NoError(t, e.EmitTo("sa", row("a", 1)))
		const results = 1024 + 50
		for range results {
			require.NoError(t, e.EmitTo("sb", row("b", 1)))
		}
		synctest.Wait()
		require.Zero(t, e.GetStats()["output_dropped_count"])
		started := time.Now()
		e.Stop()
		require.Equal(t, 3*time.Second, time.Since(started))
		require.EqualValues(t, 50, e.GetStats()["output_dropped_count"])
		n := 0
		for range ch {
			n++
		}
		require.Equal(t, 1024, n)
	})
}

// TestToChannelReaderThatComesBack gets everything but what was given up.
func TestToChannelReaderThatComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := joinnode.New(joinnode.WithDiscardLog(), joinnode.WithOverflowStrategy("block", 3*time.Second))
		require.NoError(t, e.Execute(matchAll))
		ch := e.ToChannel()
		require.NoError(t, e.EmitTo("sa", row("a", 1)))
		for range 1024 + 10 {
			require.NoError(t, e.EmitTo("sb", row("b", 1)))
		}
		time.Sleep(4 * time.Second) // one is given up
		synctest.Wait()
		require.EqualValues(t, 1, e.GetStats()["output_dropped_count"])
		stopped := make(chan struct{})
		go func() { e.Stop(); close(stopped) }()
		n := 0
		for range ch {
			n++
		}
		<-stopped
		require.Equal(t, 1024+9, n)
	})
}

// TestSinkAddedLater sees what comes after it.
func TestSinkAddedLater(t *testing.T) {
	eachKind(t, func(t *testing.T, sql string, emit func(*joinnode.Streamsql, string), want func(string) string) {
		e := joinnode.New(joinnode.WithDiscardLog())
		require.NoError(t, e.Execute(sql))
		var first, second atomic.Int64
		e.AddJSONSink(func([]byte) {
			if first.Add(1) == 1 {
				e.AddJSONSink(func([]byte) { second.Add(1) })
			}
		})
		emit(e, "x")
		emit(e, "y")
		within(t, e.Stop)
		require.EqualValues(t, 2, first.Load())
		require.EqualValues(t, 1, second.Load())
	})
}

// TestEmitThatCannotBeTaken: only rows after Stop count as such.
func TestEmitThatCannotBeTaken(t *testing.T) {
	eachKind(t, func(t *testing.T, sql string, emit func(*joinnode.Streamsql, string), _ func(string) string) {
		var log bytes.Buffer
		e := joinnode.New(joinnode.WithLogger(logger.NewLogger(logger.WARN, &log)))
		e.Emit(row("x", 1))
		require.Contains(t, log.String(), "Emit: the row was not taken: no query is running")
		require.NoError(t, e.Execute(sql))
		require.Zero(t, e.GetStats()["refused_after_stop"])
		within(t, e.Stop)
		log.Reset()
		e.Emit(row("x", 1))
		e.Emit(row("x", 1))
		require.EqualValues(t, 2, e.GetStats()["refused_after_stop"])
		require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("Emit after Stop")), "throttled")
	})
}
