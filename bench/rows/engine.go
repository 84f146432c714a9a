package rows

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/streamjoin/streamjoin/joinnode"
	"github.com/streamjoin/streamjoin/joinnode/bench/harness"
	"github.com/streamjoin/streamjoin/joinnode/bench/workload"
)

// The standard query: WHERE rejects one row in a hundred of each stream, and
// SELECT takes three columns.
const standardSQL = `SELECT t.deviceId, t.temperature, v.vibration
	FROM temperatures AS t JOIN vibrations AS v WITHIN 30 SECONDS ON t.deviceId = v.deviceId
	WHERE t.temperature >= 1 AND v.vibration >= 1
	WITH (TIMESTAMP='ts')`

// maxKeys is above what any row of the table needs.
const maxKeys = 1 << 23

// query is a running engine whose results are counted.
type query struct {
	*joinnode.Streamsql
	// Written by the emitter, read after drain.
	results int64
	bytes   int64
	first   []byte
	// What the workload says must have come out so far.
	wantResults, wantRejected int64
}

func start(sql string) (*query, error) {
	q := &query{Streamsql: joinnode.New(joinnode.WithDiscardLog(), joinnode.WithJoinMaxKeys(maxKeys))}
	return q, q.Execute(sql)
}

func (q *query) countJSON() {
	q.AddJSONSink(func(b []byte) {
		if q.results == 0 {
			q.first = slices.Clone(b)
		}
		q.results++
		q.bytes += int64(len(b))
	})
}

// emit feeds all messages of a chunk and waits until their results are out. The
// first call starts the engine's goroutines, so it is labelled for the profiler.
func (q *query) emit(c *workload.Chunk) error {
	_, err := q.timedEmit(c)
	return err
}

func (q *query) timedEmit(c *workload.Chunk) (time.Duration, error) {
	return harness.CPU("engine", func() error {
		for i := range c.Rows {
			if err := q.EmitJSON(c.Stream(i), c.Message(i)); err != nil {
				return err
			}
		}
		return q.drain()
	})
}

func (q *query) drain() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	return q.Drain(ctx)
}

// expect adds what a chunk must lead to.
func (q *query) expect(c *workload.Chunk) {
	q.wantResults += c.Matches
	q.wantRejected += c.Rejected
}

// fill feeds at least n rows of s.
func (q *query) fill(s *workload.Stream, c *workload.Chunk, n int) error {
	for fed := 0; fed < n; fed += len(c.Rows) {
		if err := c.Fill(s); err != nil {
			return err
		}
		q.expect(c)
		if err := q.emit(c); err != nil {
			return err
		}
	}
	return q.check(s)
}

// check compares what came out and what is buffered with what the workload
// knows.
func (q *query) check(s *workload.Stream) error {
	stats := q.GetStats()
	if err := harness.Equal("number of results", q.results, q.wantResults); err != nil {
		return err
	}
	if err := harness.Equal("number of rows that WHERE rejected", stats["join_stage1_filtered"], q.wantRejected); err != nil {
		return err
	}
	return checkBuffered(stats["join_stage1_buffered_rows"], s)
}

// checkBuffered allows one row a side more than the workload has in reach of its
// last row: each side forgets by its own time.
func checkBuffered(got int64, s *workload.Stream) error {
	want := int64(s.Buffered())
	if got < want || got > want+2 {
		return fmt.Errorf("%w: %d rows are buffered, want %d", harness.ErrCheck, got, want)
	}
	return nil
}

// checkShape says that SELECT is in effect: the first result has these columns
// and no others.
func checkShape(result []byte, columns ...string) error {
	var rows []map[string]any
	if err := json.Unmarshal(result, &rows); err != nil || len(rows) != 1 {
		return fmt.Errorf("%w: a result is %s (%w)", harness.ErrCheck, result, err)
	}
	got := slices.Sorted(maps.Keys(rows[0]))
	slices.Sort(columns)
	if !slices.Equal(got, columns) {
		return fmt.Errorf("%w: columns %v, want %v", harness.ErrCheck, got, columns)
	}
	return nil
}
