package pipeline

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"
)

// sameOut makes s deliver into the record of another.
func sameOut(s, into *subject) {
	s.onOut = func(text string) {
		into.mu.Lock()
		defer into.mu.Unlock()
		into.out = append(into.out, text)
	}
}

// TestAdoptKeepsTheState: rows, watermarks, counters, and the place in the
// order of results.
func TestAdoptKeepsTheState(t *testing.T) {
	old := begin(t, left+event)
	old.put(t, old.row(0, "a1", 1, 20*second), old.row(1, "b0", 9, 15*second), old.row(1, "late", 9, 1*second))
	next := begin(t, left+event)
	sameOut(next, old)
	differs, err := next.Adopt(old.Pipeline)
	require.NoError(t, err)
	require.Empty(t, differs)
	require.ErrorIs(t, old.Put([]Row{old.row(0, "x", 1, 20*second)}), ErrClosed)
	wait(t, old.Done())
	wait(t, next.Mark()) // a query with state has begun

	stats := next.Stats()
	require.EqualValues(t, 2, stats["join_stage1_buffered_rows"])
	require.EqualValues(t, 1, stats["join_stage1_late_dropped"])
	require.Equal(t, epoch+20*second, stats["join_stage1_left_watermark"])
	require.Equal(t, epoch+15*second, stats["join_stage1_right_watermark"])
	require.EqualValues(t, 3, stats["input_count"])
	require.Equal(t, stats["input_count"], next.Metrics().Counter("input_count").Value())

	next.put(t, next.row(1, "b1", 1, 20*second), next.row(0, "late", 1, 5*second))
	next.Stop()
	require.Equal(t, []string{`{"aid":"a1","bid":"b1"}`}, old.take())
	require.EqualValues(t, 2, next.Stats()["join_stage1_late_dropped"])
	require.EqualValues(t, 1, next.Stats()["join_stage1_matches_emitted"])
}

// TestAdoptCountsWhatTheNewWhereRejects beside what the old one had.
func TestAdoptCountsWhatTheNewWhereRejects(t *testing.T) {
	const sql = "SELECT a.id AS aid, a.v AS v, b.id AS bid FROM sa AS a JOIN sb AS b WITHIN 10 SECONDS ON a.k = b.k WHERE "
	old := begin(t, sql+"a.v > 1 AND a.v < b.v AND abs(a.v) > 0 "+event)
	old.put(t, old.row(0, "a1", 1, second, "v", 1), old.row(0, "a2", 1, second, "v", 2), old.row(0, "a3", 1, second, "v", 9),
		old.row(0, "a4", 1, second, "v", "text"), old.row(1, "b1", 1, second, "v", 0))
	old.drain(t)
	before := old.Stats()
	require.EqualValues(t, 2, before["join_stage1_filtered"])
	require.EqualValues(t, 1, before["join_stage1_type_mismatch"])
	require.EqualValues(t, 2, before["join_stage1_composite_filtered"])
	next := begin(t, sql+"a.v > 5 AND a.v < b.v "+event)
	differs, err := next.Adopt(old.Pipeline)
	require.NoError(t, err)
	require.Empty(t, differs)
	next.drain(t)
	stats := next.Stats()
	require.EqualValues(t, 3, stats["join_stage1_filtered"], "a2 was let in by the old one")
	require.EqualValues(t, 2, stats["join_stage1_buffered_rows"])
	require.EqualValues(t, 1, stats["join_stage1_type_mismatch"])
	require.EqualValues(t, 2, stats["join_stage1_composite_filtered"])
	next.put(t, next.row(1, "b2", 1, second, "v", 0))
	next.Stop()
	require.EqualValues(t, 3, next.Stats()["join_stage1_composite_filtered"])
}

