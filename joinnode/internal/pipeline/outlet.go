package pipeline

import "github.com/streamjoin/streamjoin/joinnode/internal/operator"

// outlet is where the records of an input or of an operator of a script go: to
// any number of ports. It is the Output of that operator.
type outlet struct {
	g       *tableGraph
	vertex  int // −1−i: input i
	targets []target
	// restamped records take the instant at which they leave.
	restamped bool
	seq       uint64
	progress  operator.Progress // as last told

	// What went through while the row at hand was processed: from < Seq ≤ to in
	// the step, and so is of that row.
	step     uint64
	from, to uint64
}

// target is a port that an outlet feeds.
type target struct {
	op     operator.Operator
	port   int
	vertex *tableVertex // that op is of
	follow *follower    // nil: the port's time is the outlet's
}

// advance tells the port how far it has come.
func (t *target) advance(p operator.Progress) {
	t.vertex.concerned = true
	t.op.Advance(t.port, p)
}

// unseen is the progress of a port that was told nothing.
var unseen = operator.Progress{Seen: minTime, Low: minTime}

func newOutlet(g *tableGraph, vertex int) *outlet {
	return &outlet{g: g, vertex: vertex, progress: unseen}
}

// input returns the input whose outlet it is.
func (o *outlet) input() int { return -1 - o.vertex }

// Emit implements operator.Output.
func (o *outlet) Emit(rec operator.Record) {
	o.seq++
	rec.Seq = o.seq
	if o.restamped {
		rec.TS = o.g.p.now
	}
	if o.g.processing {
		if o.step != o.g.step {
			o.step, o.from = o.g.step, o.seq-1
		}
		o.to = o.seq
	}
	for i := range o.targets {
		t := &o.targets[i]
		t.vertex.concerned = true
		t.op.Process(t.port, rec)
	}
}

// Advance implements operator.Output.
func (o *outlet) Advance(p operator.Progress) {
	o.progress = p
	for i := range o.targets {
		t := &o.targets[i]
		if t.follow != nil {
			t.follow.advance(p)
		} else {
			t.advance(p)
		}
	}
}

// Drop implements operator.Output.
func (o *outlet) Drop(port int, rec operator.Record, why operator.Reason, pending bool) {
	o.g.drop(o.vertex, port, &rec, why, pending)
}

// ofRowAtHand tells whether a record that came through the outlet is the row at
// hand, or a part of it. Operators that copy what waits may not keep its Seq.
func (o *outlet) ofRowAtHand(rec *operator.Record) bool {
	if o.step != o.g.step || o.from == o.to {
		return false
	}
	if rec.Seq == 0 {
		return rec.TS == o.g.rowTime()
	}
	return rec.Seq > o.from && rec.Seq <= o.to
}

// drop counts a record that an operator has dropped, and hands it to the late
// output: the whole row as it came where it is the one at hand, else what the
// operator has of it.
func (g *tableGraph) drop(vertex, port int, rec *operator.Record, why operator.Reason, pending bool) {
	v := &g.vertices[vertex]
	t := g.tables[v.table]
	t.drop(why, pending)
	if why == operator.Filtered {
		return // WHERE said no: that is a result, not a loss
	}
	g.p.counters.warnings.loss(t.place, &tableLosses[why], 1, nil)
	if !g.p.cfg.WantLate() {
		return
	}
	from := &v.ports[port]
	late := Late{Input: -1, Table: t.name, Reason: why, TS: rec.TS, Watermark: from.low(g)}
	if from.origin >= 0 && why != operator.KeyEvicted && from.from.ofRowAtHand(rec) {
		late.Input = from.origin
		g.p.late(late, func() []byte { return g.p.batch.bytes(g.p.current.raw) })
		return
	}
	r := rec.Row
	g.p.late(late, func() []byte { return v.shapes[port].AppendJSON(nil, r) })
}

// low returns how far the port has come.
func (p *tablePort) low(g *tableGraph) int64 {
	if p.from == nil {
		return g.now
	}
	return p.from.progress.Low
}

// rowTime returns the time of the row at hand.
func (g *tableGraph) rowTime() int64 {
	if a := g.p.current; g.inputs[a.input].event {
		return a.ts
	}
	return g.p.current.now
}
