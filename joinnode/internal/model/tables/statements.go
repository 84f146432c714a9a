package tables

import (
	"fmt"
	"slices"
	"strings"
)

// literal draws a value that columns often have.
func (g *generator) literal() string {
	return pick(g, []string{"1", "2", "0", "3", "2.5", "'x'"}, "literal")
}

// value draws an expression with a number for a value, over an alias.
func (g *generator) value(s *source, alias string) string {
	col := alias + "." + pick(g, orElse(s.of("n"), s.of("kn")), "column")
	switch g.between(0, 5, "expression") {
	case 1:
		return col + " + 1"
	case 2:
		return col + " * 2"
	case 3:
		return "coalesce(" + col + ", 0)"
	case 4:
		return col + "?0"
	}
	return col
}

func orElse(a, b []string) []string {
	if len(a) > 0 {
		return a
	}
	return b
}

// condition draws a condition that often holds; "" for none.
func (g *generator) condition(s *source, alias string) string {
	cols := s.of("kn")
	if len(cols) == 0 {
		return ""
	}
	simple := func() string {
		col := alias + "." + pick(g, cols, "column")
		switch g.between(0, 6, "condition") {
		case 0:
			return col + " IS NOT NULL"
		case 1:
			return col + " != " + g.literal()
		case 2:
			return col + " <= " + g.literal()
		case 3:
			return col + " BETWEEN 1 AND 3"
		case 4:
			return col + " IN (1, 2, 'x')"
		case 5:
			return "NOT " + col + " = " + g.literal()
		}
		return col + " >= 1"
	}
	switch g.between(0, 5, "conditions") {
	case 0, 1, 2:
		return ""
	case 3:
		return simple() + " OR " + simple()
	case 4:
		return "(" + simple() + " OR " + simple() + ") AND " + simple()
	}
	return simple()
}

