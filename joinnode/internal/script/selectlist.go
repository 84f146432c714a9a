package script

import (
	"slices"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
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
	where, err := q.sourcesOf(s, conjuncts(s.Where))
	if err != nil {
		return err
	}
	if len(s.Joins) > 0 {
		q.direct = nil
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

// group is what a query groups by, while its SELECT list is bound.
type group struct {
	node  *groupNode
	texts []string // of the groupings, canonical and bound
	under string   // the alias of the columns; "" for a groupNode
	calls []aggregateCall
}

func isAggregate(e syntax.Expr) (*syntax.Call, bool) {
	c, ok := e.(*syntax.Call)
	if !ok || c.Over != nil {
		return nil, false
	}
	if _, ok := operator.ParseAggregate(c.Name); ok {
		return c, true
	}
	return c, eval.Classify(c.Name).Kind == eval.Aggregate
}

func hasAggregate(e syntax.Expr) bool {
	found := false
	syntax.Walk(e, func(x syntax.Expr) bool {
		if _, ok := isAggregate(x); ok {
			found = true
		}
		return !found
	})
	return found
}

func aggregates(s *syntax.Select) bool {
	if len(s.GroupBy) > 0 || hasAggregate(s.Having) {
		return true
	}
	for i := range s.Items {
		if hasAggregate(s.Items[i].Expr) {
			return true
		}
	}
	return false
}

// grouping makes the aggregation of a query, nil where there is none.
func (q *query) grouping(s *syntax.Select, items []item) (*group, error) {
	if !aggregates(s) {
		if s.Having != nil {
			return nil, q.b.errorf(s.HavePos, ErrUnsupported, "use WHERE", "HAVING needs an aggregation")
		}
		return nil, nil
	}
	n := &groupNode{in: q.node, bucket: -1, ttl: q.ttl, zone: q.zone}
	g := &group{node: n}
	if q.parent != nil {
		for _, k := range q.parent.node.keys() {
			e := bound(syntax.Pos{}, under("@", k))
			n.groups, g.texts = append(n.groups, e), append(g.texts, syntax.PrintExpr(e))
		}
		if q.parent.node.kind() == Stream {
			return nil, q.b.errorf(s.Pos, ErrKind, "aggregate FROM @.elements, or make a state table of "+q.parent.name+" first: DISTINCT … ON", "%s is a stream: its rows have no key by which to keep an aggregate", q.parent.name)
		}
	}
	for _, e := range s.GroupBy {
		b, err := q.groupExpr(e, items)
		if err != nil {
			return nil, err
		}
		if c, ok := b.(*syntax.Call); ok && eval.IsTimeWindow(c.Name) {
			if n.bucket >= 0 {
				return nil, q.b.errorf(e.Position(), ErrUnsupported, "group by one, and by the other in a table over its result", "a query has one time window, this is the second")
			}
			n.bucket = len(n.groups)
		} else if hasWindow(b) {
			return nil, q.b.errorf(e.Position(), ErrUnsupported, "group by endOf…(time) itself and compute with it in the SELECT list", "a time window cannot be part of a grouping expression")
		}
		n.groups, g.texts = append(n.groups, b), append(g.texts, syntax.PrintExpr(b))
	}
	if n.bucket < 0 {
		q.ttlUsed = true
	}
	return g, nil
}

func hasWindow(e syntax.Expr) bool {
	found := false
	syntax.Walk(e, func(x syntax.Expr) bool {
		c, ok := x.(*syntax.Call)
		found = found || ok && eval.IsTimeWindow(c.Name)
		return !found
	})
	return found
}

// groupExpr binds an element of GROUP BY, which may be the name of a column of
// the SELECT list.
func (q *query) groupExpr(e syntax.Expr, items []item) (syntax.Expr, error) {
	if c, ok := e.(*syntax.Column); ok && len(c.Path) == 1 {
		for _, it := range items {
			if it.alias && it.name == c.Path[0].Name && it.expr != nil && !hasAggregate(it.expr) {
				e = it.expr
				break
			}
		}
	}
	b, err := q.bind(e)
	if err != nil {
		return nil, err
	}
	if err := q.checkScalar(b); err != nil {
		return nil, err
	}
	return b, q.b.checkStable(b)
}

// overGroup returns a bound expression of the SELECT list or HAVING over the
// columns of the groups.
func (q *query) overGroup(g *group, e syntax.Expr) (syntax.Expr, error) {
	column := func(pos syntax.Pos, prefix string, i int) syntax.Expr {
		if g.under != "" {
			return bound(pos, refOf(g.under, numbered(prefix, i)))
		}
		return bound(pos, refOf(numbered(prefix, i)))
	}
	return rewrite(e, func(x syntax.Expr) (syntax.Expr, error) {
		if call, ok := isAggregate(x); ok {
			i, err := q.aggregate(g, call)
			if err != nil {
				return nil, err
			}
			return column(call.Pos, hiddenAgg, i), nil
		}
		if !hasAggregate(x) {
			b, err := q.bind(x)
			if err != nil {
				return nil, err
			}
			if i := slices.Index(g.texts, syntax.PrintExpr(b)); i >= 0 {
				return column(x.Position(), hiddenGroup, i), nil
			}
		}
		if c, ok := x.(*syntax.Column); ok {
			return nil, q.b.errorf(c.Pos, ErrUnsupported, "add it to GROUP BY, or aggregate it: first_value("+syntax.PrintExpr(c)+")",
				"column %s is neither grouped by nor aggregated", syntax.PrintExpr(c))
		}
		return nil, nil
	})
}

// aggregate notes an aggregate and returns its number.
func (q *query) aggregate(g *group, c *syntax.Call) (int, error) {
	kind, ok := operator.ParseAggregate(c.Name)
	if !ok {
		return 0, q.b.errorf(c.Pos, ErrUnsupported, "count, sum, avg, min, max, stddev, var, collect, first_value and last_value can; or group by endOfMinute(time) in a node of its own",
			"aggregate %s cannot take rows back when they change", c.Name)
	}
	a := aggregateCall{kind: kind, distinct: c.Distinct}
	switch {
	case c.Star:
		if kind != operator.AggCount {
			return 0, q.b.errorf(c.Pos, ErrUnsupported, "", "%s takes a column, not *", c.Name)
		}
	case len(c.Args) != 1:
		return 0, q.b.errorf(c.Pos, ErrUnsupported, "", "%s takes one argument, found %d", c.Name, len(c.Args))
	default:
		arg, err := q.bind(c.Args[0])
		if err != nil {
			return 0, err
		}
		if err := q.checkScalar(arg); err != nil {
			return 0, err
		}
		if err := q.b.checkStable(arg); err != nil {
			return 0, err
		}
		a.arg = arg
	}
	if kind == operator.AggFirstValue || kind == operator.AggLastValue {
		if a.time = q.time; a.time == nil {
			return 0, q.b.errorf(c.Pos, ErrUnsupported, "use min or max of a column, or aggregate the stream itself", "%s goes by the time of rows, and the rows of a state table have none", c.Name)
		}
	}
	a.text = syntax.PrintExpr(&syntax.Call{Name: kind.String(), Args: argsOf(a.arg), Star: c.Star, Distinct: c.Distinct})
	for i := range g.calls {
		if g.calls[i].text == a.text {
			return i, nil
		}
	}
	g.calls = append(g.calls, a)
	return len(g.calls) - 1, nil
}

func argsOf(e syntax.Expr) []syntax.Expr {
	if e == nil {
		return nil
	}
	return []syntax.Expr{e}
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

// finishGroup puts the aggregation and HAVING behind the rows.
func (q *query) finishGroup(g *group, s *syntax.Select) error {
	having, err := q.overGroup(g, named(s.Having, s.Items))
	if err != nil {
		return err
	}
	g.node.calls = g.calls
	n := add(q.b, g.node)
	q.node = n
	if having != nil {
		q.node = add(q.b, &filterNode{in: n, cond: having, zone: q.zone})
	}
	return nil
}

// named puts the expressions of the SELECT list in the place of their names, which
// HAVING may use.
func named(e syntax.Expr, items []syntax.Item) syntax.Expr {
	out, err := rewrite(e, func(x syntax.Expr) (syntax.Expr, error) {
		if c, ok := x.(*syntax.Column); ok && len(c.Path) == 1 {
			for i := range items {
				if items[i].Alias == c.Path[0].Name {
					return items[i].Expr, nil
				}
			}
		}
		return nil, nil
	})
	if err != nil {
		return e
	}
	return out
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
	q.ttlUsed = true
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
