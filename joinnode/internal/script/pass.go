package script

import (
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// aliasNode shows the rows of a table under an alias, as a query does. It is no
// vertex.
type aliasNode struct {
	core
	in    node
	alias string
}

func (n *aliasNode) inputs() []node   { return []node{n.in} }
func (n *aliasNode) kind() Kind       { return n.in.kind() }
func (n *aliasNode) schema() schema   { return n.in.schema() }
func (n *aliasNode) versions() string { return n.in.versions() }
func (n *aliasNode) keys() []ref {
	var keys []ref
	for _, k := range n.in.keys() {
		keys = append(keys, under(n.alias, k))
	}
	return keys
}

func (n *aliasNode) provide(r ref) ref   { return under(n.alias, n.in.provide(r[1:])) }
func (n *aliasNode) timing(r ref) timing { return n.in.timing(r[1:]) }

func (n *aliasNode) need(*builder) {
	n.in.base().used = true
	for _, r := range n.wanted.list {
		want(n.in, r[1:])
	}
}

func (n *aliasNode) lower(*builder) (edge, error) {
	e := n.in.base().edge
	l := make(layout, len(e.layout))
	for i, r := range e.layout {
		l[i] = under(n.alias, r)
	}
	e.layout = l
	return e, nil
}

// filterNode lets the rows pass for which a condition is true.
type filterNode struct {
	core
	in   node
	cond syntax.Expr // bound
	zone *time.Location
}

func (n *filterNode) inputs() []node      { return []node{n.in} }
func (n *filterNode) kind() Kind          { return n.in.kind() }
func (n *filterNode) keys() []ref         { return n.in.keys() }
func (n *filterNode) schema() schema      { return n.in.schema() }
func (n *filterNode) versions() string    { return n.in.versions() }
func (n *filterNode) provide(r ref) ref   { return n.in.provide(r) }
func (n *filterNode) timing(r ref) timing { return n.in.timing(r) }

// need asks for what others want first: then they need not rearrange it.
func (n *filterNode) need(*builder) {
	n.in.base().used = true
	for _, r := range n.wanted.list {
		want(n.in, r)
	}
	wantAll(n.in, n.cond)
}

func (n *filterNode) lower(b *builder) (edge, error) {
	e := n.in.base().edge
	p, err := b.predicate(n.in, e, n.cond, n.zone)
	if err != nil {
		return edge{}, err
	}
	cond := visible(syntax.PrintExpr(n.cond))
	history := n.kind() == State && n.versions() == ""
	_, out := b.vertex(n.table, "Filter "+cond+zoneText(n.zone), false, e.layout, func(ctx *eval.Context, out operator.Output) (operator.Operator, error) {
		if history {
			return operator.NewStateFilter(holds(p, ctx), cond, out), nil
		}
		return operator.NewFilter(holds(p, ctx), cond, false, out), nil
	}, e)
	out.reader, out.net, out.lead = e.reader, e.net, e.lead
	out.view = e.view.then(func(ctx *eval.Context, dst, src row.Row) (row.Row, bool) {
		if p(ctx, src) != value.True {
			return dst, false
		}
		return row.AppendRow(dst, src), true
	})
	return out, nil
}
