package pipeline

import (
	"fmt"
	"slices"

	"github.com/streamjoin/streamjoin/joinnode/internal/script"
)

// heir implements graph: the inputs must be the same, and every operator with
// state must have one of equal identity in the old query.
func (g *tableGraph) heir(old graph) (inherit func(), differs string) {
	o, ok := old.(*tableGraph)
	if !ok {
		return nil, "a script of tables and a stream JOIN share no state"
	}
	inputs, differs := matchInputs(o.program, g.program)
	if differs != "" {
		return nil, differs
	}
	vertices, differs := matchVertices(o.program, g.program)
	if differs != "" {
		return nil, differs
	}
	return func() { g.inherit(o, inputs, vertices) }, ""
}

// matchInputs finds the old input of each new one, or says what differs. Rows in
// the state were read with the old paths.
func matchInputs(old, now *script.Program) (from []int, differs string) {
	for i := range now.Inputs {
		n := &now.Inputs[i]
		at := slices.IndexFunc(old.Inputs, func(o script.Input) bool { return o.Stream == n.Stream })
		if at < 0 {
			return nil, fmt.Sprintf("input %s is new", n.Stream)
		}
		if what := inputDiffers(&old.Inputs[at], n); what != "" {
			return nil, fmt.Sprintf("input %s: %s", n.Stream, what)
		}
		from = append(from, at)
	}
	for i := range old.Inputs {
		if !slices.Contains(from, i) {
			return nil, fmt.Sprintf("input %s is gone", old.Inputs[i].Stream)
		}
	}
	return from, ""
}

func inputDiffers(o, n *script.Input) string {
	switch {
	case o.TimeText != n.TimeText || o.TimeCol >= 0 != (n.TimeCol >= 0):
		return fmt.Sprintf("TIMESTAMP is %q, was %q", n.TimeText, o.TimeText)
	case o.Unit != n.Unit:
		return "TIMEUNIT differs"
	case o.Disorder != n.Disorder:
		return fmt.Sprintf("MAXOUTOFORDERNESS is %s, was %s", n.Disorder, o.Disorder)
	case o.IdleTimeout != n.IdleTimeout:
		return fmt.Sprintf("IDLETIMEOUT is %s, was %s", n.IdleTimeout, o.IdleTimeout)
	case o.MaxFutureSkew != n.MaxFutureSkew:
		return fmt.Sprintf("MAXFUTURESKEW is %s, was %s", n.MaxFutureSkew, o.MaxFutureSkew)
	case o.TimeCol != n.TimeCol, !slices.EqualFunc(o.Paths, n.Paths, slices.Equal):
		return "other columns of it are read"
	}
	return ""
}

// matchVertices finds the old vertex of each new one with state, −1 for the
// others, or says which table has none.
func matchVertices(old, now *script.Program) (from []int, differs string) {
	free := map[string][]int{} // old ones by identity, in order
	tables := map[string]bool{}
	for i := range old.Vertices {
		v := &old.Vertices[i]
		tables[v.Table] = true
		if v.Stateful {
			free[v.Identity] = append(free[v.Identity], i)
		}
	}
	for i := range now.Vertices {
		v := &now.Vertices[i]
		at := -1
		if v.Stateful {
			same := free[v.Identity]
			switch {
			case len(same) > 0:
				at, free[v.Identity] = same[0], same[1:]
			case tables[v.Table]:
				return nil, fmt.Sprintf("table %s is computed in another way, or from other rows", v.Table)
			default:
				return nil, fmt.Sprintf("table %s is new", v.Table)
			}
		}
		from = append(from, at)
	}
	return from, ""
}

// inherit takes the state over: operators with state move with all that they
// know, their contexts and outputs; the others are new, and told what time it is.
func (g *tableGraph) inherit(old *tableGraph, inputs, vertices []int) {
	g.now, g.started = old.now, old.started
	g.inheritCounts(old, vertices)
	for i, from := range inputs {
		in, o := &g.inputs[i], &old.inputs[from]
		in.progress, in.last, in.seen, in.drops = o.progress, o.last, o.seen, o.drops
		in.out.seq, in.out.progress = o.out.seq, o.out.progress
	}
	for i, from := range vertices {
		if from < 0 {
			continue
		}
		v, o := &g.vertices[i], &old.vertices[from]
		v.op, v.ctx, v.out = o.op, o.ctx, o.out
		v.ctx.Now = g.clock
		v.out.g, v.out.vertex = g, i
		for n := range v.ports {
			if f, was := v.ports[n].follow, o.ports[n].follow; f != nil && was != nil {
				f.progress = was.progress
			}
		}
	}
	g.link()
	for i, from := range vertices {
		if from < 0 {
			continue
		}
		// Numbers of records go on: some are parts of keys.
		for n := range g.vertices[i].ports {
			if now, was := g.vertices[i].ports[n].from, old.vertices[from].ports[n].from; now != nil && was != nil {
				now.seq = max(now.seq, was.seq)
			}
		}
	}
	g.tellProgress(vertices)
	old.vertices, old.nowPorts, old.follows, old.handedOver = nil, nil, nil, true
}

// tellProgress tells new operators how far their ports have come; those that were
// taken over learn nothing new by it.
func (g *tableGraph) tellProgress(vertices []int) {
	for i := range g.inputs {
		if in := &g.inputs[i]; in.progress != unseen {
			in.out.Advance(in.progress)
		}
	}
	for i, from := range vertices {
		if out := g.vertices[i].out; from >= 0 && out.progress != unseen {
			out.Advance(out.progress)
		}
	}
	if g.now != minTime {
		g.setNow(g.now)
	}
}

// inheritCounts goes on with the counts of the tables that the old query had.
func (g *tableGraph) inheritCounts(old *tableGraph, vertices []int) {
	for _, t := range g.tables {
		at := slices.IndexFunc(old.tables, func(o *tableCounts) bool { return o.name == t.name })
		if at < 0 {
			continue
		}
		o := old.tables[at]
		t.drops, t.pending, t.before, t.known = o.drops, o.pending, o.before, o.known
		for _, i := range o.vertices {
			if slices.Contains(vertices, i) {
				continue // it brings its own
			}
			v := &old.vertices[i]
			st := v.op.Stats()
			t.before.addCounts(&st)
			t.before.mismatches += v.ctx.TypeMismatch
			t.before.failures += v.ctx.FunctionErrors
		}
	}
}
