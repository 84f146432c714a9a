package joinnode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rulego/streamsql/metrics"

	"github.com/streamjoin/streamjoin/joinnode/internal/delegate"
	"github.com/streamjoin/streamjoin/joinnode/internal/pipeline"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// delegatedQuery is a single-stream query on streamsql, behind the guard of
// package delegate. streamsql is started by the first row, or by the first call
// that needs it.
type delegatedQuery struct {
	engine *Streamsql
	plan   *delegate.Plan
	order  []string      // column names in SELECT order, for PrintTable
	ended  chan struct{} // the last result was delivered

	mu      sync.Mutex
	running *delegate.Engine // nil before the first need
	closed  bool
	after   <-chan struct{} // closed when the old query's last result is out
	syncs   sync.WaitGroup  // calls of EmitSync under way; none begins once closed

	delivery sync.Mutex // held while the sinks have a result: EmitSync delivers beside the engine
	sinks    *pipeline.SinkGoroutine
	late     atomic.Int64 // rows refused after Stop
}

func newDelegatedQuery(s *Streamsql, stmt *syntax.Select, sql string) (*delegatedQuery, error) {
	p, err := delegate.Compile(stmt, sql)
	if err != nil {
		return nil, err
	}
	q := &delegatedQuery{engine: s, plan: p, ended: make(chan struct{}), sinks: &pipeline.SinkGoroutine{}}
	for i := range stmt.Items {
		name := stmt.Items[i].Alias
		if name == "" {
			name = syntax.PrintExpr(stmt.Items[i].Expr)
		}
		q.order = append(q.order, name)
	}
	for _, w := range p.Warnings {
		s.opts.log.Warn("%s", w)
	}
	for _, t := range p.Tables { // may well be meant: a table is registered after Execute
		s.opts.log.Info("%s", p.TableWarning(t))
	}
	return q, nil
}

// warnings are those of the plan, and that a table is not registered.
func (q *delegatedQuery) warnings() []string {
	missing := q.plan.Tables
	if e := q.started(); e != nil {
		missing = e.Unregistered()
	}
	list := slices.Clone(q.plan.Warnings)
	for _, t := range missing {
		list = append(list, q.plan.TableWarning(t))
	}
	return list
}

// open starts streamsql once.
func (q *delegatedQuery) open() (*delegate.Engine, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running != nil {
		return q.running, nil
	}
	if q.closed {
		return nil, ErrStopped
	}
	e, err := delegate.Open(q.plan, q.engine.opts.delegate())
	if err != nil {
		return nil, err
	}
	q.running = e
	e.AddSink(q.result)
	go q.waitForEnd(e)
	return e, nil
}

func (q *delegatedQuery) waitForEnd(e *delegate.Engine) {
	<-e.Done()
	q.syncs.Wait()
	q.end()
}

// end says that the last result is out.
func (q *delegatedQuery) end() {
	q.awaitTurn()
	q.engine.sinks.closeChannel()
	close(q.ended)
}

// awaitTurn waits for the last result of the query that this one replaced.
func (q *delegatedQuery) awaitTurn() {
	if q.after != nil {
		<-q.after
		q.sinks.Follow(nil)
	}
}

// started returns the engine if it runs.
func (q *delegatedQuery) started() *delegate.Engine {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running
}

func (q *delegatedQuery) streams() []string { return []string{q.plan.Stream} }

func (q *delegatedQuery) check(stream string) error {
	if stream != "" && stream != q.plan.Stream {
		return unknownStream(stream, q.streams())
	}
	return nil
}

func (q *delegatedQuery) emitMap(stream string, data map[string]any) error {
	if err := q.check(stream); err != nil {
		return err
	}
	e, err := q.open()
	if err != nil {
		return err
	}
	return ownError(e.Emit(data))
}

// ownError shows the errors of package delegate under this package's names.
func ownError(err error) error {
	switch {
	case errors.Is(err, delegate.ErrStopped):
		return ErrStopped
	case errors.Is(err, delegate.ErrOverflow):
		return ErrOverflow
	}
	return err
}

func (q *delegatedQuery) emitSync(data map[string]any) (map[string]any, error) {
	e, err := q.open()
	if err != nil {
		return nil, err
	}
	if !q.beginSync() {
		return nil, ErrStopped
	}
	defer q.syncs.Done()
	result, err := e.EmitSync(data)
	return result, ownError(err)
}

// beginSync makes the end wait for a call of EmitSync, unless the query is
// closed.
func (q *delegatedQuery) beginSync() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.syncs.Add(1)
	}
	return !q.closed
}

func (q *delegatedQuery) emitJSON(stream string, obj []byte) error {
	return q.emitRows([]JSONRow{{Stream: stream, Data: obj}})
}

func (q *delegatedQuery) emitRows(rows []JSONRow) error {
	maps := make([]map[string]any, len(rows))
	for i := range rows {
		if err := q.check(rows[i].Stream); err != nil {
			return rowError(i, len(rows), err)
		}
		m, err := decodeRow(rows[i].Data)
		if err != nil {
			return rowError(i, len(rows), err)
		}
		maps[i], _ = plainNumbers(m).(map[string]any)
	}
	e, err := q.open()
	if err != nil {
		return err
	}
	return ownError(e.EmitAll(maps))
}

