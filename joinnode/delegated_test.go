package joinnode_test

import (
	"errors"
	"fmt"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/streamjoin/streamjoin/joinnode"
)

// windowID is what streamsql adds to the rows of a window.
var windowID = regexp.MustCompile(`,"window_id":"[^"]*"`)

const counted = "SELECT k, COUNT(*) AS n FROM s GROUP BY k, TumblingWindow('1h')"

// TestDelegatedArrays are taken whole or not at all.
func TestDelegatedArrays(t *testing.T) {
	e := start(t, "SELECT id FROM s", false)
	defer e.Stop()
	require.ErrorIs(t, e.EmitJSON("s", []byte(`[{"id":1},{"id":2},7]`)), joinnode.ErrInvalidJSON)
	require.ErrorIs(t, e.EmitJSON("s", []byte(`[{"id":1},null]`)), joinnode.ErrInvalidJSON)
	require.ErrorIs(t, e.EmitJSON("s", []byte(`[{"id":1},{"id":2]`)), joinnode.ErrInvalidJSON)
	require.ErrorIs(t, e.EmitRows([]joinnode.JSONRow{{Stream: "s", Data: []byte(`{"id":1}`)}, {Stream: "other", Data: []byte(`{"id":2}`)}}), joinnode.ErrUnknownStream)
	err := e.EmitRows([]joinnode.JSONRow{{Data: []byte(`{"id":1}`)}, {Data: []byte(`null`)}})
	require.ErrorIs(t, err, joinnode.ErrInvalidJSON)
	require.ErrorContains(t, err, "row 2 of 2")
	require.NoError(t, e.EmitJSON("s", []byte(`[]`)))
	require.NoError(t, e.EmitJSON("s", []byte(` [{"id":3},{"id":4}] `)))
	require.NoError(t, e.EmitRows([]joinnode.JSONRow{{Data: []byte(`{"id":5}`)}, {Stream: "s", Data: []byte(`{"id":6}`)}}))
	require.Equal(t, []string{`{"id":3} row_selected`, `{"id":4} row_selected`, `{"id":5} row_selected`, `{"id":6} row_selected`}, e.drain(t))
}

// TestDelegatedNumbers: identifiers beyond 2^53 survive, as long as 64 bits hold
// them.
func TestDelegatedNumbers(t *testing.T) {
	e := start(t, "SELECT id FROM s WHERE id > 5", false)
	defer e.Stop()
	for _, id := range []string{"9007199254740993", "9223372036854775807", "18446744073709551615", "6.25"} {
		require.NoError(t, e.EmitJSON("", []byte(`{"id":`+id+`}`)))
		require.Equal(t, []string{`{"id":` + id + `} row_selected`}, e.drain(t))
	}
}

func TestDelegatedUnknownStream(t *testing.T) {
	e := start(t, "SELECT id FROM s", false)
	require.Equal(t, []string{"s"}, e.Streams())
	require.False(t, e.IsStreamJoinQuery())
	for _, in := range emitters() {
		err := in.emit(e.Streamsql, "S", row("x", 1), []byte(`{"id":"x"}`))
		require.ErrorIs(t, err, joinnode.ErrUnknownStream, in.name)
		require.ErrorContains(t, err, `unknown input stream "S", known streams: s`)
	}
	goleak.VerifyNone(t) // a row that is refused starts nothing
	e.Stop()
	for _, in := range emitters() {
		require.ErrorIs(t, in.emit(e.Streamsql, "s", row("x", 1), []byte(`{"id":"x"}`)), joinnode.ErrStopped, in.name)
	}
	_, err := e.EmitSync(row("x", 1))
	require.ErrorIs(t, err, joinnode.ErrStopped)
	require.Nil(t, e.Metrics(), "nothing was ever started")
	require.Nil(t, e.Stream())
	goleak.VerifyNone(t)
}

func TestDelegatedStopFromASink(t *testing.T) {
	for _, sql := range []string{"SELECT id FROM s", counted} {
		e := joinnode.New(joinnode.WithDiscardLog())
		require.NoError(t, e.Execute(sql))
		var results atomic.Int64
		e.AddResultSink(func(joinnode.Result) {
			results.Add(1)
			e.Stop()
		})
		require.NoError(t, e.EmitJSON("s", []byte(`[{"id":1,"k":1},{"id":2,"k":2}]`)))
		if sql == counted {
			e.TriggerWindow()
		}
		within(t, func() { <-e.Done() })
		within(t, e.Stop)
		require.Positive(t, results.Load())
		require.ErrorIs(t, e.EmitTo("s", row("x", 1)), joinnode.ErrStopped)
	}
}

