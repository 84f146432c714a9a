package tables

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// table is a named table.
type table struct {
	name      string
	node      *node
	keys      []string // names of the key columns; nil where they are hidden
	names     []string // of its columns, in order; nil: whatever its rows have
	time      string   // of a stream: the column with the rows' time; "" unknown
	single    bool     // nested, with one row at most for each of its parent's
	nested    map[string]*table
	relations map[string]*relation
}

// relation is Parent.name := JOIN …, with what names meant where it was defined.
type relation struct {
	joins  []syntax.Join
	tables map[string]*table
}

// builder makes the graph of a script, statement by statement.
type builder struct {
	e       *Evaluator
	name    string // of the table that is being defined
	exports []*syntax.Export
}

var errKind = errors.New("wrong kind of table")

func (b *builder) script(s *syntax.Script) error {
	last := ""
	for _, st := range s.Statements {
		switch st := st.(type) {
		case *syntax.Import:
			in := newInput(b.e, st.Name.Name)
			if err := in.configure(st.Options); err != nil {
				return err
			}
			if in.unit != 0 {
				b.e.unit = in.unit
			}
			b.e.tables[in.name] = in.table()
		case *syntax.Export:
			b.exports = append(b.exports, st)
		case *syntax.Define:
			b.name = st.Name.String()
			if err := b.define(st); err != nil {
				return fmt.Errorf("%s: %w", b.name, err)
			}
			last = b.name
			if st.Column != nil {
				last = st.Name.Parts[0].Name
			}
		}
	}
	for _, x := range b.exports {
		t := b.e.tables[x.Name.String()]
		if t == nil {
			return fmt.Errorf("EXPORT of %s, which is no table", x.Name)
		}
		b.e.exports = append(b.e.exports, &export{x.Name.String(), t})
	}
	if len(b.exports) == 0 && b.e.tables[last] != nil {
		b.e.exports = []*export{{last, b.e.tables[last]}}
	}
	for _, x := range b.e.exports {
		x.table.node.need()
	}
	for _, t := range b.e.tables {
		if t.node.state {
			t.node.need()
		}
	}
	return nil
}

func (in *input) table() *table {
	return &table{name: in.name, node: in.node, time: strings.Join(in.field, ".")}
}

// lookup returns the table of a name; a name that nothing defines is an input.
func (b *builder) lookup(name string) *table {
	if t := b.e.tables[name]; t != nil {
		return t
	}
	b.e.tables[name] = newInput(b.e, name).table()
	return b.e.tables[name]
}

func (b *builder) define(d *syntax.Define) error {
	parts := d.Name.Parts
	var parent *table
	if len(parts) > 1 {
		name := d.Name.String()
		if parent = b.e.tables[name[:strings.LastIndex(name, ".")]]; parent == nil {
			return fmt.Errorf("no table to put %s into", name)
		}
	}
	if d.Column != nil {
		return b.column(parent, parts[len(parts)-1].Name, d.Column)
	}
	if r, ok := d.Query.(*syntax.Relation); ok {
		if parent.relations == nil {
			parent.relations = map[string]*relation{}
		}
		parent.relations[parts[len(parts)-1].Name] = &relation{r.Joins, maps.Clone(b.e.tables)}
		return nil
	}
	t, err := b.query(d.Query, parent)
	if err != nil {
		return err
	}
	t.name = d.Name.String()
	if parent != nil {
		if parent.nested == nil {
			parent.nested = map[string]*table{}
		}
		parent.nested[parts[len(parts)-1].Name] = t
	}
	b.e.tables[t.name] = t
	return nil
}

// column is Parent.name := expression: from now on the parent has a column more.
func (b *builder) column(parent *table, name string, x syntax.Expr) error {
	s := &scope{aliases: map[string]int{"@": 0, parent.name: 0}, plain: []int{0}, unit: b.e.unit, zone: time.UTC}
	value, err := s.compile(x)
	if err != nil {
		return err
	}
	t := *parent
	t.node = b.view(parent.node, func(r *record) []part {
		p := r.parts[0]
		p.row = maps.Clone(p.row)
		p.row[name] = value(&env{parts: r.parts, now: b.e.now})
		return []part{p}
	})
	if t.names != nil {
		t.names = append(t.names[:len(t.names):len(t.names)], name)
	}
	b.e.tables[parent.name] = &t
	return nil
}

func (b *builder) add(n *node) *node {
	n.e, n.table = b.e, b.name
	n.after = progress{unseen, unseen, false}
	n.before = n.after
	b.e.nodes = append(b.e.nodes, n)
	return n
}

func (b *builder) query(q syntax.Query, parent *table) (*table, error) {
	switch q := q.(type) {
	case *syntax.DistinctOn:
		return b.distinctOn(q)
	case *syntax.StreamOn:
		t, err := b.selects(q.Query, parent)
		if err != nil {
			return nil, err
		}
		if !t.node.state {
			return nil, fmt.Errorf("STREAM ON of a stream: %w", errKind)
		}
		return &table{node: b.streamOn(t.node, q.On), names: t.names}, nil
	case *syntax.Select:
		return b.selects(q, parent)
	}
	return nil, fmt.Errorf("the model has no %T", q)
}
