package soak_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode"
)

// subject is a join with what was put into it and what came out.
type subject struct {
	*joinnode.Streamsql
	name    string
	load    load
	seen    []string
	began   time.Time
	offered [3]atomic.Int64 // rows by stream, refused ones not among them
	results atomic.Int64
	late    atomic.Int64

	mu  sync.Mutex
	err error // the first answer that should not have been given
}

func begin(t *testing.T, i int) *subject {
	j := &joins[i]
	s := &subject{name: j.name, load: j.load, seen: j.seen, began: time.Now(),
		Streamsql: joinnode.New(append([]joinnode.Option{joinnode.WithDiscardLog()}, j.opts...)...)}
	require.NoError(t, s.Execute(j.sql), j.name)
	s.AddJSONSink(func([]byte) { s.results.Add(1) })
	s.AddLateSink(func(joinnode.LateRow) { s.late.Add(1) })
	return s
}

// checkBound looks at the state in the middle of the load. What a side has may
// be above its bound by one step of its indexes.
func (s *subject) checkBound() {
	const both = 2 * joinnode.MinJoinMaxBytes
	c := s.counters()
	if bytes := max(c.of("1", "state_bytes"), c.of("2", "state_bytes")); s.load.bounded && bytes > both+both/8 {
		s.failed(fmt.Errorf("a stage has %d bytes, allowed are %d", bytes, both))
	}
}

func (s *subject) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// counters are those of one moment; stage names begin with the stage's number.
type counters map[string]int64

func (s *subject) counters() counters { return s.GetStats() }

func (c counters) of(stage string, names ...string) (sum int64) {
	for _, name := range names {
		sum += c["join_stage"+stage+"_"+name]
	}
	return sum
}

// balance asks for every row: all that came into a stage is still there or has
// left for a reason that is counted.
func (s *subject) balance(t *testing.T) {
	t.Helper()
	require.NoError(t, s.err, s.name)
	require.NoError(t, s.Drain(t.Context()), s.name)
	c := s.counters()
	var lost, overflowed, offered int64
	came := s.offered[0].Load()
	for i := 1; i < s.load.streams; i++ {
		stage := "12"[i-1 : i]
		came += s.offered[i].Load() - c.of(stage, "input_dropped")
		require.Equal(t, came, c.of(stage, "buffered_rows", "expired", "filtered", "late_dropped", "rows_dropped", "memory_dropped", "rows_evicted"),
			"%s: rows of stage %s: %v", s.name, stage, c)
		came = c.of(stage, "matches_emitted", "left_timeout_emitted") - c.of(stage, "composite_filtered")
		lost += c.of(stage, "late_dropped", "rows_dropped", "memory_dropped", "rows_evicted", "input_dropped")
		overflowed += c.of(stage, "input_dropped")
	}
	for i := range s.offered {
		offered += s.offered[i].Load()
	}
	require.Equal(t, offered, c["input_count"]+overflowed, s.name)
	require.Equal(t, came, c["output_count"], s.name)
	require.Equal(t, came, s.results.Load(), s.name)
	require.Equal(t, lost, c["dropped_count"], s.name)
	// Of what a full queue drops, the late output takes only as much as the queue holds.
	require.LessOrEqual(t, s.late.Load(), lost, s.name)
	require.GreaterOrEqual(t, s.late.Load(), lost-overflowed, s.name)
}

// emptied bounds the state of a stage without rows: spare chunks, the last page
// of each size, the key table's shards.
const emptied = 1 << 20

// settle waits until the time of all rows is over: of its own accord no join
// keeps any, nor their memory.
func (s *subject) settle(t *testing.T) {
	t.Helper()
	stages := []string{"1", "2"}[:s.load.streams-1]
	require.Eventually(t, func() bool {
		c := s.counters()
		for _, stage := range stages {
			if c.of(stage, "buffered_rows", "buffered_keys") > 0 {
				return false
			}
		}
		return true
	}, 30*time.Second, 10*time.Millisecond, s.name)
	for _, stage := range stages {
		require.LessOrEqual(t, s.counters().of(stage, "state_bytes"), int64(emptied), "%s: bytes of stage %s without rows", s.name, stage)
	}
}

// end stops the join with rows buffered: the account holds once more.
func (s *subject) end(t *testing.T) {
	t.Helper()
	for stream := range s.load.streams {
		s.feed(stream, rounds, time.Now().Add(time.Millisecond))
	}
	s.Stop()
	s.balance(t)
	c := s.counters()
	for i := 1; i < s.load.streams; i++ {
		require.Zero(t, c.of("12"[i-1:i], "buffered_rows", "buffered_keys"), s.name)
		require.LessOrEqual(t, c.of("12"[i-1:i], "state_bytes"), int64(16<<10), s.name)
	}
	t.Logf("%s: %d rows, %d results, %d rows dropped", s.name, c["input_count"], c["output_count"], c["dropped_count"])
	for _, name := range s.seen {
		require.Positive(t, c["join_stage"+name], "%s: %s", s.name, name)
	}
}
