package delegate

import (
	"strings"

	"github.com/rulego/streamsql/functions"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// In streamsql = and != with nil or NULL ask whether a value is there, and its
// users write that. Here they become IS [NOT] NULL, as long as nobody has
// written IN, BETWEEN or the CASE with an operand: those compare as SQL does.

// askForNull returns the statement with those comparisons replaced; it leaves
// stmt as it is.
func askForNull(stmt *syntax.Select) *syntax.Select {
	s := *stmt
	s.Items = make([]syntax.Item, len(stmt.Items))
	for i, item := range stmt.Items {
		item.Expr = nullTests(item.Expr)
		s.Items[i] = item
	}
	s.Where, s.Having = nullTests(stmt.Where), nullTests(stmt.Having)
	return &s
}

func nullTests(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.Unary:
		return &syntax.Unary{Pos: e.Pos, Op: e.Op, X: nullTests(e.X)}
	case *syntax.Binary:
		if e.Op == "=" || e.Op == "!=" {
			switch {
			case syntax.WritesNull(e.Y):
				return &syntax.IsNull{Pos: e.Pos, X: nullTests(e.X), Not: e.Op == "!="}
			case syntax.WritesNull(e.X):
				return &syntax.IsNull{Pos: e.Pos, X: nullTests(e.Y), Not: e.Op == "!="}
			}
		}
		return &syntax.Binary{Pos: e.Pos, Op: e.Op, X: nullTests(e.X), Y: nullTests(e.Y)}
	case *syntax.IsNull:
		return &syntax.IsNull{Pos: e.Pos, X: nullTests(e.X), Not: e.Not}
	case *syntax.Call:
		call := *e
		call.Args = make([]syntax.Expr, len(e.Args))
		for i, a := range e.Args {
			call.Args[i] = nullTests(a)
		}
		return &call
	case *syntax.Case:
		out := &syntax.Case{Pos: e.Pos, Operand: nullTests(e.Operand), Else: nullTests(e.Else)}
		for _, w := range e.Whens {
			out.Whens = append(out.Whens, syntax.When{Cond: nullTests(w.Cond), Then: nullTests(w.Then)})
		}
		return out
	}
	return e
}

// bareAnalytics makes an analytic function that stands as a condition ask whether
// it has a value, as in streamsql: changed_col(…) is the new value or NULL, and 0
// is a value. Those that answer with a truth stay.
func bareAnalytics(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.Unary:
		if e.Op == "NOT" {
			return &syntax.Unary{Pos: e.Pos, Op: e.Op, X: bareAnalytics(e.X)}
		}
	case *syntax.Binary:
		if e.Op == "AND" || e.Op == "OR" {
			return &syntax.Binary{Pos: e.Pos, Op: e.Op, X: bareAnalytics(e.X), Y: bareAnalytics(e.Y)}
		}
	case *syntax.Call:
		t, _ := functionType(e.Name)
		switch strings.ToLower(e.Name) {
		case "had_changed", "hysteresis":
			return e
		}
		if t == functions.TypeAnalytical {
			return &syntax.IsNull{Pos: e.Pos, X: e, Not: true}
		}
	}
	return e
}
