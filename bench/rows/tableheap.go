package rows

import (
	"runtime"

	"github.com/streamjoin/streamjoin/joinnode"
	"github.com/streamjoin/streamjoin/joinnode/bench/harness"
	"github.com/streamjoin/streamjoin/joinnode/bench/workload"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// stateOf measures what a key of a script's state takes on the heap beside its
// row. A hundred keys come first, with many rows, so that everything that does not
// grow with the number of keys is as large as it gets.
func stateOf(t tableCase) func(*harness.Run) error {
	return func(r *harness.Run) error {
		n := r.Scaled(t.full, t.quick)
		keys, err := workload.NewKeys(n)
		if err != nil {
			return err
		}
		c, err := workload.NewMessages(fewRows, keys)
		if err != nil {
			return err
		}
		own, err := t.ownBytes(n, keys, c)
		if err != nil {
			return err
		}
		for round := range 1 + r.Rounds { // the first has what a process allocates once
			grown, reported, err := t.stateRound(n, c)
			if err != nil {
				return err
			}
			if round > 0 {
				r.Add(grown - own)
				r.Figure("Heap", "B a key", grown)
				r.Figure("The row itself", "B a key", own)
				r.Figure("State as the engine reports it", "B a key", reported)
			}
		}
		r.Note("%d keys", n)
		return nil
	}
}

// stateUpdates are the updates that leave one row for each of n keys.
func (t *tableCase) stateUpdates(n int, skip int64) (*workload.Updates, error) {
	return workload.NewUpdates(workload.UpdatesConfig{Keys: n, First: t.updates.First, Every: t.updates.Every, Skip: skip})
}

const (
	warmKeys = 100
	warmRows = 100_000
	// fewRows come at a time, so that buffers for rows and results stay small.
	fewRows = 1600
)

// stateRound returns by how much the heap has grown for each key, and what the
// engine says of it.
func (t *tableCase) stateRound(n int, c *workload.Chunk) (grown, reported float64, err error) {
	q, err := start(t.sql)
	if err != nil {
		return 0, 0, err
	}
	defer q.Stop()
	q.AddResultSink(func(joinnode.Result) { q.results++ })
	warm, err := t.stateUpdates(warmKeys, 0)
	if err != nil {
		return 0, 0, err
	}
	for fed := 0; fed < warmRows; fed += len(c.Rows) {
		if err := c.FillUpdates(warm); err != nil {
			return 0, 0, err
		}
		if err := q.emit(c); err != nil {
			return 0, 0, err
		}
	}
	u, err := t.stateUpdates(n, 2*warmRows+int64(n))
	if err != nil {
		return 0, 0, err
	}
	before := harness.Heap()
	for fed := 0; fed < n; fed += len(c.Rows) {
		if err := c.FillUpdates(u); err != nil {
			return 0, 0, err
		}
		if err := q.emit(c); err != nil {
			return 0, 0, err
		}
	}
	grown = float64(harness.Heap()-before) / float64(n-warmKeys)
	stats := q.GetStats()
	if err := harness.Equal("keys of "+t.table, stats["table_"+t.table+"_keys"], int64(n)); err != nil {
		return 0, 0, err
	}
	state := int64(0)
	for _, table := range q.ScriptTables() {
		state += stats["table_"+table.Name+"_bytes"]
	}
	runtime.KeepAlive(q)
	return grown, float64(state) / float64(n), nil
}

// ownBytes returns the mean size of a key's row, summed over the vertices that keep
// it: of its encoded columns, as each of them gets it.
func (t *tableCase) ownBytes(n int, keys *workload.Keys, c *workload.Chunk) (float64, error) {
	v, err := newVertices(t.sql)
	if err != nil {
		return 0, err
	}
	x, err := workload.NewExtracted(len(c.Rows), keys, v.extractors())
	if err != nil {
		return 0, err
	}
	u, err := t.stateUpdates(n, 0)
	if err != nil {
		return 0, err
	}
	for fed := 0; fed < n; fed += len(x.Rows) { // each key gets its one row
		if err := x.FillUpdates(u); err != nil {
			return 0, err
		}
		v.feed(x)
	}
	total := int64(0)
	for i, op := range v.ops {
		if reader, ok := op.(operator.Reader); ok && v.program.Vertices[i].Stateful {
			reader.Read(func(r row.Row) bool {
				total += int64(len(r.Enc))
				return true
			})
		}
		if _, ok := op.(*operator.TemporalJoin); ok {
			total += v.edges[v.program.Vertices[i].Ports[1].Index].inserted
		}
	}
	return float64(total) / float64(n), nil
}