// TestStopFromTheSinkOfEmitSync: the caller of EmitSync is the one who runs the
// sinks.
func TestStopFromTheSinkOfEmitSync(t *testing.T) {
	e := joinnode.New(joinnode.WithDiscardLog())
	require.NoError(t, e.Execute("SELECT id FROM s"))
	e.AddSink(func([]map[string]any) { e.Stop() })
	within(t, func() {
		result, err := e.EmitSync(row("x", 1))
		if err != nil || result["id"] != "x" {
			t.Error(result, err)
		}
	})
	within(t, func() { <-e.Done() })
}

// TestEmitSyncFromASink: the result that the sink is busy with stays as it is.
func TestEmitSyncFromASink(t *testing.T) {
	e := joinnode.New(joinnode.WithDiscardLog())
	require.NoError(t, e.Execute("SELECT id FROM s"))
	var got []string
	e.AddJSONSink(func(text []byte) {
		if len(got) == 1 { // the first one has left its buffer behind
			got = append(got, "")
			if _, err := e.EmitSync(row("inner", 1)); err != nil {
				t.Error(err)
			}
		}
		got = append(got, string(text))
	})
	require.NoError(t, e.EmitTo("s", row("the first one of all", 1)))
	require.NoError(t, e.EmitTo("s", row("the outer one", 1)))
	require.NoError(t, e.Drain(t.Context()))
	within(t, e.Stop)
	require.Equal(t, []string{`[{"id":"the first one of all"}]`, "", `[{"id":"inner"}]`, `[{"id":"the outer one"}]`}, got)
}

// TestSinksAreCalledOneAtATime also beside callers of EmitSync, and none after
// the end.
func TestSinksAreCalledOneAtATime(t *testing.T) {
	for range 3 {
		e := joinnode.New(joinnode.WithDiscardLog())
		require.NoError(t, e.Execute("SELECT id FROM s"))
		ch := e.ToChannel()
		var inside atomic.Int32
		var results atomic.Int64
		var ended atomic.Bool
		e.AddJSONSink(func(text []byte) {
			if inside.Add(1) != 1 || ended.Load() {
				t.Error("two results at once, or one after the end")
			}
			var id int
			if _, err := fmt.Sscanf(string(text), `[{"id":%d}]`, &id); err != nil {
				t.Errorf("%s: %v", text, err)
			}
			results.Add(1)
			inside.Add(-1)
		})
		var accepted atomic.Int64
		var wg sync.WaitGroup
		for p := range 4 {
			wg.Go(func() {
				for i := 0; ; i++ {
					r := map[string]any{"id": 1000*p + i%1000}
					var err error
					if p%2 == 0 {
						_, err = e.EmitSync(r)
					} else {
						err = e.EmitTo("s", r)
					}
					if errors.Is(err, joinnode.ErrStopped) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					accepted.Add(1)
				}
			})
		}
		read := make(chan int64)
		go func() {
			var n int64
			for range ch {
				n++
			}
			read <- n
		}()
		for results.Load() < 200 {
			time.Sleep(time.Millisecond)
		}
		within(t, e.Stop)
		ended.Store(true)
		within(t, wg.Wait)
		require.Equal(t, accepted.Load(), results.Load())
		require.Equal(t, accepted.Load(), <-read)
		require.Zero(t, e.GetStats()["sink_panics"])
	}
}

// TestDelegatedDrain waits for everything that was accepted.
func TestDelegatedDrain(t *testing.T) {
	e := start(t, "SELECT id FROM s", false)
	require.Empty(t, e.drain(t), "nothing has begun")
	for i := range 100 {
		require.NoError(t, e.EmitTo("s", map[string]any{"id": i}))
	}
	require.Len(t, e.drain(t), 100)
	e.Stop()
	require.Empty(t, e.drain(t))
}

