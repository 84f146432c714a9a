package script

import (
	"fmt"
	"strings"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// dedupNode is DISTINCT … ON: the best row of each key.
type dedupNode struct {
	core
	in    node
	on    []ref
	order []orderBy
	by    string // ORDER BY as written
	ttl   int64
}

type orderBy struct {
	ref  ref
	desc bool
}

func (n *dedupNode) inputs() []node      { return []node{n.in} }
func (n *dedupNode) kind() Kind          { return State }
func (n *dedupNode) keys() []ref         { return n.on }
func (n *dedupNode) schema() schema      { return n.in.schema() }
func (n *dedupNode) provide(r ref) ref   { return n.in.provide(r) }
func (n *dedupNode) timing(r ref) timing { return timing{unit: n.in.timing(r).unit} }

// byTime tells whether versions succeed each other in event time.
func (n *dedupNode) byTime() bool {
	return len(n.order) == 1 && n.order[0].desc && n.in.timing(n.order[0].ref).row
}

func (n *dedupNode) versions() string {
	if n.byTime() {
		return ""
	}
	if len(n.order) == 0 {
		return "it has no ORDER BY"
	}
	return "it is ordered by " + n.by
}

func (n *dedupNode) orderText() string {
	by := make([]string, len(n.order))
	for i, o := range n.order {
		by[i] = visible(o.ref.String()) + " ASC"
		if o.desc {
			by[i] = visible(o.ref.String()) + " DESC"
		}
	}
	return strings.Join(by, ", ")
}

func (n *dedupNode) need(*builder) {
	for _, k := range n.on {
		want(n.in, k)
	}
	for _, o := range n.order {
		want(n.in, o.ref)
	}
	for _, r := range n.wanted.list {
		want(n.in, r)
	}
}

func (n *dedupNode) lower(b *builder) (edge, error) {
	rs := append([]ref(nil), n.on...)
	cfg := operator.DedupConfig{Keys: len(n.on), History: n.byTime(), TTL: n.ttl}
	more := func(r ref) int {
		if at := layout(rs).find(r); at >= 0 {
			return at
		}
		rs = append(rs, r)
		return len(rs) - 1
	}
	for _, r := range n.wanted.list {
		more(r)
	}
	for _, o := range n.order {
		cfg.Order = append(cfg.Order, operator.OrderKey{Col: more(n.in.provide(o.ref)), Desc: o.desc})
	}
	e, err := b.exactly(n.in, n.in.base().edge, rs)
	if err != nil {
		return edge{}, err
	}
	cfg.Text = "ON " + strings.Join(layout(n.on).texts(), ", ") + " ORDER BY " + n.by
	in := []edge{e}
	if n.ttl > 0 {
		in = append(in, now())
	}
	v, out := b.vertex(n.table, fmt.Sprintf("Dedup %+v", cfg), true, rs, func(_ *eval.Context, out operator.Output) (operator.Operator, error) {
		return operator.NewDedup(cfg, out)
	}, in...)
	out.reader, out.net, out.lead = v, true, min(e.lead, len(n.on))
	b.lookedUp(v, 0, len(n.on), e)
	return out, nil
}

// exactly returns an edge whose rows have the given columns and no others: what
// stands behind them serves others, and its changes are none here.
func (b *builder) exactly(n node, e edge, rs []ref) (edge, error) {
	e, err := b.arrange(n, e, copies(rs...), nil)
	if err != nil || len(e.layout) == len(rs) {
		return e, err
	}
	from := make([]int, len(rs))
	for i := range from {
		from[i] = i
	}
	return b.keep(n, e, rs, from), nil
}

func unitsOf(n node) func(*syntax.Column) value.Unit {
	return func(c *syntax.Column) value.Unit { return n.timing(ref(c.Path)).unit }
}
