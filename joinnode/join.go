package joinnode

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

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
	engine     *Streamsql
	plan       *plan.Plan
	shape      *row.Shape
	pipeline   *pipeline.Pipeline
	names      []string         // of the streams, by input
	extractors []*row.Extractor // likewise
	unit       value.Unit
	pool       sync.Pool // of *admission
}

func newJoinQuery(s *Streamsql, stmt *syntax.Select, sql string) (*joinQuery, error) {
	p, err := plan.Build(stmt, sql)
	if err != nil {
		return nil, err
	}
	q := &joinQuery{engine: s, plan: p, shape: row.NewShape(p.Output.Fields), names: p.Streams()}
	if p.Time.Unit != "" {
		if q.unit, err = value.ParseUnit(p.Time.Unit); err != nil {
			return nil, err
		}
	}
	for i := range p.Inputs {
		q.extractors = append(q.extractors, row.NewExtractor(p.Inputs[i].Layout.Paths()))
	}
	q.pool.New = func() any { return &admission{scratch: make([]row.Scratch, len(p.Inputs))} }
	cfg := s.opts.pipeline()
	cfg.OnResult, cfg.OnLate, cfg.OnEnd = q.result, q.late, s.sinks.closeChannel
	cfg.WantLate = func() bool { return len(s.sinks.lists().late) > 0 }
	if q.pipeline, err = pipeline.New(p, cfg); err != nil {
		return nil, err
	}
	for _, w := range p.Warnings {
		s.opts.log.Warn("%s", w)
	}
	if s.opts.overflow != nil && s.opts.overflow.Strategy == "expand" {
		s.opts.log.Warn("overflow strategy expand does not apply to the inputs of a stream JOIN; rows that find no room are dropped and counted")
	}
	return q, nil
}

func (q *joinQuery) streams() []string { return slices.Clone(q.names) }

// admission is the scratch space of one call: the rows of a message, encoded
// one after another.
type admission struct {
	rows    []pipeline.Row
	ends    []int
	enc     []byte
	scratch []row.Scratch // by input: it remembers the order of a message's members
	raw     []byte
}

func (a *admission) reset() {
	clear(a.rows)
	a.rows, a.ends, a.enc, a.raw = a.rows[:0], a.ends[:0], a.enc[:0], a.raw[:0]
}

// add notes a row whose columns were appended to the encoding.
func (a *admission) add(q *joinQuery, input int, r row.Row, from int, raw []byte) {
	a.enc = r.Enc
	pr := pipeline.Row{Input: input, Raw: raw}
	pr.Row.Side = r.Side
	if col := q.plan.Inputs[input].TimeCol; col >= 0 {
		pr.TS, pr.BadTime = q.timeOf(row.Row{Enc: r.Enc[from:], Side: r.Side}, col)
	}
	a.rows, a.ends = append(a.rows, pr), append(a.ends, len(a.enc))
}

// timeOf returns the event time of a row, or that it has none.
func (q *joinQuery) timeOf(r row.Row, col int) (ts int64, bad bool) {
	if text, ok := r.Number(col); ok { // as most are: no Value of it is made
		ts, ok = value.NumberTime(text, q.unit)
		return ts, !ok
	}
	ts, ok := value.Timestamp(r.Col(col), q.unit)
	return ts, !ok
}

// put admits the rows. The encoding may have moved while it grew, so the rows
// get their part of it only now.
func (a *admission) put(p *pipeline.Pipeline) error {
	from := 0
	for i, to := range a.ends {
		a.rows[i].Row.Enc = a.enc[from:to]
		from = to
	}
	switch err := p.Put(a.rows); {
	case errors.Is(err, pipeline.ErrClosed):
		return ErrStopped
	case errors.Is(err, pipeline.ErrOverflow):
		return ErrOverflow
	default:
		return err
	}
}

// input finds the input of a stream; "" is FROM. There are few, and their names
// mostly differ in length: looking at each is faster than a map.
func (q *joinQuery) input(stream string) (int, error) {
	if stream == "" {
		return 0, nil
	}
	for i, name := range q.names {
		if name == stream {
			return i, nil
		}
	}
	return 0, unknownStream(stream, q.streams())
}

func unknownStream(stream string, known []string) error {
	return fmt.Errorf("%w %q, known streams: %s", ErrUnknownStream, stream, strings.Join(known, ", "))
}

func (q *joinQuery) emitMap(stream string, data map[string]any) error {
	input, err := q.input(stream)
	if err != nil {
		return err
	}
	a := q.pool.Get().(*admission)
	defer q.pool.Put(a)
	a.reset()
	r, err := q.extractors[input].Map(row.Row{Enc: a.enc}, data)
	if err != nil {
		return err
	}
	if q.pipeline.WantsLate() {
		a.raw = value.AppendJSON(a.raw, value.FromGo(data))
	}
	a.add(q, input, r, 0, a.raw)
	return a.put(q.pipeline)
}

func (q *joinQuery) emitJSON(stream string, obj []byte) error {
	a := q.pool.Get().(*admission)
	defer q.pool.Put(a)
	a.reset()
	if err := q.admit(a, stream, obj, q.pipeline.WantsLate()); err != nil {
		return err
	}
	return a.put(q.pipeline)
}

func (q *joinQuery) emitRows(rows []JSONRow) error {
	a := q.pool.Get().(*admission)
	defer q.pool.Put(a)
	a.reset()
	late := q.pipeline.WantsLate()
	for i := range rows {
		if err := q.admit(a, rows[i].Stream, rows[i].Data, late); err != nil {
			return rowError(i, len(rows), err)
		}
	}
	return a.put(q.pipeline)
}

// admit validates and encodes one JSON object.
func (q *joinQuery) admit(a *admission, stream string, obj []byte, late bool) error {
	input, err := q.input(stream)
	if err != nil {
		return err
	}
	from := len(a.enc)
	r, err := q.extractors[input].JSON(row.Row{Enc: a.enc}, obj, &a.scratch[input])
	if err != nil {
		return err
	}
	var raw []byte
	if late {
		raw = obj
	}
	a.add(q, input, r, from, raw)
	return nil
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

func (q *joinQuery) detailedStats() map[string]any {
	stats := q.stats()
	in, dropped := stats["input_count"], stats["dropped_count"]
	rate := 0.0
	if in > 0 {
		rate = float64(dropped) / float64(in) * 100
	}
	return map[string]any{"basic_stats": stats, "drop_rate": rate, "explain": q.explain()}
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
	differs, err := q.pipeline.Adopt(o.pipeline)
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
	return Adoption{Differs: "a stream JOIN and a query of another kind share no state"}, nil
}
