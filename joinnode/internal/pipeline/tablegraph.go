package pipeline

import (
	"fmt"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/script"
	"github.com/streamjoin/streamjoin/joinnode/internal/warning"
)

// tableGraph is the operators of a table script: any graph without cycles, whose
// vertices stand upstream first. One step is one arrival or one instant of the
// clock: progress goes down from the inputs, then the script's now() to the ports
// that carry it, then the record, and at last every vertex that was concerned ends
// the step, upstream first (docs/tables.md).
type tableGraph struct {
	p        *Pipeline
	program  *script.Program
	inputs   []tableInput
	vertices []tableVertex
	tables   []*tableCounts // by name, in order of appearance

	ahead    ahead
	sinks    tableVertex // stands for the outbox
	nowPorts []target    // that carry now()
	follows  []*follower
	now      int64 // the script's now(); minTime = unknown
	nowGauge published
	started  bool // there was an arrival
	arrival  bool // some input has arrival time

	step       uint64 // number of the step at hand
	processing bool   // its record is on its way; EndStep is yet to come
	needs      []int64
	handedOver bool // a successor has the state
}

// tableVertex is one operator of a script.
type tableVertex struct {
	op     operator.Operator
	ctx    *eval.Context
	out    *outlet
	ports  []tablePort
	table  int // of tables
	shapes []*row.Shape
	about  operator.Description
	// concerned: something came to the operator in this step. The others have
	// nothing to end; most of a script has not to do with most rows.
	concerned bool
}

// tablePort is one port of an operator.
type tablePort struct {
	script.Port
	from   *outlet   // nil: now()
	follow *follower // nil: the port waits for its inputs
	origin int       // the input whose rows come in here, each on its own; −1: none
}

// NewScript makes a pipeline of a table script. Results carry the number of their
// output, their time and their Change. Nothing runs before the first row.
func NewScript(program *script.Program, cfg Config) (*Pipeline, error) {
	p := newPipeline(cfg)
	p.out.timed = true
	g := &tableGraph{p: p, program: program, now: minTime, needs: make([]int64, len(program.Vertices))}
	g.nowGauge = publishedIn(p.counters.registry, "now", true)
	for i := range program.Inputs {
		g.inputs = append(g.inputs, newTableInput(g, i))
		g.arrival = g.arrival || !g.inputs[i].event
	}
	for i := range program.Vertices {
		if err := g.addVertex(i); err != nil {
			return nil, err
		}
	}
	g.link()
	p.graph = g
	return p, nil
}

// addVertex builds the operator of a vertex.
func (g *tableGraph) addVertex(i int) error {
	def := &g.program.Vertices[i]
	v := tableVertex{ctx: eval.NewContext(g.clock), out: newOutlet(g, i), table: g.countsOf(def.Table), shapes: def.Shapes}
	var err error
	if v.op, err = def.Build(v.ctx, v.out); err != nil {
		return fmt.Errorf("table %s: %w", def.Table, err)
	}
	v.about = v.op.Describe()
	g.tables[v.table].vertices = append(g.tables[v.table].vertices, i)
	if _, ok := v.op.(*operator.IntervalJoin); ok {
		g.tables[v.table].addWithin(g.p.counters.registry)
	}
	for _, port := range def.Ports {
		tp := tablePort{Port: port, origin: g.originOf(port)}
		if port.Follow > 0 {
			tp.follow = &follower{timeout: port.Follow, inputs: g.inputsBehind(port), progress: unseen}
		}
		v.ports = append(v.ports, tp)
	}
	g.vertices = append(g.vertices, v)
	return nil
}

// originOf finds the input whose rows come to a port one for one, or in parts:
// through operators that have no other source. Where it is not one, it is −1.
func (g *tableGraph) originOf(port script.Port) int {
	switch port.From {
	case script.FromInput:
		return port.Index
	case script.FromVertex:
		origin, sources := -1, 0
		for i := range g.vertices[port.Index].ports {
			if p := &g.vertices[port.Index].ports[i]; p.From != script.FromNow {
				origin = p.origin
				sources++
			}
		}
		if sources == 1 {
			return origin
		}
	case script.FromNow:
	}
	return -1
}

// inputsBehind lists the inputs whose rows may reach a port.
func (g *tableGraph) inputsBehind(port script.Port) (inputs []int) {
	seen := make([]bool, len(g.inputs))
	var visit func(script.Port)
	visit = func(port script.Port) {
		switch port.From {
		case script.FromInput:
			if !seen[port.Index] {
				seen[port.Index] = true
				inputs = append(inputs, port.Index)
			}
		case script.FromVertex:
			for _, p := range g.program.Vertices[port.Index].Ports {
				visit(p)
			}
		case script.FromNow:
		}
	}
	visit(port)
	return inputs
}

