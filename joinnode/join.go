package joinnode

import (
	"context"
	"fmt"

	"github.com/rulego/streamsql/metrics"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/pipeline"
	"github.com/streamjoin/streamjoin/joinnode/internal/plan"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// joinQuery is a WITHIN join on our own operators.
type joinQuery struct {
	*admissions
	engine   *Streamsql
	plan     *plan.Plan
	shape    *row.Shape
	pipeline *pipeline.Pipeline
}

func newJoinQuery(s *Streamsql, stmt *syntax.Select, sql string) (*joinQuery, error) {
	p, err := plan.Build(stmt, sql)
	if err != nil {
		return nil, err
	}
	q := &joinQuery{engine: s, plan: p, shape: row.NewShape(p.Output.Fields)}
	unit := value.AutoUnit
	if p.Time.Unit != "" {
		if unit, err = value.ParseUnit(p.Time.Unit); err != nil {
			return nil, err
		}
	}
	var inputs []streamInput
	for i := range p.Inputs {
		in := &p.Inputs[i]
		inputs = append(inputs, streamInput{name: in.Stream, extractor: row.NewExtractor(in.Layout.Paths()), timeCol: in.TimeCol, unit: unit})
	}
	if q.pipeline, err = pipeline.New(p, s.pipelineConfig(q.result, q.late)); err != nil {
		return nil, err
	}
	q.admissions = newAdmissions(inputs, q.pipeline)
	s.warnOf(p.Warnings)
	return q, nil
}

func (q *joinQuery) emitSync(map[string]any) (map[string]any, error) {
	return nil, fmt.Errorf("EmitSync: %w: matches come later, use Emit and AddSink", ErrStreamJoin)
}

// result renders one result for whoever listens.
func (q *joinQuery) result(r *pipeline.Result) {
	res := Result{Type: JoinMatched}
	if r.Nulls != 0 {
		res.Type, res.ClosedBy = LeftUnmatched, r.Why.String()
		for i := range q.plan.Inputs {
			if r.Nulls&(1<<i) != 0 {
				res.Unmatched = append(res.Unmatched, q.plan.Inputs[i].Alias)
			}
		}
	}
	q.engine.sinks.pass(res,
		func(buf []byte) []byte { return append(q.shape.AppendJSON(append(buf, '['), r.Row), ']') },
		func() []map[string]any { return []map[string]any{q.shape.Map(r.Row)} })
}

func (q *joinQuery) late(l *pipeline.Late) {
	out := LateRow{Reason: l.Reason.String(), TS: l.TS, Watermark: l.Watermark, JSON: l.JSON}
	if l.Input >= 0 {
		out.Stream = q.plan.Inputs[l.Input].Stream
	}
	if l.Reason == operator.BadTimestamp {
		out.TS = 0
	}
	q.engine.sinks.passLate(out)
}

func (q *joinQuery) refused() { q.pipeline.Refused() }

func (q *joinQuery) drain(ctx context.Context) error { return await(ctx, q.pipeline.Mark()) }

func await(ctx context.Context, ch <-chan struct{}) error {
	select {
	case <-ch:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (q *joinQuery) retire() { q.pipeline.Retire() }

func (q *joinQuery) stop() { q.pipeline.Stop() }

func (q *joinQuery) done() <-chan struct{} { return q.pipeline.Done() }

func (q *joinQuery) sinkGoroutine() *pipeline.SinkGoroutine { return q.pipeline.Sinks() }

func (q *joinQuery) stats() map[string]int64 {
	return q.engine.schemaStats(q.engine.sinks.addStats(q.pipeline.Stats()))
}

func (q *joinQuery) metrics() *metrics.Registry { return q.pipeline.Metrics() }

func (q *joinQuery) detailedStats() map[string]any { return detailed(q.stats(), q.explain()) }

// detailed derives rates from counters.
func detailed(stats map[string]int64, explain string) map[string]any {
	in, dropped := stats["input_count"], stats["dropped_count"]
	rate := 0.0
	if in > 0 {
		rate = float64(dropped) / float64(in) * 100
	}
	return map[string]any{"basic_stats": stats, "drop_rate": rate, "explain": explain}
}

func (q *joinQuery) explain() string {
	return q.plan.Explain(q.engine.opts.gates())
}

func (q *joinQuery) fieldOrder() []string { return q.plan.Output.Names }

func (q *joinQuery) adopt(old query) (Adoption, error) {
	o, ok := old.(*joinQuery)
	if !ok {
		return follow(q.pipeline.Follow, old)
	}
	return takeOver(q.pipeline, o.pipeline)
}

// takeOver makes one pipeline the successor of another of its kind.
func takeOver(next, old *pipeline.Pipeline) (Adoption, error) {
	differs, err := next.Adopt(old)
	if err != nil {
		return Adoption{}, err
	}
	return Adoption{Taken: differs == "", Differs: differs}, nil
}

// follow makes a query the successor of one of another kind: there is no state
// to take over, only the order of results to keep.
func follow(after func(done <-chan struct{}, sinks *pipeline.SinkGoroutine) error, old query) (Adoption, error) {
	if err := after(old.done(), old.sinkGoroutine()); err != nil {
		return Adoption{}, err
	}
	old.retire()
	return Adoption{Differs: "the old query is of another kind, with no state that this one could go on with"}, nil
}