// plainNumbers replaces json.Number by what streamsql computes with: int64 or
// uint64 where the number is an integer that fits, so that identifiers beyond
// 2^53 survive, else float64.
func plainNumbers(x any) any {
	switch x := x.(type) {
	case json.Number:
		if i, err := x.Int64(); err == nil {
			return i
		}
		if u, err := strconv.ParseUint(string(x), 10, 64); err == nil {
			return u
		}
		f, err := x.Float64()
		if err != nil {
			return string(x) // beyond float64: as text, rather than as infinity
		}
		return f
	case map[string]any:
		for k, v := range x {
			x[k] = plainNumbers(v)
		}
	case []any:
		for i, v := range x {
			x[i] = plainNumbers(v)
		}
	}
	return x
}

// result passes rows on, once the query that this one replaced is done. The
// engine calls it, and callers of EmitSync do, perhaps from a sink, also of the
// query before: that one would wait for itself.
func (q *delegatedQuery) result(rows []map[string]any, windowEnd int64) {
	if !q.sinks.Current() {
		q.awaitTurn()
		q.delivery.Lock()
		defer q.delivery.Unlock()
		q.sinks.Enter()
		defer q.sinks.Leave()
	}
	r := Result{WindowEnd: windowEnd, Type: RowSelected}
	switch q.plan.Kind {
	case delegate.Aggregation:
		r.Type = WindowTriggered
	case delegate.CEP:
		r.Type = PatternMatched
	}
	q.engine.sinks.pass(r,
		func(buf []byte) []byte {
			buf = append(buf, '[')
			for i, m := range rows {
				if i > 0 {
					buf = append(buf, ',')
				}
				buf = value.AppendJSON(buf, value.FromGo(m))
			}
			return append(buf, ']')
		},
		func() []map[string]any { return rows })
}

func (q *delegatedQuery) refused() {
	q.late.Add(1)
	q.engine.sinks.warn("refused", "Emit after Stop: a row was not taken; stop the source before the query")
}

func (q *delegatedQuery) sinkGoroutine() *pipeline.SinkGoroutine { return q.sinks }

func (q *delegatedQuery) drain(ctx context.Context) error {
	if e := q.started(); e != nil {
		return e.Drain(ctx)
	}
	return nil
}

// retire closes the inputs and returns at once.
func (q *delegatedQuery) retire() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.closed = true
	if q.running != nil {
		q.running.Close()
		return
	}
	go q.end()
}

func (q *delegatedQuery) stop() {
	q.retire()
	if !q.sinks.Current() {
		<-q.ended
	}
}

func (q *delegatedQuery) done() <-chan struct{} { return q.ended }

func (q *delegatedQuery) stats() map[string]int64 {
	stats := map[string]int64{"input_count": 0, "output_count": 0, "input_dropped_count": 0, "output_dropped_count": 0, "dropped_count": 0}
	if e := q.started(); e != nil {
		stats = e.GetStats()
	}
	stats["refused_after_stop"] = q.late.Load()
	return q.engine.schemaStats(q.engine.sinks.addStats(stats))
}

func (q *delegatedQuery) detailedStats() map[string]any {
	e := q.started()
	if e == nil {
		return map[string]any{"basic_stats": q.stats()}
	}
	detailed := e.GetDetailedStats()
	detailed["basic_stats"] = q.stats()
	return detailed
}

func (q *delegatedQuery) metrics() *metrics.Registry {
	e, err := q.open()
	if err != nil {
		return nil
	}
	return e.Metrics()
}

func (q *delegatedQuery) explain() string {
	var b strings.Builder
	fmt.Fprintf(&b, "StreamSQL %s over stream %s\n", q.plan.Kind, q.plan.Stream)
	for _, t := range q.plan.Tables {
		fmt.Fprintf(&b, "  joins table %s\n", t)
	}
	if f := q.plan.TimestampField(); f != "" {
		fmt.Fprintf(&b, "time: event time from %s\n", f)
	}
	fmt.Fprintf(&b, "StreamSQL runs: %s\n", q.plan.SQL)
	if around := q.plan.Around(); len(around) > 0 {
		fmt.Fprintf(&b, "this engine does around it: %s\n", strings.Join(around, ", "))
	}
	for _, w := range q.warnings() {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	return b.String()
}

func (q *delegatedQuery) fieldOrder() []string { return q.order }

func (q *delegatedQuery) adopt(old query) (Adoption, error) {
	a, err := follow(q.follow, old)
	if _, same := old.(*delegatedQuery); same && err == nil {
		a.Differs = "queries that streamsql runs share no state: open windows were closed"
	}
	return a, err
}

// follow makes this query's first result wait for done.
func (q *delegatedQuery) follow(done <-chan struct{}, sinks *pipeline.SinkGoroutine) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running != nil || q.closed || q.after != nil {
		return pipeline.ErrStarted
	}
	q.after = done
	q.sinks.Follow(sinks)
	return nil
}
