package script

import (
	"github.com/streamjoin/streamjoin/joinnode/internal/plan"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// sourcesOf binds FROM and every JOIN. where are the conditions of WHERE, from
// which an interval join may take its bounds; it returns those that are left.
func (q *query) sourcesOf(s *syntax.Select, where []syntax.Expr) ([]syntax.Expr, error) {
	if len(s.More) > 0 {
		return nil, q.b.errorf(s.More[0].Pos, ErrUnsupported, "write JOIN "+s.More[0].Name+" ON …", "FROM takes one table, found a comma before %s", s.More[0].Name)
	}
	if err := q.fromSource(&s.From); err != nil {
		return nil, err
	}
	for i := range s.Joins {
		var err error
		if where, err = q.join(&s.Joins[i], where); err != nil {
			return nil, err
		}
	}
	return where, nil
}

func isParent(s *syntax.Source) bool {
	return len(s.Parts) > 0 && s.Parts[0].Name == "@" && !s.Parts[0].Quoted
}

// fromSource is FROM: a table, the parent row, or what belongs to the parent row.
func (q *query) fromSource(s *syntax.Source) error {
	if !isParent(s) {
		if q.parent != nil {
			return q.b.errorf(s.Pos, ErrUnsupported, "write FROM @ JOIN "+s.Name+" … ON … = @.…, or define the table without "+q.parent.name+".",
				"a nested table starts from its parent row: FROM @")
		}
		t, err := q.b.lookup(s.Name, s.Pos)
		if err != nil {
			return err
		}
		q.from(aliasOf(s), t)
		return nil
	}
	if q.parent == nil {
		return q.b.errorf(s.Pos, plan.ErrUnknownName, "@ is the parent row in Parent.name := SELECT … FROM @ …", "there is no parent row here")
	}
	q.from("@", q.parent)
	if len(s.Parts) == 1 {
		if s.Alias != "" {
			q.sources[0].alias = s.Alias
			return q.b.errorf(s.Pos, ErrUnsupported, "write @.column", "the parent row has no other name than @")
		}
		return nil
	}
	_, err := q.join(&syntax.Join{Pos: s.Pos, Kind: syntax.InnerJoin, Source: *s}, nil)
	return err
}

func aliasOf(s *syntax.Source) string {
	switch {
	case s.Alias != "":
		return s.Alias
	case len(s.Parts) > 1:
		return s.Parts[len(s.Parts)-1].Name
	}
	return s.Name
}

// join binds one JOIN.
func (q *query) join(j *syntax.Join, where []syntax.Expr) ([]syntax.Expr, error) {
	switch j.Kind {
	case syntax.RightJoin, syntax.FullJoin, syntax.CrossJoin:
		return nil, q.b.errorf(j.Pos, ErrUnsupported, "use JOIN or LEFT JOIN", "%s JOIN is not supported", j.Kind)
	}
	alias := aliasOf(&j.Source)
	if q.find(alias) != nil {
		return nil, q.b.errorf(j.Source.Pos, plan.ErrDuplicateName, "give each source its own alias with AS", "duplicate alias %q", alias)
	}
	if len(j.Source.Parts) > 1 {
		if s := q.find(j.Source.Parts[0].Name); s != nil {
			return where, q.joinPart(j, s, alias)
		}
	}
	if isParent(&j.Source) {
		return nil, q.b.errorf(j.Source.Pos, plan.ErrUnknownName, "begin with FROM @", "there is no parent row here")
	}
	t, err := q.b.lookup(j.Source.Name, j.Source.Pos)
	if err != nil {
		return nil, err
	}
	return q.joinTable(j, t, alias, where, false)
}

// joinPart is JOIN alias.name: an array in the row, a nested table, or a
// relationship.
func (q *query) joinPart(j *syntax.Join, s *source, alias string) error {
	parts := j.Source.Parts
	if s.table != nil && len(parts) == 2 {
		if n := s.table.nested[parts[1].Name]; n != nil {
			return q.joinNested(j, s, n, alias)
		}
	}
	if j.Within != nil || j.Temporal {
		return q.b.errorf(j.Pos, ErrUnsupported, "leave it away: the elements belong to the row", "an array in a row is not joined by time")
	}
	if s.table != nil && !s.schema.has(parts[1].Name) || !s.schema.open && len(s.schema.fields) == 0 {
		return q.b.unknown(parts[1].Pos, "nested table or column", j.Source.Name, append(nestedNames(s.table), s.schema.fields...),
			"define it first: "+nameOfTable(s)+"."+parts[1].Name+" := SELECT … FROM @ …, or a relationship JOIN … ON … = @.…")
	}
	r := refOf(s.alias)
	for _, p := range parts[1:] {
		r = append(r, step(p.Name))
	}
	n := &unnestNode{array: r, alias: alias, left: j.Kind == syntax.LeftJoin}
	q.pushDown(s.alias, alias, func(in node) node { n.in = in; return n }, []ref{refOf(alias, hiddenIndex)})
	q.sources = append(q.sources, source{alias: alias, schema: schema{open: true}, node: n})
	if j.On == nil {
		return nil
	}
	if n.left {
		return q.b.errorf(j.OnPos, ErrUnsupported, "put the condition into WHERE", "LEFT JOIN of a row's elements takes no ON")
	}
	return q.filter(syntax.Conjuncts(j.On))
}

func nameOfTable(s *source) string {
	if s.table != nil {
		return s.table.name
	}
	return s.alias
}

func nestedNames(t *table) []string {
	var names []string
	if t != nil {
		for n := range t.nested {
			names = append(names, n)
		}
	}
	return names
}

// joinNested joins what was defined under the table of an alias.
func (q *query) joinNested(j *syntax.Join, s *source, n *nested, alias string) error {
	if rel, ok := n.query.(*syntax.Relation); ok {
		return q.joinRelation(j, s, n, rel, alias)
	}
	if j.Within != nil || j.Temporal {
		return q.b.errorf(j.Pos, ErrKind, "JOIN "+j.Source.Name+" "+alias, "the nested table %s belongs to its parent row and is joined with it as it is now", j.Source.Name)
	}
	if n.fold {
		return q.joinFold(j, s, n.query.(*syntax.Select), alias)
	}
	if s.table.node.kind() == Stream {
		return q.b.errorf(j.Source.Pos, ErrKind, "read it by its name: FROM "+n.table.name, "%s is nested under the stream %s, whose rows have no key to find it by", n.table.name, s.table.name)
	}
	if n.table.node.kind() == Stream {
		return q.b.errorf(j.Source.Pos, ErrKind, "make a state table of it, DISTINCT … ON …, or read it by its name: FROM "+n.table.name,
			"%s is a stream of time windows and cannot be joined as the state of its parent row", n.table.name)
	}
	sub := *j
	sub.On = nil
	for i, k := range s.table.node.keys() {
		eq := &syntax.Binary{Pos: j.Pos, Op: "=", X: bound(j.Pos, under(s.alias, k)), Y: bound(j.Pos, refOf(alias, n.keys[i]))}
		if sub.On == nil {
			sub.On = eq
		} else {
			sub.On = &syntax.Binary{Pos: j.Pos, Op: "AND", X: sub.On, Y: eq}
		}
	}
	if j.On != nil {
		sub.On = &syntax.Binary{Pos: j.Pos, Op: "AND", X: sub.On, Y: j.On}
	}
	q.b.looked[n.table.name] = true
	if _, err := q.joinTable(&sub, n.table, alias, nil, true); err != nil {
		return err
	}
	if join, ok := q.node.(*joinNode); ok {
		join.nested = true
	}
	return nil
}

// joinRelation writes the joins of a relationship out, @ standing for the alias.
func (q *query) joinRelation(j *syntax.Join, s *source, n *nested, rel *syntax.Relation, alias string) error {
	names := map[string]string{"@": s.alias}
	for i := range rel.Joins {
		r := rel.Joins[i]
		own := aliasOf(&r.Source)
		as := q.b.alias("rel")
		if i == len(rel.Joins)-1 {
			as = alias
		}
		names[own] = as
		r.Source.Alias = as
		if len(r.Source.Parts) > 1 {
			if to, ok := names[r.Source.Parts[0].Name]; ok {
				r.Source.Parts = append([]syntax.Ident{{Pos: r.Source.Parts[0].Pos, Name: to, Quoted: true}}, r.Source.Parts[1:]...)
			}
		}
		if j.Kind == syntax.LeftJoin {
			r.Kind = syntax.LeftJoin
		}
		on, err := rewrite(r.On, func(x syntax.Expr) (syntax.Expr, error) {
			c, ok := x.(*syntax.Column)
			if !ok {
				return nil, nil
			}
			cp := *c
			if to, ok := names[c.Path[0].Name]; ok {
				cp.Path = append([]syntax.Step{step(to)}, c.Path[1:]...)
				if to == "@" {
					cp.Path[0].Quoted = false
				}
			}
			return &cp, nil
		})
		if err != nil {
			return err
		}
		r.On = on
		if len(r.Source.Parts) > 1 && q.find(r.Source.Parts[0].Name) != nil {
			if err := q.joinPart(&r, q.find(r.Source.Parts[0].Name), as); err != nil {
				return err
			}
			continue
		}
		t := n.tables[i]
		if t == nil {
			if t, err = q.b.lookup(r.Source.Name, r.Source.Pos); err != nil {
				return err
			}
			n.tables[i] = t // a later table of the name is another
		}
		q.b.looked[t.name] = true
		if _, err := q.joinTable(&r, t, as, nil, true); err != nil {
			return err
		}
	}
	if j.On != nil {
		if j.Kind == syntax.LeftJoin {
			return q.b.errorf(j.OnPos, ErrUnsupported, "put the condition into the relationship", "LEFT JOIN of a relationship takes no further ON")
		}
		return q.filter(syntax.Conjuncts(j.On))
	}
	return nil
}

// checkRelation finds what is wrong with a relationship before it is used.
func (b *builder) checkRelation(parent *table, n *nested, rel *syntax.Relation) error {
	uses := false
	for i := range rel.Joins {
		j := &rel.Joins[i]
		if isParent(&j.Source) {
			uses = true
		}
		eachColumn(j.On, func(c *syntax.Column) { uses = uses || c.Path[0].Name == "@" && !c.Path[0].Quoted })
	}
	if !uses {
		return b.errorf(rel.Pos, ErrUnsupported, "compare with the parent row: JOIN "+rel.Joins[0].Source.Name+" ON "+rel.Joins[0].Source.Name+".x = @.y",
			"a relationship must say how its rows belong to the parent row @")
	}
	q := &query{b: b, parent: parent}
	q.from("@", parent)
	mark := len(b.nodes)
	err := q.joinRelation(&syntax.Join{Pos: rel.Pos, Kind: syntax.InnerJoin}, &q.sources[0], n, rel, "\x00check")
	// What the check made is not part of the script, except for the streams that it
	// was the first to name.
	made := b.nodes[mark:]
	b.nodes = b.nodes[:mark:mark]
	for _, n := range made {
		if in, ok := n.(*inputNode); ok {
			b.nodes = append(b.nodes, in)
		}
	}
	return err
}
