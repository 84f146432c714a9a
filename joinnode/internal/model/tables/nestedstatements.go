package tables

import (
	"fmt"
	"slices"
	"strings"
)

// nest puts a table into a state table: per row, an aggregate of the rows that
// belong to it.
func (g *generator) nest(from []*source) {
	p, s := from[0], from[1]
	t := &source{name: p.name + "." + g.fresh("n"), state: true, leaf: true}
	t.roots, _ = roots(p, s)
	query := " FROM @ JOIN " + s.name + " s ON s." + pick(g, s.of("k"), "key") + " = @." + pick(g, p.of("k"), "parent's key")
	virtual := *s
	virtual.state = true
	alias := "s"
	if s.items && g.chance(4, "items") {
		query += " JOIN s.items i"
		virtual.cols, alias = []column{{"p", 'n'}, {"q", 'k'}}, "i"
	}
	var groups []string
	kind := "nested table"
	if g.chance(4, "group") {
		groups = g.groups(t, &virtual, alias)
	}
	if times := s.of("t"); len(times) > 0 && !s.clocked && g.chance(3, "window") {
		end := g.fresh("e")
		groups = append(groups, g.bucket("s."+pick(g, times, "time"))+" AS "+end)
		t.cols = append(t.cols, column{end, 't'})
		t.state, t.time, kind = false, end, "nested time window"
	}
	items := g.aggregates(t, &virtual, alias)
	g.add(t, kind, "SELECT "+strings.Join(append(slices.Clone(groups), items...), ", ")+query+where(g.condition(&virtual, alias))+groupBy(groups))
	if t.state && !t.rough {
		p.nested = append(p.nested, t)
	}
}

// foldItems aggregates the elements of each row of a stream.
func (g *generator) foldItems(from []*source) {
	s := from[0]
	t := &source{name: s.name + "." + g.fresh("n"), leaf: true, ordered: s.ordered, roots: s.roots}
	items := g.aggregates(t, &source{state: true, cols: []column{{"p", 'n'}, {"q", 'n'}}}, "i")
	g.add(t, "fold", "SELECT "+strings.Join(items, ", ")+" FROM @.items i"+where(g.condition(&source{cols: []column{{"p", 'n'}, {"q", 'n'}}}, "i")))
	if !t.rough {
		s.nested = append(s.nested, t)
	}
}

func (g *generator) joinNested(from []*source) {
	p := from[0]
	n := pick(g, p.nested, "nested table")
	t, items := g.joined(p, n)
	local := n.name[strings.LastIndex(n.name, ".")+1:]
	join := pick(g, []string{" JOIN ", " LEFT JOIN "}, "join")
	g.add(t, "join of a nested table", "SELECT "+strings.Join(items, ", ")+" FROM "+p.name+" a"+join+"a."+local+" b"+where(g.condition(p, "a")))
}

func (g *generator) unnest(from []*source) {
	s := from[0]
	t, items := g.joined(s, &source{cols: []column{{"p", 'n'}, {"q", 'k'}}})
	t.direct = s.direct
	join := pick(g, []string{" JOIN ", " LEFT JOIN "}, "join")
	g.add(t, "unnest", "SELECT "+strings.Join(items, ", ")+" FROM "+s.name+" a"+join+"a.items b"+where(g.condition(s, "a")))
}

func (g *generator) relate(from []*source) {
	p, s := from[0], from[1]
	name := g.fresh("r")
	g.lines = append(g.lines, fmt.Sprintf("%s.%s := JOIN %s s ON s.%s = @.%s;", p.name, name, s.name,
		pick(g, s.of("k"), "key"), pick(g, p.of("k"), "parent's key")))
	p.related = append(p.related, relative{name, s})
	g.useRelation([]*source{p})
}

// useRelation aggregates what a relationship leads to, or lists it.
func (g *generator) useRelation(from []*source) {
	p := from[0]
	r := pick(g, p.related, "relationship")
	if g.chance(5, "list") {
		t, items := g.joined(p, r.to)
		t.state, t.ordered, t.time = true, false, ""
		g.add(t, "join of a relationship", "SELECT "+strings.Join(items, ", ")+" FROM "+p.name+" a JOIN a."+r.name+" b")
		return
	}
	t := &source{name: p.name + "." + g.fresh("n"), state: true, leaf: true}
	t.roots, _ = roots(p, r.to)
	virtual := *r.to
	virtual.state = true
	items := g.aggregates(t, &virtual, "b")
	g.add(t, "aggregate of a relationship", "SELECT "+strings.Join(items, ", ")+" FROM @."+r.name+" b")
	if !t.rough {
		p.nested = append(p.nested, t)
	}
}

func (g *generator) addColumn(from []*source) {
	p := from[0]
	name := g.fresh("c")
	t := *p
	t.cols = append(slices.Clone(p.cols), column{name, 'n'})
	col := pick(g, p.of("n"), "column")
	expr := pick(g, []string{col + " * 2", col + "?0", "coalesce(" + col + ", 1) + 1"}, "value")
	g.lines = append(g.lines, p.name+"."+name+" := "+expr+";")
	for i, x := range g.tables {
		if x == p {
			g.tables[i] = &t
		}
	}
	for i, x := range g.made {
		if x == p {
			g.made[i] = &t
		}
	}
	for i, x := range g.inputs {
		if x == p {
			g.inputs[i] = &t
		}
	}
}
