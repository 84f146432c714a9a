package delegate

import (
	"maps"
	"slices"
	"strings"

	"github.com/rulego/streamsql/functions"

	"github.com/streamjoin/streamjoin/internal/spelling"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// checkFunctions refuses calls that streamsql resolves to nothing or runs as
// something else.
func (c *compiler) checkFunctions() error {
	var err error
	visit := func(e syntax.Expr) bool {
		if err != nil {
			return false
		}
		call, ok := e.(*syntax.Call)
		if !ok {
			return true
		}
		if windowNames[strings.ToUpper(call.Name)] {
			return true
		}
		if _, known := functionType(call.Name); !known && !functions.GetExprBridge().IsExprLangFunction(call.Name) {
			err = c.unknownFunction(call)
		} else if call.Distinct {
			err = c.unsupported(call.Pos, "", "%s(DISTINCT …) is not supported: streamsql would return 0", strings.ToUpper(call.Name))
		} else if strings.EqualFold(call.Name, "unnest") {
			c.plan.unnest = true
		}
		return err == nil
	}
	for _, item := range c.stmt.Items {
		syntax.Walk(item.Expr, visit)
	}
	syntax.Walk(c.stmt.Where, visit)
	for _, g := range c.stmt.GroupBy {
		syntax.Walk(g, visit)
	}
	syntax.Walk(c.stmt.Having, visit)
	for _, o := range c.stmt.OrderBy {
		syntax.Walk(o.Expr, visit)
	}
	return err
}

func (c *compiler) unknownFunction(call *syntax.Call) error {
	hint := ""
	if strings.EqualFold(call.Name, "if") {
		hint = "write CASE WHEN … THEN … ELSE … END"
	} else if name := nearestFunction(call.Name); name != "" {
		hint = "did you mean " + name + "?"
	}
	return c.errorf(call.Pos, ErrUnknownFunction, hint, "unknown function %s", call.Name)
}

// nearestFunction returns the function or window that is most like name, or ""
// when none is.
func nearestFunction(name string) string {
	known := slices.Collect(maps.Keys(functions.ListAll()))
	known = slices.DeleteFunc(known, func(f string) bool { return f == "expression" }) // streamsql's own stand-in
	slices.Sort(known)                                                                 // of equally near ones the first is taken
	return spelling.Nearest(name, append(known, "TumblingWindow", "SlidingWindow", "SessionWindow", "CountingWindow"))
}

// checkGroup refuses GROUP BY forms that streamsql drops.
func (c *compiler) checkGroup() error {
	c.grouped, c.groupKeys, c.nested = map[string]bool{}, map[int]string{}, map[string]string{}
	windows := 0
	for i, g := range c.stmt.GroupBy {
		switch g := g.(type) {
		case *syntax.Column:
			p, err := c.field(g)
			if err != nil {
				return err
			}
			c.addKey(i, p)
		case *syntax.Call:
			if windowNames[strings.ToUpper(g.Name)] {
				windows++
				if windows > 1 {
					return c.unsupported(g.Pos, "keep one of them", "GROUP BY has two windows")
				}
				if err := c.checkLength(g); err != nil {
					return err
				}
				if g.Over != nil {
					return c.unsupported(g.Pos, "use HAVING", "OVER on a window is not supported")
				}
				continue
			}
			if isAggregate(g) {
				return c.unsupported(g.Pos, "", "GROUP BY %s: an aggregate cannot be a grouping key, streamsql would leave it out", g.Name)
			}
			text, err := c.text(g)
			if err != nil {
				return err
			}
			key := strings.ReplaceAll(text, " ", "")
			if strings.ContainsAny(key, `'"`) {
				return c.unsupported(g.Pos, "", "GROUP BY cannot call a function with a text argument")
			}
			c.addKey(i, key)
		case *syntax.GlobalWindow:
			windows++
			if windows > 1 {
				return c.unsupported(g.Pos, "keep one of them", "GROUP BY has two windows")
			}
			if g.Trigger == nil {
				return c.unsupported(g.Pos, "add TRIGGER WHEN …", "a GLOBAL WINDOW without TRIGGER WHEN never gives a result")
			}
		default:
			return c.unsupported(g.Position(), "group by a field or a function of it", "GROUP BY takes fields, functions of fields and one window: streamsql would group this expression as NULL")
		}
	}
	if len(c.stmt.GroupBy) > 0 && windows == 0 {
		if c.plan.Kind != Aggregation {
			return c.unsupported(c.stmt.GroupPos, "add a window, such as TumblingWindow('10s')", "GROUP BY without a window and without an aggregate: streamsql would ignore it")
		}
	}
	if windows == 0 && c.plan.Kind == Aggregation {
		c.plan.Warnings = append(c.plan.Warnings, "an aggregate without a window runs in TumblingWindow('10s'), as StreamSQL has it")
	}
	return nil
}

// checkLength refuses the length of a window in time without a unit. streamsql
// takes it for seconds, where other durations without unit are errors.
func (c *compiler) checkLength(window *syntax.Call) error {
	if strings.EqualFold(window.Name, "CountingWindow") {
		return nil
	}
	for _, a := range window.Args {
		if n, ok := a.(*syntax.Number); ok {
			return c.unsupported(n.Pos, "write '"+n.Text+"s'", "%s takes durations: %s has no unit", window.Name, n.Text)
		}
	}
	return nil
}

// addKey notes a grouping key: the i-th element of GROUP BY.
func (c *compiler) addKey(i int, key string) {
	c.grouped[key] = true
	c.groupKeys[i] = key
	c.plan.window.keys = append(c.plan.window.keys, key)
}

// checkClauses refuses clauses that have no effect where they stand.
func (c *compiler) checkClauses() error {
	s := c.stmt
	kind := c.plan.Kind
	if kind != Aggregation {
		switch {
		case s.Distinct != (syntax.Pos{}):
			return c.unsupported(s.Distinct, "each row gives a result of its own; deduplicate with a window or with had_changed()", "DISTINCT has no effect on a query without a window")
		case s.Having != nil:
			return c.unsupported(s.HavePos, "use WHERE", "HAVING has no effect on a query without a window")
		case s.Limit != nil:
			return c.unsupported(s.LimitPos, "LIMIT counts the rows of one window", "LIMIT has no effect on a query without a window")
		case len(s.OrderBy) > 0 && !c.plan.unnest:
			return c.unsupported(s.OrderPos, "results come in the order of the rows", "ORDER BY has no effect on a query without a window")
		case len(s.OrderBy) > 0:
			return c.unsupported(s.OrderPos, "", "ORDER BY of unnest() is not supported")
		}
	}
	if kind == CEP && c.plan.options.timestamp != "" {
		return c.errorf(s.WithPos, ErrOption, "MATCH_RECOGNIZE orders by its own ORDER BY", "TIMESTAMP has no effect on MATCH_RECOGNIZE")
	}
	if kind == Direct && c.plan.options.timestamp != "" {
		c.plan.Warnings = append(c.plan.Warnings, "TIMESTAMP has no effect on a query without a window")
	}
	if s.Where != nil && containsAggregate(s.Where) {
		return c.unsupported(s.WherePos, "use HAVING", "WHERE cannot contain an aggregate")
	}
	if kind == Aggregation {
		return c.checkItems()
	}
	return nil
}

// checkItems refuses SELECT items that have no value in a window's result.
func (c *compiler) checkItems() error {
	for _, item := range c.stmt.Items {
		switch e := item.Expr.(type) {
		case *syntax.Star:
			return c.unsupported(e.Pos, "name the grouping fields and aggregates", "SELECT * in a window query: streamsql would leave it out")
		case *syntax.Column:
			p, err := c.field(e)
			if err != nil {
				return err
			}
			if !c.grouped[p] {
				p = pathText(c.localPath(e))
				return c.unsupported(e.Pos, "add it to GROUP BY or use last_value("+p+")", "%s is neither aggregated nor in GROUP BY: streamsql would leave it out", p)
			}
		default:
			if c.global() != nil && !simpleAggregate(e) && !isLiteral(e) {
				return c.unsupported(e.Position(), "select aggregates of single fields", "a GLOBAL WINDOW computes aggregates of single fields only: streamsql would leave this out or ignore the expression")
			}
		}
	}
	return nil
}

// simpleAggregate says that e is an aggregate of one field or of *.
func simpleAggregate(e syntax.Expr) bool {
	call, ok := e.(*syntax.Call)
	if !ok || !isAggregate(call) {
		return false
	}
	for _, a := range call.Args {
		if _, ok := a.(*syntax.Column); !ok {
			return false
		}
	}
	return true
}

func isLiteral(e syntax.Expr) bool {
	_, ok := literal(e)
	return ok
}

// literal returns the value of a constant SELECT item. Whole numbers are int64
// and others float64, as in a JSON message read by Go code that keeps them apart.
func literal(e syntax.Expr) (any, bool) {
	switch e := e.(type) {
	case *syntax.Number:
		return number(e.Text), true
	case *syntax.Text:
		return e.Value, true
	case *syntax.Bool:
		return e.Value, true
	case *syntax.Null:
		return nil, true
	case *syntax.Unary:
		n, ok := e.X.(*syntax.Number)
		if ok && e.Op == "-" {
			return number("-" + n.Text), true
		}
	}
	return nil, false
}

// checkHaving refuses names that a window's result does not have: for streamsql
// they are NULL, so that HAVING drops everything.
func (c *compiler) checkHaving() error {
	var err error
	syntax.Walk(c.stmt.Having, func(e syntax.Expr) bool {
		switch e := e.(type) {
		case *syntax.Call:
			return !isAggregate(e) // its fields are the row's
		case *syntax.Case:
			err = c.unsupported(e.Pos, "compare with AND and OR", "CASE is not supported in HAVING")
		case *syntax.Column:
			if _, ok := c.resultColumn(e); !ok {
				err = c.unsupported(e.Pos, "use an aggregate, a grouping field or the alias of a SELECT item", "HAVING knows no %s", pathText(c.localPath(e)))
			}
		}
		return err == nil
	})
	return err
}

// resultColumn returns the name that streamsql has for a column of a window's
// result, where HAVING and ORDER BY see it: the alias of a SELECT item, or a
// grouping field, by its path or by the name of its result column.
func (c *compiler) resultColumn(col *syntax.Column) (string, bool) {
	if len(col.Path) == 1 && slices.ContainsFunc(c.stmt.Items, func(i syntax.Item) bool { return i.Alias == col.Path[0].Name }) {
		return c.outputName(col.Path[0].Name), true
	}
	name := pathText(c.localPath(col))
	for _, byPath := range []bool{true, false} {
		for i, g := range c.stmt.GroupBy {
			group, ok := g.(*syntax.Column)
			if !ok || byPath && pathText(c.localPath(group)) != name || !byPath && c.columnName(group) != name {
				continue
			}
			key := c.groupKeys[i]
			if as, selected := c.nested[key]; selected {
				return as, true
			}
			return key, identifier.MatchString(key) // nothing finds a column named a.b
		}
	}
	return "", false
}

// nameGroups gives grouping fields that are not selected, and that streamsql
// puts into the result nevertheless, the name that they would have in SELECT.
func (c *compiler) nameGroups() {
	for i, g := range c.stmt.GroupBy {
		key, ok := c.groupKeys[i]
		if !ok {
			continue
		}
		name := c.display(key)
		if col, isColumn := g.(*syntax.Column); isColumn {
			name = c.columnName(col)
		}
		if _, selected := c.nested[key]; !selected && key != name {
			c.plan.columns.rename[key] = name
		}
	}
}
