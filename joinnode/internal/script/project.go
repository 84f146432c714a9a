package script

import (
	"slices"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// field is one named column of a table, computed from a bound expression.
type field struct {
	name string
	expr syntax.Expr
}

// projectNode is a SELECT list: named fields, and the rows of aliases that * and
// alias.* spread among them. Key columns that are not selected are carried along
// under hidden names.
type projectNode struct {
	core
	in      node
	fields  []field
	spread  []ref // aliases of open sources whose fields are all part of the row
	hidden  []field
	keyRefs []ref // of the result
	zone    *time.Location
}

func (n *projectNode) inputs() []node   { return []node{n.in} }
func (n *projectNode) kind() Kind       { return n.in.kind() }
func (n *projectNode) keys() []ref      { return n.keyRefs }
func (n *projectNode) versions() string { return n.in.versions() }

func (n *projectNode) schema() schema {
	s := schema{open: len(n.spread) > 0}
	for _, f := range n.fields {
		s.fields = append(s.fields, f.name)
	}
	return s
}

// find returns the expression of a named column.
func (n *projectNode) find(name string) (syntax.Expr, bool) {
	for _, list := range [][]field{n.fields, n.hidden} {
		for _, f := range list {
			if f.name == name {
				return f.expr, true
			}
		}
	}
	return nil, false
}

// inner returns where a column of an open row comes from.
func (n *projectNode) inner(r ref) ref { return append(append(ref(nil), n.spread[0]...), r...) }

func (n *projectNode) provide(r ref) ref {
	if len(r) == 0 {
		return r
	}
	e, named := n.find(r[0].Name)
	switch {
	case named:
		if c, ok := e.(*syntax.Column); ok && len(r) > 1 {
			// A path into a column that is copied: its source may have the value itself.
			whole := append(append(ref(nil), ref(c.Path)...), r[1:]...)
			if equal(n.in.provide(whole), whole) {
				return r
			}
		}
		return r[:1]
	case len(n.spread) > 0:
		p := n.in.provide(n.inner(r))
		return p[min(len(n.spread[0]), len(p)):]
	}
	return r[:1]
}

// source returns the bound expression of a column as provide gave it.
func (n *projectNode) source(r ref) syntax.Expr {
	if len(r) > 0 {
		if e, named := n.find(r[0].Name); named {
			if c, ok := e.(*syntax.Column); ok && len(r) > 1 {
				return bound(c.Pos, append(append(ref(nil), ref(c.Path)...), r[1:]...))
			}
			return e
		}
	}
	if len(n.spread) == 0 {
		return &syntax.Null{}
	}
	return bound(syntax.Pos{}, n.inner(r))
}

func (n *projectNode) timing(r ref) timing {
	e := n.source(n.provide(r))
	if c, ok := e.(*syntax.Column); ok {
		return n.in.timing(ref(c.Path))
	}
	return timing{unit: eval.UnitOf(e, eval.Scope{Unit: unitsOf(n.in), Zone: n.zone})}
}

func (n *projectNode) need(*builder) {
	n.in.base().used = true
	for _, r := range n.wanted.list {
		wantAll(n.in, n.source(r))
	}
}

func (n *projectNode) lower(b *builder) (edge, error) {
	var cols []column
	for _, r := range n.wanted.list {
		cols = append(cols, column{ref: r, expr: n.source(r)})
	}
	return b.arrange(n.in, n.in.base().edge, cols, n.zone)
}

// extendNode adds columns to rows, or puts them in the place of others.
type extendNode struct {
	core
	in     node
	fields []field
	under  string // the alias that they belong to; "" where the rows have none
	zone   *time.Location
}

func (n *extendNode) inputs() []node { return []node{n.in} }
func (n *extendNode) kind() Kind     { return n.in.kind() }

// keys are known by the added columns that show them.
func (n *extendNode) keys() []ref {
	keys := slices.Clone(n.in.keys())
	for i, k := range keys {
		for _, f := range n.fields {
			if c, ok := f.expr.(*syntax.Column); ok && n.under != "" && equal(ref(c.Path), k) {
				keys[i] = refOf(n.under, f.name)
				break
			}
		}
	}
	return keys
}

func (n *extendNode) versions() string { return n.in.versions() }

func (n *extendNode) schema() schema {
	s := n.in.schema()
	s.fields = append([]string(nil), s.fields...)
	for _, f := range n.fields {
		if !slices.Contains(s.fields, f.name) {
			s.fields = append(s.fields, f.name)
		}
	}
	return s
}

// find returns the added column that r is, or is a part of.
func (n *extendNode) find(r ref) (column ref, e syntax.Expr) {
	at := 0
	if n.under != "" {
		if len(r) == 0 || r[0].Name != n.under {
			return nil, nil
		}
		at = 1
	}
	for _, f := range n.fields {
		if len(r) > at && r[at].Name == f.name {
			return r[:at+1], f.expr
		}
	}
	return nil, nil
}

func (n *extendNode) provide(r ref) ref {
	if c, _ := n.find(r); c != nil {
		return c
	}
	return n.in.provide(r)
}

func (n *extendNode) timing(r ref) timing {
	c, e := n.find(r)
	if c == nil {
		return n.in.timing(r)
	}
	if col, ok := e.(*syntax.Column); ok {
		return n.in.timing(ref(col.Path))
	}
	return timing{unit: eval.UnitOf(e, eval.Scope{Unit: unitsOf(n.in), Zone: n.zone})}
}

func (n *extendNode) need(*builder) {
	n.in.base().used = true
	for _, r := range n.wanted.list {
		if _, e := n.find(r); e != nil {
			wantAll(n.in, e)
		} else {
			want(n.in, r)
		}
	}
}

func (n *extendNode) lower(b *builder) (edge, error) {
	var cols []column
	for _, r := range n.wanted.list {
		_, e := n.find(r)
		cols = append(cols, column{ref: r, expr: e})
	}
	return b.arrange(n.in, n.in.base().edge, cols, n.zone)
}
