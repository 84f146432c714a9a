package pipeline

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// TestNothingRunsBeforeTheFirstRow nor after Stop.
func TestNothingRunsBeforeTheFirstRow(t *testing.T) {
	before := goleak.IgnoreCurrent()
	s := begin(t, left)
	require.NotEmpty(t, s.Stats())
	require.True(t, isClosed(s.Mark()), "there is nothing to wait for")
	goleak.VerifyNone(t, before)
	s.put(t, s.row(0, "a1", 1))
	s.drain(t)
	s.Stop()
	goleak.VerifyNone(t, before)
	require.Equal(t, 1, s.ended)
}

func TestStopWithoutRows(t *testing.T) {
	s := begin(t, left)
	s.Stop()
	require.True(t, isClosed(s.Done()))
	s.Stop()
	require.Equal(t, 1, s.ended, "the end is told once")
	require.ErrorIs(t, s.Put([]Row{s.row(0, "a1", 1)}), ErrClosed)
	wait(t, s.Mark())
}

func TestStopTwice(t *testing.T) {
	s := begin(t, left)
	s.put(t, s.row(0, "a1", 1))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			s.Stop()
			if !isClosed(s.Done()) {
				t.Error("Stop came back before the end")
			}
		})
	}
	wg.Wait()
	require.Equal(t, []string{`{"aid":"a1","bid":null} stop`}, s.take())
	require.Equal(t, 1, s.ended)
}

// TestStopFromASink closes the inputs and comes back; the results that follow
// are delivered all the same.
func TestStopFromASink(t *testing.T) {
	s := begin(t, left)
	came := false
	s.onOut = func(string) {
		if !came {
			came = true
			s.Stop()
			if isClosed(s.Done()) {
				t.Error("the end before the last result")
			}
		}
	}
	s.put(t, s.row(0, "a1", 1), s.row(0, "a2", 2), s.row(1, "b1", 1))
	wait(t, s.Done())
	require.Equal(t, []string{`{"aid":"a1","bid":"b1"}`, `{"aid":"a2","bid":null} stop`}, s.take())
	require.ErrorIs(t, s.Put([]Row{s.row(0, "a3", 1)}), ErrClosed)
	s.Stop() // from elsewhere it waits, and the end is there
}

func TestRetire(t *testing.T) {
	s := begin(t, left)
	s.put(t, s.row(0, "a1", 1))
	s.Retire()
	wait(t, s.Done())
	require.Equal(t, []string{`{"aid":"a1","bid":null} reload`}, s.take())
}

// TestResultsInOrder through many batches and both kinds of output.
func TestResultsInOrder(t *testing.T) {
	s := begin(t, inner+event, wantLate)
	want := []string{}
	s.put(t, s.row(0, "a", 1, 20*second))
	for i := range 500 {
		switch i % 3 {
		case 0:
			s.put(t, s.row(1, fmt.Sprint("b", i), 1, 20*second))
			want = append(want, fmt.Sprintf(`{"aid":"a","bid":"b%d"}`, i))
		case 1:
			s.put(t, s.row(1, fmt.Sprint("b", i), 1, 5*second))
			want = append(want, fmt.Sprintf(`late 1 late ts=5s wm=20s {"id":"b%d","k":1,"ts":%d}`, i, epoch+5*second))
		case 2:
			s.Mark()
		}
	}
	s.Stop()
	require.Equal(t, want, s.take())
}

// TestASlowSinkHoldsCallers until its results are out.
func TestASlowSinkHoldsCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, left, func(c *Config) { c.QueueRows, c.BacklogLimit = 4, 1 })
		release := make(chan struct{})
		s.onOut = func(string) { <-release }
		s.put(t, s.row(0, "a1", 1), s.row(1, "b1", 1))
		synctest.Wait()
		blocked := make(chan error, 1)
		go func() { blocked <- s.Put([]Row{s.row(0, "a2", 2)}) }()
		synctest.Wait()
		require.Empty(t, blocked, "a result waits for its sink")
		close(release)
		require.NoError(t, <-blocked)
		s.Stop()
		require.Equal(t, []string{`{"aid":"a1","bid":"b1"}`, `{"aid":"a2","bid":null} stop`}, s.take())
	})
}

