package pipeline

import (
	"strings"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/plan"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
	"github.com/streamjoin/streamjoin/joinnode/internal/warning"
)

// joinGraph is the operators of a stream join: a chain of stages, each with the
// next stream on its right side.
type joinGraph struct {
	p        *Pipeline
	plan     *plan.Plan
	vertices []vertex // upstream first
	sources  []source // by input
	stages   []stage
	ahead    ahead
	timeout  int64 // IDLETIMEOUT in ns; 0 = none
	event    bool
	sweeps   int64 // ns between coarse sweeps
}

// vertex is an operator with the number of its ports.
type vertex struct {
	op    operator.Operator
	ports int
}

// stage is one join and what is counted for it.
type stage struct {
	join    *operator.IntervalJoin
	filter  *operator.Filter // of composite rows; nil: none
	left    *edge            // into port 0
	right   *edge            // into port 1
	context *eval.Context
	stageCounts
}

// source is where one input's rows enter, with the watermark that they drive.
type source struct {
	input    int
	stage    int
	within   int64
	head     *edge
	progress operator.Progress
	last     int64 // clock reading of the last arrival that named the stream
	seen     bool  // there was one
}

// heard notes an arrival, late or bad ones included: it ends idleness.
func (s *source) heard(now int64) { s.last, s.seen = now, true }

// advance raises the watermark to t if that is news.
func (s *source) advance(t int64, idle bool) bool {
	if t <= s.progress.Seen {
		return false
	}
	s.progress = operator.Progress{Seen: t, Low: subTime(t, s.within), Idle: idle}
	s.head.Advance(s.progress)
	return true
}

// newJoinGraph builds the operators downstream first, since each is given its
// output.
func newJoinGraph(p *Pipeline, pl *plan.Plan) (*joinGraph, error) {
	g := &joinGraph{p: p, plan: pl, event: pl.Time.Event(), timeout: int64(pl.Time.IdleTimeout),
		sources: make([]source, len(pl.Inputs)), stages: make([]stage, len(pl.Stages))}
	last := len(g.stages) - 1
	for i := range g.stages {
		g.stages[i].context = eval.NewContext(func() time.Time { return time.Unix(0, p.now) })
		g.stages[i].stageCounts = newStageCounts(p.counters, i, pl.Stages[i].Within)
	}
	for i := range pl.Inputs {
		p.counters.door = append(p.counters.door, g.stages[pl.Inputs[i].Stage].door)
	}
	var ops []vertex // downstream first
	add := func(op operator.Operator, ports int) { ops = append(ops, vertex{op, ports}) }

	add(p.out, 1)
	next := newEdge(g, p.out, 0)
	if o := &pl.Output; !o.Identity() {
		project := operator.NewProject(projection(o, g.stages[last].context), strings.Join(o.Text, ", "), next.writtenBy(last, composite, composite))
		add(project, 1)
		next = newEdge(g, project, 0)
	}
	for i := last; i >= 0; i-- {
		st, s := &pl.Stages[i], &g.stages[i]
		if st.Filter != nil {
			f := operator.NewFilter(predicate(st.Filter, s.context), filterText(st.Filters), false, next.writtenBy(i, composite, composite))
			add(f, 1)
			s.filter = f
			next = newEdge(g, f, 0)
		}
		leftInput := composite
		if i == 0 {
			leftInput = 0
		}
		join, err := operator.NewIntervalJoin(g.joinConfig(i), next.writtenBy(i, leftInput, i+1))
		if err != nil {
			return nil, err
		}
		add(join, 2)
		s.join, s.left, s.right = join, newEdge(g, join, 0), newEdge(g, join, 1)
		next = s.left
		for _, in := range inputsOf(i) {
			head := s.right
			if in == 0 {
				head = s.left
			}
			g.ahead.add(join, in, head.port)
			if filter := pl.Inputs[in].Filter; filter != nil {
				f := operator.NewFilter(predicate(filter, s.context), filterText(pl.Inputs[in].Filters), true, head.writtenBy(i, in, composite))
				add(f, 1)
				head = newEdge(g, f, 0)
			}
			g.sources[in] = source{input: in, stage: i, within: pl.Inputs[in].Within, head: head,
				progress: operator.Progress{Seen: minTime, Low: minTime}}
		}
		longest := max(st.Within, st.RightRetention)
		g.sweeps = max(g.sweeps, min(max(longest/8, int64(100*time.Millisecond)), int64(10*time.Second)))
	}
	for i := len(ops) - 1; i >= 0; i-- {
		g.vertices = append(g.vertices, ops[i])
	}
	return g, nil
}

