package script

import (
	"slices"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

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
		if slices.Contains(g.texts, syntax.PrintExpr(b)) {
			continue // once is enough
		}
		if c, ok := b.(*syntax.Call); ok && eval.IsTimeWindow(c.Name) {
			if n.bucket >= 0 {
				return nil, q.b.errorf(e.Position(), ErrUnsupported, "group by one, and by the other in a table over its result", "a query has one time window, this is the second")
			}
			n.bucket = len(n.groups)
			if leaves(q.node) {
				q.b.warnf("line %d, column %d: a time window of rows that leave as time passes: where time jumps past a row's leaving and its window's end at once, the row is gone; a window needs no now(), its rows leave once",
					e.Position().Line, e.Position().Col)
			}
			q.warnOfWindow(c)
		} else if hasWindow(b) {
			return nil, q.b.errorf(e.Position(), ErrUnsupported, "group by endOf…(time) itself and compute with it in the SELECT list", "a time window cannot be part of a grouping expression")
		}
		n.groups, g.texts = append(n.groups, b), append(g.texts, syntax.PrintExpr(b))
	}
	return g, q.boundGroups(n)
}

// leaves tells whether rows of n may be taken back because time passes.
func leaves(n node) bool {
	switch n.(type) {
	case *recencyNode:
		return true
	case *groupNode, *dedupNode, *streamOnNode:
		return false // rows of their own
	}
	return slices.ContainsFunc(n.inputs(), leaves)
}

// boundGroups applies STATETTL to the groups. Rows that can be taken back must not
// be forgotten before; a join that forgets them takes them back itself.
func (q *query) boundGroups(n *groupNode) error {
	switch {
	case n.bucket >= 0:
		n.ttl = 0
	case q.ttl > 0 && q.node.kind() == State:
		if n.ttl = 0; !q.ttlUsed {
			return q.b.errorf(q.ttlPos, ErrUnsupported, "put STATETTL where the rows come from: at the DISTINCT … ON, or at the join that gives them",
				"STATETTL would forget groups whose rows may still change")
		}
	default:
		q.ttlUsed = true
	}
	return nil
}

// warnOfWindow warns of a time window by a field that is not the time of its rows:
// what the watermark says of that is nothing the field keeps to.
func (q *query) warnOfWindow(c *syntax.Call) {
	col, ok := c.Args[0].(*syntax.Column)
	if !ok || q.node.timing(ref(col.Path)).row {
		return
	}
	for _, s := range q.sources {
		if in := inputOf(s.node); in != nil && in.time == nil && col.Path[0].Name == s.alias {
			q.b.warnf("%s(%s): %s has arrival time, so the window closes by the clock; IMPORT %s TIMESTAMP %s makes the field its time",
				c.Name, visible(ref(col.Path).String()), in.name, in.name, ref(col.Path[1:]).String())
		}
	}
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
		if a.time = q.time; a.time == nil && g.under == "" { // the elements of a row have its time: their order decides
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

// finishGroup puts the aggregation and HAVING behind the rows.
func (q *query) finishGroup(g *group, s *syntax.Select) error {
	having, err := q.overGroup(g, named(s.Having, s.Items))
	if err != nil {
		return err
	}
	if having != nil {
		if err := q.b.checkStable(having); err != nil {
			return err
		}
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
		if call, ok := isAggregate(x); ok {
			return call, nil // takes columns of the rows
		}
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
