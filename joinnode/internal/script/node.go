package script

import (
	"slices"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// A node is one step of a script's logic: rows with named columns, made from
// those of other nodes. Binding makes nodes, sources first; then every node tells
// its inputs which columns it needs, the last one first; then each becomes
// vertices, which carry those columns and no others.
type node interface {
	base() *core
	inputs() []node
	kind() Kind
	// keys are the columns that tell the rows of a State apart; nil for a Stream.
	keys() []ref
	schema() schema
	// provide returns the column to ask for by whoever wants r: r itself, or the
	// value that contains it.
	provide(r ref) ref
	// timing says what is known of the times in a column.
	timing(r ref) timing
	// versions says why the rows of a State are no versions in event time; "" when
	// they are.
	versions() string
	// need tells the inputs which columns the wanted ones are made of.
	need(b *builder)
	// lower makes the vertices and returns where the wanted columns are.
	lower(b *builder) (edge, error)
}

// timing is what is known of a column of times.
type timing struct {
	row  bool // it is the time of the stream's rows
	unit value.Unit
}

// schema is the columns that users can name.
type schema struct {
	fields []string
	open   bool // and all others that the incoming rows have
}

func (s schema) has(name string) bool { return s.open || slices.Contains(s.fields, name) }

// core is what all nodes have.
type core struct {
	table  string // the statement that made it
	wanted refs
	used   bool
	edge   edge
}

func (c *core) base() *core { return c }

func (c *core) versions() string { return "" }

// edge is where a node's rows can be had once it is lowered.
type edge struct {
	port     Port
	layout   layout
	identity string // all that decides its records
	clocked  bool   // only inputs with arrival time are behind it
	net      bool   // changes of a key come as TableConfig.Net says
	// lead is how many columns at the front are those at the front of the row of the
	// one input behind the edge.
	lead int
	// reader is the vertex that holds the rows, −1 for none; view makes a row of the
	// edge from one of the reader's, nil when they are the same.
	reader int
	view   view
}

type view func(ctx *eval.Context, dst, src row.Row) (row.Row, bool)

// then returns the view of what next does to the rows that v shows; a nil v
// shows them as they are.
func (v view) then(next view) view {
	if v == nil {
		return next
	}
	return func(ctx *eval.Context, dst, src row.Row) (row.Row, bool) {
		src, in := v(ctx, row.Row{}, src)
		if !in {
			return dst, false
		}
		return next(ctx, dst, src)
	}
}

// want notes that a consumer of n needs r.
func want(n node, r ref) {
	c := n.base()
	c.used = true
	c.wanted.add(n.provide(r))
}

// wantAll notes the columns that bound expressions read.
func wantAll(n node, exprs ...syntax.Expr) {
	n.base().used = true
	for _, e := range exprs {
		eachColumn(e, func(c *syntax.Column) { want(n, ref(c.Path)) })
	}
}

func eachColumn(e syntax.Expr, f func(*syntax.Column)) {
	syntax.Walk(e, func(x syntax.Expr) bool {
		if c, ok := x.(*syntax.Column); ok {
			f(c)
		}
		return true
	})
}

// bound returns the expression that reads r.
func bound(pos syntax.Pos, r ref) *syntax.Column {
	return &syntax.Column{Pos: pos, Path: []syntax.Step(r)}
}