// TestAdoptBetweenKinds: there is no state to take, but the order of results
// holds and nothing that was accepted is lost.
func TestAdoptBetweenKinds(t *testing.T) {
	const direct = "SELECT id AS aid FROM sa"
	for _, c := range []struct {
		name, old, next string
		differs         string
		want            []string
	}{
		{"join to delegated", hourly, direct, "another kind", []string{`{"aid":"a1","bid":null} left_unmatched without b, closed by reload`, `{"aid":"a2"} row_selected`}},
		{"delegated to join", direct, hourly, "another kind", []string{`{"aid":"a1"} row_selected`, `{"aid":"a2","bid":null} left_unmatched without b, closed by stop`}},
		{"delegated to delegated", "SELECT id AS x FROM sa", direct, "share no state", []string{`{"x":"a1"} row_selected`, `{"aid":"a2"} row_selected`}},
		{"a window is closed", "SELECT COUNT(*) AS n FROM sa GROUP BY TumblingWindow('1h')", direct, "open windows were closed", []string{`{"n":1} window_triggered`, `{"aid":"a2"} row_selected`}},
		{"join to join", hourly, hourly + " -- again", "", []string{`{"aid":"a1","bid":null} left_unmatched without b, closed by stop`, `{"aid":"a2","bid":null} left_unmatched without b, closed by stop`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			into := &record{}
			old, next := startInto(t, into, c.old, false), startInto(t, into, c.next, false)
			emitTo(t, old.Streamsql, "sa", row("a1", 1))
			adoption, err := next.Adopt(old.Streamsql)
			require.NoError(t, err)
			require.Equal(t, c.differs == "", adoption.Taken)
			require.Contains(t, adoption.Differs, c.differs)
			require.ErrorIs(t, old.EmitTo("sa", row("lost", 1)), joinnode.ErrStopped)
			emitTo(t, next.Streamsql, "sa", row("a2", 2))
			within(t, next.Stop)
			within(t, func() { <-old.Done() })
			got := into.take()
			for i := range got {
				got[i] = windowID.ReplaceAllString(got[i], "")
			}
			require.Equal(t, c.want, got)
			within(t, old.Stop)
		})
	}
}

// TestAdoptWithoutRows on either side ends both.
func TestAdoptWithoutRows(t *testing.T) {
	for _, old := range []string{hourly, counted} {
		for _, next := range []string{hourly, counted} {
			o, n := start(t, old, false), start(t, next, false)
			_, err := n.Adopt(o.Streamsql)
			require.NoError(t, err)
			within(t, func() { <-o.Done() })
			within(t, n.Stop)
		}
	}
	goleak.VerifyNone(t)
}

func TestAdoptErrors(t *testing.T) {
	for _, sql := range []string{hourly, "SELECT id AS aid FROM sa"} {
		e, old := start(t, sql, false), start(t, sql, false)
		_, err := e.Adopt(nil)
		require.ErrorIs(t, err, joinnode.ErrNotExecuted)
		_, err = e.Adopt(joinnode.New())
		require.ErrorIs(t, err, joinnode.ErrNotExecuted)
		_, err = joinnode.New().Adopt(e.Streamsql)
		require.ErrorIs(t, err, joinnode.ErrNotExecuted)
		_, err = e.Adopt(e.Streamsql)
		require.ErrorIs(t, err, joinnode.ErrStarted)
		emitTo(t, e.Streamsql, "sa", row("a", 1))
		_, err = e.Adopt(old.Streamsql)
		require.ErrorIs(t, err, joinnode.ErrStarted)
		require.NoError(t, old.EmitTo("sa", row("b", 1)), "the old one goes on")
		within(t, e.Stop)
		within(t, old.Stop)
	}
}

// TestOldSinkStopsTheNewEngine of another kind, while the new one waits for it.
func TestOldSinkStopsTheNewEngine(t *testing.T) {
	for _, k := range [][2]string{{matchAll, "SELECT id FROM s"}, {"SELECT id FROM sb", matchAll}, {"SELECT id FROM sb", "SELECT id FROM s"}} {
		old, next := joinnode.New(joinnode.WithDiscardLog()), joinnode.New(joinnode.WithDiscardLog())
		require.NoError(t, old.Execute(k[0]))
		require.NoError(t, next.Execute(k[1]))
		adopted := make(chan struct{})
		old.AddSink(func([]map[string]any) {
			<-adopted
			next.Stop()
		})
		if k[0] == matchAll {
			emitTo(t, old, "sa", row("a", 1))
		}
		emitTo(t, old, "sb", row("b", 1))
		_, err := next.Adopt(old)
		require.NoError(t, err)
		emitTo(t, next, "", row("c", 1))
		close(adopted)
		within(t, func() { <-next.Done() })
		within(t, func() { <-old.Done() })
	}
}