func TestAdoptOfADifferentGraph(t *testing.T) {
	old := begin(t, left)
	old.put(t, old.row(0, "a1", 1))
	next := begin(t, inner)
	sameOut(next, old)
	differs, err := next.Adopt(old.Pipeline)
	require.NoError(t, err)
	require.Equal(t, "stage 1: INNER JOIN, was LEFT JOIN", differs)
	next.put(t, next.row(1, "b1", 1), next.row(0, "a2", 1))
	next.Stop()
	require.Equal(t, []string{`{"aid":"a1","bid":null} reload`, `{"aid":"a2","bid":"b1"}`}, old.take(), "old results first, no state")
	require.True(t, isClosed(old.Done()))
}

func TestAdoptOfAnUnstartedQuery(t *testing.T) {
	for _, sql := range []string{left, inner} {
		old, next := begin(t, left), begin(t, sql)
		_, err := next.Adopt(old.Pipeline)
		require.NoError(t, err)
		wait(t, old.Done())
		require.ErrorIs(t, old.Put([]Row{old.row(0, "a", 1)}), ErrClosed)
		next.put(t, next.row(0, "a1", 1), next.row(1, "b1", 1))
		next.Stop()
		require.Equal(t, []string{`{"aid":"a1","bid":"b1"}`}, next.take())
	}
}

func TestAdoptOfAStoppedQuery(t *testing.T) {
	old, next := begin(t, left), begin(t, left)
	old.put(t, old.row(0, "a1", 1))
	old.Stop()
	require.Equal(t, []string{`{"aid":"a1","bid":null} stop`}, old.take())
	differs, err := next.Adopt(old.Pipeline)
	require.NoError(t, err)
	require.Contains(t, differs, "stopped before")
	next.put(t, next.row(1, "b1", 1))
	next.Stop()
	require.Empty(t, next.take())
}

func TestAdoptRefused(t *testing.T) {
	started, stopped, adopted, itself := begin(t, left), begin(t, left), begin(t, left), begin(t, left)
	started.put(t, started.row(0, "a1", 1))
	stopped.Stop()
	before := begin(t, left)
	_, err := adopted.Adopt(before.Pipeline)
	require.NoError(t, err)
	old := begin(t, left)
	old.put(t, old.row(0, "a2", 2))
	for name, p := range map[string]*Pipeline{"started": started.Pipeline, "stopped": stopped.Pipeline, "adopted": adopted.Pipeline} {
		_, err := p.Adopt(old.Pipeline)
		require.ErrorIs(t, err, ErrStarted, name)
		require.ErrorIs(t, p.Follow(old.Done(), old.Sinks()), ErrStarted, name)
	}
	_, err = itself.Adopt(itself.Pipeline)
	require.ErrorIs(t, err, ErrStarted)
	require.Empty(t, old.drain(t), "the old query goes on")
	old.put(t, old.row(1, "b2", 2))
	require.Equal(t, []string{`{"aid":"a2","bid":"b2"}`}, old.drain(t))
	for _, s := range []*subject{started, adopted, itself, old, before} {
		s.Stop()
	}
}

// TestChainOfAdoptions without a row in between: the state goes all the way.
func TestChainOfAdoptions(t *testing.T) {
	first := begin(t, left)
	first.put(t, first.row(0, "a1", 1))
	last := first
	for range 3 {
		next := begin(t, left)
		sameOut(next, first)
		differs, err := next.Adopt(last.Pipeline)
		require.NoError(t, err)
		require.Empty(t, differs)
		last = next
	}
	last.put(t, last.row(1, "b1", 1))
	last.Stop()
	require.Equal(t, []string{`{"aid":"a1","bid":"b1"}`}, first.take())
}

// TestAdoptAndStopAtOnce: what was handed over is given up by the new one.
func TestAdoptAndStopAtOnce(t *testing.T) {
	old, next := begin(t, left), begin(t, left)
	old.put(t, old.row(0, "a1", 1))
	sameOut(next, old)
	_, err := next.Adopt(old.Pipeline)
	require.NoError(t, err)
	next.Stop()
	require.Equal(t, []string{`{"aid":"a1","bid":null} stop`}, old.take())
	require.True(t, isClosed(old.Done()))
}

