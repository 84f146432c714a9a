package joinnode_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode"
	"github.com/streamjoin/streamjoin/joinnode/internal/model"
)

const (
	absence = `SELECT a.id AS aid, b.id AS bid FROM sa AS a LEFT JOIN sb AS b WITHIN 10 SECONDS ON a.k = b.k`
	cascade = `SELECT a.id AS aid, b.id AS bid, c.id AS cid FROM sa AS a
		LEFT JOIN sb AS b WITHIN 10 SECONDS ON a.k = b.k LEFT JOIN sc AS c WITHIN 3 SECONDS ON a.k = c.k`
)

// timed is an engine inside a synctest bubble whose clock the test moves.
// Nothing is ever asked of the engine to make it emit: Wait returns once all
// its goroutines sleep.
type timed struct {
	*subject
	t     *testing.T
	clock *testClock
}

func startTimed(t *testing.T, sql string) *timed {
	clock := newTestClock(model.Epoch)
	return &timed{start(t, sql, false, joinnode.WithClock(clock)), t, clock}
}

// emit sends a row at the clock's present time.
func (e *timed) emit(stream, id string, key any, more ...any) {
	row := map[string]any{"id": id, "k": key}
	if len(more) > 0 {
		row["ts"] = more[0]
	}
	require.NoError(e.t, e.EmitTo(stream, row))
	synctest.Wait()
}

// at moves the clock to d behind the epoch and expects exactly these results.
func (e *timed) at(d time.Duration, want ...string) {
	e.t.Helper()
	e.clock.Set(model.Epoch + int64(d))
	synctest.Wait()
	e.expect(want...)
}

func (e *timed) expect(want ...string) {
	e.t.Helper()
	require.Equal(e.t, want, e.take())
}

func TestTimerFiresAtTheDueInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startTimed(t, absence)
		defer e.Stop()
		e.emit("sa", "a1", 1)
		e.at(5 * time.Second)
		e.emit("sa", "a2", 2)
		e.emit("sa", "a3", 3)
		e.emit("sb", "b3", 3)
		e.expect(`{"aid":"a3","bid":"b3"} join_matched`)
		e.at(10 * time.Second)
		e.at(10*time.Second+1, `{"aid":"a1","bid":null} left_unmatched without b, closed by window`)
		e.at(15 * time.Second)
		e.at(15*time.Second+1, `{"aid":"a2","bid":null} left_unmatched without b, closed by window`)
		e.at(time.Hour)
	})
}

func TestPartnerIsInTimeUntilTheDueInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startTimed(t, absence)
		defer e.Stop()
		e.emit("sa", "a1", 1)
		e.at(10 * time.Second)
		e.emit("sb", "b1", 1)
		e.expect(`{"aid":"a1","bid":"b1"} join_matched`)
		e.emit("sa", "a2", 2)
		e.at(20*time.Second+1, `{"aid":"a2","bid":null} left_unmatched without b, closed by window`)
		e.emit("sb", "b2", 2)
		e.expect()
	})
}

func TestNullRowFallsDueAgainInTheNextStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startTimed(t, cascade)
		defer e.Stop()
		e.emit("sa", "a1", 1)
		e.at(5 * time.Second)
		e.emit("sa", "a2", 2)
		e.at(10*time.Second + 1) // a1 passes into stage 2 without a partner
		e.at(12*time.Second, []string(nil)...)
		e.emit("sc", "c1", 1) // 2 s after it came there
		e.expect(`{"aid":"a1","bid":null,"cid":"c1"} left_unmatched without b, closed by window`)
		e.at(15*time.Second + 1)
		e.at(18*time.Second + 1)
		e.at(18*time.Second+2, `{"aid":"a2","bid":null,"cid":null} left_unmatched without b,c, closed by window`)
	})
}

