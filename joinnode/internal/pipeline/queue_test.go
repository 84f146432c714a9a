package pipeline

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// newTestQueue is a queue whose loop is the test.
func newTestQueue(rows int, change ...func(*Config)) *queue {
	cfg := Config{Clock: SystemClock{}, QueueRows: rows, BacklogLimit: 2, Block: true, BlockTimeout: 3 * time.Second}
	for _, c := range change {
		c(&cfg)
	}
	q := newQueue(cfg)
	q.onFirst = func() {}
	return q
}

func group(names ...string) []Row {
	rows := make([]Row, len(names))
	for i, n := range names {
		rows[i] = Row{Row: row.Row{Enc: []byte(n)}}
	}
	return rows
}

// takeAll takes what is there and returns the rows' bytes.
func takeAll(q *queue) (names []string, n int) {
	var empty batch
	b, _, _, _ := q.take(&empty)
	for _, a := range b.arrivals {
		if a.marker != nil {
			names = append(names, "mark")
			close(a.marker.done)
			continue
		}
		names = append(names, string(b.bytes(a.enc)))
		n++
	}
	return names, n
}

// putLater runs put in a goroutine; the channel gives its error.
func putLater(q *queue, rows []Row) <-chan error {
	done := make(chan error, 1)
	go func() { done <- q.put(rows) }()
	return done
}

func TestQueueKeepsOrderAndBytes(t *testing.T) {
	q := newTestQueue(10)
	rows := group("a", "b")
	rows[0].Raw = []byte("raw")
	require.NoError(t, q.put(rows))
	copy(rows[0].Row.Enc, "z")
	copy(rows[0].Raw, "zzz")
	require.NoError(t, q.put(group("c")))
	var empty batch
	b, _, rang, more := q.take(&empty)
	require.True(t, more)
	require.False(t, rang)
	require.Equal(t, "a", string(b.bytes(b.arrivals[0].enc)))
	require.Equal(t, "raw", string(b.bytes(b.arrivals[0].raw)))
	require.Equal(t, "c", string(b.bytes(b.arrivals[2].enc)))
	require.Empty(t, b.bytes(b.arrivals[2].raw))
}

func TestQueueBlocksUntilThereIsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newTestQueue(2)
		require.NoError(t, q.put(group("a", "b")))
		blocked := putLater(q, group("c"))
		synctest.Wait()
		require.Empty(t, blocked)
		names, n := takeAll(q)
		require.Equal(t, []string{"a", "b"}, names)
		synctest.Wait()
		require.Empty(t, blocked, "taken is not yet processed")
		q.settle(n, 0)
		require.NoError(t, <-blocked)
		names, _ = takeAll(q)
		require.Equal(t, []string{"c"}, names)
	})
}

func TestQueueGivesUpAfterTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newTestQueue(1)
		require.NoError(t, q.put(group("a")))
		started := time.Now()
		require.ErrorIs(t, q.put(group("b")), ErrOverflow)
		require.Equal(t, 3*time.Second, time.Since(started))
		names, n := takeAll(q)
		require.Equal(t, []string{"a"}, names, "nothing of b was admitted")
		q.settle(n, 0)
		require.NoError(t, q.put(group("c")))
	})
}

func TestQueueDropsAtOnce(t *testing.T) {
	q := newTestQueue(2, func(c *Config) { c.Block = false })
	require.NoError(t, q.put(group("a")))
	require.ErrorIs(t, q.put(group("b", "c")), ErrOverflow, "whole or not at all")
	require.NoError(t, q.put(group("d")))
	names, _ := takeAll(q)
	require.Equal(t, []string{"a", "d"}, names)
}

func TestGroupLargerThanTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newTestQueue(2)
		require.NoError(t, q.put(group("a")))
		large := putLater(q, group("b", "c", "d"))
		synctest.Wait()
		require.Empty(t, large)
		_, n := takeAll(q)
		q.settle(n, 0)
		require.NoError(t, <-large, "an empty queue takes any group")
		names, n := takeAll(q)
		require.Equal(t, []string{"b", "c", "d"}, names)
		blocked := putLater(q, group("e"))
		synctest.Wait()
		require.Empty(t, blocked)
		q.settle(n, 0)
		require.NoError(t, <-blocked)
	})
}

// TestALargeGroupIsNotStarved: callers are served in the order in which they came,
// also where a later one would have fitted in.
func TestALargeGroupIsNotStarved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newTestQueue(2)
		require.NoError(t, q.put(group("a", "b")))
		large := putLater(q, group("c", "d"))
		synctest.Wait()
		small := putLater(q, group("e"))
		synctest.Wait()
		takeAll(q)
		q.settle(1, 0)
		synctest.Wait()
		require.Empty(t, small, "there is room for one, but it is not its turn")
		q.settle(1, 0)
		require.NoError(t, <-large)
		names, n := takeAll(q)
		require.Equal(t, []string{"c", "d"}, names)
		q.settle(n, 0)
		require.NoError(t, <-small)
	})
}

// TestACallerThatGivesUpLeavesTheLine to those behind it.
func TestACallerThatGivesUpLeavesTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newTestQueue(2)
		require.NoError(t, q.put(group("a")))
		large := putLater(q, group("b", "c"))
		time.Sleep(time.Second)
		small := putLater(q, group("d"))
		require.ErrorIs(t, <-large, ErrOverflow)
		require.NoError(t, <-small)
		names, _ := takeAll(q)
		require.Equal(t, []string{"a", "d"}, names)
	})
}

