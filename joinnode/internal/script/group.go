package script

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// aggregateCall is one aggregate of a query.
type aggregateCall struct {
	text     string      // canonical, by which equal ones are found
	arg      syntax.Expr // bound; nil for COUNT(*)
	time     ref         // of FIRST_VALUE and LAST_VALUE
	kind     operator.AggregateKind
	distinct bool
}

// groupNode is GROUP BY: one row for each group, with the columns \x00g0 … for the
// groupings and \x00a0 … for the aggregates. With a bucket it is a time window,
// whose rows are a stream.
type groupNode struct {
	core
	in     node
	groups []syntax.Expr // bound
	calls  []aggregateCall
	bucket int // the grouping that is a time window; −1: none
	ttl    int64
	zone   *time.Location
}

func (n *groupNode) inputs() []node { return []node{n.in} }
func (n *groupNode) kind() Kind {
	if n.bucket >= 0 {
		return Stream
	}
	return State
}

func (n *groupNode) keys() []ref {
	if n.bucket >= 0 {
		return nil
	}
	keys := []ref{}
	for i := range n.groups {
		keys = append(keys, refOf(numbered(hiddenGroup, i)))
	}
	return keys
}

func (n *groupNode) schema() schema    { return schema{} }
func (n *groupNode) provide(r ref) ref { return r[:1] }

func (n *groupNode) timing(r ref) timing {
	for i, g := range n.groups {
		if r[0].Name != numbered(hiddenGroup, i) {
			continue
		}
		if i == n.bucket {
			return timing{row: true, unit: value.Millisecond}
		}
		return timing{unit: eval.UnitOf(g, eval.Scope{Unit: unitsOf(n.in), Zone: n.zone})}
	}
	for i, c := range n.calls {
		if r[0].Name == numbered(hiddenAgg, i) && keepsUnit(c.kind) {
			return timing{unit: eval.UnitOf(c.arg, eval.Scope{Unit: unitsOf(n.in), Zone: n.zone})}
		}
	}
	return timing{}
}

// keepsUnit tells whether an aggregate of times is a time.
func keepsUnit(k operator.AggregateKind) bool {
	switch k {
	case operator.AggMin, operator.AggMax, operator.AggFirstValue, operator.AggLastValue:
		return true
	}
	return false
}

func (n *groupNode) need(*builder) {
	n.in.base().used = true
	wantAll(n.in, n.groups...)
	for _, c := range n.calls {
		wantAll(n.in, c.arg)
		if c.time != nil {
			want(n.in, c.time)
		}
	}
}

// columns returns what the operator reads, and how its aggregates find it.
func groupColumns(groups []syntax.Expr, calls []aggregateCall) (cols []column, aggs []operator.Aggregation, l layout) {
	add := func(e syntax.Expr) int {
		// Only the late output sees these names.
		cols = append(cols, column{ref: refOf(visible(syntax.PrintExpr(e))), expr: e})
		return len(cols) - 1
	}
	for i, g := range groups {
		add(g)
		l = append(l, refOf(numbered(hiddenGroup, i)))
	}
	for i, c := range calls {
		a := operator.Aggregation{Kind: c.kind, Arg: -1, Time: -1, Distinct: c.distinct}
		if c.arg != nil {
			a.Arg = add(c.arg)
		}
		if c.time != nil {
			a.Time = add(bound(syntax.Pos{}, c.time))
		}
		aggs = append(aggs, a)
		l = append(l, refOf(numbered(hiddenAgg, i)))
	}
	return cols, aggs, l
}

func groupText(groups []syntax.Expr, calls []aggregateCall) string {
	var by, of []string
	for _, g := range groups {
		by = append(by, visible(syntax.PrintExpr(g)))
	}
	for _, c := range calls {
		of = append(of, visible(c.text))
	}
	s := strings.Join(of, ", ")
	if len(by) > 0 {
		s = strings.TrimSpace(s + " by " + strings.Join(by, ", "))
	}
	return s
}

func (n *groupNode) lower(b *builder) (edge, error) {
	cols, aggs, l := groupColumns(n.groups, n.calls)
	e, err := b.arrange(n.in, n.in.base().edge, cols, n.zone)
	if err != nil {
		return edge{}, err
	}
	if n.in.kind() == State && n.touchy() {
		if e, err = b.consolidate(n, n.in, e, e.layout[:len(cols)]); err != nil {
			return edge{}, err
		}
	}
	cfg := operator.AggregateConfig{Keys: len(n.groups), Aggs: aggs, AppendOnly: n.in.kind() == Stream, TTL: n.ttl, Text: groupText(n.groups, n.calls)}
	what := fmt.Sprintf("%+v", cfg)
	mismatch := func(ctx *eval.Context) func(value.Value) {
		return func(value.Value) { ctx.TypeMismatch++ }
	}
	if n.bucket >= 0 {
		v, out := b.vertex(n.table, fmt.Sprintf("Window %d %s", n.bucket, what), true, l, func(ctx *eval.Context, out operator.Output) (operator.Operator, error) {
			c := cfg
			c.Mismatch = mismatch(ctx)
			return operator.NewWindow(operator.WindowConfig{AggregateConfig: c, Bucket: n.bucket}, out)
		}, e)
		b.lookedUp(v, 0, len(n.groups), e)
		return out, nil
	}
	in := []edge{e}
	if n.ttl > 0 {
		in = append(in, now())
	}
	v, out := b.vertex(n.table, "Aggregate "+what, true, l, func(ctx *eval.Context, out operator.Output) (operator.Operator, error) {
		c := cfg
		c.Mismatch = mismatch(ctx)
		return operator.NewAggregate(c, out)
	}, in...)
	out.reader, out.net, out.lead = v, true, min(e.lead, len(n.groups))
	b.lookedUp(v, 0, len(n.groups), e)
	return out, nil
}

