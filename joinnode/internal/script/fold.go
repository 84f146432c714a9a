package script

import (
	"github.com/streamjoin/streamjoin/joinnode/internal/plan"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// folds tells whether a nested query aggregates each parent row's own elements,
// FROM @.elements, and so needs nothing but that row.
func (b *builder) folds(parent *table, s *syntax.Select) bool {
	return isParent(&s.From) && len(s.From.Parts) > 1 && len(s.Joins) == 0 && aggregates(s) && s.Distinct == (syntax.Pos{}) &&
		(len(s.From.Parts) > 2 || parent.nested[s.From.Parts[1].Name] == nil)
}

// foldTable is such a nested table by itself: what the elements of every parent
// row amount to.
func (q *query) foldTable(s *syntax.Select) error {
	if q.ttl > 0 {
		return q.unusedTTL()
	}
	q.from("@", q.parent)
	alias := q.b.alias("fold")
	n, fields, err := q.fold(s, "@", alias)
	if err != nil {
		return err
	}
	n.in = q.node
	p := &projectNode{in: add(q.b, n), fields: fields, zone: q.zone}
	if n.kind() == State {
		taken := map[string]bool{}
		for _, f := range fields {
			taken[f.name] = true
		}
		q.addParentKey(p, nil, taken)
	}
	q.keyColumns(p)
	q.node = add(q.b, p)
	q.orderOf(s, p, &group{under: alias, texts: groupTexts(n.groups), calls: n.calls})
	return nil
}

func groupTexts(groups []syntax.Expr) []string {
	texts := make([]string, len(groups))
	for i, g := range groups {
		texts[i] = syntax.PrintExpr(g)
	}
	return texts
}

// joinFold is JOIN p.totals t: the columns of the nested table beside the parent
// row's.
func (q *query) joinFold(j *syntax.Join, s *source, sel *syntax.Select, alias string) error {
	n, fields, err := q.fold(sel, s.alias, alias)
	if err != nil {
		return err
	}
	n.left = j.Kind == syntax.LeftJoin
	x := &extendNode{in: n, fields: fields, under: alias, zone: n.zone}
	var keys []ref
	for i := range n.groups {
		k := refOf(alias, numbered(hiddenGroup, i))
		for _, f := range fields {
			if c, ok := f.expr.(*syntax.Column); ok && equal(ref(c.Path), k) {
				k = refOf(alias, f.name) // as users know it
				break
			}
		}
		keys = append(keys, k)
	}
	q.pushDown(s.alias, alias, func(in node) node { n.in = in; return x }, keys)
	src := source{alias: alias, node: x}
	for _, f := range fields {
		src.schema.fields = append(src.schema.fields, f.name)
	}
	q.sources = append(q.sources, src)
	if j.On == nil {
		return nil
	}
	if n.left {
		return q.b.errorf(j.OnPos, ErrUnsupported, "put the condition into WHERE", "LEFT JOIN of a nested table takes no further ON")
	}
	return q.filter(syntax.Conjuncts(j.On))
}

// fold binds the nested query s of the rows under parent; its groups and
// aggregates get the columns of alias.
func (q *query) fold(s *syntax.Select, parent, alias string) (*foldNode, []field, error) {
	in := *q.find(parent)
	user := aliasOf(&s.From)
	inner := q.b.alias("element")
	sub := &query{b: q.b, node: q.node, parent: nil, zone: q.zone}
	if err := sub.options(s.With); err != nil {
		return nil, nil, err
	}
	elements := refOf(parent)
	for _, p := range s.From.Parts[1:] {
		elements = append(elements, step(p.Name))
	}
	if err := q.checkColumn(&in, elements[1], s.From.Pos); err != nil {
		return nil, nil, err
	}
	sub.sources = []source{{alias: user, schema: schema{open: true}}, {alias: "@", schema: in.schema, table: in.table}}
	if user == "@" {
		return nil, nil, q.b.errorf(s.From.Pos, plan.ErrDuplicateName, "", "@ is the parent row")
	}
	// Outside, the elements and the parent row have other names.
	rename := func(e syntax.Expr) (syntax.Expr, error) {
		return rewrite(e, func(x syntax.Expr) (syntax.Expr, error) {
			c, ok := x.(*syntax.Column)
			if !ok {
				return nil, nil
			}
			cp := *c
			switch c.Path[0].Name {
			case user:
				cp.Path = append(refOf(inner), c.Path[1:]...)
			case "@":
				cp.Path = append(refOf(parent), c.Path[1:]...)
			}
			return &cp, nil
		})
	}
	n := &foldNode{elements: elements, inner: inner, alias: alias, zone: sub.zone}
	items, err := sub.expand(s.Items)
	if err != nil {
		return nil, nil, err
	}
	if call := nowIn(s.Where); call != nil {
		return nil, nil, q.b.errorf(call.Pos, ErrUnsupported, "filter the rows by time where the table is read", "the elements of one row do not change as time passes")
	}
	where, err := sub.bind(s.Where)
	if err != nil {
		return nil, nil, err
	}
	if n.where, err = rename(where); err != nil {
		return nil, nil, err
	}
	g := &group{under: alias}
	for _, e := range s.GroupBy {
		b, err := sub.groupExpr(e, items)
		if err != nil {
			return nil, nil, err
		}
		if hasWindow(b) {
			return nil, nil, q.b.errorf(e.Position(), ErrUnsupported, "", "the elements of one row make no time windows")
		}
		g.texts = append(g.texts, syntax.PrintExpr(b))
		if b, err = rename(b); err != nil {
			return nil, nil, err
		}
		n.groups = append(n.groups, b)
	}
	var fields []field
	taken := map[string]bool{}
	for _, it := range items {
		if it.spread != nil {
			return nil, nil, q.b.errorf(it.pos, ErrUnsupported, "name the columns", "* cannot be selected from groups")
		}
		e, err := sub.overGroup(g, it.expr)
		if err != nil {
			return nil, nil, err
		}
		if taken[it.name] {
			return nil, nil, q.b.errorf(it.pos, plan.ErrDuplicateName, "name one of them with AS", "two columns are named %q", it.name)
		}
		taken[it.name] = true
		fields = append(fields, field{it.name, e})
	}
	if n.having, err = sub.overGroup(g, named(s.Having, s.Items)); err != nil {
		return nil, nil, err
	}
	if n.having != nil {
		if err := q.b.checkStable(n.having); err != nil {
			return nil, nil, err
		}
	}
	for i := range g.calls {
		if g.calls[i].arg, err = rename(g.calls[i].arg); err != nil {
			return nil, nil, err
		}
	}
	n.calls = g.calls
	return n, fields, nil
}
