package delegate

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// Hidden names. Rows and results carry them between the engine and streamsql;
// they never reach a user.
const (
	hiddenPrefix = "streamjoin_h"
	barrierField = "streamjoin_barrier"
	timeField    = "streamjoin_time"
)

// columns says what result rows need on their way out.
type columns struct {
	rename    map[string]string // streamsql's column → the name of the SELECT item
	names     map[string]bool   // of all SELECT items but stars
	hidden    bool              // rows carry computed fields
	only      bool              // rename lists every column: the others are left-overs of streamsql
	constants map[string]any    // literals in SELECT, which streamsql answers with NULL
}

// print writes the statement in the part of streamsql's dialect that it runs
// as written.
func (c *compiler) print() (string, error) {
	var b strings.Builder
	b.WriteString("SELECT ")
	if c.stmt.Distinct != (syntax.Pos{}) {
		b.WriteString("DISTINCT ")
	}
	if err := c.printItems(&b); err != nil {
		return "", err
	}
	from, err := c.name(c.stmt.From.Name, c.stmt.From.Pos)
	if err != nil {
		return "", err
	}
	b.WriteString(" FROM " + from)
	if c.stmt.Match != nil {
		text, err := c.match()
		if err != nil {
			return "", err
		}
		b.WriteString(" " + text)
	}
	if err := c.printWhere(&b); err != nil {
		return "", err
	}
	if err := c.printGroup(&b); err != nil {
		return "", err
	}
	c.nameGroups()
	c.guards = true
	if c.stmt.Having != nil {
		if err := c.checkHaving(); err != nil {
			return "", err
		}
		c.having = true
		text, err := c.boolean(normalize(c.stmt.Having, false))
		c.having = false
		if err != nil {
			return "", err
		}
		b.WriteString(" HAVING " + text)
		if len(c.stmt.OrderBy) > 0 {
			// streamsql reads HAVING up to WITH, LIMIT or the end, and then drops
			// the HAVING that it cannot compile.
			b.WriteString(" WITH (STATETTL='0s')")
		}
	}
	if err := c.printOrder(&b); err != nil {
		return "", err
	}
	return b.String(), nil
}

// printWhere hands WHERE to streamsql only when it calls analytic functions,
// whose state streamsql keeps; any other condition goes to its filter directly.
func (c *compiler) printWhere(b *strings.Builder) error {
	where := c.stmt.Where
	if where == nil {
		return nil
	}
	if !containsAnalytic(where) {
		var err error
		c.plan.where, err = c.condition(where)
		return err
	}
	if c.plan.Kind != Direct {
		return c.unsupported(c.stmt.WherePos, "filter in a query without a window first", "WHERE with an analytic function does not work in a window or pattern query")
	}
	c.guards, c.splits = true, true
	text, err := c.boolean(normalize(bareAnalytics(where), false))
	c.guards, c.splits = false, false
	if err != nil {
		return err
	}
	b.WriteString(" WHERE " + text)
	return nil
}

func (c *compiler) printGroup(b *strings.Builder) error {
	if len(c.stmt.GroupBy) == 0 {
		return nil
	}
	parts := append([]string(nil), c.plan.window.keys...)
	if g := c.global(); g != nil {
		text, err := c.trigger(g)
		if err != nil {
			return err
		}
		b.WriteString(" GROUP BY " + strings.Join(append(parts, "GLOBAL WINDOW TRIGGER WHEN "+text), ", "))
		return nil
	}
	if w := c.window(); w != nil {
		args := make([]string, len(w.Args))
		for i, a := range w.Args {
			switch a := a.(type) {
			case *syntax.Text:
				args[i] = "'" + a.Value + "'"
			case *syntax.Number:
				args[i] = decimal(a.Text)
			default:
				return c.unsupported(a.Position(), "TumblingWindow('10s'), CountingWindow(100)", "%s takes literals", w.Name)
			}
		}
		parts = append(parts, w.Name+"("+strings.Join(args, ", ")+")")
	}
	b.WriteString(" GROUP BY " + strings.Join(parts, ", "))
	return nil
}

func (c *compiler) printOrder(b *strings.Builder) error {
	for i, o := range c.stmt.OrderBy {
		if i == 0 {
			b.WriteString(" ORDER BY ")
		} else {
			b.WriteString(", ")
		}
		name, ok := "", false
		if col, isColumn := o.Expr.(*syntax.Column); isColumn {
			name, ok = c.resultColumn(col)
		}
		if !ok {
			return c.unsupported(o.Expr.Position(), "give the SELECT item an alias and order by that", "ORDER BY takes the name of a result column")
		}
		b.WriteString(name)
		if o.Desc {
			b.WriteString(" DESC")
		}
	}
	if c.stmt.Limit != nil {
		n, ok := c.stmt.Limit.(*syntax.Number)
		if v, err := strconv.Atoi(numberText(n, ok)); err != nil || v <= 0 {
			return c.unsupported(c.stmt.Limit.Position(), "", "LIMIT takes a positive whole number")
		}
		b.WriteString(" LIMIT " + n.Text)
	}
	return nil
}

func numberText(n *syntax.Number, ok bool) string {
	if !ok {
		return ""
	}
	return n.Text
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// name checks that streamsql can read text as a name: its lexer knows ASCII
// letters only and resolves quoted names in few places.
func (c *compiler) name(text string, pos syntax.Pos) (string, error) {
	if !identifier.MatchString(text) || keyword(text) {
		return "", c.unsupported(pos, "rename it before this query", "streamsql cannot read %q as a name", text)
	}
	return text, nil
}

// path writes a field path.
func (c *compiler) path(steps []syntax.Step, pos syntax.Pos) (string, error) {
	var b strings.Builder
	for i, s := range steps {
		if s.IsIndex {
			fmt.Fprintf(&b, "[%d]", s.Index)
			continue
		}
		name, err := c.name(s.Name, pos)
		if err != nil {
			return "", err
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(name)
	}
	return b.String(), nil
}

// keyword lists the reserved words of streamsql's lexer and of the words that
// its textual passes take for operators.
func keyword(word string) bool {
	switch strings.ToUpper(word) {
	case "SELECT", "FROM", "WHERE", "GROUP", "BY", "AS", "OR", "AND", "TUMBLINGWINDOW", "SLIDINGWINDOW", "COUNTINGWINDOW",
		"SESSIONWINDOW", "GLOBAL", "WINDOW", "TRIGGER", "WITH", "TIMESTAMP", "TIMEUNIT", "MAXOUTOFORDERNESS", "ALLOWEDLATENESS",
		"IDLETIMEOUT", "STATETTL", "ORDER", "DISTINCT", "LIMIT", "HAVING", "LIKE", "IS", "NULL", "NOT", "CASE", "WHEN", "THEN",
		"ELSE", "END", "OVER", "PARTITION", "JOIN", "INNER", "LEFT", "ON",
		"SELCT", "SELECCT", "SELET", "FORM", "FRON", "FRMO", "WHER", "WHRE", "WEHRE", "GROPU", "GRUP", "GRPUP", "ODER", "ORDR", "OREDR",
		"DSITINCT", "DISTINC", "DISTINT":
		return true
	}
	return false
}