// inputsOf lists the inputs that enter at a stage.
func inputsOf(stage int) []int {
	if stage == 0 {
		return []int{0, 1}
	}
	return []int{stage + 1}
}

func predicate(p eval.Predicate, ctx *eval.Context) func(row.Row) bool {
	return func(r row.Row) bool { return p(ctx, r) == value.True }
}

// projection computes the SELECT list; plain columns are copied encoded.
func projection(o *plan.Output, ctx *eval.Context) func(dst, src row.Row) row.Row {
	plain := true
	for _, c := range o.Copy {
		plain = plain && c >= 0
	}
	if plain {
		return func(dst, src row.Row) row.Row { return row.AppendColumns(dst, src, o.Copy) }
	}
	return func(dst, src row.Row) row.Row {
		for i, e := range o.Exprs {
			if c := o.Copy[i]; c >= 0 {
				dst = row.AppendColumns(dst, src, o.Copy[i:i+1])
				continue
			}
			dst = row.Append(dst, e(ctx, src))
		}
		return dst
	}
}

// show implements graph.
func (g *joinGraph) show(b *batch, from int) { g.ahead.show(b, from) }

// arrive implements graph: one arrival of semantics.md §4, whose points 4 to 8
// are the operators' business.
func (g *joinGraph) arrive(a *arrival) {
	src := &g.sources[a.input]
	rec := operator.Record{TS: a.now, Diff: 1, Row: row.Row{Enc: g.p.batch.bytes(a.enc), Side: a.side}}
	if g.event {
		src.heard(a.now)
		rec.TS = a.ts
		switch {
		case a.badTime:
			g.drop(src, rec, operator.BadTimestamp)
			return
		case tooFarAhead(a, g.plan.Time.MaxFutureSkew):
			g.drop(src, rec, operator.FutureTimestamp)
			return
		}
		src.advance(a.ts, false)
		if a.ts < src.progress.Low {
			g.drop(src, rec, operator.Late)
			return
		}
	}
	src.head.Emit(rec)
	g.endStep()
}

// endStep closes an arrival or a timer event. Of the operators only joins have
// something to do then.
func (g *joinGraph) endStep() {
	for i := range g.stages {
		g.stages[i].join.EndStep()
	}
}

// drop counts a row that the source itself refuses.
func (g *joinGraph) drop(src *source, rec operator.Record, why operator.Reason) {
	var describe func() string
	if why == operator.BadTimestamp {
		describe = func() string { return g.timeOf(src.input, rec.Row) }
	}
	g.count(src.stage, why, false, describe)
	g.p.late(Late{Input: src.input, Reason: why, TS: rec.TS, Watermark: src.progress.Seen},
		func() []byte { return g.p.batch.bytes(g.p.current.raw) })
}

// timeOf shows what a row has in the field of its time.
func (g *joinGraph) timeOf(input int, r row.Row) string {
	return warning.Field(g.plan.Time.Text, r.Col(g.plan.Inputs[input].TimeCol))
}

// lost implements graph.
func (g *joinGraph) lost(a *arrival) Late {
	ts := a.ts
	switch {
	case !g.event:
		ts = a.now
	case a.badTime:
		ts = 0
	}
	return Late{Input: a.input, Reason: operator.Overflow, TS: ts, Watermark: g.sources[a.input].progress.Seen}
}

// flush implements graph in cascade order (semantics.md §5): what an upper stage
// gives up still meets the stages below.
func (g *joinGraph) flush(why operator.CloseReason) {
	for i := range g.vertices {
		for port := range g.vertices[i].ports {
			g.vertices[i].op.Flush(port, why)
		}
		g.vertices[i].op.EndStep()
	}
}

// kept writes the buffered columns of a row that leaves a join's port as a JSON
// object.
func (g *joinGraph) kept(stage, port int, r row.Row) []byte {
	return g.plan.KeptShape(stage, port).AppendJSON(nil, r)
}

// tooFarAhead tells whether a row's event time is further ahead of the clock than
// skew, where 0 sets no bound.
func tooFarAhead(a *arrival, skew time.Duration) bool {
	return skew > 0 && a.ts > a.now && a.ts-a.now > int64(skew)
}
