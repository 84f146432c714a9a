package pipeline

import (
	"strings"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/plan"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// graph is the operators of one query and the edges between them.
type graph struct {
	vertices []vertex // upstream first
	sources  []source // by input
	stages   []stage
	ahead    ahead
	timeout  int64 // IDLETIMEOUT in ns; 0 = none
	event    bool
	sweep    int64 // ns between coarse sweeps
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
	within  int64
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

// newGraph builds the operators downstream first, since each is given its
// output.
func newGraph(p *Pipeline) (*graph, error) {
	g := &graph{event: p.plan.Time.Event(), timeout: int64(p.plan.Time.IdleTimeout),
		sources: make([]source, len(p.plan.Inputs)), stages: make([]stage, len(p.plan.Stages))}
	last := len(g.stages) - 1
	for i := range g.stages {
		g.stages[i].context = eval.NewContext(func() time.Time { return time.Unix(0, p.now) })
		g.stages[i].within = p.plan.Stages[i].Within
	}
	var ops []vertex // downstream first
	add := func(op operator.Operator, ports int) { ops = append(ops, vertex{op, ports}) }

	add(p.out, 1)
	next := newEdge(p, p.out, 0)
	if o := &p.plan.Output; !o.Identity() {
		project := operator.NewProject(projection(o, g.stages[last].context), strings.Join(o.Text, ", "), next.writtenBy(last, composite, composite))
		add(project, 1)
		next = newEdge(p, project, 0)
	}
	for i := last; i >= 0; i-- {
		st, s := &p.plan.Stages[i], &g.stages[i]
		if st.Filter != nil {
			f := operator.NewFilter(predicate(st.Filter, s.context), filterText(st.Filters), false, next.writtenBy(i, composite, composite))
			add(f, 1)
			s.filter = f
			next = newEdge(p, f, 0)
		}
		leftInput := composite
		if i == 0 {
			leftInput = 0
		}
		join, err := operator.NewIntervalJoin(p.joinConfig(i), next.writtenBy(i, leftInput, i+1))
		if err != nil {
			return nil, err
		}
		add(join, 2)
		s.join, s.left, s.right = join, newEdge(p, join, 0), newEdge(p, join, 1)
		g.ahead.add(join, inputsOf(i))
		next = s.left
		for _, in := range inputsOf(i) {
			head := s.right
			if in == 0 {
				head = s.left
			}
			if filter := p.plan.Inputs[in].Filter; filter != nil {
				f := operator.NewFilter(predicate(filter, s.context), filterText(p.plan.Inputs[in].Filters), true, head.writtenBy(i, in, composite))
				add(f, 1)
				head = newEdge(p, f, 0)
			}
			g.sources[in] = source{input: in, stage: i, within: p.plan.Inputs[in].Within, head: head,
				progress: operator.Progress{Seen: minTime, Low: minTime}}
		}
		longest := max(st.Within, st.RightRetention)
		g.sweep = max(g.sweep, min(max(longest/8, int64(100*time.Millisecond)), int64(10*time.Second)))
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

// endStep closes an arrival or a timer event. Of the operators only joins have
// something to do then.
func (g *graph) endStep() {
	for i := range g.stages {
		g.stages[i].join.EndStep()
	}
}

// advanceClock moves every port to t, downstream first.
func (g *graph) advanceClock(t int64) {
	for i := len(g.vertices) - 1; i >= 0; i-- {
		for port := range g.vertices[i].ports {
			g.vertices[i].op.Advance(port, operator.Progress{Seen: t, Low: t})
		}
	}
	for i := range g.sources {
		g.sources[i].progress = operator.Progress{Seen: t, Low: t}
	}
}

// advanceIdle lets the watermark of every idle input follow the clock
// (semantics.md §5), in query order.
func (g *graph) advanceIdle(t int64) (moved bool) {
	if g.timeout == 0 {
		return false
	}
	for i := range g.sources {
		s := &g.sources[i]
		if s.seen && t-s.last >= g.timeout {
			moved = s.advance(t, true) || moved
		}
	}
	return moved
}

// nextClocked is the least instant at which any operator would emit when the
// clock alone moves.
func (g *graph) nextClocked() (int64, bool) {
	least := int64(maxTime)
	for i := range g.vertices {
		for port := range g.vertices[i].ports {
			if at, ok := g.vertices[i].op.Wake(port, maxTime); ok {
				least = min(least, at)
			}
		}
	}
	return least, least < maxTime
}

// nextIdle is the least instant at which an input's idleness would make any
// operator emit: stage by stage from the end, what the left side of stage i+1
// waits for is what stage i's output has to reach.
func (g *graph) nextIdle() (int64, bool) {
	if g.timeout == 0 {
		return 0, false
	}
	least := int64(maxTime)
	need := int64(maxTime)
	for i := len(g.stages) - 1; i >= 0; i-- {
		join := g.stages[i].join
		for _, in := range inputsOf(i) {
			port := 1
			if in == 0 {
				port = 0
			}
			if at, ok := join.Wake(port, need); ok && g.sources[in].seen {
				least = min(least, max(at, addTime(g.sources[in].last, g.timeout)))
			}
		}
		if at, ok := join.Wake(0, need); ok {
			need = at
		}
	}
	return least, least < maxTime
}

// timePasses tells whether the clock can free rows.
func (g *graph) timePasses() bool { return !g.event || g.timeout > 0 }

func (g *graph) rows() (n int64) {
	for i := range g.stages {
		n += g.stages[i].join.Stats().Rows
	}
	return n
}

// flush closes every input in cascade order: what an upper stage gives up still
// meets the stages below.
func (g *graph) flush(why operator.CloseReason) {
	for i := range g.vertices {
		for port := range g.vertices[i].ports {
			g.vertices[i].op.Flush(port, why)
		}
		g.vertices[i].op.EndStep()
	}
}

// kept writes the buffered columns of a row that leaves a join's port as a JSON
// object.
func (g *graph) kept(p *plan.Plan, stage, port int, r row.Row) []byte {
	return p.KeptShape(stage, port).AppendJSON(nil, r)
}
