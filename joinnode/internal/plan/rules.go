package plan

import (
	"strings"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// A rule refuses one combination of clauses (docs/sql.md, "What a join does
// not take").
type rule struct {
	// find returns where the statement breaks the rule; false when it does not.
	find func(*syntax.Select) (syntax.Pos, string, bool)
	// msg may hold one %s for what find returned.
	msg  string
	hint string
}

const aggregateSentence = "WITHIN JOIN cannot be combined with GROUP BY/window/aggregation"

// rules is the whole compile-time table, in the order in which a statement is
// judged. Forms that are broken in themselves (WITHIN twice, ≤ 0, without unit)
// never get here: the parser refuses them.
func rules() []rule {
	const aggregateHint = "aggregate the JOIN output in a downstream query: wire this node's stream_event to a second x/streamAggregator"
	return []rule{
		{find: joinKind(syntax.RightJoin), msg: "RIGHT JOIN is not supported", hint: "swap the two streams and use LEFT JOIN"},
		{find: joinKind(syntax.FullJoin), msg: "FULL JOIN is not supported", hint: "use LEFT JOIN, or two queries"},
		{find: joinKind(syntax.CrossJoin), msg: "CROSS JOIN is not supported", hint: "use JOIN … WITHIN … ON with a key equality"},
		{find: commaSource, msg: "FROM takes one stream here, found a comma before %s", hint: "use JOIN … WITHIN … ON …"},
		{find: mixedJoin, msg: "a WITHIN join cannot be mixed with the stream-table join of %s in one query",
			hint: "add WITHIN if it is a stream; if it is a table, enrich in a downstream query"},
		{find: missingOn, msg: "JOIN %s needs ON with a key equality", hint: "write ON a.key = b.key"},
		{find: matchRecognize, msg: "MATCH_RECOGNIZE cannot be combined with a WITHIN join", hint: "run the pattern in a downstream query"},
		{find: clause(func(s *syntax.Select) (syntax.Pos, bool) { return s.GroupPos, len(s.GroupBy) > 0 }), msg: aggregateSentence, hint: aggregateHint},
		{find: callOf(eval.Aggregate), msg: aggregateSentence + " (found %s)", hint: aggregateHint},
		{find: callOf(eval.Window), msg: aggregateSentence + " (found %s)", hint: aggregateHint},
		{find: overClause, msg: "analytic function %s … OVER cannot be combined with a WITHIN join: its order of evaluation is undefined", hint: "use it in a downstream query"},
		{find: callOf(eval.Analytic), msg: "analytic function %s cannot be combined with a WITHIN join: its order of evaluation is undefined", hint: "use it in a downstream query"},
		{find: callOf(eval.Unnest), msg: "unnest (%s) cannot be combined with a WITHIN join", hint: "expand rows in a downstream query"},
		{find: clause(func(s *syntax.Select) (syntax.Pos, bool) { return s.HavePos, s.Having != nil }), msg: "HAVING cannot be combined with a WITHIN join", hint: "use WHERE"},
		{find: clause(func(s *syntax.Select) (syntax.Pos, bool) { return s.Distinct, s.Distinct != (syntax.Pos{}) }), msg: "DISTINCT cannot be combined with a WITHIN join", hint: "remove duplicates in a downstream query"},
		{find: clause(func(s *syntax.Select) (syntax.Pos, bool) { return s.LimitPos, s.Limit != nil }), msg: "LIMIT cannot be combined with a WITHIN join: its results have no end", hint: "limit in the consumer"},
	}
}

// check applies the table.
func check(stmt *syntax.Select, sql string) error {
	for _, r := range rules() {
		pos, what, found := r.find(stmt)
		if !found {
			continue
		}
		if pos == (syntax.Pos{}) {
			pos = stmt.Pos
		}
		return newError(sql, pos, ErrUnsupported, r.hint, "%s", strings.Replace(r.msg, "%s", what, 1))
	}
	return nil
}

func joinKind(kind syntax.JoinKind) func(*syntax.Select) (syntax.Pos, string, bool) {
	return func(s *syntax.Select) (syntax.Pos, string, bool) {
		for i := range s.Joins {
			if s.Joins[i].Kind == kind {
				return s.Joins[i].Pos, "", true
			}
		}
		return syntax.Pos{}, "", false
	}
}

func commaSource(s *syntax.Select) (syntax.Pos, string, bool) {
	if len(s.More) == 0 {
		return syntax.Pos{}, "", false
	}
	return s.More[0].Pos, s.More[0].Name, true
}

func mixedJoin(s *syntax.Select) (syntax.Pos, string, bool) {
	for i := range s.Joins {
		if s.Joins[i].Within == nil {
			return s.Joins[i].Source.Pos, s.Joins[i].Source.Name, true
		}
	}
	return syntax.Pos{}, "", false
}

func missingOn(s *syntax.Select) (syntax.Pos, string, bool) {
	for i := range s.Joins {
		if s.Joins[i].On == nil {
			return s.Joins[i].Source.Pos, s.Joins[i].Source.Name, true
		}
	}
	return syntax.Pos{}, "", false
}

func matchRecognize(s *syntax.Select) (syntax.Pos, string, bool) {
	if s.Match == nil {
		return syntax.Pos{}, "", false
	}
	return s.Match.Span.Start, "", true
}

func clause(present func(*syntax.Select) (syntax.Pos, bool)) func(*syntax.Select) (syntax.Pos, string, bool) {
	return func(s *syntax.Select) (syntax.Pos, string, bool) {
		pos, ok := present(s)
		return pos, "", ok
	}
}

// callOf finds the first call of a function of the given kind.
func callOf(kind eval.FuncKind) func(*syntax.Select) (syntax.Pos, string, bool) {
	return findCall(func(c *syntax.Call) bool { return eval.Classify(c.Name).Kind == kind })
}

func overClause(s *syntax.Select) (syntax.Pos, string, bool) {
	return findCall(func(c *syntax.Call) bool { return c.Over != nil })(s)
}

func findCall(match func(*syntax.Call) bool) func(*syntax.Select) (syntax.Pos, string, bool) {
	return func(s *syntax.Select) (pos syntax.Pos, name string, found bool) {
		for _, e := range expressions(s) {
			syntax.Walk(e, func(x syntax.Expr) bool {
				if c, ok := x.(*syntax.Call); ok && !found && match(c) {
					pos, name, found = c.Pos, c.Name, true
				}
				return !found
			})
		}
		return pos, name, found
	}
}

// expressions lists every expression of the statement that is evaluated per row.
func expressions(s *syntax.Select) []syntax.Expr {
	var all []syntax.Expr
	for i := range s.Items {
		all = append(all, s.Items[i].Expr)
	}
	for i := range s.Joins {
		if s.Joins[i].On != nil {
			all = append(all, s.Joins[i].On)
		}
	}
	for _, e := range []syntax.Expr{s.Where, s.Having} {
		if e != nil {
			all = append(all, e)
		}
	}
	all = append(all, s.GroupBy...)
	for i := range s.OrderBy {
		all = append(all, s.OrderBy[i].Expr)
	}
	return all
}
