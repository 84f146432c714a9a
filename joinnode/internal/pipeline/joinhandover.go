package pipeline

import (
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/plan"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// heir implements graph: the stages must agree, and the old query must have kept
// the columns that the new one needs.
func (g *joinGraph) heir(old graph) (inherit func(), differs string) {
	o, ok := old.(*joinGraph)
	if !ok {
		return nil, "a stream JOIN and a script of tables share no state"
	}
	t, differs := plan.Compare(o.plan, g.plan)
	if t == nil {
		return nil, differs
	}
	return func() { g.inherit(o, t) }, ""
}

// inherit takes the state over as t says.
func (g *joinGraph) inherit(old *joinGraph, t *plan.Transfer) {
	for i := range g.stages {
		s, o, st := &g.stages[i], &old.stages[i], &t.Stages[i]
		s.inherit(o) // before rows are counted that the new WHERE rejects
		if err := s.join.Adopt(o.join, st.Left.Columns, st.Right.Columns, g.keep(i, st.Left), g.keep(i, st.Right)); err != nil {
			// Compare has checked the graphs: this is a defect, and the only
			// thing left to do is to say that state was lost.
			g.p.cfg.Log.Error("%s: state could not be taken over: %v", s.place, err)
		}
		s.left.seq, s.left.progress = o.left.seq, o.left.progress
		s.right.seq, s.right.progress = o.right.seq, o.right.progress
	}
	for i := range g.sources {
		s, o := &g.sources[i], &old.sources[i]
		s.progress, s.last, s.seen = o.progress, o.last, o.seen
		s.head.seq = max(s.head.seq, o.head.seq)
	}
}

// keep applies the conjuncts that are new to the rows of a port; rows that they
// reject leave as filtered.
func (g *joinGraph) keep(stage int, t plan.PortTransfer) func(row.Row) bool {
	if t.Filter == nil {
		return nil
	}
	ctx := g.stages[stage].context
	return func(r row.Row) bool {
		if t.Filter(ctx, r) == value.True {
			return true
		}
		g.count(stage, operator.Filtered, false, nil)
		return false
	}
}
