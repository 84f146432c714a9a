package tables

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// item is one column of SELECT; star is * or alias.*.
type item struct {
	name  string
	expr  syntax.Expr
	value expr
	star  int // the part, −1: none
}

// selects makes the table of a SELECT.
func (b *builder) selects(q *syntax.Select, parent *table) (*table, error) {
	c, err := b.from(q.From, parent)
	if err != nil {
		return nil, err
	}
	for _, o := range q.With {
		if o.Name == "TIMEZONE" {
			if c.scope.zone, err = time.LoadLocation(o.Value); err != nil {
				return nil, err
			}
		}
	}
	for i := range q.Joins {
		if err := c.join(&q.Joins[i]); err != nil {
			return nil, err
		}
	}
	in, err := c.where(q.Where)
	if err != nil {
		return nil, err
	}
	g := &grouping{parent: c.parent}
	s := c.scope
	s.aggregate = func(call *syntax.Call) (int, error) {
		a, err := c.scope.newAggregate(call)
		g.aggregates = append(g.aggregates, a)
		return len(g.aggregates) - 1, err
	}
	items, err := c.items(&s, q.Items)
	if err != nil {
		return nil, err
	}
	if c.parent && parent.node.state {
		items = append(c.parentKey(parent, items), items...)
	}
	if g.having, err = s.all(conjuncts(q.Having)); err != nil {
		return nil, err
	}
	g.row = func(v *env) object { return row(items, v) }
	distinct := q.Distinct != (syntax.Pos{})
	t := &table{names: columnNames(items)}
	grouped := len(q.GroupBy) > 0 || len(g.aggregates) > 0
	switch {
	case !grouped && !distinct:
		return c.projection(in, items, t), nil
	case grouped && distinct:
		return nil, fmt.Errorf("the model has no DISTINCT with GROUP BY")
	}
	bucket := -1
	if distinct {
		for _, it := range items {
			if it.star >= 0 {
				return nil, fmt.Errorf("the model has no SELECT DISTINCT *")
			}
			g.keys, t.keys = append(g.keys, it.value), append(t.keys, it.name)
		}
	}
	for _, x := range q.GroupBy {
		name := ""
		for _, it := range items {
			col, _ := x.(*syntax.Column)
			if same := it.expr != nil && syntax.PrintExpr(it.expr) == syntax.PrintExpr(x); same ||
				it.expr != nil && col != nil && len(col.Path) == 1 && it.name == col.Path[0].Name {
				x, name = it.expr, it.name
				break
			}
		}
		if call, ok := x.(*syntax.Call); ok {
			if _, ok := bucketOf(call.Name); ok {
				if bucket >= 0 {
					return nil, fmt.Errorf("the model has no two time windows in a GROUP BY")
				}
				bucket = len(g.keys)
				t.time = name
			}
		}
		key, err := c.scope.compile(x)
		if err != nil {
			return nil, err
		}
		g.keys, t.keys = append(g.keys, key), append(t.keys, name)
	}
	if c.parent || slices.Contains(t.keys, "") {
		t.keys = nil
	}
	if bucket >= 0 {
		t.node, t.keys = b.window(in, g, bucket), nil
		return t, nil
	}
	if c.parent && !in.state {
		t.node = b.fold(in, g)
		return t, nil
	}
	t.node = b.aggregation(in, g)
	t.single = c.parent && parent.node.state && len(q.GroupBy) == 0
	return t, nil
}

// where filters, and then keeps what now() bounds.
func (c *chain) where(e syntax.Expr) (*node, error) {
	var plain []syntax.Expr
	var bounds []bound
	for _, x := range conjuncts(e) {
		bd, ok, err := c.scope.bound(x)
		if err != nil {
			return nil, err
		}
		if ok {
			bounds = append(bounds, bd)
		} else {
			plain = append(plain, x)
		}
	}
	n := c.node
	if len(plain) > 0 {
		cond, err := c.scope.all(plain)
		if err != nil {
			return nil, err
		}
		n = c.b.filter(n, cond)
	}
	if len(bounds) > 0 {
		n = c.b.recency(n, bounds)
	}
	return n, nil
}

func (c *chain) items(s *scope, list []syntax.Item) ([]item, error) {
	var items []item
	for _, it := range list {
		x := item{name: it.Alias, expr: it.Expr, star: -1}
		switch e := it.Expr.(type) {
		case *syntax.Star:
			x.expr = nil
			part, ok := c.scope.aliases[e.Qualifier]
			if e.Qualifier == "" {
				ok = len(c.scope.plain) == 1
				if ok {
					part = c.scope.plain[0]
				}
			}
			if !ok {
				return nil, fmt.Errorf("the model has no %s.* here", e.Qualifier)
			}
			x.star = part
			items = append(items, x)
			continue
		case *syntax.Column:
			if x.name == "" {
				x.name = columnName(e)
			}
		}
		if x.name == "" {
			x.name = syntax.PrintExpr(it.Expr)
		}
		var err error
		if x.value, err = s.compile(it.Expr); err != nil {
			return nil, err
		}
		items = append(items, x)
	}
	return items, nil
}

// parentKey is the columns that a nested table has in front of its own: the key
// of the row that it belongs to.
func (c *chain) parentKey(parent *table, own []item) (front []item) {
	for _, k := range parent.keys {
		name := k
		if slices.ContainsFunc(own, func(it item) bool { return it.name == k }) {
			name = parent.name + "_" + k
		}
		front = append(front, item{name: name, value: func(v *env) any { return v.parts[0].row[k] }, star: -1})
	}
	return front
}

func row(items []item, v *env) object {
	out := make(object, len(items))
	for _, it := range items {
		if it.star >= 0 {
			maps.Copy(out, v.parts[it.star].row)
		} else {
			out[it.name] = it.value(v)
		}
	}
	return out
}

// columnNames returns the names of the columns in order, nil where a star makes
// them unknown.
func columnNames(items []item) []string {
	var names []string
	for _, it := range items {
		if it.star >= 0 {
			return nil
		}
		names = append(names, it.name)
	}
	return names
}

// projection is a table that is another's rows in another shape. It keeps what
// the other is keyed by, as far as it is selected.
func (c *chain) projection(in *node, items []item, t *table) *table {
	t.node = c.b.view(in, func(r *record) []part {
		p := part{key: r.key, row: row(items, &env{parts: r.parts, now: c.b.e.now})}
		if c.parent {
			p.parent = r.parts[0].key
		}
		return []part{p}
	})
	// What a column of the first source is called here; "" when it is not selected.
	first := c.tables[0]
	called := func(name string) string {
		for _, it := range items {
			col, ok := it.expr.(*syntax.Column)
			if it.star == 0 {
				return name
			}
			if !ok || name == "" {
				continue
			}
			if part, path, err := c.scope.locate(col); err == nil && part == 0 && len(path) == 1 && path[0].Name == name {
				return it.name
			}
		}
		return ""
	}
	if !in.state {
		t.time = called(first.time)
		return t
	}
	for _, k := range first.keys {
		t.keys = append(t.keys, called(k))
	}
	if !c.single || slices.Contains(t.keys, "") {
		t.keys = nil
	}
	return t
}
