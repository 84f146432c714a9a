package joinnode_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/streamjoin/streamjoin/joinnode"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ledger accounts for the rows of a LEFT JOIN: every accepted left row leaves
// either matched, or as exactly one NULL row.
type ledger struct {
	mu      sync.Mutex
	matched map[string]int // pairs by "left id, right id"
	nulls   map[string]int // NULL rows by left id
	left    map[string]bool
	order   []string // left ids in order of their first result
}

func newLedger() *ledger {
	return &ledger{matched: map[string]int{}, nulls: map[string]int{}, left: map[string]bool{}}
}

func (l *ledger) sink(r joinnode.Result) {
	var rows []struct {
		A string  `json:"aid"`
		B *string `json:"bid"`
	}
	if err := json.Unmarshal(r.JSON, &rows); err != nil {
		panic(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, row := range rows {
		if row.B == nil {
			l.nulls[row.A]++
		} else {
			l.matched[row.A+", "+*row.B]++
		}
		if !l.left[row.A] {
			l.left[row.A] = true
			l.order = append(l.order, row.A)
		}
	}
}

// missing takes the rows that never left out of accepted and counts them.
func (l *ledger) missing(accepted map[string]bool) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range accepted {
		if !l.left[id] {
			delete(accepted, id)
			n++
		}
	}
	return n
}

// balance checks that the accepted left rows, and only they, left; once each
// when unmatched.
func (l *ledger) balance(t *testing.T, accepted map[string]bool) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, n := range l.nulls {
		require.Equal(t, 1, n, "NULL rows of %s", id)
	}
	for pair, n := range l.matched {
		require.Equal(t, 1, n, "results of %s", pair)
	}
	require.Equal(t, accepted, l.left)
}

const hourly = `SELECT a.id AS aid, b.id AS bid FROM sa AS a LEFT JOIN sb AS b WITHIN 1 HOUR ON a.k = b.k`

func row(id string, key any) map[string]any { return map[string]any{"id": id, "k": key} }