// TestOverflowIsCounted at the stage that the row would have entered.
func TestOverflowIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, cascade, func(c *Config) { c.QueueRows, c.BacklogLimit = 1, 1; c.BlockTimeout = time.Second })
		release := make(chan struct{})
		s.onOut = func(string) { <-release }
		s.put(t, s.row(0, "a1", 1))
		s.put(t, s.row(1, "b1", 1))
		time.Sleep(4 * time.Second)
		synctest.Wait() // the NULL row of stage 2 is in the sink
		require.ErrorIs(t, s.Put([]Row{s.row(0, "x", 1), s.row(2, "x", 1), s.row(2, "x", 1)}), ErrOverflow)
		require.EqualValues(t, 1, s.Stats()["join_stage1_input_dropped"])
		require.EqualValues(t, 2, s.Stats()["join_stage2_input_dropped"])
		close(release)
		s.Stop()
		stats := s.Stats()
		require.EqualValues(t, 3, stats["input_dropped_count"])
		require.EqualValues(t, 3, stats["dropped_count"])
		require.Equal(t, 1, containing(s.log.take(), "join stage 2: rows found no room"))
	})
}

// TestDroppedRowsReachTheLateOutput: to drop is no error, and no silence either.
func TestDroppedRowsReachTheLateOutput(t *testing.T) {
	s := begin(t, inner+event, wantLate, func(c *Config) { c.QueueRows, c.BacklogLimit, c.Block = 2, 1, false })
	inSink, release := make(chan bool, 1), make(chan struct{})
	s.onOut = func(string) {
		select {
		case inSink <- true:
			<-release
		default:
		}
	}
	s.put(t, s.row(0, "a", 1, second), s.row(1, "b", 1, second))
	wait(t, inSink)
	s.put(t, s.row(1, "x", 1, second), s.row(0, "y", 1, 2*second), s.row(1, "z", 1, "?"))
	close(release)
	s.Stop()
	require.Equal(t, []string{
		`{"aid":"a","bid":"b"}`,
		fmt.Sprintf(`late 1 input_dropped ts=1s wm=1s {"id":"x","k":1,"ts":%d}`, epoch+second),
		fmt.Sprintf(`late 0 input_dropped ts=2s wm=1s {"id":"y","k":1,"ts":%d}`, epoch+2*second),
	}, s.take(), "no more are kept than the queue has places")
	require.EqualValues(t, 3, s.Stats()["input_dropped_count"])
	require.EqualValues(t, 2, s.Stats()["input_count"])
}

// TestMarkWhileTheFirstRowComes must not wait for Stop.
func TestMarkWhileTheFirstRowComes(t *testing.T) {
	for range 200 {
		s := begin(t, inner)
		var wg sync.WaitGroup
		wg.Go(func() { s.put(t, s.row(0, "a", 1)) })
		wg.Go(func() { wait(t, s.Mark()) })
		wg.Wait()
		s.Stop()
	}
}

// TestMarkWhileTheQueryEnds waits for the last result.
func TestMarkWhileTheQueryEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, left)
		release := make(chan struct{})
		s.onOut = func(string) { <-release }
		s.put(t, s.row(0, "a1", 1))
		go s.Stop()
		synctest.Wait()
		mark := s.Mark()
		synctest.Wait()
		require.False(t, isClosed(mark))
		close(release)
		<-mark
		require.Equal(t, []string{`{"aid":"a1","bid":null} stop`}, s.take())
	})
}

// TestDeliveriesForgetWhatTheyHeld as batches do.
func TestDeliveriesForgetWhatTheyHeld(t *testing.T) {
	s := begin(t, inner)
	o := s.Pipeline.out
	used := &delivery{items: []outgoing{{side: []any{1}, late: Late{JSON: []byte("x")}}}, slab: make([]byte, 5, 50), waiting: 1}
	o.recycle(used)
	require.Equal(t, outgoing{}, used.items[:1][0])
	require.Zero(t, used.waiting)
	o.recycle(&delivery{slab: make([]byte, maxIdleSlab+1)})
	o.recycle(&delivery{items: make([]outgoing, maxIdleItems+1)})
	require.Len(t, o.free, 1)
	for range 2 * maxFreeDeliveries {
		o.recycle(&delivery{})
	}
	require.Len(t, o.free, maxFreeDeliveries)
}

// TestEndReleasesMemory: a stopped query that somebody still asks for its
// statistics holds no buffers.
func TestEndReleasesMemory(t *testing.T) {
	s := begin(t, inner)
	for i := range 90 {
		s.put(t, s.row(i%2, "x", i/2))
	}
	s.drain(t)
	s.Stop()
	require.Nil(t, s.Pipeline.out.free)
	require.Nil(t, s.Pipeline.out.fill)
	require.Zero(t, cap(s.queue.fill.slab)+cap(s.queue.fill.arrivals))
}
