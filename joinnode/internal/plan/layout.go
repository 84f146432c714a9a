package plan

import (
	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// Layout is the columns of the rows on one edge, in order.
type Layout struct {
	cols []column
	Text []string // each column as a user writes it
}

// Paths returns where an input's columns are found in its incoming rows.
func (l Layout) Paths() []row.Path {
	paths := make([]row.Path, len(l.cols))
	for i, c := range l.cols {
		paths[i] = c.path
	}
	return paths
}

// Len returns the number of columns.
func (l Layout) Len() int { return len(l.cols) }

// find returns the first place of c, or −1.
func (l Layout) find(c column) int {
	for i := range l.cols {
		if l.cols[i].id() == c.id() {
			return i
		}
	}
	return -1
}

func (b *builder) layout(cols []column) Layout {
	l := Layout{cols: cols}
	for _, c := range cols {
		l.Text = append(l.Text, b.names.text(c))
	}
	return l
}

// layOut decides backwards, from SELECT to the inputs, which columns flow on
// each edge. A port's layout has its join key first, then what is still needed
// behind the join, then what only the filter before it reads; the last part is
// never buffered.
func (b *builder) layOut() error {
	last := len(b.plan.Stages) - 1
	var needed []column // behind stage i, its filter included
	for i := range b.items {
		var err error
		if needed, err = b.names.columnsOf(b.items[i].expr, needed); err != nil {
			return err
		}
	}
	var behind Layout // what stage i hands on; its first part is the next stage's port 0
	for i := last; i >= 0; i-- {
		st := &b.plan.Stages[i]
		filterCols, err := b.columnsOfFilters(st.Filters)
		if err != nil {
			return err
		}
		if i == last {
			behind = b.layout(union(needed, filterCols))
		} else {
			behind = b.layout(union(b.plan.Stages[i+1].LeftLayout.cols, filterCols))
		}
		st.Layout = behind

		var leftKeys, rightKeys []column
		for _, eq := range b.keys[i] {
			leftKeys, rightKeys = append(leftKeys, eq.left), append(rightKeys, eq.right)
		}
		left, right := split(behind.cols, i+1)
		st.LeftKeys = len(leftKeys)
		left = union(leftKeys, left)
		st.LeftKeep = len(left)
		st.LeftLayout = b.layout(left)

		in := &b.plan.Inputs[i+1]
		in.Keys = len(rightKeys)
		if err := b.layOutInput(in, i+1, union(rightKeys, right)); err != nil {
			return err
		}
		if i == 0 {
			from := &b.plan.Inputs[0]
			from.Keys = st.LeftKeys
			if err := b.layOutInput(from, 0, left); err != nil {
				return err
			}
			st.LeftLayout = from.Layout
		}
		for _, c := range behind.cols {
			o := OutCol{Port: 0, Col: st.LeftLayout.find(c)}
			if c.input == i+1 {
				o = OutCol{Port: 1, Col: in.Layout.find(c)}
			}
			st.Out = append(st.Out, o)
		}
	}
	return nil
}

// layOutInput adds to an input's kept columns those that its filter and its
// clock read.
func (b *builder) layOutInput(in *Input, index int, kept []column) error {
	in.Keep = len(kept)
	filterCols, err := b.columnsOfFilters(in.Filters)
	if err != nil {
		return err
	}
	cols := union(kept, filterCols)
	if b.plan.Time.Event() {
		ts := column{input: index, path: b.plan.Time.Field}
		cols = union(cols, []column{ts})
		in.TimeCol = Layout{cols: cols}.find(ts)
	}
	in.Layout = b.layout(cols)
	return nil
}

func (b *builder) columnsOfFilters(filters []Conjunct) (cols []column, err error) {
	for _, f := range filters {
		if cols, err = b.names.columnsOf(f.Expr, cols); err != nil {
			return nil, err
		}
	}
	return cols, nil
}

// union appends to a the columns of b that it lacks. The columns of a keep
// their places, repeated ones included: a key may name one column twice.
func union(a, b []column) []column {
	out := append([]column(nil), a...)
	for _, c := range b {
		if (Layout{cols: out}).find(c) < 0 {
			out = append(out, c)
		}
	}
	return out
}

// split separates the columns of the inputs before `added` from its own.
func split(cols []column, added int) (left, right []column) {
	for _, c := range cols {
		if c.input == added {
			right = append(right, c)
		} else {
			left = append(left, c)
		}
	}
	return left, right
}

// compile turns filters and the SELECT list into closures over the layouts.
func (b *builder) compile() error {
	var err error
	for i := range b.plan.Inputs {
		in := &b.plan.Inputs[i]
		if in.Filter, err = b.compileFilter(in.Filters, in.Layout); err != nil {
			return err
		}
	}
	for i := range b.plan.Stages {
		st := &b.plan.Stages[i]
		if st.Filter, err = b.compileFilter(st.Filters, st.Layout); err != nil {
			return err
		}
	}
	final := b.plan.Stages[len(b.plan.Stages)-1].Layout
	out := &b.plan.Output
	for i := range b.items {
		it := b.items[i]
		expr, err := eval.Compile(it.expr, b.resolver(final))
		if err != nil {
			return b.place(err)
		}
		from := -1
		if c, ok := it.expr.(*syntax.Column); ok {
			col, err := b.names.resolve(c, len(b.plan.Inputs))
			if err != nil {
				return err
			}
			from = final.find(col)
		}
		it.field.Col = i
		out.Exprs = append(out.Exprs, expr)
		out.Copy = append(out.Copy, from)
		out.Text = append(out.Text, itemText(it))
		out.Fields = append(out.Fields, it.field)
		if it.field.Name != "" {
			out.Names = append(out.Names, it.field.Name)
		}
	}
	return nil
}

func itemText(it item) string {
	text := syntax.PrintExpr(it.expr)
	switch {
	case it.field.Spread:
		return text + ".*"
	case it.field.Name != text:
		return text + " AS " + it.field.Name
	}
	return text
}

func (b *builder) compileFilter(filters []Conjunct, l Layout) (eval.Predicate, error) {
	if len(filters) == 0 {
		return nil, nil
	}
	p, err := eval.CompilePredicate(conjunction(filters), b.resolver(l))
	return p, b.place(err)
}

// resolver finds columns in a layout.
func (b *builder) resolver(l Layout) eval.Resolver {
	return func(c *syntax.Column) (int, error) {
		col, err := b.names.resolve(c, len(b.plan.Inputs))
		if err != nil {
			return 0, err
		}
		if at := l.find(col); at >= 0 {
			return at, nil
		}
		return 0, newError(b.sql, c.Pos, ErrUnknownName, "", "column %s is not available here", b.names.text(col))
	}
}

// place gives an error of package eval, which knows positions but not the
// text, the statement it belongs to.
func (b *builder) place(err error) error {
	if e, ok := err.(*syntax.Error); ok && e.SQL == "" { //nolint:errorlint // eval returns it unwrapped
		e.SQL = b.sql
	}
	return err
}

// KeptShape writes the buffered columns of a join's port as an object: the
// fields of one input under their own names, those of a composite row with
// their alias.
func (p *Plan) KeptShape(stage, port int) *row.Shape {
	kept := p.side(stage, port).kept
	single := port == 1 || stage == 0
	var fields []row.Field
	seen := map[string]bool{}
	for i, c := range kept.cols {
		f := row.Field{Name: kept.Text[i], Col: i}
		switch {
		case single && len(c.path) == 0:
			f = row.Field{Col: i, Spread: true}
		case single:
			f.Name = c.path.String()
		}
		if !f.Spread && seen[f.Name] {
			continue // a key that names one column twice
		}
		seen[f.Name] = true
		fields = append(fields, f)
	}
	return row.NewShape(fields)
}
