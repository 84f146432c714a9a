package delegate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// printItems writes the SELECT list and fills Plan.columns.
func (c *compiler) printItems(b *strings.Builder) error {
	cols := &c.plan.columns
	cols.rename = map[string]string{}
	cols.constants = map[string]any{}
	cols.only = c.plan.Kind == Direct
	var out []string
	cols.names = map[string]bool{}
	for _, item := range c.stmt.Items {
		text, name, err := c.item(item, len(out))
		if err != nil {
			return err
		}
		if name != "" {
			if cols.names[name] {
				return c.unsupported(item.Pos, "give one of them another name with AS", "two result columns are named %s", name)
			}
			cols.names[name] = true
		}
		if text != "" {
			out = append(out, text)
		}
	}
	if len(out) == 0 {
		if c.plan.Kind == Aggregation {
			return c.unsupported(c.stmt.Pos, "select an aggregate or a grouping field", "the window query selects constants only")
		}
		out = append(out, hiddenPrefix) // a field that no row has; the result keeps the constants only
	}
	b.WriteString(strings.Join(out, ", "))
	return nil
}

// item writes one SELECT item and returns the name of its result column, "" for
// a star. It returns no text for a constant: streamsql answers a bare literal
// with NULL, or leaves it out of a window's result.
func (c *compiler) item(item syntax.Item, n int) (text, name string, err error) {
	cols := &c.plan.columns
	if star, ok := item.Expr.(*syntax.Star); ok {
		cols.only = false
		if star.Qualifier != "" && (star.Qualifier != alias(c.stmt.From) || len(c.stmt.Joins) > 0) {
			return "", "", c.unsupported(star.Pos, "name the columns", "%s.* is not supported here", star.Qualifier)
		}
		return "*", "", nil
	}
	if v, ok := literal(item.Expr); ok {
		name = item.Alias
		if name == "" {
			name = c.source(item.Expr)
		}
		cols.constants[name] = v
		return "", name, nil
	}
	col, isColumn := item.Expr.(*syntax.Column)
	star := c.hasStar() && c.plan.Kind != Aggregation
	if isColumn && !star {
		text, err = c.bareField(col)
	} else {
		text, err = c.text(item.Expr)
	}
	if err != nil {
		return "", "", err
	}
	if isCondition(item.Expr) && !strings.HasPrefix(text, hiddenPrefix) {
		return "", "", c.unsupported(item.Expr.Position(), "write CASE WHEN … THEN 1 ELSE 0 END",
			"a condition over aggregates, joined tables or patterns cannot be selected: streamsql would answer most with NULL")
	}
	if (isColumn || strings.HasPrefix(text, hiddenPrefix)) && star {
		if isColumn && item.Alias == "" {
			return "", "", nil // * has it
		}
		text = "coalesce(" + text + ", " + text + ")" // beside * streamsql drops a bare field
	}
	name = item.Alias
	switch call, isCall := item.Expr.(*syntax.Call); {
	case name != "":
	case isColumn:
		name = c.columnName(col)
	case isCall && c.plan.Kind == Aggregation && isAggregate(call) && c.sameText(call, text):
		return text, text, nil
	default:
		name = c.resultName(item, text)
	}
	if strings.EqualFold(callName(item.Expr), "changed_cols") || c.plan.unnest {
		cols.only = false
		if item.Alias == "" {
			return text, "", nil
		}
	}
	nested := isColumn && c.plan.Kind == Aggregation && (strings.ContainsAny(text, ".[") || strings.HasPrefix(text, hiddenPrefix))
	if isColumn && item.Alias == "" && !strings.ContainsAny(text, "`(") && text == name && !nested {
		cols.rename[name] = name
		return text, name, nil
	}
	as := name
	if !identifier.MatchString(as) || keyword(as) || c.plan.Kind == Aggregation && reserved(as) {
		as = hiddenName(n)
	}
	if nested {
		c.nested[text] = as
	}
	cols.rename[as] = name
	return text + " AS " + as, name, nil
}

// sameText says that streamsql names an aggregate without alias by its text.
func (c *compiler) sameText(call *syntax.Call, text string) bool {
	return simpleAggregate(call) && !strings.Contains(text, "`") && !strings.Contains(text, hiddenPrefix)
}

func callName(e syntax.Expr) string {
	if call, ok := e.(*syntax.Call); ok {
		return call.Name
	}
	return ""
}

// resultName names an item without alias: by its text in the dialect, or by
// its place when the text is hidden.
func (c *compiler) resultName(item syntax.Item, text string) string {
	if text = c.display(text); !strings.Contains(text, hiddenPrefix) {
		return text
	}
	i := slices.IndexFunc(c.stmt.Items, func(o syntax.Item) bool { return o.Pos == item.Pos })
	return "col" + strconv.Itoa(i+1)
}

func hiddenName(n int) string { return hiddenPrefix + string(rune('a'+n/26)) + string(rune('a'+n%26)) }

func (c *compiler) hasStar() bool {
	for _, i := range c.stmt.Items {
		if _, ok := i.Expr.(*syntax.Star); ok {
			return true
		}
	}
	return false
}

// outputName returns the column that a result name has inside streamsql.
func (c *compiler) outputName(name string) string {
	for as, out := range c.plan.columns.rename {
		if out == name {
			return as
		}
	}
	return name
}

// columnName is the result name of a column without alias: without the stream's
// or the table's alias, otherwise the whole path.
func (c *compiler) columnName(col *syntax.Column) string {
	path := c.localPath(col)
	if len(path) > 1 && len(path) == len(col.Path) {
		for _, j := range c.stmt.Joins {
			if path[0].Name == alias(j.Source) {
				path = path[1:]
				break
			}
		}
	}
	return pathText(path)
}

// source returns e as text for a result name.
func (c *compiler) source(e syntax.Expr) string {
	switch e := e.(type) {
	case *syntax.Number:
		return e.Text
	case *syntax.Text:
		return e.Value
	case *syntax.Bool:
		return map[bool]string{true: "true", false: "false"}[e.Value]
	case *syntax.Null:
		return "null"
	case *syntax.Unary:
		return e.Op + c.source(e.X)
	}
	return ""
}
