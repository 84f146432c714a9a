package delegate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rulego/streamsql/functions"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// compiler turns one statement into a Plan.
type compiler struct {
	stmt *syntax.Select
	sql  string
	plan *Plan

	grouped   map[string]bool   // GROUP BY fields as streamsql sees them
	nested    map[string]string // nested GROUP BY fields in SELECT and their columns in streamsql
	groupKeys map[int]string    // the same by their place in GROUP BY
	having    bool              // HAVING is being written: columns are those of the result
	guards    bool              // comparisons ask for NULL first: HAVING and WHERE, not CASE, where NULL fails by itself
	splits    bool              // conditions over the row alone are computed, the rest is streamsql's
	inside    int               // how many aggregates the expression being written stands in
	calls     int               // and in how many calls
}

func (c *compiler) errorf(pos syntax.Pos, kind error, hint, format string, args ...any) *syntax.Error {
	return &syntax.Error{Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint, SQL: c.sql, Kind: kind}
}

func (c *compiler) unsupported(pos syntax.Pos, hint, format string, args ...any) error {
	return c.errorf(pos, ErrUnsupported, hint, format, args...)
}

func (c *compiler) run() error {
	c.plan.Kind = c.kind()
	for _, check := range []func() error{
		c.checkCost, c.checkSources, c.readOptions, c.checkFunctions, c.checkGroup, c.checkClauses,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	text, err := c.print()
	if err != nil {
		return err
	}
	c.plan.SQL = text
	c.plan.columns.hidden = len(c.plan.computed) > 0
	if at, err := c.dryRun(); err != nil {
		return c.unsupported(at, "", "streamsql cannot run this query: %s", firstLine(err))
	}
	return nil
}

// theirPlace is where streamsql sees an error: in text that the user did not write.
var theirPlace = regexp.MustCompile(`^streamsql: |\[[A-Z_]+\] | at position \d+( \([^)]*\))?`)

// firstLine returns what an error of streamsql says without the source that it
// quotes, which is not what the user wrote.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	line = theirPlace.ReplaceAllString(line, "")
	if r := []rune(line); len(r) > 200 {
		line = string(r[:200]) + "…"
	}
	return line
}

// kind says how streamsql will run the statement.
func (c *compiler) kind() Kind {
	if c.stmt.Match != nil {
		return CEP
	}
	if c.window() != nil || c.global() != nil {
		return Aggregation
	}
	for _, item := range c.stmt.Items {
		if containsAggregate(item.Expr) {
			return Aggregation
		}
	}
	return Direct
}

func functionType(name string) (functions.FunctionType, bool) {
	fn, ok := functions.Get(strings.ToLower(name))
	if !ok {
		return "", false
	}
	return fn.GetType(), true
}

func isAggregate(call *syntax.Call) bool {
	t, ok := functionType(call.Name)
	return ok && (t == functions.TypeAggregation || t == functions.TypeWindow)
}

func containsAggregate(e syntax.Expr) bool {
	found := false
	syntax.Walk(e, func(e syntax.Expr) bool {
		if call, ok := e.(*syntax.Call); ok && isAggregate(call) {
			found = true
		}
		return !found
	})
	return found
}

func containsAnalytic(e syntax.Expr) bool {
	found := false
	syntax.Walk(e, func(e syntax.Expr) bool {
		if call, ok := e.(*syntax.Call); ok {
			t, _ := functionType(call.Name)
			found = found || t == functions.TypeAnalytical || call.Over != nil
		}
		return !found
	})
	return found
}

var windowNames = map[string]bool{"TUMBLINGWINDOW": true, "SLIDINGWINDOW": true, "COUNTINGWINDOW": true, "SESSIONWINDOW": true}

// window returns the window call of GROUP BY, nil when there is none.
func (c *compiler) window() *syntax.Call {
	for _, g := range c.stmt.GroupBy {
		if call, ok := g.(*syntax.Call); ok && windowNames[strings.ToUpper(call.Name)] {
			return call
		}
	}
	return nil
}

// global returns the GLOBAL WINDOW of the statement, nil when there is none.
func (c *compiler) global() *syntax.GlobalWindow {
	for _, g := range c.stmt.GroupBy {
		if w, ok := g.(*syntax.GlobalWindow); ok {
			return w
		}
	}
	return nil
}

// checkSources refuses the joins that streamsql reads past.
func (c *compiler) checkSources() error {
	s := c.stmt
	if len(s.More) > 0 {
		return c.unsupported(s.More[0].Pos, "write JOIN … ON …", "FROM with several sources is not supported: all but the first would be ignored")
	}
	names := map[string]bool{s.From.Name: true, alias(s.From): true}
	for _, j := range s.Joins {
		switch {
		case j.Within != nil:
			return c.unsupported(j.Within.Pos, "", "a WITHIN join does not run on streamsql")
		case j.Kind != syntax.InnerJoin && j.Kind != syntax.LeftJoin:
			return c.unsupported(j.Pos, "use JOIN or LEFT JOIN", "%s JOIN is not supported: streamsql would ignore it", j.Kind)
		case j.On == nil:
			return c.unsupported(j.Pos, "add ON stream.field = table.field", "JOIN %s has no ON", j.Source.Name)
		case slices.Contains(c.plan.Tables, j.Source.Name):
			return c.unsupported(j.Source.Pos, "register the rows under a second name", "table %s is joined twice: both joins would look it up by the keys of the first", j.Source.Name)
		case names[alias(j.Source)]:
			return c.unsupported(j.Source.Pos, "give it another alias", "the name %s is used twice", alias(j.Source))
		}
		names[alias(j.Source)] = true
		c.plan.Tables = append(c.plan.Tables, j.Source.Name)
		join, err := c.tableJoin(j)
		if err != nil {
			return err
		}
		c.plan.joins = append(c.plan.joins, join)
	}
	return nil
}

func alias(s syntax.Source) string {
	if s.Alias != "" {
		return s.Alias
	}
	return s.Name
}

// owner says whose field col is: "stream", "table" (of j), "other" or "" when
// it is not qualified.
func (c *compiler) owner(col *syntax.Column, j syntax.Join) string {
	if len(col.Path) < 2 {
		return ""
	}
	switch first := col.Path[0].Name; {
	case first == alias(j.Source):
		return "table"
	case first == alias(c.stmt.From):
		return "stream"
	default:
		for _, k := range c.stmt.Joins {
			if first == alias(k.Source) {
				return "other"
			}
		}
	}
	return ""
}

// localPath returns the path of col in a row: without the stream's name, which
// streamsql resolves only where FROM has an alias and only outside windows.
func (c *compiler) localPath(col *syntax.Column) []syntax.Step {
	if len(col.Path) > 1 && !col.Path[1].IsIndex && (col.Path[0].Name == alias(c.stmt.From)) {
		return col.Path[1:]
	}
	return col.Path
}
