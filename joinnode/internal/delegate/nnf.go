package delegate

import "github.com/streamjoin/streamjoin/joinnode/internal/syntax"

// Negation normal form: NOT disappears into the comparisons, IN and BETWEEN
// become comparisons. In this form a condition holds in SQL exactly when it
// holds with "unknown" read as false at every comparison, because AND and OR
// are monotone; that lets a two-valued evaluator keep SQL's three-valued WHERE.

var negated = map[string]string{"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}

// normalize returns e, or NOT e, in negation normal form.
func normalize(e syntax.Expr, not bool) syntax.Expr {
	switch e := e.(type) {
	case *syntax.Unary:
		if e.Op == "NOT" {
			return normalize(e.X, !not)
		}
	case *syntax.Binary:
		switch e.Op {
		case "AND", "OR":
			op := e.Op
			if not {
				op = map[string]string{"AND": "OR", "OR": "AND"}[op]
			}
			return &syntax.Binary{Pos: e.Pos, Op: op, X: normalize(e.X, not), Y: normalize(e.Y, not)}
		}
		if op, ok := negated[e.Op]; ok {
			if !not {
				op = e.Op
			}
			return &syntax.Binary{Pos: e.Pos, Op: op, X: rewrite(e.X), Y: rewrite(e.Y)}
		}
	case *syntax.IsNull:
		return &syntax.IsNull{Pos: e.Pos, X: rewrite(e.X), Not: e.Not != not}
	case *syntax.Like:
		return &syntax.Like{Pos: e.Pos, X: rewrite(e.X), Pattern: rewrite(e.Pattern), Not: e.Not != not}
	case *syntax.Between:
		lo := &syntax.Binary{Pos: e.Pos, Op: ">=", X: e.X, Y: e.Lo}
		hi := &syntax.Binary{Pos: e.Pos, Op: "<=", X: e.X, Y: e.Hi}
		return normalize(&syntax.Binary{Pos: e.Pos, Op: "AND", X: lo, Y: hi}, e.Not != not)
	case *syntax.In:
		var any syntax.Expr
		for _, v := range e.List {
			eq := &syntax.Binary{Pos: e.Pos, Op: "=", X: e.X, Y: v}
			if any == nil {
				any = eq
			} else {
				any = &syntax.Binary{Pos: e.Pos, Op: "OR", X: any, Y: eq}
			}
		}
		if any != nil {
			return normalize(any, e.Not != not)
		}
	case *syntax.Bool:
		return &syntax.Bool{Pos: e.Pos, Value: e.Value != not}
	case *syntax.Null:
		return e // unknown either way
	}
	// A value that is itself the condition: true selects, NULL does not.
	return &syntax.Binary{Pos: e.Position(), Op: "=", X: rewrite(e), Y: &syntax.Bool{Pos: e.Position(), Value: !not}}
}

// rewrite returns e with the conditions inside CASE normalized.
func rewrite(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.Unary:
		return &syntax.Unary{Pos: e.Pos, Op: e.Op, X: rewrite(e.X)}
	case *syntax.Binary:
		return &syntax.Binary{Pos: e.Pos, Op: e.Op, X: rewrite(e.X), Y: rewrite(e.Y)}
	case *syntax.Call:
		call := *e
		call.Args = nil
		for _, a := range e.Args {
			call.Args = append(call.Args, rewrite(a))
		}
		return &call
	case *syntax.Case:
		out := &syntax.Case{Pos: e.Pos}
		for _, w := range e.Whens {
			cond := w.Cond
			if e.Operand != nil {
				cond = &syntax.Binary{Pos: cond.Position(), Op: "=", X: e.Operand, Y: cond}
			}
			out.Whens = append(out.Whens, syntax.When{Cond: normalize(cond, false), Then: rewrite(w.Then)})
		}
		if e.Else != nil {
			out.Else = rewrite(e.Else)
		}
		return out
	}
	return e
}

func isComparison(op string) bool { _, ok := negated[op]; return ok }
