package script

import (
	"fmt"
	"slices"
	"strings"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// unnestNode is JOIN row.array element: a row for each element, whose fields
// stand under alias.
type unnestNode struct {
	core
	in    node
	array ref
	alias string
	left  bool
}

func (n *unnestNode) inputs() []node { return []node{n.in} }
func (n *unnestNode) kind() Kind     { return n.in.kind() }

func (n *unnestNode) keys() []ref {
	if n.kind() == Stream {
		return nil
	}
	keys := n.in.keys()
	return append(keys[:len(keys):len(keys)], refOf(n.alias, hiddenIndex))
}

func (n *unnestNode) schema() schema { return schema{} }

func (n *unnestNode) provide(r ref) ref {
	if r[0].Name == n.alias {
		return r
	}
	return n.in.provide(r)
}

func (n *unnestNode) timing(r ref) timing {
	if r[0].Name == n.alias {
		return timing{}
	}
	return n.in.timing(r)
}

func (n *unnestNode) need(*builder) {
	want(n.in, n.array)
	for _, r := range n.wanted.list {
		if r[0].Name != n.alias {
			want(n.in, r)
		}
	}
}

func (n *unnestNode) lower(b *builder) (edge, error) {
	var read []ref
	ordinal := false
	for _, r := range n.wanted.list {
		switch {
		case r[0].Name != n.alias:
		case len(r) == 2 && r[1].Name == hiddenIndex:
			ordinal = true
		default:
			read = append(read, r)
		}
	}
	elements, err := newElementsPlan(b, n.in, n.in.base().edge, n.array, read)
	if err != nil {
		return edge{}, err
	}
	source, l := elements.source(n.wanted.list)
	l = slices.Concat(l, layout(read))
	if ordinal {
		l = append(l, refOf(n.alias, hiddenIndex))
	}
	elements.ordinal = ordinal
	txt := visible(n.array.String()) + " AS " + n.alias
	_, out := b.vertex(n.table, fmt.Sprintf("Unnest %s (%s) of %v left=%t", txt, strings.Join(layout(read).texts(), ","), source, n.left), false, l,
		func(_ *eval.Context, out operator.Output) (operator.Operator, error) {
			return operator.NewUnnest(operator.UnnestConfig{Expander: elements.expander(), Source: source, Left: n.left, Text: txt}, out)
		}, elements.edge)
	return out, nil
}

// elementsPlan is how the elements of an array are read: from a column of the
// rows of edge.
type elementsPlan struct {
	edge    edge
	col     int
	paths   []row.Path
	ordinal bool
}

// newElementsPlan finds the array among e's columns; where it is only part of one
// it gets a column of its own.
func newElementsPlan(b *builder, n node, e edge, array ref, read []ref) (*elementsPlan, error) {
	p := &elementsPlan{edge: e}
	var rest row.Path
	if p.col, rest = e.layout.locate(array); p.col < 0 || len(rest) > 0 {
		cols := append(copies(e.layout...), column{ref: array, expr: bound(syntax.Pos{}, array)})
		var err error
		if p.edge, err = b.arrange(n, e, cols, nil); err != nil {
			return nil, err
		}
		p.col = len(cols) - 1
	}
	for _, r := range read {
		p.paths = append(p.paths, r[1:])
	}
	return p, nil
}

// source are the columns of the rows that those made of them go on with, and their
// names: all but the array and what lies around it, unless somebody wants that.
func (p *elementsPlan) source(wanted []ref) (cols []int, l layout) {
	for i, r := range p.edge.layout {
		if i == p.col && layout(wanted).find(r) < 0 {
			continue
		}
		cols, l = append(cols, i), append(l, r)
	}
	if cols == nil {
		cols = []int{}
	}
	return cols, l
}

// expander makes the expander; every operator needs its own.
func (p *elementsPlan) expander() operator.Expander {
	return operator.NewElements(p.col, p.paths, p.ordinal)
}

// computed returns a function that appends the values of expressions.
func computed(ctx *eval.Context, exprs []eval.Expr) func(dst, src row.Row) row.Row {
	return func(dst, src row.Row) row.Row {
		for _, e := range exprs {
			dst = row.Append(dst, e(ctx, src))
		}
		return dst
	}
}