func where(conds ...string) string {
	var list []string
	for _, c := range conds {
		if c != "" {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		return ""
	}
	if len(list) > 1 {
		for i := range list {
			list[i] = "(" + list[i] + ")"
		}
	}
	return " WHERE " + strings.Join(list, " AND ")
}

// dedup is DISTINCT source ON key ORDER BY …, now and then over its own name.
func (g *generator) dedup(from []*source) {
	s := from[0]
	t := *s
	t.name, t.state, t.direct, t.time, t.ordered, t.nested, t.related = g.name(), true, false, "", false, nil, nil
	if slices.ContainsFunc(g.inputs, func(in *source) bool { return in == s }) && g.chance(4, "redefine") {
		t.name = s.name
	}
	t.keys = []string{pick(g, s.of("k"), "key")}
	if more := s.of("k"); g.chance(2, "two keys") && more[len(more)-1] != t.keys[0] {
		t.keys = append(t.keys, more[len(more)-1])
	}
	order := s.time + " DESC"
	if numbers := s.of("n"); g.chance(2, "order by value") && len(numbers) > 0 {
		t.byValue = true
		order = pick(g, numbers, "order") + pick(g, []string{" DESC", ""}, "direction")
	}
	g.add(&t, "distinct on", "DISTINCT "+s.name+" ON "+strings.Join(t.keys, ", ")+" ORDER BY "+order)
}

func (g *generator) distinct(from []*source) {
	s := from[0]
	t := &source{name: g.name(), state: true, roots: s.roots}
	var items []string
	for i, col := range g.some(s.of("kn"), 2) {
		name := fmt.Sprintf("d%d", i)
		items = append(items, "a."+col+" AS "+name)
		t.cols = append(t.cols, column{name, s.kind(col)})
		t.keys = append(t.keys, name)
	}
	g.add(t, "select distinct", "SELECT DISTINCT "+strings.Join(items, ", ")+" FROM "+s.name+" a"+where(g.condition(s, "a")))
}

// some picks one or more of a list.
func (g *generator) some(list []string, most int) []string {
	first := g.between(0, len(list)-1, "first")
	n := g.between(1, min(most, len(list)), "how many")
	var out []string
	for i := range n {
		out = append(out, list[(first+i)%len(list)])
	}
	return out
}

// aggregates draws the aggregates of a SELECT over s as alias, and notes what
// that makes of t.
func (g *generator) aggregates(t, s *source, alias string) []string {
	var items []string
	calls := []string{"count(*)", "count(%s)", "count(DISTINCT %s)", "sum(%s)", "sum(%s)", "avg(%s)", "min(%s)", "max(%s)"}
	if len(s.of("kn")) == 0 {
		calls = calls[:1]
	}
	for range g.between(1, 3, "aggregates") {
		call := pick(g, calls, "aggregate")
		name := g.fresh("c")
		if strings.Contains(call, "%s") {
			call = fmt.Sprintf(call, g.value(s, alias))
		}
		items = append(items, call+" AS "+name)
		t.cols = append(t.cols, column{name, 'n'})
	}
	if len(s.of("kn")) == 0 || !g.chance(2, "rare aggregate") {
		return items
	}
	name := g.fresh("c")
	switch calls := []string{"stddev", "var", "collect", "first_value", "last_value"}; pick(g, calls, "aggregate") {
	case "stddev":
		items = append(items, fmt.Sprintf("stddev(%s) AS %s", g.value(s, alias), name))
		t.leaf, t.rough = true, true
	case "var":
		items = append(items, fmt.Sprintf("var(%s) AS %s", g.value(s, alias), name))
		t.leaf, t.rough = true, true
	case "collect":
		items = append(items, fmt.Sprintf("collect(%s) AS %s", g.value(s, alias), name))
		if s.state || !s.ordered {
			g.s.Sets = append(g.s.Sets, name)
			t.leaf, t.rough = true, true
		}
	case "first_value":
		if !s.state && s.ordered {
			items = append(items, fmt.Sprintf("first_value(%s) AS %s", g.value(s, alias), name))
		}
	case "last_value":
		if !s.state && s.ordered {
			items = append(items, fmt.Sprintf("last_value(%s) AS %s", g.value(s, alias), name))
		}
	}
	return items
}

func (g *generator) groups(t, s *source, alias string) (items []string) {
	if len(s.of("k")) == 0 || g.chance(2, "no group") {
		return nil
	}
	for _, col := range g.some(s.of("k"), 2) {
		name := g.fresh("g")
		items = append(items, alias+"."+col+" AS "+name)
		t.cols = append(t.cols, column{name, 'k'})
	}
	return items
}

// groupBy names the groups by their aliases.
func groupBy(items []string) string {
	if len(items) == 0 {
		return ""
	}
	var names []string
	for _, it := range items {
		names = append(names, it[strings.LastIndex(it, " ")+1:])
	}
	return " GROUP BY " + strings.Join(names, ", ")
}

func (g *generator) aggregate(from []*source) {
	s := from[0]
	t := &source{name: g.name(), state: true, roots: s.roots}
	groups := g.groups(t, s, "a")
	for _, c := range t.cols {
		t.keys = append(t.keys, c.name)
	}
	items := g.aggregates(t, s, "a")
	having := ""
	if g.chance(2, "having") {
		having = " HAVING count(*) " + pick(g, []string{">= 2", "< 3", "!= 2"}, "having")
	}
	g.add(t, "aggregate", "SELECT "+strings.Join(append(slices.Clone(groups), items...), ", ")+" FROM "+s.name+" a"+
		where(g.condition(s, "a"))+groupBy(groups)+having)
}

// view makes the source that SELECT of some of s's columns is, and its items.
func (g *generator) view(s *source, alias string) (*source, []string) {
	t := &source{name: g.name(), state: s.state, ordered: s.ordered, direct: s.direct, clocked: s.clocked, byValue: s.byValue, roots: s.roots}
	var items []string
	called := map[string]string{}
	for _, c := range s.cols {
		if !g.chance(8, "select "+c.name) {
			continue
		}
		name := c.name
		if g.chance(2, "rename") {
			name = g.fresh("c")
		}
		items = append(items, alias+"."+c.name+" AS "+name)
		t.cols = append(t.cols, column{name, c.kind})
		called[c.name] = name
	}
	if s.time != "" {
		t.time = called[s.time]
	}
	for _, k := range s.keys {
		if called[k] == "" {
			t.keys = nil
			break
		}
		t.keys = append(t.keys, called[k])
	}
	if len(items) == 0 || len(s.of("kn")) > 0 && g.chance(4, "computed") {
		name := g.fresh("c")
		value := "1"
		if len(s.of("kn")) > 0 {
			value = g.value(s, alias)
		}
		items = append(items, value+" AS "+name)
		t.cols = append(t.cols, column{name, 'n'})
	}
	return t, items
}

func (g *generator) project(from []*source) {
	s := from[0]
	kind := map[bool]string{true: "filter of state", false: "filter of stream"}[s.state]
	if g.chance(3, "star") {
		t := *s
		t.name, t.nested, t.related = g.name(), nil, nil
		g.add(&t, kind, "SELECT * FROM "+s.name+" a"+where(g.condition(s, "a")))
		return
	}
	t, items := g.view(s, "a")
	g.add(t, kind, "SELECT "+strings.Join(items, ", ")+" FROM "+s.name+" a"+where(g.condition(s, "a")))
}

// recent is a filter by now(), of rows or of what is aggregated.
func (g *generator) recent(from []*source) {
	s := from[0]
	col := "a." + pick(g, s.of("t"), "time")
	length := g.between(1, 12, "seconds")
	cond := pick(g, []string{
		fmt.Sprintf("%s > now() - INTERVAL %d SECONDS", col, length),
		fmt.Sprintf("%s >= now() - INTERVAL %d SECONDS", col, length),
		fmt.Sprintf("now() - INTERVAL %d SECONDS < %s", length, col),
		fmt.Sprintf("%s + INTERVAL %d SECONDS > now()", col, length),
		fmt.Sprintf("%s <= now() - INTERVAL %d SECONDS", col, min(length, 3)),
	}, "recency")
	if valued(s) && g.chance(6, "aggregated") {
		t := &source{name: g.name(), state: true, roots: s.roots}
		groups := g.groups(t, s, "a")
		for _, c := range t.cols {
			t.keys = append(t.keys, c.name)
		}
		virtual := *s
		virtual.state = true
		items := g.aggregates(t, &virtual, "a")
		g.add(t, "recency aggregate", "SELECT "+strings.Join(append(slices.Clone(groups), items...), ", ")+" FROM "+s.name+" a"+
			where(cond, g.condition(s, "a"))+groupBy(groups))
		return
	}
	t, items := g.view(s, "a")
	t.state, t.direct, t.time, t.ordered = true, false, "", false
	g.add(t, "recency", "SELECT "+strings.Join(items, ", ")+" FROM "+s.name+" a"+where(cond, g.condition(s, "a")))
}

// bucket draws an endOf call.
func (g *generator) bucket(col string) string {
	return "endOfSecond(" + col + pick(g, []string{"", ", 2", ", 5", ", 5, 500"}, "bucket") + ")"
}

func (g *generator) window(from []*source) {
	s := from[0]
	t := &source{name: g.name(), time: g.fresh("e"), roots: s.roots, ordered: !s.state && s.ordered}
	groups := g.groups(t, s, "a")
	groups = append(groups, g.bucket("a."+pick(g, s.of("t"), "time"))+" AS "+t.time)
	t.cols = append(t.cols, column{t.time, 't'})
	items := g.aggregates(t, s, "a")
	g.add(t, "time window", "SELECT "+strings.Join(append(slices.Clone(groups), items...), ", ")+" FROM "+s.name+" a"+
		where(g.condition(s, "a"))+groupBy(groups))
}

func (g *generator) streamOn(from []*source) {
	s := from[0]
	t, items := g.view(s, "a")
	t.state, t.ordered, t.keys, t.direct, t.byValue = false, false, nil, false, false
	on := pick(g, []string{"ADD", "UPDATE", "DELETE"}, "change")
	cond := g.condition(s, "a")
	if numbers := s.of("n"); on == "DELETE" && len(numbers) > 0 { // something must leave
		cond = fmt.Sprintf("a.%s %s 2", pick(g, numbers, "column"), pick(g, []string{"<=", ">=", "!="}, "limit"))
	}
	g.add(t, "stream on "+strings.ToLower(on), "STREAM ON "+on+" AS SELECT "+strings.Join(items, ", ")+" FROM "+s.name+" a"+where(cond))
}

// joined makes the source of a join's SELECT list.
func (g *generator) joined(a, b *source) (*source, []string) {
	t, items := g.view(a, "a")
	t.keys, t.direct, t.byValue, t.leaf, t.rough = nil, false, false, false, false
	t.roots, _ = roots(a, b)
	n := 0
	for _, c := range b.cols {
		if n > 0 && !g.chance(5, "select b."+c.name) {
			continue
		}
		n++
		name := g.fresh("c")
		items = append(items, "b."+c.name+" AS "+name)
		t.cols = append(t.cols, column{name, c.kind})
	}
	return t, items
}

func (g *generator) temporal(from []*source) {
	a, b := from[0], from[1]
	t, items := g.joined(a, b)
	var on []string
	for _, k := range b.keys {
		on = append(on, pick(g, []string{"a.%s = b.%s", "a.%s = b.%s"}, "sides"))
		on[len(on)-1] = fmt.Sprintf(on[len(on)-1], pick(g, a.of("k"), "left key"), k)
	}
	join := pick(g, []string{" TEMPORAL JOIN ", " LEFT TEMPORAL JOIN ", " JOIN ", " TEMPORAL LEFT JOIN "}, "join")
	g.add(t, "temporal join", "SELECT "+strings.Join(items, ", ")+" FROM "+a.name+" a"+join+b.name+" b ON "+strings.Join(on, " AND ")+
		where(g.condition(a, "a")))
}

// relational joins a state with anything, or a stream by INNER JOIN with it.
func (g *generator) relational(from []*source) {
	a, b := from[0], from[1]
	join := pick(g, []string{" JOIN ", " LEFT JOIN ", " INNER JOIN "}, "join")
	if !b.state && join == " JOIN " { // on the key that would be a temporal join
		join = " INNER JOIN "
	}
	if !b.state && g.chance(5, "stream first") {
		a, b, join = b, a, " INNER JOIN "
	}
	t, items := g.joined(a, b)
	t.state, t.ordered, t.time = true, false, ""
	right := pick(g, b.of("k"), "right key")
	if keyed(b) && len(b.keys) == 1 && g.chance(5, "on the key") {
		right = b.keys[0]
	}
	on := "a." + pick(g, a.of("k"), "left key") + " = b." + right
	g.add(t, "relational join", "SELECT "+strings.Join(items, ", ")+" FROM "+a.name+" a"+join+b.name+" b ON "+on+where(g.condition(a, "a")))
}

func (g *generator) interval(from []*source) {
	a, b := from[0], from[1]
	t, items := g.joined(a, b)
	_, shared := roots(a, b)
	t.time, t.ordered = "", !shared
	join := pick(g, []string{" JOIN ", " LEFT JOIN "}, "join")
	on := " ON a." + pick(g, a.of("k"), "left key") + " = b." + pick(g, b.of("k"), "right key")
	if g.chance(5, "within") {
		join, on = join+b.name+" b", fmt.Sprintf(" WITHIN %d SECONDS", g.between(1, 6, "within"))+on
	} else {
		join = join + b.name + " b"
		on += fmt.Sprintf(" AND a.%s BETWEEN b.%s - INTERVAL %d SECONDS AND b.%s + INTERVAL %d SECONDS",
			a.time, b.time, g.between(0, 5, "before"), b.time, g.between(1, 6, "after"))
	}
	g.add(t, "interval join", "SELECT "+strings.Join(items, ", ")+" FROM "+a.name+" a"+join+on+where(g.condition(a, "a")))
}
