// Package joinnode runs SQL over streams: the stream-stream JOIN of this
// project, and through streamsql everything that has a single stream. A
// Streamsql of this package takes the place of one of package streamsql: change
// the import and the code compiles.
//
//	q := joinnode.New()
//	err := q.Execute(`SELECT s.deviceId, s.temperature AS temp, v.vibration AS vib
//	    FROM tempStream AS s JOIN vibrationStream AS v WITHIN 30 SECONDS
//	      ON s.deviceId = v.deviceId`)
//	q.AddSink(func(rows []map[string]any) { … })
//	err = q.EmitTo("tempStream", map[string]any{"deviceId": "d1", "temperature": 80.5})
//	q.Stop()
//
// What a join computes is decided by the engine's semantics (docs/semantics.md):
// a pure function of the order in which rows arrive and of the clock readings
// taken with them.
package joinnode

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rulego/streamsql/metrics"

	"github.com/streamjoin/streamjoin/joinnode/internal/pipeline"
	"github.com/streamjoin/streamjoin/joinnode/internal/script"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// Streamsql is one query: New, Execute, Emit rows, receive results, Stop. All
// methods are safe for concurrent use. Nothing runs before the first row.
type Streamsql struct {
	opts    *options
	optsErr error
	sinks   sinks

	schemaDropped atomic.Int64
	stopped       atomic.Bool // by Stop or a successor; before Execute there is no query to ask

	mu    sync.Mutex
	query query
}

// query is one of the three ways to run SQL: a joinQuery or a scriptQuery of ours,
// or a delegatedQuery on streamsql. Stream names are "" for the FROM stream.
type query interface {
	streams() []string
	emitMap(stream string, row map[string]any) error
	emitSync(row map[string]any) (map[string]any, error)
	emitJSON(stream string, obj []byte) error
	emitRows(rows []JSONRow) error
	refused() // a row came to Emit after Stop
	drain(ctx context.Context) error
	stop()
	retire() // closes the inputs for a successor and returns at once
	done() <-chan struct{}
	sinkGoroutine() *pipeline.SinkGoroutine
	stats() map[string]int64
	detailedStats() map[string]any
	metrics() *metrics.Registry
	explain() string
	fieldOrder() []string
	adopt(old query) (Adoption, error)
}

// New creates an engine without a query.
func New(opts ...Option) *Streamsql {
	o, err := build(opts)
	s := &Streamsql{opts: o, optsErr: err}
	s.sinks.init(o.log, o.pipeline().BlockTimeout, &s.stopped)
	return s
}

// Execute checks the SQL and makes it this engine's query. It may be called
// once; after an error it may be called again. Errors in the SQL are *SQLError;
// invalid options are ErrOption.
func (s *Streamsql) Execute(sql string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.query != nil {
		return ErrAlreadyExecuted
	}
	if s.stopped.Load() {
		return ErrStopped
	}
	if s.optsErr != nil {
		return s.optsErr
	}
	q, err := s.compile(sql)
	if err != nil {
		return err
	}
	s.query = q
	return nil
}

// compile decides who runs the text: a table script and a join with WITHIN are
// ours.
func (s *Streamsql) compile(sql string) (query, error) {
	text, err := syntax.ParseScript(sql)
	if err != nil {
		return nil, err
	}
	if script.Needed(text) {
		return newScriptQuery(s, text)
	}
	stmt := text.Statements[0].(*syntax.Define).Query.(*syntax.Select)
	for i := range stmt.Joins {
		if stmt.Joins[i].Within != nil {
			return newJoinQuery(s, stmt, sql)
		}
	}
	return newDelegatedQuery(s, stmt, sql)
}

// pipelineConfig is how a pipeline serves this engine.
func (s *Streamsql) pipelineConfig(onResult func(*pipeline.Result), onLate func(*pipeline.Late)) pipeline.Config {
	cfg := s.opts.pipeline()
	cfg.OnResult, cfg.OnLate, cfg.OnEnd = onResult, onLate, s.sinks.closeChannel
	cfg.WantLate = func() bool { return len(s.sinks.lists().late) > 0 }
	return cfg
}

// warnOf logs what was accepted and has no effect.
func (s *Streamsql) warnOf(warnings []string) {
	for _, w := range warnings {
		s.opts.log.Warn("%s", w)
	}
	if s.opts.overflow != nil && s.opts.overflow.Strategy == "expand" {
		s.opts.log.Warn("overflow strategy expand does not apply to the inputs of a stream JOIN or a table script; rows that find no room are dropped and counted")
	}
}

// Check finds everything that Execute would find wrong with the SQL and the
// options, without running anything.
func Check(sql string, opts ...Option) error {
	return New(append(slices.Clone(opts), WithDiscardLog())...).Execute(sql)
}