// TestOldSinkCallsEmitSyncOfTheNewEngine: its answer cannot wait for the sink
// that asks.
func TestOldSinkCallsEmitSyncOfTheNewEngine(t *testing.T) {
	old, next := start(t, "SELECT id FROM s", false), start(t, "SELECT id AS n FROM s", false)
	adopted := make(chan struct{})
	old.AddSink(func([]map[string]any) {
		<-adopted
		if result, err := next.EmitSync(row("y", 1)); err != nil || result["n"] != "y" {
			t.Error(result, err)
		}
	})
	emitTo(t, old.Streamsql, "s", row("x", 1))
	_, err := next.Adopt(old.Streamsql)
	require.NoError(t, err)
	close(adopted)
	within(t, func() { <-old.Done() })
	within(t, next.Stop)
	require.Equal(t, []string{`{"n":"y"} row_selected`}, next.take())
}

// TestDelegatedStopWhileEmitting from many sides, under load.
func TestDelegatedStopWhileEmitting(t *testing.T) {
	for _, sql := range []string{"SELECT id FROM s", counted} {
		e := joinnode.New(joinnode.WithDiscardLog(), joinnode.WithBufferSizes(4, 4, 4))
		require.NoError(t, e.Execute(sql))
		var results, accepted atomic.Int64
		e.AddSink(func(rows []map[string]any) {
			for _, r := range rows {
				n, ok := r["n"].(float64)
				if !ok {
					n = 1
				}
				results.Add(int64(n))
			}
		})
		var wg sync.WaitGroup
		for p := range 4 {
			wg.Go(func() {
				for i := 0; ; i++ {
					err := e.EmitJSON("s", fmt.Appendf(nil, `{"id":%d,"k":%d}`, i, p))
					if errors.Is(err, joinnode.ErrStopped) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					accepted.Add(1)
					e.GetStats()
				}
			})
		}
		for accepted.Load() < 100 {
			time.Sleep(time.Millisecond)
		}
		var stops sync.WaitGroup
		for range 3 {
			stops.Go(e.Stop)
		}
		within(t, stops.Wait)
		within(t, wg.Wait)
		require.Equal(t, accepted.Load(), results.Load())
	}
}

// TestForgottenWithin: a JOIN without WITHIN is a join with a table. That is
// said at once, and until the table is there.
func TestForgottenWithin(t *testing.T) {
	log := &logRecord{}
	e := joinnode.New(joinnode.WithLogger(log))
	require.NoError(t, e.Execute("SELECT a.x FROM sa AS a JOIN sb AS b ON a.k = b.k LEFT JOIN sc ON a.k = sc.k WHERE a.x > b.y"))
	const first = "JOIN sb has no WITHIN, so sb is a table and must be registered; to join a stream write JOIN sb AS b WITHIN 10 SECONDS ON …"
	const second = "LEFT JOIN sc has no WITHIN, so sc is a table and must be registered; to join a stream write LEFT JOIN sc WITHIN 10 SECONDS ON …"
	require.Equal(t, []string{"info: " + first, "info: " + second}, log.take(), "no warning: it may well be meant")
	require.Equal(t, `StreamSQL direct over stream sa
  joins table sb
  joins table sc
StreamSQL runs: SELECT x FROM sa
this engine does around it: the join with sb, the join with sc, WHERE
warning: `+first+`
warning: `+second+`
`, e.Explain())
	_, err := e.RegisterTable("sb", nil)
	require.NoError(t, err)
	require.NotContains(t, e.Explain(), first)
	require.Contains(t, e.Explain(), second)
	e.Stop()
	require.Empty(t, log.take(), "once")
}

// TestWarningsOfADelegatedQuery come at Execute, not with the first row.
func TestWarningsOfADelegatedQuery(t *testing.T) {
	log := &logRecord{}
	e := joinnode.New(joinnode.WithLogger(log))
	require.NoError(t, e.Execute("SELECT count(*) AS n FROM s WHERE x > 1"))
	require.Equal(t, []string{"an aggregate without a window runs in TumblingWindow('10s'), as StreamSQL has it"}, log.take())
	require.Contains(t, e.Explain(), "\nthis engine does around it: WHERE, windows and event time\n")
	e.Stop()
}
