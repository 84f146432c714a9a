package joinnode

import (
	"fmt"

	"github.com/rulego/streamsql/stream"

	"github.com/streamjoin/streamjoin/joinnode/internal/delegate"
)

// delegated returns the streamsql side of a single-stream query, started.
func (s *Streamsql) delegated(method string) (*delegate.Engine, error) {
	q, err := s.running()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	d, ok := q.(*delegatedQuery)
	if _, isScript := q.(*scriptQuery); isScript {
		return nil, fmt.Errorf("%s: %w: its tables are defined in it; feed streams with EmitTo", method, ErrTableScript)
	}
	if !ok {
		return nil, fmt.Errorf("%s: %w: it joins streams; feed them with EmitTo, and join a table in a query of its own", method, ErrStreamJoin)
	}
	return d.open()
}

// delegatedPlan returns how streamsql runs the query; nil before Execute and on
// a stream JOIN.
func (s *Streamsql) delegatedPlan() *delegate.Plan {
	q, err := s.running()
	if err != nil {
		return nil
	}
	if d, ok := q.(*delegatedQuery); ok {
		return d.plan
	}
	return nil
}

// IsAggregationQuery reports whether the query has windows.
func (s *Streamsql) IsAggregationQuery() bool {
	p := s.delegatedPlan()
	return p != nil && p.Kind == delegate.Aggregation
}

// IsCEPQuery reports whether the query is MATCH_RECOGNIZE.
func (s *Streamsql) IsCEPQuery() bool {
	p := s.delegatedPlan()
	return p != nil && p.Kind == delegate.CEP
}

// Tables returns the names of the tables that a single-stream query joins; rows
// are refused until each is registered.
func (s *Streamsql) Tables() []string {
	p := s.delegatedPlan()
	if p == nil {
		return nil
	}
	return append([]string(nil), p.Tables...)
}

// RegisterTable registers an in-memory table for a stream-table JOIN; the key is
// taken from ON when keyFields are omitted. Call it after Execute and before the
// first row. The source can be changed while the query runs. On a stream JOIN it
// returns ErrStreamJoin.
func (s *Streamsql) RegisterTable(name string, rows []map[string]any, keyFields ...string) (*stream.MemoryTableSource, error) {
	e, err := s.delegated("RegisterTable")
	if err != nil {
		return nil, err
	}
	return e.RegisterTable(name, rows, keyFields...)
}

// RegisterTableSource registers a table that loads itself. Its Lookup must be
// safe for concurrent use. On a stream JOIN it returns ErrStreamJoin.
func (s *Streamsql) RegisterTableSource(src stream.TableSource) error {
	e, err := s.delegated("RegisterTableSource")
	if err != nil {
		return err
	}
	return e.RegisterTableSource(src)
}

// UpsertTable adds or replaces a row of a table that RegisterTable made. Rows
// that were emitted before do not see it.
func (s *Streamsql) UpsertTable(name string, row map[string]any) error {
	e, err := s.delegated("UpsertTable")
	if err != nil {
		return err
	}
	return e.UpsertTable(name, row)
}

// TriggerWindow makes an open window give its result now. It does nothing on a
// query without windows.
func (s *Streamsql) TriggerWindow() {
	if !s.IsAggregationQuery() {
		return
	}
	if e, err := s.delegated("TriggerWindow"); err == nil {
		e.TriggerWindow()
	}
}

// Stream returns a stream processor of streamsql, or nil before Execute and on a
// stream JOIN, which has none. It is there for code written against StreamSQL: rows
// emitted to it and sinks added to it are the query's. Where this package repairs
// what StreamSQL would lose (CASE, conditions, constants, renamed columns, table
// joins, event time), it is a stand-in, which is logged once: its statistics,
// IsAggregationQuery, ProcessSync and tables are then its own, not the query's, for
// which there are GetStats, IsAggregationQuery, EmitSync and RegisterTable here. Its
// sinks are called in no order; AddSyncSink here keeps it.
func (s *Streamsql) Stream() *stream.Stream {
	e, err := s.delegated("Stream")
	if err != nil {
		return nil
	}
	return e.Stream()
}
