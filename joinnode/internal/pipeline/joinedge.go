package pipeline

import (
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/plan"
)

// composite stands for an input number where rows have several parts.
const composite = -1

// edge carries records into one port of an operator. It is the Output of the
// operator that writes to it.
type edge struct {
	g        *joinGraph
	to       operator.Operator
	port     int
	seq      uint64
	progress operator.Progress // as last told

	// Of the operator that writes to the edge, for what it drops: its stage and
	// the input behind each of its ports.
	stage  int
	inputs [2]int
}

func newEdge(g *joinGraph, to operator.Operator, port int) *edge {
	return &edge{g: g, to: to, port: port, progress: operator.Progress{Seen: minTime, Low: minTime}}
}

func (e *edge) writtenBy(stage, port0, port1 int) *edge {
	e.stage, e.inputs = stage, [2]int{port0, port1}
	return e
}

// Emit implements operator.Output. Where the clock drives time a record takes
// the instant at which it enters (semantics.md §6).
func (e *edge) Emit(rec operator.Record) {
	e.seq++
	rec.Seq = e.seq
	if !e.g.event {
		rec.TS = e.g.p.now
	}
	e.to.Process(e.port, rec)
}

// Advance implements operator.Output.
func (e *edge) Advance(p operator.Progress) {
	e.progress = p
	e.to.Advance(e.port, p)
}

// Drop implements operator.Output.
func (e *edge) Drop(port int, rec operator.Record, why operator.Reason, pending bool) {
	e.g.count(e.stage, why, pending, nil)
	if why == operator.Filtered {
		return // WHERE said no: that is a result, not a loss
	}
	input := e.inputs[port]
	p := e.g.p
	p.late(Late{Input: input, Reason: why, TS: rec.TS, Watermark: e.g.watermark(e.stage, port)}, func() []byte {
		// The row at hand came whole; a buffered one, or one on its way through a
		// reload, has only what the query keeps.
		if why != operator.KeyEvicted && input != composite && p.current != nil {
			return p.batch.bytes(p.current.raw)
		}
		return e.g.kept(e.stage, port, rec.Row)
	})
}

// watermark returns how far a join's port has come.
func (g *joinGraph) watermark(stage, port int) int64 {
	if !g.event {
		return g.p.now
	}
	if port == 0 {
		return g.stages[stage].left.progress.Seen
	}
	return g.stages[stage].right.progress.Seen
}

// joinConfig is the plan's stage as the operator takes it.
func (g *joinGraph) joinConfig(i int) operator.JoinConfig {
	st, in := &g.plan.Stages[i], &g.plan.Inputs[i+1]
	cfg := operator.JoinConfig{
		Within: st.Within, Left: st.Left, RightRetention: st.RightRetention, Clocked: !g.event,
		Keys: [2]int{st.LeftKeys, in.Keys}, Keep: [2]int{st.LeftKeep, in.Keep},
		MaxKeys: g.p.cfg.MaxKeys, MaxRows: g.p.cfg.MaxRows, MaxBytes: g.p.cfg.MaxBytes, RightSource: i + 1,
	}
	for _, o := range st.Out {
		cfg.Out = append(cfg.Out, operator.OutCol{Port: uint8(o.Port), Col: o.Col})
	}
	return cfg
}

func filterText(filters []plan.Conjunct) string {
	text := ""
	for i, f := range filters {
		if i > 0 {
			text += " AND "
		}
		text += f.Text
	}
	return text
}
