package script

import (
	"slices"

	"github.com/streamjoin/streamjoin/joinnode/internal/plan"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// selectQuery binds SELECT.
func (q *query) selectQuery(s *syntax.Select) error {
	if err := q.options(s.With); err != nil {
		return err
	}
	switch {
	case s.Match != nil:
		return q.b.errorf(s.Match.Span.Start, ErrUnsupported, "run the pattern in a node of its own, behind this one", "MATCH_RECOGNIZE is not available in a table script")
	case s.Limit != nil:
		return q.b.errorf(s.LimitPos, ErrUnsupported, "limit where the table is read", "a table has no LIMIT: it goes on changing")
	}
	if q.parent != nil && q.b.folds(q.parent, s) {
		return q.foldTable(s)
	}
	where, err := q.sourcesOf(s, syntax.Conjuncts(s.Where))
	if err != nil {
		return err
	}
	if err := q.filter(where); err != nil {
		return err
	}
	items, err := q.expand(s.Items)
	if err != nil {
		return err
	}
	g, err := q.grouping(s, items)
	if err != nil {
		return err
	}
	if err := q.project(items, g, s); err != nil {
		return err
	}
	return q.unusedTTL()
}

func (q *query) unusedTTL() error {
	if q.ttl > 0 && !q.ttlUsed {
		return q.b.errorf(q.ttlPos, plan.ErrOption, "put it where the state is: at the DISTINCT, the aggregation or the join", "STATETTL has nothing to bound: this statement keeps no state by key")
	}
	return nil
}

// item is one column of a SELECT list: an expression with a name, or all fields
// of an alias.
type item struct {
	name   string
	expr   syntax.Expr // as written
	spread *source
	pos    syntax.Pos
	alias  bool // the name was given
}

// expand writes * and alias.* out where the columns are known.
func (q *query) expand(list []syntax.Item) ([]item, error) {
	var items []item
	for _, it := range list {
		star, ok := it.Expr.(*syntax.Star)
		if !ok {
			items = append(items, item{name: nameOf(it), expr: it.Expr, pos: it.Pos, alias: it.Alias != ""})
			continue
		}
		found := false
		for i := range q.sources {
			s := &q.sources[i]
			if star.Qualifier != "" && s.alias != star.Qualifier || star.Qualifier == "" && (s.alias[0] == 0 || s.alias == "@" && len(q.sources) > 1) {
				continue
			}
			found = true
			if s.schema.open {
				items = append(items, item{spread: s, pos: it.Pos})
			}
			for _, f := range s.schema.fields {
				if !slices.ContainsFunc(items, func(x item) bool { return x.name == f && x.spread == nil }) {
					items = append(items, item{name: f, expr: &syntax.Column{Pos: it.Pos, Path: refOf(s.alias, f)}, pos: it.Pos})
				}
			}
		}
		if !found {
			return nil, q.b.unknown(star.Pos, "alias", star.Qualifier, nil, "the aliases here: "+q.aliasList())
		}
	}
	return items, nil
}

func nameOf(it syntax.Item) string {
	if it.Alias != "" {
		return it.Alias
	}
	if c, ok := it.Expr.(*syntax.Column); ok {
		for i := len(c.Path) - 1; i >= 0; i-- {
			if !c.Path[i].IsIndex {
				return c.Path[i].Name
			}
		}
	}
	return syntax.PrintExpr(it.Expr)
}

// project makes the result's columns.
func (q *query) project(items []item, g *group, s *syntax.Select) error {
	p := &projectNode{zone: q.zone}
	taken := map[string]bool{}
	for _, it := range items {
		if it.spread != nil {
			if g != nil {
				return q.b.errorf(it.pos, ErrUnsupported, "name the columns", "* cannot be selected from groups")
			}
			p.spread = append(p.spread, refOf(it.spread.alias))
			continue
		}
		e, err := q.itemExpr(it, g)
		if err != nil {
			return err
		}
		if taken[it.name] {
			return q.b.errorf(it.pos, plan.ErrDuplicateName, "name one of them with AS: "+syntax.PrintExpr(it.expr)+" AS another_name", "two columns are named %q", it.name)
		}
		taken[it.name] = true
		p.fields = append(p.fields, field{it.name, e})
	}
	if len(p.spread) > 1 {
		return q.b.errorf(items[0].pos, ErrUnsupported, "name the columns, or select alias.* of one of them", "* of two streams whose columns are not known")
	}
	if g != nil {
		if err := q.finishGroup(g, s); err != nil {
			return err
		}
	}
	p.in = q.node
	if p.in.kind() == State {
		for _, f := range p.fields {
			if err := q.b.checkStable(f.expr); err != nil {
				return err
			}
		}
	}
	if q.parent != nil && q.parent.node.kind() == State {
		q.addParentKey(p, g, taken)
	}
	q.keyColumns(p)
	q.node = add(q.b, p)
	if s.Distinct != (syntax.Pos{}) {
		return q.distinct(s, p)
	}
	q.orderOf(s, p, g)
	return nil
}

func (q *query) itemExpr(it item, g *group) (syntax.Expr, error) {
	if g != nil {
		return q.overGroup(g, it.expr)
	}
	e, err := q.bind(it.expr)
	if err != nil {
		return nil, err
	}
	return e, q.checkScalar(e)
}

// addParentKey puts the key of the parent row in front of a nested table's
// columns.
func (q *query) addParentKey(p *projectNode, g *group, taken map[string]bool) {
	var front []field
	for i, k := range q.parent.node.keys() {
		e := bound(syntax.Pos{}, under("@", k))
		if g != nil {
			e = bound(syntax.Pos{}, refOf(numbered(hiddenGroup, i)))
		}
		if at := slices.IndexFunc(p.fields, func(f field) bool {
			c, ok := f.expr.(*syntax.Column)
			return ok && equal(ref(c.Path), ref(e.Path))
		}); at >= 0 {
			q.parentKeys = append(q.parentKeys, p.fields[at].name) // it is selected
			continue
		}
		name := keyName(k)
		if taken[name] || slices.ContainsFunc(front, func(f field) bool { return f.name == name }) {
			name = q.parent.name + "_" + name
		}
		front = append(front, field{name, e})
		q.parentKeys = append(q.parentKeys, name)
	}
	// A column that repeats the key under its own name stays where it is.
	p.fields = append(front, p.fields...)
}

// keyColumns says which columns are the key of a state, and carries along those
// that are not selected.
func (q *query) keyColumns(p *projectNode) {
	if p.kind() == Stream {
		return
	}
	p.keyRefs = []ref{}
	for i, k := range p.in.keys() {
		r := ref(nil)
		for _, f := range p.fields {
			if c, ok := f.expr.(*syntax.Column); ok && equal(ref(c.Path), k) {
				r = refOf(f.name)
				break
			}
		}
		if r == nil && len(p.spread) == 1 && len(k) > 1 && equal(k[:1], p.spread[0]) && k[1].Name[0] != 0 {
			r = k[1:]
		}
		if r == nil {
			name := "\x00k" + numbered("", i) + p.label(k)
			p.hidden = append(p.hidden, field{name, bound(syntax.Pos{}, k)})
			r = refOf(name)
		}
		p.keyRefs = append(p.keyRefs, r)
	}
}

// label names a key column that is not selected: by its own name, or together with
// its alias where another column has that.
func (p *projectNode) label(k ref) string {
	name := keyName(k)
	if e := groupingOf(p.in, k); e != nil {
		if c, ok := e.(*syntax.Column); ok {
			name = keyName(ref(c.Path))
		} else {
			name = visible(syntax.PrintExpr(e))
		}
	}
	taken := func(name string) bool {
		return slices.ContainsFunc(p.fields, func(f field) bool { return f.name == name }) ||
			slices.ContainsFunc(p.keyRefs, func(r ref) bool { return keyName(r) == name })
	}
	if taken(name) && len(k) > 1 && k[0].Name != "@" && k[0].Name[0] != 0 {
		name = k[0].Name + "_" + name
	}
	for taken(name) {
		name += "_"
	}
	return name
}

// groupingOf returns the grouping that a column of groups is, nil for any other.
func groupingOf(n node, k ref) syntax.Expr {
	switch n := n.(type) {
	case *filterNode:
		return groupingOf(n.in, k)
	case *groupNode:
		for i, e := range n.groups {
			if equal(k, refOf(numbered(hiddenGroup, i))) {
				return e
			}
		}
	}
	return nil
}

// distinct is SELECT DISTINCT: a state of all different rows.
func (q *query) distinct(s *syntax.Select, p *projectNode) error {
	if len(p.spread) > 0 {
		return q.b.errorf(s.Distinct, ErrUnsupported, "name the columns, or use DISTINCT table ON key ORDER BY time DESC", "SELECT DISTINCT needs columns that are known")
	}
	n := &groupNode{in: p, bucket: -1, ttl: q.ttl, zone: q.zone}
	result := &projectNode{zone: q.zone}
	for i, f := range p.fields {
		if err := q.b.checkStable(f.expr); err != nil {
			return err
		}
		n.groups = append(n.groups, bound(syntax.Pos{}, refOf(f.name)))
		result.fields = append(result.fields, field{f.name, bound(syntax.Pos{}, refOf(numbered(hiddenGroup, i)))})
	}
	if err := q.boundGroups(n); err != nil {
		return err
	}
	result.in = add(q.b, n)
	q.keyColumns(result)
	q.node = add(q.b, result)
	q.orderOf(s, result, nil)
	return nil
}

// orderOf notes ORDER BY, by which a state table is read; the changes of a table
// come in the order in which they happen.
func (q *query) orderOf(s *syntax.Select, p *projectNode, g *group) {
	for _, o := range s.OrderBy {
		name := ""
		if c, ok := o.Expr.(*syntax.Column); ok && len(c.Path) == 1 {
			name = c.Path[0].Name
		}
		if !slices.ContainsFunc(p.fields, func(f field) bool { return f.name == name }) {
			name = ""
			var e syntax.Expr
			var err error
			if g != nil {
				e, err = q.overGroup(g, o.Expr)
			} else {
				e, err = q.bind(o.Expr)
			}
			for _, f := range p.fields {
				if err == nil && syntax.PrintExpr(f.expr) == syntax.PrintExpr(e) {
					name = f.name
				}
			}
		}
		if p.kind() == Stream {
			continue // the page has such statements: rows leave when they come to be
		}
		if name == "" {
			q.b.warnf("line %d, column %d: ORDER BY %s has no effect: the table is read in the order of its columns only", s.OrderPos.Line, s.OrderPos.Col, syntax.PrintExpr(o.Expr))
			continue
		}
		q.order = append(q.order, orderBy{refOf(name), o.Desc})
	}
}