// TestAdoptionFallsInItsPlaceOfTime: what falls due after the reload is the new
// query's business, however late the old loop comes to it.
func TestAdoptionFallsInItsPlaceOfTime(t *testing.T) {
	c := newClock()
	old := begin(t, left, c.use)
	old.put(t, old.row(0, "a1", 1))
	old.drain(t)
	next := begin(t, "SELECT a.id AS aid, b.id AS bid, 2 AS version FROM sa AS a LEFT JOIN sb AS b WITHIN 10 SECONDS ON a.k = b.k", c.use)
	sameOut(next, old)
	_, err := next.Adopt(old.Pipeline)
	require.NoError(t, err)
	c.set(11 * second)
	wait(t, next.Mark())
	require.Equal(t, []string{`{"aid":"a1","bid":null,"version":2} window`}, old.take())
	next.Stop()
}

// TestFollow: the first result waits for a query of another kind, whose sinks
// may stop this one.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, left)
		done, sinks := make(chan struct{}), &SinkGoroutine{}
		require.NoError(t, s.Follow(done, sinks))
		s.put(t, s.row(0, "a1", 1))
		go func() {
			sinks.Enter()
			defer sinks.Leave()
			s.Stop() // would wait for this very goroutine
			time.Sleep(time.Second)
			close(done)
		}()
		time.Sleep(time.Millisecond)
		synctest.Wait()
		require.Empty(t, s.take())
		require.False(t, isClosed(s.Done()))
		<-s.Done()
		require.Equal(t, []string{`{"aid":"a1","bid":null} stop`}, s.take())
	})
}

// TestStopOfAFollowerWithoutRows ends with the query before it.
func TestStopOfAFollowerWithoutRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, left)
		done := make(chan struct{})
		require.NoError(t, s.Follow(done, &SinkGoroutine{}))
		go s.Stop()
		synctest.Wait()
		require.False(t, isClosed(s.Done()))
		close(done)
		<-s.Done()
		require.Equal(t, 1, s.ended)
	})
}

// TestOldSinkStopsTheNewQuery while it still has the old query's result.
func TestOldSinkStopsTheNewQuery(t *testing.T) {
	old, next := begin(t, left), begin(t, left)
	sameOut(next, old)
	adopted, stopped := make(chan struct{}), make(chan struct{})
	old.onOut = func(string) {
		<-adopted
		next.Stop()
		close(stopped)
	}
	old.put(t, old.row(0, "a1", 1), old.row(1, "b1", 1), old.row(0, "a2", 2))
	_, err := next.Adopt(old.Pipeline)
	require.NoError(t, err)
	close(adopted)
	wait(t, stopped)
	wait(t, next.Done())
	require.Equal(t, []string{`{"aid":"a1","bid":"b1"}`, `{"aid":"a2","bid":null} stop`}, old.take())
}

// TestAdoptedQueriesAreForgotten: a long run of reloads holds on to none of the
// queries before, with rows in between or without.
func TestAdoptedQueriesAreForgotten(t *testing.T) {
	for _, rows := range []bool{true, false} {
		t.Run(fmt.Sprintf("rows %v", rows), func(t *testing.T) {
			var before []weak.Pointer[Pipeline]
			var sinks []weak.Pointer[SinkGoroutine]
			last := begin(t, left)
			last.put(t, last.row(0, "a", 1))
			for i := range 20 {
				sql := left
				if i == 3 {
					sql = inner // differs: nothing is taken
				}
				next := begin(t, sql)
				_, err := next.Adopt(last.Pipeline)
				require.NoError(t, err)
				before = append(before, weak.Make(last.Pipeline))
				sinks = append(sinks, weak.Make(last.Sinks()))
				last = next
				if rows {
					last.put(t, last.row(0, fmt.Sprint("a", i), 1))
					last.drain(t)
				}
			}
			last.put(t, last.row(0, "last", 1))
			last.drain(t)
			require.Eventually(t, func() bool {
				runtime.GC()
				for i := range before {
					if before[i].Value() != nil || sinks[i].Value() != nil {
						return false
					}
				}
				return true
			}, 30*time.Second, 5*time.Millisecond)
			last.Stop()
		})
	}
}
