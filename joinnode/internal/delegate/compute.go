package delegate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// computed is a hidden field that the engine adds to a row before streamsql sees
// it. Either it is the value of an expression: streamsql's own CASE turns into
// NULL whenever a condition meets NULL, a boolean or parentheses, most conditions
// as values are NULL for it, and its filter rejects a row for any error. Or it
// repeats a field whose path streamsql cannot read in that place.
type computed struct {
	field   string
	path    []syntax.Step // the field to repeat; nil for an expression
	program *vm.Program
	text    string // of program
	shown   string // what result columns show for it without an alias, "" for their number
	where   bool   // its value is 1 where WHERE keeps the row
}

// compute returns the hidden field that will hold the value of e; ok is false
// for expressions over more than the row, which streamsql must compute.
func (c *compiler) compute(e syntax.Expr) (field string, ok bool, err error) {
	if c.plan.Kind == CEP || c.guards || !overRow(e) {
		return "", false, nil
	}
	field, err = c.onRow(e)
	return field, err == nil, err
}

// overRow says that e depends on nothing but the row.
func overRow(e syntax.Expr) bool { return !containsAggregate(e) && !containsAnalytic(e) }

// onRow makes e, an expression over the row alone, a computed field.
func (c *compiler) onRow(e syntax.Expr) (string, error) {
	w := &conditioner{c: c, computes: true}
	var text string
	if isCondition(e) {
		text = w.truth(e)
	} else {
		text = w.value(rewrite(e))
	}
	return c.addComputed(e, text, w)
}

// flag makes e, a condition over the row alone, a computed field that is 1 where
// e holds and 0 where it does not or is unknown: streamsql compares numbers in
// all its evaluators alike, and fastest.
func (c *compiler) flag(e syntax.Expr) (string, error) {
	w := &conditioner{c: c, computes: true}
	return c.addComputed(e, "("+w.cond(normalize(e, false))+") ? 1 : 0", w)
}

func (c *compiler) addComputed(e syntax.Expr, text string, w *conditioner) (string, error) {
	if w.err != nil {
		return "", w.err
	}
	for _, f := range c.plan.computed {
		if f.path == nil && f.text == text && !f.where {
			return f.field, nil
		}
	}
	options := append(operators(), expr.AllowUndefinedVariables(), expr.MaxNodes(0))
	program, err := expr.Compile(text, append(options, calls(w.calls)...)...)
	if err != nil {
		return "", c.unsupported(e.Position(), "", "this expression does not compile: %s", firstLine(err))
	}
	return c.addField(computed{program: program, text: text}), nil
}

func (c *compiler) addField(f computed) string {
	f.field = fmt.Sprintf("%sc%d", hiddenPrefix, len(c.plan.computed))
	c.plan.computed = append(c.plan.computed, f)
	return f.field
}

// mirror returns a hidden field that repeats the one at path.
func (c *compiler) mirror(path []syntax.Step) string {
	for _, f := range c.plan.computed {
		if f.path != nil && slices.EqualFunc(f.path, path, sameStep) {
			return f.field
		}
	}
	return c.addField(computed{path: path})
}

func sameStep(a, b syntax.Step) bool {
	return a.Name == b.Name && a.IsIndex == b.IsIndex && a.Index == b.Index
}

// arithmetic makes e, an operation within a call, a computed field: among numbers
// streamsql takes NULL for an empty text there, so that NULL + 1 is 1.
func (c *compiler) arithmetic(e *syntax.Binary) (string, error) {
	field, err := c.onRow(e)
	if err != nil {
		return "", err
	}
	for i := range c.plan.computed {
		if c.plan.computed[i].field == field {
			c.plan.computed[i].shown = syntax.PrintExpr(e)
		}
	}
	return field, nil
}

// display puts what hidden fields stand for back into text.
func (c *compiler) display(text string) string {
	if !strings.Contains(text, hiddenPrefix) {
		return text
	}
	var names []string
	for i := len(c.plan.computed) - 1; i >= 0; i-- { // c12 before c1
		switch f := c.plan.computed[i]; {
		case f.path != nil:
			names = append(names, f.field, pathText(f.path))
		case f.shown != "":
			names = append(names, f.field, f.shown)
		}
	}
	return strings.NewReplacer(names...).Replace(text)
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

// failures are the errors of one row's expressions. A failed call is NULL.
type failures struct {
	n        int
	last     error
	rejected bool // WHERE does not keep the row, and had an error
}

// evaluate fills the hidden fields of row.
func (p *Plan) evaluate(row map[string]any) (f failures) {
	if len(p.computed) == 0 {
		return f
	}
	row[failuresField] = &f
	for _, c := range p.computed {
		if c.path != nil {
			row[c.field] = lookup(row, c.path)
			continue
		}
		before := f.n
		v, err := expr.Run(c.program, row)
		if err != nil {
			v = nil
			f.add(err)
		}
		row[c.field] = v
		f.rejected = f.rejected || c.where && f.n > before && v != 1
	}
	delete(row, failuresField)
	return f
}

func (f *failures) add(err error) {
	f.n++
	f.last = err
}