// touchy tells whether it matters that an unchanged row is not taken out and put
// back: the bucket of a time window may have left, and some aggregates go by the
// order in which rows came.
func (n *groupNode) touchy() bool {
	if n.bucket >= 0 {
		return true
	}
	for _, c := range n.calls {
		switch c.kind {
		case operator.AggCollect, operator.AggFirstValue, operator.AggLastValue, operator.AggMin, operator.AggMax:
			return true
		}
	}
	return false
}

// consolidate lets rows of n cancel each other whose change, for the reader of e, is
// in other columns than the given ones.
func (b *builder) consolidate(reader, n node, e edge, rs []ref) (edge, error) {
	e, err := b.exactly(n, e, rs)
	if err != nil {
		return edge{}, err
	}
	_, out := b.vertex(reader.base().table, "Consolidate", false, e.layout, func(_ *eval.Context, out operator.Output) (operator.Operator, error) {
		return operator.NewConsolidate(out), nil
	}, e)
	return out, nil
}

// foldNode adds to each row what its own array of elements amounts to: the
// nested aggregation of a parent row over @.elements. Its columns stand under
// alias.
type foldNode struct {
	core
	in       node
	elements ref    // the array
	inner    string // the alias of the elements
	where    syntax.Expr
	groups   []syntax.Expr
	calls    []aggregateCall
	having   syntax.Expr // over the group's columns under alias
	alias    string
	left     bool
	zone     *time.Location

	read refs // of the elements
}

func (n *foldNode) inputs() []node { return []node{n.in} }
func (n *foldNode) kind() Kind     { return n.in.kind() }

func (n *foldNode) keys() []ref {
	if n.kind() == Stream {
		return nil
	}
	keys := n.in.keys()
	for i := range n.groups {
		keys = append(keys[:len(keys):len(keys)], refOf(n.alias, numbered(hiddenGroup, i)))
	}
	return keys
}

func (n *foldNode) schema() schema { return schema{} }

func (n *foldNode) provide(r ref) ref {
	if r[0].Name == n.alias {
		return r[:2]
	}
	return n.in.provide(r)
}

func (n *foldNode) timing(r ref) timing {
	if r[0].Name == n.alias || r[0].Name == n.inner {
		return timing{}
	}
	return n.in.timing(r)
}

func (n *foldNode) need(*builder) {
	want(n.in, n.elements)
	ask := func(e syntax.Expr) {
		eachColumn(e, func(c *syntax.Column) {
			if c.Path[0].Name == n.inner {
				n.read.add(ref(c.Path))
			} else {
				want(n.in, ref(c.Path))
			}
		})
	}
	ask(n.where)
	for _, g := range n.groups {
		ask(g)
	}
	for _, c := range n.calls {
		ask(c.arg)
	}
	for _, r := range n.wanted.list {
		if r[0].Name != n.alias {
			want(n.in, r)
		}
	}
}

func (n *foldNode) lower(b *builder) (edge, error) {
	e := n.in.base().edge
	elements, err := newElementsPlan(b, n.in, e, n.elements, n.read.list)
	if err != nil {
		return edge{}, err
	}
	inner := slices.Concat(elements.edge.layout, layout(n.read.list))
	scope := b.scopeOf(inner, n, n.zone)
	cols, aggs, l := groupColumns(n.groups, n.calls)
	exprs := make([]eval.Expr, len(cols))
	for i, c := range cols {
		if exprs[i], err = eval.CompileIn(c.expr, scope); err != nil {
			return edge{}, b.place(err)
		}
	}
	var where, having eval.Predicate
	if n.where != nil {
		if where, err = eval.CompilePredicateIn(n.where, scope); err != nil {
			return edge{}, b.place(err)
		}
	}
	for i := range l {
		l[i] = under(n.alias, l[i])
	}
	if n.having != nil {
		if having, err = eval.CompilePredicateIn(n.having, b.scopeOf(l, n, n.zone)); err != nil {
			return edge{}, b.place(err)
		}
	}
	txt := groupText(n.groups, n.calls) + " of each row's " + visible(n.elements.String())
	if n.where != nil {
		txt += " where " + visible(syntax.PrintExpr(n.where))
	}
	if n.having != nil {
		txt += " having " + visible(syntax.PrintExpr(n.having))
	}
	source, kept := elements.source(n.wanted.list)
	_, out := b.vertex(n.table, fmt.Sprintf("Fold %s of %v left=%t%s", txt, source, n.left, zoneText(n.zone)), false, slices.Concat(kept, l),
		func(ctx *eval.Context, out operator.Output) (operator.Operator, error) {
			fold := operator.NewFold(operator.FoldConfig{Elements: elements.expander(), Where: holds(where, ctx), Keys: len(n.groups), Aggs: aggs, Having: holds(having, ctx),
				Args: computed(ctx, exprs)})
			return operator.NewUnnest(operator.UnnestConfig{Expander: fold, Source: source, Left: n.left, Text: txt}, out)
		}, elements.edge)
	return out, nil
}
