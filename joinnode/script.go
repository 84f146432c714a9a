package joinnode

import (
	"context"
	"fmt"

	"github.com/rulego/streamsql/metrics"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/pipeline"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/script"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// scriptQuery is a table script (docs/tables.md) on our own operators.
type scriptQuery struct {
	*admissions
	engine   *Streamsql
	program  *script.Program
	pipeline *pipeline.Pipeline
	// Of the emitter goroutine.
	key   []byte       // of the result at hand
	seq   uint64       // of the last result
	after *scriptQuery // whose place this one took, until the first result
}

func newScriptQuery(s *Streamsql, text *syntax.Script) (*scriptQuery, error) {
	p, err := script.Build(text, s.opts.gates())
	if err != nil {
		return nil, err
	}
	q := &scriptQuery{engine: s, program: p}
	var inputs []streamInput
	for i := range p.Inputs {
		in := &p.Inputs[i]
		inputs = append(inputs, streamInput{name: in.Stream, extractor: row.NewExtractor(in.Paths), timeCol: in.TimeCol, unit: in.Unit})
	}
	if q.pipeline, err = pipeline.NewScript(p, s.pipelineConfig(q.result, q.late)); err != nil {
		return nil, err
	}
	q.admissions = newAdmissions(inputs, q.pipeline)
	s.warnOf(p.Warnings)
	return q, nil
}

func (q *scriptQuery) emitSync(map[string]any) (map[string]any, error) {
	return nil, fmt.Errorf("EmitSync: %w: changes come later, use Emit and AddResultSink", ErrTableScript)
}

// changes are the result types of records of a state table.
var changes = map[operator.Change]ResultType{
	operator.NoChange: RowInserted, operator.Inserted: RowInserted, operator.Updated: RowUpdated, operator.Deleted: RowDeleted,
}

// result renders one row or change for whoever listens.
func (q *scriptQuery) result(r *pipeline.Result) {
	out := &q.program.Outputs[r.Output]
	for q.after != nil { // its last result is out
		q.seq = q.after.seq
		if q.after = q.after.after; q.seq > 0 {
			q.after = nil
		}
	}
	q.seq++
	res := Result{Type: changes[r.Change], Table: out.Name, TS: r.TS, Seq: q.seq}
	if out.Window {
		res.WindowEnd = r.TS
	}
	res.ClosedBy = r.Why.String()
	if out.Key != nil {
		q.key = out.Key.AppendJSON(q.key[:0], r.Row)
		res.Key = q.key
	}
	q.engine.sinks.pass(res,
		func(buf []byte) []byte { return append(out.Shape.AppendJSON(append(buf, '['), r.Row), ']') },
		func() []map[string]any { return []map[string]any{out.Shape.Map(r.Row)} })
}

func (q *scriptQuery) late(l *pipeline.Late) {
	out := LateRow{Table: l.Table, Reason: l.Reason.String(), TS: l.TS, Watermark: l.Watermark, JSON: l.JSON}
	if l.Input >= 0 {
		out.Stream = q.program.Inputs[l.Input].Stream
	}
	if l.Reason == operator.BadTimestamp {
		out.TS = 0
	}
	q.engine.sinks.passLate(out)
}

func (q *scriptQuery) refused() { q.pipeline.Refused() }

func (q *scriptQuery) drain(ctx context.Context) error { return await(ctx, q.pipeline.Mark()) }

func (q *scriptQuery) retire() { q.pipeline.Retire() }

func (q *scriptQuery) stop() { q.pipeline.Stop() }

func (q *scriptQuery) done() <-chan struct{} { return q.pipeline.Done() }

func (q *scriptQuery) sinkGoroutine() *pipeline.SinkGoroutine { return q.pipeline.Sinks() }

func (q *scriptQuery) stats() map[string]int64 {
	return q.engine.schemaStats(q.engine.sinks.addStats(q.pipeline.Stats()))
}

func (q *scriptQuery) metrics() *metrics.Registry { return q.pipeline.Metrics() }

func (q *scriptQuery) detailedStats() map[string]any { return detailed(q.stats(), q.explain()) }

func (q *scriptQuery) explain() string { return q.program.Explain(q.pipeline.DescribeVertex) }

// fieldOrder is that of the last table that leaves.
func (q *scriptQuery) fieldOrder() []string {
	return q.program.Outputs[len(q.program.Outputs)-1].Names
}

func (q *scriptQuery) adopt(old query) (Adoption, error) {
	o, ok := old.(*scriptQuery)
	if !ok {
		return follow(q.pipeline.Follow, old)
	}
	q.after = o // before anything runs
	a, err := takeOver(q.pipeline, o.pipeline)
	if err != nil {
		q.after = nil
	}
	return a, err
}