// running returns the query, or why there is none.
func (s *Streamsql) running() (query, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.query == nil {
		if s.stopped.Load() {
			return nil, ErrStopped
		}
		return nil, ErrNotExecuted
	}
	return s.query, nil
}

// Stop ends the query: rows accepted before are processed, pending LEFT rows
// and open windows are flushed in cascade order, and every result reaches the
// sinks before Stop returns. Called from a sink it closes the inputs and returns
// at once; Done tells the end. Further calls wait likewise and do nothing else.
func (s *Streamsql) Stop() {
	s.stopped.Store(true)
	if q, err := s.running(); err == nil {
		q.stop()
	}
}

// Done is closed when the last result was delivered after Stop or Adopt. It is
// nil before Execute.
func (s *Streamsql) Done() <-chan struct{} {
	q, err := s.running()
	if err != nil {
		return nil
	}
	return q.done()
}

// Drain waits until every row accepted so far has been processed, everything
// due by now was emitted, and its results were delivered to the sinks. It
// returns ctx's error if that comes first. Called from a sink it would wait for
// itself until ctx ends.
func (s *Streamsql) Drain(ctx context.Context) error {
	q, err := s.running()
	if err != nil {
		return err
	}
	return q.drain(ctx)
}

// Adopt lets this engine, which was executed and has not seen a row, take the
// place of old: old takes no more rows and ends what it has. If the join graphs
// are the same (streams, keys, WITHIN, time settings) and old kept the columns
// that the new query needs, the state passes on and nothing is flushed;
// otherwise old's pending rows leave with closedBy "reload" through old's sinks
// and Differs says what prevented it. Adopt returns at once: this engine takes
// rows from now on and works on them when old is done; its first result follows
// old's last. Errors: ErrNotExecuted and ErrStopped of either engine, ErrStarted
// when this one has seen a row, was stopped, has adopted already, or is old
// itself; old then goes on as before.
func (s *Streamsql) Adopt(old *Streamsql) (Adoption, error) {
	q, err := s.running()
	if err != nil {
		return Adoption{}, err
	}
	if old == nil {
		return Adoption{}, fmt.Errorf("the old query: %w", ErrNotExecuted)
	}
	o, err := old.running()
	if err != nil {
		return Adoption{}, fmt.Errorf("the old query: %w", err)
	}
	if q == o {
		return Adoption{}, fmt.Errorf("%w: it cannot take its own place", ErrStarted)
	}
	a, err := q.adopt(o)
	switch {
	case errors.Is(err, pipeline.ErrStarted):
		return Adoption{}, ErrStarted
	case err == nil:
		old.stopped.Store(true)
	}
	return a, err
}

// IsStreamJoinQuery reports whether the query is a stream-stream JOIN.
func (s *Streamsql) IsStreamJoinQuery() bool {
	q, err := s.running()
	if err != nil {
		return false
	}
	_, ok := q.(*joinQuery)
	return ok
}

// IsTableScript reports whether the query is a script of streaming tables.
func (s *Streamsql) IsTableScript() bool {
	q, err := s.running()
	if err != nil {
		return false
	}
	_, ok := q.(*scriptQuery)
	return ok
}

// Streams returns the names of the inputs in query order, the FROM stream
// first; nil before Execute.
func (s *Streamsql) Streams() []string {
	q, err := s.running()
	if err != nil {
		return nil
	}
	return q.streams()
}

// Explain prints the operator graph: state bounds, kept columns, and which parts
// of WHERE were moved to which input. It is "" before Execute.
func (s *Streamsql) Explain() string {
	q, err := s.running()
	if err != nil {
		return ""
	}
	return q.explain()
}

// GetStats returns all counters and gauges by name; those of a join are named
// join_stage{i}_… (README, "Counters"). It is empty before Execute.
func (s *Streamsql) GetStats() map[string]int64 {
	q, err := s.running()
	if err != nil {
		return map[string]int64{}
	}
	return q.stats()
}

// GetDetailedStats returns GetStats under "basic_stats" with derived rates.
func (s *Streamsql) GetDetailedStats() map[string]any {
	q, err := s.running()
	if err != nil {
		return map[string]any{}
	}
	return q.detailedStats()
}

// Metrics returns the registry behind GetStats, or nil before Execute.
func (s *Streamsql) Metrics() *metrics.Registry {
	q, err := s.running()
	if err != nil {
		return nil
	}
	return q.metrics()
}

// SchemaDropped returns the number of rows that WithSchema's validation dropped.
func (s *Streamsql) SchemaDropped() int64 { return s.schemaDropped.Load() }
