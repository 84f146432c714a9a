package pipeline

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTimerForTheEarliestDueRow: one timer, for what falls due first, and again
// for the next.
func TestTimerForTheEarliestDueRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock()
		s := begin(t, left, c.use)
		defer s.Stop()
		// A coarse sweep would come after 1.25 s; here it is out of the way.
		s.graph.(*joinGraph).sweeps = 1000 * second
		s.put(t, s.row(0, "a1", 1))
		synctest.Wait()
		require.Equal(t, []int64{10*second + 1}, c.pending())
		c.set(4 * second)
		s.put(t, s.row(0, "a2", 2))
		s.put(t, s.row(0, "a3", 3), s.row(1, "b3", 3))
		synctest.Wait()
		require.Equal(t, []int64{10*second + 1}, c.pending())
		require.Equal(t, []string{`{"aid":"a3","bid":"b3"}`}, s.take())
		c.set(10*second + 1)
		synctest.Wait()
		require.Equal(t, []string{`{"aid":"a1","bid":null} window`}, s.take())
		require.Equal(t, []int64{14*second + 1}, c.pending())
		c.set(14*second + 1)
		synctest.Wait()
		require.Equal(t, []string{`{"aid":"a2","bid":null} window`}, s.take())
	})
}

// TestTimersAreNotMadeForEveryRow: one that comes in time is left alone.
func TestTimersAreNotMadeForEveryRow(t *testing.T) {
	c := newClock()
	s := begin(t, left, c.use)
	defer s.Stop()
	for i := range 100 {
		c.set(int64(i))
		s.put(t, s.row(0, "a", i))
		s.drain(t)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	require.Len(t, c.armed, 1)
}

// TestTimerThatFiresEarly: the runtime's timers follow another clock than the
// one that rows are stamped with. One that comes too soon must be armed again.
func TestTimerThatFiresEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock()
		s := begin(t, left, c.use)
		defer s.Stop()
		s.graph.(*joinGraph).sweeps = 1000 * second
		s.put(t, s.row(0, "a1", 1))
		synctest.Wait()
		c.mu.Lock()
		c.now = epoch + 10*second - 5
		c.mu.Unlock()
		c.fire(func(*timer) bool { return true })
		synctest.Wait()
		require.Empty(t, s.take())
		require.Equal(t, []int64{10*second + 1}, c.pending())
		c.set(10*second + 1)
		synctest.Wait()
		require.Equal(t, []string{`{"aid":"a1","bid":null} window`}, s.take())
	})
}

// TestClockSetBack: time stands still until the clock is back where it was, and
// the wait is as long as that takes, without a busy loop.
func TestClockSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock()
		s := begin(t, left, c.use)
		defer s.Stop()
		s.graph.(*joinGraph).sweeps = 1e6 * second
		s.put(t, s.row(0, "a1", 1))
		synctest.Wait()
		c.set(10 * second)
		s.put(t, s.row(0, "a2", 2))
		synctest.Wait()
		c.mu.Lock()
		c.now = epoch - 3600*second
		c.armed = nil
		c.mu.Unlock()
		c.fire(func(*timer) bool { return true })
		synctest.Wait()
		require.Empty(t, s.take())
		require.Equal(t, []time.Duration{time.Hour + 10*time.Second + 1}, c.armed)
		c.set(10*second + 1)
		synctest.Wait()
		require.Equal(t, []string{`{"aid":"a1","bid":null} window`}, s.take())
	})
}

// TestSweepFreesRows that have nothing to emit, in processing time, without
// traffic and without results.
func TestSweepFreesRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, inner)
		defer s.Stop()
		s.put(t, s.row(0, "a1", 1), s.row(1, "b2", 2))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.EqualValues(t, 2, s.Stats()["join_stage1_buffered_rows"], "in time until the last moment")
		time.Sleep(10*time.Second/8 + 1)
		synctest.Wait()
		stats := s.Stats()
		require.Zero(t, stats["join_stage1_buffered_rows"])
		require.EqualValues(t, 2, stats["join_stage1_expired"])
		require.Zero(t, stats["output_count"])
		require.Empty(t, s.take())
	})
}

// TestEventTimeHasNoSweep: nothing advances by itself, so there is no timer.
func TestEventTimeHasNoSweep(t *testing.T) {
	c := newClock()
	s := begin(t, left+event, c.use)
	defer s.Stop()
	s.put(t, s.row(0, "a1", 1, second))
	s.drain(t)
	require.Empty(t, c.pending())
}

// TestStopWithinTime: what fell due before Stop left by its window, the rest by
// Stop.
func TestStopWithinTime(t *testing.T) {
	c := newClock()
	s := begin(t, left, c.use)
	s.put(t, s.row(0, "a1", 1))
	c.mu.Lock()
	c.now = epoch + 5*second
	c.mu.Unlock()
	s.put(t, s.row(0, "a2", 2))
	c.mu.Lock()
	c.now = epoch + 11*second // no timer fires
	c.mu.Unlock()
	s.Stop()
	require.Equal(t, []string{`{"aid":"a1","bid":null} window`, `{"aid":"a2","bid":null} stop`}, s.take())
	require.Empty(t, c.pending())
}

func TestSaturatingTime(t *testing.T) {
	require.EqualValues(t, maxTime, addTime(maxTime-1, 2))
	require.EqualValues(t, minTime, addTime(minTime+1, -2))
	require.EqualValues(t, minTime, subTime(minTime+1, 2))
	require.EqualValues(t, maxTime, subTime(maxTime-1, -2))
	require.EqualValues(t, 3, addTime(1, 2))
	require.EqualValues(t, -1, subTime(1, 2))
}
