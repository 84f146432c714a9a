package script

import (
	"fmt"
	"strings"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// streamOnNode is STREAM ON: a stream of what happens to the keys of a state.
type streamOnNode struct {
	core
	in node
	on operator.Change
}

func (n *streamOnNode) inputs() []node      { return []node{n.in} }
func (n *streamOnNode) kind() Kind          { return Stream }
func (n *streamOnNode) keys() []ref         { return nil }
func (n *streamOnNode) schema() schema      { return n.in.schema() }
func (n *streamOnNode) provide(r ref) ref   { return n.in.provide(r) }
func (n *streamOnNode) timing(r ref) timing { return timing{unit: n.in.timing(r).unit} }

func (n *streamOnNode) need(*builder) {
	n.in.base().used = true
	for _, k := range n.in.keys() {
		want(n.in, k)
	}
	// A row changes when any of its columns does, read or not.
	for _, r := range allOf(n.in.schema()) {
		want(n.in, r)
	}
	for _, r := range n.wanted.list {
		want(n.in, r)
	}
}

// allOf returns the columns that make up a row.
func allOf(s schema) []ref {
	var all []ref
	if s.open {
		all = append(all, ref{})
	}
	for _, f := range s.fields {
		all = append(all, refOf(f))
	}
	return all
}

func (n *streamOnNode) lower(b *builder) (edge, error) {
	keys := n.in.keys()
	var rs []ref
	for _, k := range keys {
		rs = append(rs, n.in.provide(k))
	}
	for _, r := range append(allOf(n.in.schema()), n.wanted.list...) {
		if p := n.in.provide(r); layout(rs).find(p) < 0 {
			rs = append(rs, p)
		}
	}
	e, err := b.exactly(n.in, n.in.base().edge, rs)
	if err != nil {
		return edge{}, err
	}
	cfg := operator.StreamOnConfig{On: n.on, Keys: len(keys), Text: "of keys (" + strings.Join(layout(keys).texts(), ", ") + ")"}
	_, out := b.vertex(n.table, fmt.Sprintf("StreamOn %+v", cfg), false, e.layout, func(_ *eval.Context, out operator.Output) (operator.Operator, error) {
		return operator.NewStreamOn(cfg, out)
	}, e)
	return out, nil
}

// recencyBound is one comparison with now(): of an instant of the row, which is
// at − shift.
type recencyBound struct {
	at        syntax.Expr // bound
	shift     int64       // ns
	enter     bool
	inclusive bool
}

// recencyNode lets rows in and out as now() passes.
type recencyNode struct {
	core
	in     node
	bounds []recencyBound
	ident  []ref // what tells the rows apart
	cond   string
	zone   *time.Location
}

func (n *recencyNode) inputs() []node      { return []node{n.in} }
func (n *recencyNode) kind() Kind          { return State }
func (n *recencyNode) keys() []ref         { return n.ident }
func (n *recencyNode) schema() schema      { return n.in.schema() }
func (n *recencyNode) provide(r ref) ref   { return n.in.provide(r) }
func (n *recencyNode) timing(r ref) timing { return timing{unit: n.in.timing(r).unit} }

func (n *recencyNode) need(*builder) {
	n.in.base().used = true
	for _, bd := range n.bounds {
		wantAll(n.in, bd.at)
	}
	for _, r := range n.wanted.list {
		want(n.in, r)
	}
}

func (n *recencyNode) lower(b *builder) (edge, error) {
	e := n.in.base().edge
	scope := b.scopeOf(e.layout, n.in, n.zone)
	type compiled struct {
		expr eval.Expr
		unit value.Unit
	}
	at := make([]compiled, len(n.bounds))
	for i, bd := range n.bounds {
		x, err := eval.CompileIn(bd.at, scope)
		if err != nil {
			return edge{}, b.place(err)
		}
		at[i] = compiled{x, eval.UnitOf(bd.at, scope)}
	}
	v, out := b.vertex(n.table, "Recency "+n.cond+zoneText(n.zone), true, e.layout, func(ctx *eval.Context, out operator.Output) (operator.Operator, error) {
		cfg := operator.RecencyConfig{Text: n.cond}
		for i, bd := range n.bounds {
			cfg.Bounds = append(cfg.Bounds, operator.Bound{Enter: bd.enter, Inclusive: bd.inclusive, At: func(r row.Row) (int64, bool) {
				ts, ok := value.Timestamp(at[i].expr(ctx, r), at[i].unit)
				if !ok {
					return 0, false
				}
				return shifted(ts, bd.shift), true
			}})
		}
		return operator.NewRecency(cfg, out)
	}, e, now())
	out.reader = v
	return out, nil
}

// shifted returns t − d without wrapping.
func shifted(t, d int64) int64 {
	s := t - d
	switch {
	case d < 0 && s < t:
		return 1<<63 - 1
	case d > 0 && s > t:
		return -1 << 63
	}
	return s
}