// TestASinkDoesNotWaitForItself: while results wait to be delivered, the goroutine
// that delivers them gets its answer at once.
func TestASinkDoesNotWaitForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newTestQueue(1)
		q.sinks = &SinkGoroutine{}
		q.sinks.Enter()
		q.settle(0, 2)
		started := time.Now()
		require.ErrorIs(t, q.put(group("a")), ErrOverflow)
		require.Zero(t, time.Since(started))
		q.settle(0, -2)
		require.NoError(t, q.put(group("b")))

		// For room in the queue it waits like anybody, until results back up.
		go func() {
			time.Sleep(time.Second)
			q.settle(0, 2)
		}()
		require.ErrorIs(t, q.put(group("c")), ErrOverflow)
		require.Equal(t, time.Second, time.Since(started))
	})
}

func TestCloseWhileBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newTestQueue(1)
		require.NoError(t, q.put(group("a")))
		blocked := []<-chan error{putLater(q, group("b")), putLater(q, group("c"))}
		synctest.Wait()
		require.True(t, q.close())
		for _, b := range blocked {
			require.ErrorIs(t, <-b, ErrClosed)
		}
		require.ErrorIs(t, q.put(group("d")), ErrClosed)
		var empty batch
		b, _, _, more := q.take(&empty)
		require.Len(t, b.arrivals, 1)
		require.True(t, more, "what was admitted is still to be done")
		_, _, _, more = q.take(&empty)
		require.False(t, more)
	})
}

func TestBacklogHoldsCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newTestQueue(100)
		require.NoError(t, q.put(group("a")))
		q.settle(0, 3)
		blocked := putLater(q, group("b"))
		synctest.Wait()
		require.Empty(t, blocked, "results are backed up")
		q.settle(0, -1)
		synctest.Wait()
		require.Empty(t, blocked, "still at the limit of 2")
		q.settle(0, -1)
		require.NoError(t, <-blocked)
	})
}

func TestMarkers(t *testing.T) {
	q := newTestQueue(2)
	admitted, closed := q.mark(make(chan struct{}))
	require.False(t, admitted, "nothing has begun")
	require.False(t, closed)
	require.NoError(t, q.put(group("a", "b")))
	ch := make(chan struct{})
	admitted, _ = q.mark(ch)
	require.True(t, admitted, "a marker needs no room")
	names, n := takeAll(q)
	require.Equal(t, []string{"a", "b", "mark"}, names)
	require.Equal(t, 2, n, "and takes none")
	require.True(t, isClosed(ch))
	q.close()
	admitted, closed = q.mark(make(chan struct{}))
	require.False(t, admitted)
	require.True(t, closed)
}

// TestClockOfTheQueue never falls in queue order, and stands still once the
// queue is closed.
func TestClockOfTheQueue(t *testing.T) {
	c := newClock()
	q := newTestQueue(10, c.use)
	for _, ns := range []int64{5, 3, 4, 7} {
		c.set(ns)
		require.NoError(t, q.put(group(fmt.Sprint(ns))))
	}
	c.set(8)
	q.close()
	c.set(100)
	var empty batch
	b, now, _, _ := q.take(&empty)
	var at []int64
	for _, a := range b.arrivals {
		at = append(at, a.now-epoch)
	}
	require.Equal(t, []int64{5, 5, 5, 7}, at)
	require.Equal(t, epoch+8, now)
}

// TestBatchesForgetWhatTheyHeld: neither values nor very large buffers stay.
func TestBatchesForgetWhatTheyHeld(t *testing.T) {
	var b batch
	b.arrivals = append(b.arrivals, arrival{side: []any{1}, marker: &marker{}})
	b.slab = make([]byte, 10, 100)
	b.reset()
	require.Equal(t, arrival{}, b.arrivals[:1][0])
	require.Equal(t, 100, cap(b.slab))
	b.slab = make([]byte, maxIdleSlab+1)
	b.arrivals = make([]arrival, maxIdleItems+1)
	b.reset()
	require.Equal(t, maxIdleSlab+1, cap(b.slab), "it was full")
	require.Nil(t, b.arrivals)
	b.slab = b.slab[:maxIdleSlab/4-1]
	b.reset()
	require.Nil(t, b.slab, "it was not")
	b.slab = make([]byte, maxBusySlab+1)
	b.reset()
	require.Nil(t, b.slab)
}

// TestCoarseClock: rows that wait together share a reading, unless one seems to
// be too far ahead of it; the next batch has its own.
func TestCoarseClock(t *testing.T) {
	c := newClock()
	q := newTestQueue(10, c.use)
	q.coarse, q.skew = true, second
	put := func(ns, ts int64) {
		c.set(ns)
		require.NoError(t, q.put([]Row{{TS: epoch + ts}}))
	}
	put(5, 0)
	put(6, 5+second)
	put(7, 6+second) // one too many ahead of 5, not of 7
	put(8, math.MaxInt64-epoch)
	put(9, 0)
	var empty batch
	readings := func() (at []int64) {
		b, _, _, _ := q.take(&empty)
		for _, a := range b.arrivals {
			at = append(at, a.now-epoch)
		}
		return at
	}
	require.Equal(t, []int64{5, 5, 7, 8, 8}, readings())
	put(10, 0)
	put(11, 0)
	require.Equal(t, []int64{10, 10}, readings())
}