func TestSeveralProducers(t *testing.T) {
	const producers, rows = 8, 500
	e := joinnode.New(joinnode.WithDiscardLog(), joinnode.WithBufferSizes(64, 64, 64))
	require.NoError(t, e.Execute(hourly))
	l := newLedger()
	e.AddResultSink(l.sink)
	accepted := map[string]bool{}
	for p := range producers {
		for i := range rows {
			accepted[fmt.Sprintf("a%d-%d", p, i)] = true
		}
	}
	var wg sync.WaitGroup
	for p := range producers {
		wg.Go(func() {
			for i := range rows {
				id := fmt.Sprintf("%d-%d", p, i)
				if i%2 == 0 { // the odd rows find no partner
					text := fmt.Sprintf(`[{"id":"b%s","k":"%s"}]`, id, id)
					if err := e.EmitJSON("sb", []byte(text)); err != nil {
						t.Error(err)
					}
				}
				if err := e.EmitTo("sa", row("a"+id, id)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	within(t, wg.Wait)
	within(t, e.Stop)
	l.balance(t, accepted)
	require.Len(t, l.matched, producers*rows/2)
	require.Len(t, l.nulls, producers*rows/2)
	stats := e.GetStats()
	require.EqualValues(t, producers*rows/2, stats["join_stage1_matches_emitted"])
	require.EqualValues(t, producers*rows/2, stats["join_stage1_left_timeout_emitted"])
}

// TestOrderOfOneProducer: results follow the order in which one producer's
// rows were accepted, whatever others send meanwhile.
func TestOrderOfOneProducer(t *testing.T) {
	e := joinnode.New(joinnode.WithDiscardLog())
	require.NoError(t, e.Execute(hourly))
	var got []string
	e.AddResultSink(func(r joinnode.Result) {
		if r.Type == joinnode.JoinMatched {
			got = append(got, string(r.JSON))
		}
	})
	var want []string
	done := make(chan struct{})
	var noise sync.WaitGroup
	noise.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				if err := e.EmitTo("sa", row("noise", "noise")); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	require.NoError(t, e.EmitTo("sa", row("a", "k")))
	for i := range 2000 {
		id := fmt.Sprintf("b%d", i)
		require.NoError(t, e.EmitTo("sb", row(id, "k")))
		want = append(want, fmt.Sprintf(`[{"aid":"a","bid":"%s"}]`, id))
	}
	close(done)
	noise.Wait()
	within(t, e.Stop)
	require.Equal(t, want, got)
}

func TestStopFromASink(t *testing.T) {
	e := joinnode.New(joinnode.WithDiscardLog())
	require.NoError(t, e.Execute(hourly))
	l := newLedger()
	e.AddResultSink(func(r joinnode.Result) {
		l.sink(r)
		e.Stop()
	})
	accepted := map[string]bool{}
	for i := range 20 {
		id := fmt.Sprintf("a%d", i)
		require.NoError(t, e.EmitTo("sa", row(id, i)))
		accepted[id] = true
	}
	require.NoError(t, e.EmitTo("sb", row("b0", 0)))
	within(t, func() { <-e.Done() })
	l.balance(t, accepted)
	require.ErrorIs(t, e.EmitTo("sa", row("late", 1)), joinnode.ErrStopped)
}

func TestStopWhileEmitting(t *testing.T) {
	for range 20 {
		e := joinnode.New(joinnode.WithDiscardLog(), joinnode.WithBufferSizes(16, 16, 16))
		require.NoError(t, e.Execute(hourly))
		l := newLedger()
		e.AddResultSink(l.sink)
		var mu sync.Mutex
		accepted := map[string]bool{}
		running := make(chan struct{})
		var wg sync.WaitGroup
		for p := range 4 {
			wg.Go(func() {
				for i := 0; ; i++ {
					id := fmt.Sprintf("a%d-%d", p, i)
					err := e.EmitTo("sa", row(id, i%7))
					if errors.Is(err, joinnode.ErrStopped) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					if accepted[id] = true; len(accepted) == 100 {
						close(running)
					}
					mu.Unlock()
				}
			})
		}
		<-running
		var stops sync.WaitGroup
		for range 3 {
			stops.Go(func() { within(t, e.Stop) })
		}
		stops.Wait()
		within(t, wg.Wait)
		<-e.Done()
		l.balance(t, accepted)
	}
}

// TestSinkThatEmitsIntoItsOwnFullEngine gets an error, not a deadlock.
func TestSinkThatEmitsIntoItsOwnFullEngine(t *testing.T) {
	for _, strategy := range []string{"block", "drop"} {
		t.Run(strategy, func(t *testing.T) {
			e := joinnode.New(joinnode.WithDiscardLog(), joinnode.WithBufferSizes(4, 4, 4),
				joinnode.WithOverflowStrategy(strategy, 20*time.Millisecond))
			require.NoError(t, e.Execute(hourly))
			l := newLedger()
			accepted := map[string]bool{}
			var mu sync.Mutex
			var overflows atomic.Int64
			emit := func(id string, key any) {
				switch err := e.EmitTo("sa", row(id, key)); {
				case err == nil:
					mu.Lock()
					accepted[id] = true
					mu.Unlock()
				case errors.Is(err, joinnode.ErrOverflow):
					overflows.Add(1)
				case !errors.Is(err, joinnode.ErrStopped):
					t.Error(err)
				}
			}
			var fed int
			e.AddResultSink(func(r joinnode.Result) {
				l.sink(r)
				// Every result asks for 16 more rows, each of which is a result.
				for range 16 {
					if fed < 200 {
						fed++
						emit(fmt.Sprintf("fed%d", fed), "k")
					}
				}
			})
			require.NoError(t, e.EmitTo("sb", row("b", "k")))
			emit("first", "k")
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			defer cancel()
			require.NoError(t, e.Drain(ctx))
			within(t, e.Stop)
			lost := overflows.Load()
			if strategy == "drop" { // is no error: a row that did not leave was dropped
				lost += int64(l.missing(accepted))
			}
			require.Positive(t, lost)
			require.Equal(t, lost, e.GetStats()["join_stage1_input_dropped"])
			l.balance(t, accepted)
		})
	}
}

// TestArrayIsAdmittedWholeOrNotAtAll also where it is larger than the queue.
func TestArrayIsAdmittedWholeOrNotAtAll(t *testing.T) {
	e := start(t, hourly, false, joinnode.WithBufferSizes(2, 2, 2), joinnode.WithOverflowStrategy("drop", 0))
	defer e.Stop()
	require.ErrorIs(t, e.EmitJSON("sa", []byte(`[{"id":"a1","k":1},{"id":"a2","k":1},7]`)), joinnode.ErrInvalidJSON)
	require.ErrorIs(t, e.EmitRows([]joinnode.JSONRow{
		{Stream: "sa", Data: []byte(`{"id":"a1","k":1}`)}, {Stream: "nobody", Data: []byte(`{"id":"a2","k":1}`)},
	}), joinnode.ErrUnknownStream)
	require.NoError(t, e.EmitJSON("sa", []byte(`[]`)))
	require.NoError(t, e.EmitJSON("sa", []byte(`[{"id":"a1","k":1},{"id":"a2","k":1},{"id":"a3","k":1}]`)))
	require.Empty(t, e.drain(t))
	require.EqualValues(t, 3, e.GetStats()["join_stage1_buffered_rows"])
}

func TestDrainDuringTraffic(t *testing.T) {
	e := joinnode.New(joinnode.WithDiscardLog())
	require.NoError(t, e.Execute(`SELECT a.id AS aid, b.id AS bid FROM sa AS a JOIN sb AS b WITHIN 1 HOUR ON a.k = b.k`))
	var results atomic.Int64
	e.AddResultSink(func(joinnode.Result) { results.Add(1) })
	require.NoError(t, e.EmitTo("sa", row("a", 1)))
	done := make(chan struct{})
	var accepted atomic.Int64
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := e.EmitTo("sb", row("b", 1)); err != nil {
					t.Error(err)
					return
				}
				accepted.Add(1)
			}
		})
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	for range 50 {
		before := accepted.Load()
		require.NoError(t, e.Drain(ctx))
		require.GreaterOrEqual(t, results.Load(), before)
	}
	close(done)
	wg.Wait()
	within(t, e.Stop)
	require.Equal(t, accepted.Load(), results.Load())
	require.NoError(t, e.Drain(ctx), "nothing is left to wait for")
}

func TestDrainEndsWithItsContext(t *testing.T) {
	e := joinnode.New(joinnode.WithDiscardLog())
	require.NoError(t, e.Execute(hourly))
	release := make(chan struct{})
	e.AddResultSink(func(joinnode.Result) { <-release })
	require.NoError(t, e.EmitTo("sa", row("a", 1)))
	require.NoError(t, e.EmitTo("sb", row("b", 1)))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, e.Drain(ctx), context.Canceled)
	close(release)
	within(t, e.Stop)
}

func TestLifecycle(t *testing.T) {
	e := joinnode.New(joinnode.WithDiscardLog())
	require.ErrorIs(t, e.EmitTo("sa", row("a", 1)), joinnode.ErrNotExecuted)
	require.ErrorIs(t, e.EmitJSON("sa", []byte(`{}`)), joinnode.ErrNotExecuted)
	require.NoError(t, e.Execute(hourly))
	require.ErrorIs(t, e.Execute(hourly), joinnode.ErrAlreadyExecuted)
	require.True(t, e.IsStreamJoinQuery())
	require.Equal(t, []string{"sa", "sb"}, e.Streams())
	require.ErrorIs(t, e.EmitTo("sx", row("a", 1)), joinnode.ErrUnknownStream)
	require.ErrorContains(t, e.EmitTo("SA", row("a", 1)), "sa, sb")
	_, err := e.EmitSync(row("a", 1))
	require.ErrorIs(t, err, joinnode.ErrStreamJoin)
	require.ErrorContains(t, err, "stream JOIN")
	_, err = e.RegisterTable("t", []map[string]any{{"k": 1}}, "k")
	require.Error(t, err)
	goleak.VerifyNone(t) // Execute starts nothing
	within(t, e.Stop)
	require.ErrorIs(t, e.EmitTo("sa", row("a", 1)), joinnode.ErrStopped)
	require.ErrorIs(t, e.EmitJSON("sa", []byte(`{}`)), joinnode.ErrStopped)
	e.Emit(row("a", 1))
	within(t, e.Stop)
	within(t, func() { <-e.Done() })
	goleak.VerifyNone(t)
}

// TestFailedExecuteLeavesNothingBehind and the engine can be used again.
func TestFailedExecuteLeavesNothingBehind(t *testing.T) {
	e := joinnode.New(joinnode.WithDiscardLog())
	require.Error(t, e.Execute(`SELECT a.id FROM sa AS a RIGHT JOIN sb AS b WITHIN 1 HOUR ON a.k = b.k`))
	goleak.VerifyNone(t)
	require.NoError(t, e.Execute(hourly))
	e.Stop()
}

// TestCallerMayReuseItsRow: rows are copied at the door.
func TestCallerMayReuseItsRow(t *testing.T) {
	e := start(t, `SELECT a.nested AS nested, a.list AS list FROM sa AS a JOIN sb AS b WITHIN 1 HOUR ON a.k = b.k`, false)
	nested, list := map[string]any{"x": 1}, []any{"first"}
	r := map[string]any{"k": 1, "nested": nested, "list": list}
	require.NoError(t, e.EmitTo("sa", r))
	r["k"], nested["x"], list[0] = 2, 2, "second"
	text := []byte(`{"k":1}`)
	require.NoError(t, e.EmitJSON("sb", text))
	copy(text, `{"k":9}`)
	e.Stop()
	require.Equal(t, []string{`{"list":["first"],"nested":{"x":1}} join_matched`}, e.take())
}
