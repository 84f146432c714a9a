package script

import (
	"fmt"
	"strings"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// inputNode is a stream that rows are fed to. It has whatever columns its rows
// have.
type inputNode struct {
	core
	name     string
	imported bool
	time     ref // nil: arrival time
	timeText string
	unit     value.Unit
	disorder time.Duration
	idle     time.Duration
	skew     time.Duration
}

func (n *inputNode) inputs() []node    { return nil }
func (n *inputNode) kind() Kind        { return Stream }
func (n *inputNode) keys() []ref       { return nil }
func (n *inputNode) schema() schema    { return schema{open: true} }
func (n *inputNode) provide(r ref) ref { return r }
func (n *inputNode) need(*builder)     {}
func (n *inputNode) isTime(r ref) bool { return n.time != nil && equal(r, n.time) }
func (n *inputNode) timing(r ref) timing {
	if n.isTime(r) {
		return timing{row: true, unit: n.unit}
	}
	return timing{}
}

func (n *inputNode) lower(b *builder) (edge, error) {
	l := layout(n.wanted.list)
	in := Input{Stream: n.name, TimeCol: -1, TimeText: n.timeText, Unit: n.unit,
		Disorder: n.disorder, IdleTimeout: n.idle, MaxFutureSkew: n.skew}
	if n.time != nil {
		if in.TimeCol = l.find(n.time); in.TimeCol < 0 {
			in.TimeCol = len(l)
			l = append(l[:len(l):len(l)], n.time)
		}
	}
	in.Paths = append([]row.Path(nil), l...)
	in.Shape = keptShape(l)
	b.program.Inputs = append(b.program.Inputs, in)
	return edge{port: Port{From: FromInput, Index: len(b.program.Inputs) - 1}, layout: l, clocked: n.time == nil, reader: -1, lead: len(l),
		identity: fmt.Sprintf("input %s (%s) time %s %d %s", n.name, strings.Join(l.texts(), ","), n.timeText, n.unit, n.disorder)}, nil
}

// stampNode adds the hidden columns of a stream's row to it: its time and its
// number. Where nobody wants them it is nothing.
type stampNode struct {
	core
	in node
}

func isHidden(r ref, name string) bool { return len(r) == 1 && r[0].Name == name }

func (n *stampNode) inputs() []node   { return []node{n.in} }
func (n *stampNode) kind() Kind       { return n.in.kind() }
func (n *stampNode) keys() []ref      { return n.in.keys() }
func (n *stampNode) schema() schema   { return n.in.schema() }
func (n *stampNode) versions() string { return n.in.versions() }
func (n *stampNode) provide(r ref) ref {
	if isHidden(r, hiddenTime) || isHidden(r, hiddenSeq) {
		return r
	}
	return n.in.provide(r)
}

func (n *stampNode) timing(r ref) timing {
	if isHidden(r, hiddenTime) {
		return timing{row: true, unit: value.Nanosecond}
	}
	return n.in.timing(r)
}

func (n *stampNode) need(*builder) {
	n.in.base().used = true
	for _, r := range n.wanted.list {
		if !isHidden(r, hiddenTime) && !isHidden(r, hiddenSeq) {
			want(n.in, r)
		}
	}
}

func (n *stampNode) lower(b *builder) (edge, error) {
	e := n.in.base().edge
	cfg := operator.StampConfig{}
	l := e.layout[:len(e.layout):len(e.layout)]
	if n.wanted.seen[refOf(hiddenTime).String()] {
		cfg.TS, l = true, append(l, refOf(hiddenTime))
	}
	if n.wanted.seen[refOf(hiddenSeq).String()] {
		cfg.Seq, l = true, append(l, refOf(hiddenSeq))
	}
	if !cfg.TS && !cfg.Seq {
		return e, nil
	}
	if last := len(e.layout) - 1; last > 0 && !n.wanted.seen[e.layout[last].String()] { // the time column, which an input adds
		cfg.Keep = last
		l = append(e.layout[:last:last], l[len(e.layout):]...)
	}
	_, out := b.vertex(n.table, fmt.Sprintf("Stamp %+v", cfg), cfg.Seq, l,
		func(_ *eval.Context, out operator.Output) (operator.Operator, error) {
			return operator.NewStamp(cfg, out)
		}, e)
	out.lead = min(e.lead, len(l))
	return out, nil
}