// TestLateTimerReplaysTheInstants jumps over several due instants at once: the
// results are those of a clock that stood still at each.
func TestLateTimerReplaysTheInstants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startTimed(t, cascade)
		defer e.Stop()
		e.emit("sa", "a1", 1)
		e.at(8 * time.Second)
		e.emit("sc", "c1", 1) // 2 s old when a1 comes to stage 2
		e.emit("sa", "a2", 2)
		e.at(time.Hour,
			`{"aid":"a1","bid":null,"cid":"c1"} left_unmatched without b, closed by window`,
			`{"aid":"a2","bid":null,"cid":null} left_unmatched without b,c, closed by window`)
	})
}

func TestDownstreamGoesFirstAtOneInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startTimed(t, cascade)
		defer e.Stop()
		e.emit("sa", "a1", 1)
		e.at(7 * time.Second)
		e.emit("sa", "a2", 2)
		e.emit("sb", "b2", 2) // a2b2 waits in stage 2 until 10 s + 1 ns, as a1 does in stage 1
		e.emit("sc", "c1", 1) // exactly 3 s and 1 ns old by then: too old for a1
		e.at(10 * time.Second)
		e.at(10*time.Second+1, `{"aid":"a2","bid":"b2","cid":null} left_unmatched without c, closed by window`)
		e.at(13*time.Second+2, `{"aid":"a1","bid":null,"cid":null} left_unmatched without b,c, closed by window`)
	})
}

func TestEventTimeHasNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startTimed(t, absence+` WITH (TIMESTAMP='ts')`)
		defer e.Stop()
		e.emit("sa", "a1", 1, model.Epoch)
		e.at(24 * time.Hour)
		require.Zero(t, e.clock.Pending())
		e.Stop()
		e.expect(`{"aid":"a1","bid":null} left_unmatched without b, closed by stop`)
	})
}

// TestIdleTimer: a pending row of an idle input is due at the later of "silent
// for the timeout" and "the clock is past its window" (§5).
func TestIdleTimer(t *testing.T) {
	const idle = absence + ` WITH (TIMESTAMP='ts', IDLETIMEOUT='30s')`
	a1 := `{"aid":"a1","bid":null} left_unmatched without b, closed by idle`
	t.Run("the timeout comes last", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := startTimed(t, idle)
			defer e.Stop()
			e.emit("sa", "a1", 1, model.Epoch)
			e.at(30*time.Second - 1)
			e.at(30*time.Second, a1)
		})
	})
	t.Run("the window comes last", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := startTimed(t, idle)
			defer e.Stop()
			e.emit("sa", "a1", 1, model.Epoch+int64(25*time.Second))
			e.at(30 * time.Second)
			e.at(35 * time.Second)
			e.at(35*time.Second+1, a1)
		})
	})
	t.Run("a bad row keeps the input awake", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := startTimed(t, idle)
			defer e.Stop()
			e.emit("sa", "a1", 1, model.Epoch)
			e.at(20 * time.Second)
			e.emit("sa", "bad", 1, "no time")
			e.at(30 * time.Second)
			e.at(50*time.Second - 1)
			e.at(50*time.Second, a1)
		})
	})
	t.Run("the other input does not", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := startTimed(t, idle)
			defer e.Stop()
			e.emit("sa", "a1", 1, model.Epoch)
			e.at(20 * time.Second)
			e.emit("sb", "b1", 2, model.Epoch+int64(20*time.Second))
			e.at(30*time.Second, a1)
		})
	})
	t.Run("who never spoke is not idle", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := startTimed(t, idle)
			defer e.Stop()
			e.emit("sb", "b1", 1, model.Epoch)
			e.at(time.Hour)
			e.emit("sa", "a1", 2, model.Epoch)
			e.at(time.Hour + 30*time.Second - 1)
			e.at(time.Hour+30*time.Second, a1)
		})
	})
}

func TestIdleTimerReachesLaterStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startTimed(t, cascade+` WITH (TIMESTAMP='ts', IDLETIMEOUT='1s')`)
		defer e.Stop()
		e.emit("sa", "a1", 1, model.Epoch)
		e.emit("sb", "b1", 1, model.Epoch)
		e.at(13 * time.Second)
		e.at(13*time.Second+1, `{"aid":"a1","bid":"b1","cid":null} left_unmatched without c, closed by idle`)
	})
}

func TestStopLeavesNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startTimed(t, absence)
		e.emit("sa", "a1", 1)
		require.Positive(t, e.clock.Pending())
		e.Stop()
		require.Zero(t, e.clock.Pending())
		e.expect(`{"aid":"a1","bid":null} left_unmatched without b, closed by stop`)
	})
}

// TestMachineClock is the same with the clock that users get; inside the
// bubble it is exact to the nanosecond too.
func TestMachineClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, absence, false)
		defer e.Stop()
		require.NoError(t, e.EmitTo("sa", map[string]any{"id": "a1", "k": 1}))
		time.Sleep(4 * time.Second)
		require.NoError(t, e.EmitTo("sa", map[string]any{"id": "a2", "k": 1}))
		time.Sleep(6 * time.Second)
		synctest.Wait()
		require.Empty(t, e.take())
		time.Sleep(1)
		synctest.Wait()
		require.Equal(t, []string{`{"aid":"a1","bid":null} left_unmatched without b, closed by window`}, e.take())
		time.Sleep(4*time.Second - 1)
		synctest.Wait()
		require.Empty(t, e.take())
		time.Sleep(1)
		synctest.Wait()
		require.Equal(t, []string{`{"aid":"a2","bid":null} left_unmatched without b, closed by window`}, e.take())
	})
}

// TestMatchedRowsAreFreedWithoutTraffic: rows with nothing to emit go by the
// coarse timer, not with the next row.
func TestMatchedRowsAreFreedWithoutTraffic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, absence, false)
		defer e.Stop()
		require.NoError(t, e.EmitTo("sa", map[string]any{"id": "a1", "k": 1}))
		require.NoError(t, e.EmitTo("sb", map[string]any{"id": "b1", "k": 1}))
		synctest.Wait()
		require.EqualValues(t, 2, e.GetStats()["join_stage1_buffered_rows"])
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Zero(t, e.GetStats()["join_stage1_buffered_rows"])
	})
}

// TestBlockedCallerGivesUpAtTheTimeout: a caller that finds the queue full waits
// exactly blockTimeout.
func TestBlockedCallerGivesUpAtTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := joinnode.New(joinnode.WithDiscardLog(), joinnode.WithBufferSizes(2, 1, 1),
			joinnode.WithOverflowStrategy("block", 3*time.Second))
		require.NoError(t, e.Execute(`SELECT a.id AS aid, b.id AS bid FROM sa AS a JOIN sb AS b WITHIN 1 HOUR ON a.k = b.k`))
		release := make(chan struct{})
		e.AddResultSink(func(joinnode.Result) { <-release })
		require.NoError(t, e.EmitTo("sa", map[string]any{"id": "a", "k": 1}))
		var err error
		started := time.Now()
		accepted := 1
		for range 1000 {
			if err = e.EmitTo("sb", map[string]any{"id": "b", "k": 1}); err != nil {
				break
			}
			accepted++
			started = time.Now()
		}
		require.ErrorIs(t, err, joinnode.ErrOverflow)
		require.Equal(t, 3*time.Second, time.Since(started))
		require.EqualValues(t, 1, e.GetStats()["join_stage1_input_dropped"])
		close(release)
		e.Stop()
		require.EqualValues(t, accepted-1, e.GetStats()["join_stage1_matches_emitted"])
	})
}

// TestAdoptedRowsFallDue: a reload must not put off the alarm of a row that
// waits, also when no row comes after it.
func TestAdoptedRowsFallDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startTimed(t, absence)
		e.emit("sa", "a1", 1)
		e.at(5 * time.Second)
		old := e.Streamsql
		e.subject = startInto(t, e.record, absence+" -- reloaded", false, joinnode.WithClock(e.clock))
		defer e.Stop()
		adoption, err := e.Adopt(old)
		require.NoError(t, err)
		require.True(t, adoption.Taken, adoption.Differs)
		synctest.Wait()
		e.at(10 * time.Second)
		e.at(10*time.Second+1, `{"aid":"a1","bid":null} left_unmatched without b, closed by window`)
	})
}
