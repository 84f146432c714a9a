package delegate

import (
	"strings"

	"github.com/rulego/streamsql/functions"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

var binding = map[string]int{"+": 1, "-": 1, "*": 2, "/": 2}

// text writes a value in streamsql's dialect.
func (c *compiler) text(e syntax.Expr) (string, error) {
	if _, isCase := e.(*syntax.Case); isCase || isCondition(e) {
		if field, ok, err := c.compute(e); ok || err != nil {
			return field, err
		}
	}
	switch e := e.(type) {
	case *syntax.Column:
		return c.field(e)
	case *syntax.Number:
		return decimal(e.Text), nil
	case *syntax.Bool:
		return map[bool]string{true: "true", false: "false"}[e.Value], nil
	case *syntax.Null:
		return "NULL", nil
	case *syntax.Text:
		return c.quote(e)
	case *syntax.Unary:
		if e.Op == "NOT" {
			return c.boolean(normalize(e, false))
		}
		x, err := c.text(e.X)
		if _, ok := e.X.(*syntax.Binary); ok {
			x = "(" + x + ")"
		}
		if e.Op == "+" {
			return x, err
		}
		return "-" + x, err
	case *syntax.Binary:
		return c.binary(e)
	case *syntax.Call:
		return c.call(e)
	case *syntax.Case:
		return c.caseText(rewrite(e).(*syntax.Case))
	case *syntax.IsNull, *syntax.Like, *syntax.In, *syntax.Between:
		return c.boolean(normalize(e, false))
	}
	return "", c.unsupported(e.Position(), "", "streamsql does not run this expression")
}

// field writes a field inside an expression.
func (c *compiler) field(e *syntax.Column) (string, error) {
	path := c.localPath(e)
	if c.having && c.inside == 0 {
		if name, ok := c.resultColumn(e); ok {
			return name, nil
		}
	}
	if c.mirrors(path) {
		return c.mirror(path), nil
	}
	return c.path(path, e.Pos)
}

// mirrors says that the field at path must be repeated under a name that
// streamsql can read where it stands: it takes quoted names and words of its
// dialect for texts in most places, among the arguments of a function even the
// name of a field that the row does not have, and finds nested fields only in some.
// What pattern matching gives out and what a window has grouped by is no row's.
func (c *compiler) mirrors(path []syntax.Step) bool {
	switch {
	case c.plan.Kind == CEP:
		return false
	case !readable(path):
		return true
	case c.plan.Kind == Direct:
		return len(path) > 1 || c.calls > 0
	}
	return len(path) > 1 && c.inside > 0
}

// bareField writes a field that is a whole SELECT item.
func (c *compiler) bareField(e *syntax.Column) (string, error) {
	path := c.localPath(e)
	if c.plan.Kind == Direct {
		if spelled(path) {
			return c.path(path, e.Pos)
		}
		if len(path) == 1 && !strings.Contains(path[0].Name, "`") {
			return "`" + path[0].Name + "`", nil
		}
	}
	return c.field(e)
}

// readable says that streamsql reads path as one inside expressions.
func readable(path []syntax.Step) bool { return spelled(path) && !reserved(path[0].Name) }

// spelled says that streamsql's lexer reads every name of path as one.
func spelled(path []syntax.Step) bool {
	for _, s := range path {
		if !s.IsIndex && (!identifier.MatchString(s.Name) || keyword(s.Name)) {
			return false
		}
	}
	return true
}

// quote writes a string. streamsql knows no doubled quotes, so a string may
// contain one kind of quote only.
func (c *compiler) quote(e *syntax.Text) (string, error) {
	switch {
	case !strings.Contains(e.Value, "'"):
		return "'" + e.Value + "'", nil
	case !strings.Contains(e.Value, `"`):
		return `"` + e.Value + `"`, nil
	}
	return "", c.unsupported(e.Pos, "join it with || from two strings", "streamsql cannot read a string with both kinds of quotes")
}

func (c *compiler) binary(e *syntax.Binary) (string, error) {
	switch {
	case e.Op == "%":
		return c.call(&syntax.Call{Pos: e.Pos, Name: "mod", Args: []syntax.Expr{e.X, e.Y}})
	case e.Op == "||":
		return c.call(&syntax.Call{Pos: e.Pos, Name: "concat", Args: []syntax.Expr{e.X, e.Y}})
	case binding[e.Op] == 0:
		return c.boolean(normalize(e, false))
	case overRow(e) && (c.plan.Kind == Direct && c.calls > 0 || c.plan.Kind == Aggregation && c.inside > 0):
		return c.arithmetic(e)
	}
	x, err := c.text(e.X)
	if err != nil {
		return "", err
	}
	y, err := c.text(e.Y)
	if err != nil {
		return "", err
	}
	if b, ok := e.X.(*syntax.Binary); ok && binding[b.Op] > 0 && binding[b.Op] < binding[e.Op] {
		x = "(" + x + ")"
	}
	if b, ok := e.Y.(*syntax.Binary); ok && binding[b.Op] > 0 && binding[b.Op] <= binding[e.Op] {
		y = "(" + y + ")"
	}
	return x + " " + e.Op + " " + y, nil
}

func (c *compiler) call(e *syntax.Call) (string, error) {
	if isAggregate(e) {
		c.inside++
		defer func() { c.inside-- }()
	}
	c.calls++
	defer func() { c.calls-- }()
	args := make([]string, len(e.Args))
	for i, a := range e.Args {
		if star, ok := a.(*syntax.Star); ok {
			if t, _ := functionType(e.Name); t != functions.TypeAnalytical || c.plan.Kind != Direct {
				return "", c.unsupported(star.Pos, "name the fields", "%s takes no * among its arguments here", e.Name)
			}
			args[i] = "*"
			continue
		}
		var err error
		if args[i], err = c.text(a); err != nil {
			return "", err
		}
	}
	if strings.EqualFold(e.Name, "changed_cols") {
		c.nameChanged(e, args)
	}
	if e.Star {
		args = []string{"*"}
	}
	text := e.Name + "(" + strings.Join(args, ", ") + ")"
	if e.Over != nil {
		text += " " + e.Over.Text
	}
	return text, nil
}

// nameChanged gives the columns of changed_cols('prefix', …), which are named by
// its arguments, the names of the fields.
func (c *compiler) nameChanged(e *syntax.Call, args []string) {
	prefix, ok := e.Args[0].(*syntax.Text)
	if !ok {
		return
	}
	for i, a := range e.Args {
		if col, ok := a.(*syntax.Column); ok && strings.HasPrefix(args[i], hiddenPrefix) {
			c.plan.columns.rename[prefix.Value+args[i]] = prefix.Value + col.Path[len(col.Path)-1].Name
		}
	}
}

// caseText writes a searched CASE. A WHEN with OR becomes several, because one
// NULL operand makes streamsql reject the whole OR.
func (c *compiler) caseText(e *syntax.Case) (string, error) {
	var b strings.Builder
	b.WriteString("CASE")
	var when func(cond, then syntax.Expr) error
	when = func(cond, then syntax.Expr) error {
		if or, ok := cond.(*syntax.Binary); ok && or.Op == "OR" {
			if err := when(or.X, then); err != nil {
				return err
			}
			return when(or.Y, then)
		}
		x, err := c.boolean(cond)
		if err != nil {
			return err
		}
		y, err := c.text(then)
		if err != nil {
			return err
		}
		b.WriteString(" WHEN " + x + " THEN " + y)
		return nil
	}
	for _, w := range e.Whens {
		if err := when(w.Cond, w.Then); err != nil {
			return "", err
		}
	}
	if e.Else != nil {
		y, err := c.text(e.Else)
		if err != nil {
			return "", err
		}
		b.WriteString(" ELSE " + y)
	}
	return b.String() + " END", nil
}

// boolean writes a normalized condition for CASE, HAVING and WHERE with
// analytic functions. A comparison that NULL could make true or fail asks for
// NULL first.
func (c *compiler) boolean(e syntax.Expr) (string, error) {
	if c.splits && overRow(e) {
		field, err := c.flag(e)
		return field + " = 1", err
	}
	switch e := e.(type) {
	case *syntax.Binary:
		if e.Op == "AND" || e.Op == "OR" {
			x, err := c.boolean(e.X)
			if err != nil {
				return "", err
			}
			y, err := c.boolean(e.Y)
			if err != nil {
				return "", err
			}
			if e.Op == "AND" {
				x, y = parenthesize(e.X, x), parenthesize(e.Y, y)
			}
			return x + " " + e.Op + " " + y, nil
		}
		return c.compare(e)
	case *syntax.IsNull:
		x, err := c.text(e.X)
		if e.Not {
			return x + " IS NOT NULL", err
		}
		return x + " IS NULL", err
	case *syntax.Like:
		if e.Not {
			return "", c.unsupported(e.Pos, "filter in WHERE, or write CASE WHEN x LIKE … THEN … ELSE …", "NOT LIKE is not supported outside WHERE")
		}
		p, ok := e.Pattern.(*syntax.Text)
		if !ok || strings.Contains(p.Value, "'") {
			return "", c.unsupported(e.Pos, "", "LIKE takes a text pattern without quotes outside WHERE")
		}
		x, err := c.text(e.X)
		return x + " LIKE '" + p.Value + "'", err
	}
	return "", c.unsupported(e.Position(), "", "this condition is not supported outside WHERE")
}

func parenthesize(e syntax.Expr, text string) string {
	if b, ok := e.(*syntax.Binary); ok && b.Op == "OR" {
		return "(" + text + ")"
	}
	return text
}

func (c *compiler) compare(e *syntax.Binary) (string, error) {
	x, err := c.text(e.X)
	if err != nil {
		return "", err
	}
	y, err := c.text(e.Y)
	if err != nil {
		return "", err
	}
	text := ""
	if c.guards {
		for _, side := range []syntax.Expr{e.X, e.Y} {
			switch side.(type) {
			case *syntax.Column, *syntax.Call:
				s, err := c.text(side)
				if err != nil {
					return "", err
				}
				text += s + " IS NOT NULL AND "
			}
		}
	}
	return text + x + " " + e.Op + " " + y, nil
}

// trigger writes the condition of a GLOBAL WINDOW.
func (c *compiler) trigger(g *syntax.GlobalWindow) (string, error) {
	var err error
	syntax.Walk(g.Trigger, func(e syntax.Expr) bool {
		if call, ok := e.(*syntax.Call); ok && err == nil {
			switch strings.ToLower(call.Name) {
			case "count", "sum", "avg", "min", "max", "median", "stddev", "first_value", "last_value":
				if !simpleAggregate(call) {
					err = c.unsupported(call.Pos, "", "TRIGGER WHEN computes aggregates of single fields only")
				}
			default:
				err = c.unsupported(call.Pos, "", "TRIGGER WHEN does not know %s", call.Name)
			}
			return false
		}
		if col, ok := e.(*syntax.Column); ok && err == nil {
			err = c.unsupported(col.Pos, "use last_value("+pathText(col.Path)+")", "TRIGGER WHEN sees aggregates only, no fields of the row")
		}
		return err == nil
	})
	if err != nil {
		return "", err
	}
	return c.boolean(normalize(g.Trigger, false))
}
