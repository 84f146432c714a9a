package delegate

import (
	"fmt"
	"sync"

	"github.com/rulego/streamsql/rsql"
	"github.com/rulego/streamsql/stream"
	"github.com/rulego/streamsql/types"
	"github.com/rulego/streamsql/window"
)

// standIn is the stream that Engine.Stream returns for a query that streamsql does
// not run all by itself. The stream which does would take rows without the fields
// that the engine computes for them, and show results under hidden names. This one
// only passes rows to the engine and the engine's results to its sinks: it is a
// query with a global window, whose results streamsql takes as they come, and
// standIn is that window.
type standIn struct {
	engine *Engine
	st     *stream.Stream
	out    chan []types.Row
	done   chan struct{}
	once   sync.Once
}

var _ window.Window = (*standIn)(nil)

// standIns is the engine's stand-in, made when it is first asked for.
type standIns struct {
	mu     sync.Mutex
	one    *standIn
	closed bool
}

// repairs says that rows or results of streamsql's own stream are not those of
// the query.
func (p *Plan) repairs() bool {
	for as, name := range p.columns.rename {
		if as != name {
			return true
		}
	}
	return len(p.computed) > 0 || len(p.columns.constants) > 0 || len(p.joins) > 0 || p.unnest || p.options.timestamp != ""
}

// Stream returns a stream of streamsql for this query, for code that is written
// against StreamSQL: rows emitted to it and sinks added to it are those of the
// query. It is the one that runs the query when streamsql runs it as written. Where
// the engine repairs what goes in or comes out, it is a stand-in, which is logged
// once: then its statistics, IsAggregationQuery, ProcessSync and tables are not the
// query's; those of Engine are. Sinks of a stream are called in no order, and
// a row emitted to it returns no error.
func (e *Engine) Stream() *stream.Stream {
	if !e.plan.repairs() {
		return e.st
	}
	e.standIns.mu.Lock()
	defer e.standIns.mu.Unlock()
	if e.standIns.one == nil {
		if e.standIns.closed {
			return e.st
		}
		s, err := newStandIn(e)
		if err != nil {
			e.log.Error("Stream(): %v", err)
			return e.st
		}
		e.standIns.one = s
		e.AddSink(s.deliver)
		e.log.Warn("Stream() of this query is a stand-in: rows emitted to it and its sinks are the query's, its statistics and IsAggregationQuery are not")
	}
	return e.standIns.one.st
}

func newStandIn(e *Engine) (*standIn, error) {
	config, _, err := rsql.Parse("SELECT count(*) AS n FROM s GROUP BY GLOBAL WINDOW TRIGGER WHEN count(*) > 0")
	if err != nil {
		return nil, fmt.Errorf("streamsql: %w", err)
	}
	config.Logger = e.log
	st, err := stream.NewStreamWithCustomPerformance(*config, performance())
	if err != nil {
		return nil, fmt.Errorf("streamsql: %w", err)
	}
	s := &standIn{engine: e, st: st, out: make(chan []types.Row), done: make(chan struct{})}
	st.Window = s // before Start: nobody has seen the other
	st.Start()
	return s, nil
}

// closeStandIn gives the stand-in its last results and stops it.
func (e *Engine) closeStandIn() {
	e.standIns.mu.Lock()
	s := e.standIns.one
	e.standIns.closed = true
	e.standIns.mu.Unlock()
	if s != nil {
		s.send(nil) // taken when the one before is through
		s.st.Stop()
	}
}

// settleStandIn returns when the engine has the rows emitted to the stand-in.
func (e *Engine) settleStandIn() {
	e.standIns.mu.Lock()
	s := e.standIns.one
	e.standIns.mu.Unlock()
	if s != nil && !e.stopping() {
		s.st.Emit(map[string]any{barrierField: true}) // taken when the one before is through
	}
}

func (s *standIn) deliver(rows []map[string]any, _ int64) {
	batch := make([]types.Row, len(rows))
	for i, r := range rows {
		batch[i] = types.Row{Data: r}
	}
	s.send(batch)
}

func (s *standIn) send(batch []types.Row) {
	select {
	case s.out <- batch:
	case <-s.done:
	}
}

// Add passes a row of Stream().Emit to the engine.
func (s *standIn) Add(data any) {
	row, ok := data.(map[string]any)
	if !ok || row[barrierField] != nil {
		return
	}
	if err := s.engine.Emit(row); err != nil {
		s.engine.log.Warn("Stream().Emit: %v", err)
	}
}

// OutputChan returns the channel of the engine's results.
func (s *standIn) OutputChan() <-chan []types.Row { return s.out }

// Trigger is Engine.TriggerWindow.
func (s *standIn) Trigger() { s.engine.TriggerWindow() }

// GetStats returns the counters of the engine's window.
func (s *standIn) GetStats() map[string]int64 {
	if s.engine.gate == nil {
		return map[string]int64{}
	}
	return s.engine.gate.GetStats()
}

// Stop ends the stand-in.
func (s *standIn) Stop() { s.once.Do(func() { close(s.done) }) }

// Start implements window.Window; the engine runs already.
func (s *standIn) Start() {}

// Reset implements window.Window; streamsql's stream never calls it.
func (s *standIn) Reset() {}

// SetCallback implements window.Window; results leave by OutputChan only.
func (s *standIn) SetCallback(func([]types.Row)) {}