// link draws the edges: every outlet is told which ports it feeds. It is called
// again once operators were taken over from an old query.
func (g *tableGraph) link() {
	for i := range g.inputs {
		g.inputs[i].out.targets = nil
	}
	for i := range g.vertices {
		g.vertices[i].out.targets = nil
	}
	g.ahead, g.nowPorts, g.follows = ahead{}, nil, nil
	for i := range g.vertices {
		v := &g.vertices[i]
		v.out.restamped = g.clockedJoin(i)
		for n := range v.ports {
			port := &v.ports[n]
			to := target{op: v.op, port: n, vertex: v, follow: port.follow}
			switch port.From {
			case script.FromNow:
				g.nowPorts = append(g.nowPorts, to)
				continue
			case script.FromInput:
				port.from = g.inputs[port.Index].out
				g.ahead.add(v.op, port.Index, n)
			case script.FromVertex:
				port.from = g.vertices[port.Index].out
				if port.Shown && port.origin >= 0 {
					g.ahead.add(v.op, port.origin, n)
				}
			}
			port.from.targets = append(port.from.targets, to)
			if port.follow != nil {
				port.follow.to = target{op: v.op, port: n, vertex: v}
				g.follows = append(g.follows, port.follow)
			}
		}
	}
	for i := range g.program.Outputs {
		out := g.vertices[g.program.Outputs[i].Vertex].out
		out.targets = append(out.targets, target{op: g.p.out, port: i, vertex: &g.sinks})
	}
}

// clockedJoin tells whether a vertex is a WITHIN join behind which there are only
// inputs with arrival time: its results take the instant at which they leave, as
// those of a stream join do (semantics.md §6).
func (g *tableGraph) clockedJoin(i int) bool {
	if _, ok := g.vertices[i].op.(*operator.IntervalJoin); !ok {
		return false
	}
	for _, in := range g.inputsBehind(script.Port{From: script.FromVertex, Index: i}) {
		if g.inputs[in].event {
			return false
		}
	}
	return true
}

// clock is the time that expressions see: the script's now(), or the clock while
// that is unknown.
func (g *tableGraph) clock() time.Time {
	if g.now == minTime {
		return time.Unix(0, g.p.now)
	}
	return time.Unix(0, g.now)
}

// show implements graph.
func (g *tableGraph) show(b *batch, from int) { g.ahead.show(b, from) }

// arrive implements graph.
func (g *tableGraph) arrive(a *arrival) {
	if !g.started {
		g.start(a.now)
	}
	in := &g.inputs[a.input]
	rec := operator.Record{TS: a.now, Diff: 1, Row: row.Row{Enc: g.p.batch.bytes(a.enc), Side: a.side}}
	in.last, in.seen = a.now, true
	refused := false
	var why operator.Reason
	if in.event {
		rec.TS = a.ts
		switch {
		case a.badTime:
			refused, why = true, operator.BadTimestamp
		case tooFarAhead(a, in.MaxFutureSkew):
			refused, why = true, operator.FutureTimestamp
		}
		moved := in.heard(a.ts, !refused)
		moved = g.raiseNow(a.now) || moved
		if refused {
			g.refuse(in, rec, why)
			if moved {
				g.endStep()
			}
			return
		}
	}
	g.processing = true
	in.out.Emit(rec)
	g.processing = false
	g.endStep()
}

// start is the script's first arrival: inputs that are never seen are silent from
// now on.
func (g *tableGraph) start(now int64) {
	g.started = true
	for i := range g.inputs {
		g.inputs[i].last = now
	}
}

// endStep closes an arrival or an instant of the clock.
func (g *tableGraph) endStep() {
	for i := range g.vertices {
		if v := &g.vertices[i]; v.concerned {
			v.concerned = false
			v.op.EndStep()
		}
	}
	g.step++
}

// flush implements graph. now() stays, so that tables which time empties keep
// their rows.
func (g *tableGraph) flush(why operator.CloseReason) {
	for i := range g.vertices {
		v := &g.vertices[i]
		for port := range v.ports {
			v.op.Flush(port, why)
		}
		v.op.EndStep()
	}
	g.step++
}

// refuse drops a row that its input does not take.
func (g *tableGraph) refuse(in *tableInput, rec operator.Record, why operator.Reason) {
	in.drops[why]++
	var describe func() string
	if why == operator.BadTimestamp {
		describe = func() string { return warning.Field(in.TimeText, rec.Row.Col(in.TimeCol)) }
	}
	g.p.counters.warnings.loss(in.door.place, &losses[why], 1, describe)
	g.p.late(Late{Input: in.out.input(), Reason: why, TS: rec.TS, Watermark: in.progress.Low},
		func() []byte { return g.p.batch.bytes(g.p.current.raw) })
}

// lost implements graph.
func (g *tableGraph) lost(a *arrival) Late {
	in := &g.inputs[a.input]
	ts := a.ts
	switch {
	case !in.event:
		ts = a.now
	case a.badTime:
		ts = 0
	}
	return Late{Input: a.input, Reason: operator.Overflow, TS: ts, Watermark: in.progress.Low}
}

// DescribeVertex returns a vertex of a script as EXPLAIN shows it. The pipeline
// must have been made by NewScript.
func (p *Pipeline) DescribeVertex(i int) operator.Description {
	return p.graph.(*tableGraph).vertices[i].about
}
