package delegate

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"
	"github.com/rulego/streamsql/functions"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// computed is an expression that the engine evaluates on a row before streamsql
// sees it, into a hidden field. streamsql's own CASE turns into NULL whenever a
// condition meets NULL, a boolean or parentheses, and most conditions as values
// are NULL for it.
type computed struct {
	field   string
	program *vm.Program
}

// compute returns the hidden field that will hold the value of e; ok is false
// for expressions over more than the row, which streamsql must compute.
func (c *compiler) compute(e syntax.Expr) (field string, ok bool, err error) {
	if c.plan.Kind == CEP || c.guards || containsAggregate(e) || containsAnalytic(e) {
		return "", false, nil
	}
	field, err = c.onRow(e)
	return field, err == nil, err
}

// onRow makes e, an expression over the row alone, a computed field.
func (c *compiler) onRow(e syntax.Expr) (string, error) {
	w := &conditioner{c: c}
	var text string
	if isCondition(e) {
		text = "(" + w.cond(normalize(e, false)) + ") ? true : ((" + w.cond(normalize(e, true)) + ") ? false : nil)"
	} else {
		text = w.value(rewrite(e))
	}
	if w.err != nil {
		return "", w.err
	}
	program, err := expr.Compile(text, append(functions.GetExprBridge().RegisterStreamSQLFunctionsToExpr(),
		expr.AllowUndefinedVariables(), expr.MaxNodes(0), expr.Function("like_match", likeMatch))...)
	if err != nil {
		return "", c.unsupported(e.Position(), "", "this expression does not compile: %s", firstLine(err))
	}
	field := fmt.Sprintf("%sc%d", hiddenPrefix, len(c.plan.computed))
	c.plan.computed = append(c.plan.computed, computed{field, program})
	return field, nil
}

// isCondition says that e is a condition and not a value.
func isCondition(e syntax.Expr) bool {
	switch e := e.(type) {
	case *syntax.IsNull, *syntax.Like, *syntax.In, *syntax.Between:
		return true
	case *syntax.Unary:
		return e.Op == "NOT"
	case *syntax.Binary:
		return e.Op == "AND" || e.Op == "OR" || isComparison(e.Op)
	}
	return false
}

// evaluate fills the hidden fields of row. A failed evaluation is NULL; last is the
// error of the last of them.
func (p *Plan) evaluate(row map[string]any) (failed int, last error) {
	for _, c := range p.computed {
		v, err := expr.Run(c.program, row)
		if err != nil {
			v, last = nil, err
			failed++
		}
		row[c.field] = v
	}
	return failed, last
}

// likeMatch is LIKE by characters.
func likeMatch(params ...any) (any, error) {
	if len(params) != 2 {
		return nil, fmt.Errorf("like_match takes 2 arguments")
	}
	text, ok1 := params[0].(string)
	pattern, ok2 := params[1].(string)
	return ok1 && ok2 && like([]rune(text), []rune(pattern)), nil
}

// like matches % against any run of characters and _ against one, going back to
// the last % only, which is enough because an earlier one can take no more.
func like(text, pattern []rune) bool {
	t, p, star, mark := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '%':
			star, mark = p, t
			p++
		case p < len(pattern) && (pattern[p] == '_' || pattern[p] == text[t]):
			t++
			p++
		case star >= 0:
			mark++
			t, p = mark, star+1
		default:
			return false
		}
	}
	return strings.Trim(string(pattern[p:]), "%") == ""
}
