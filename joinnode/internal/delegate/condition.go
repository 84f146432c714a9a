package delegate

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/rulego/streamsql/functions"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// The filter of streamsql is an expr-lang program over the row whose every
// error means "no": one missing column or one column of another type takes a
// whole OR down with it. conditioner writes the program so that each comparison
// asks for its operands' types first and therefore never fails, or, for an
// expression that the engine computes, with operators that never fail.
type conditioner struct {
	c        *compiler
	computes bool            // for an expression of the engine, not for streamsql's filter
	calls    map[string]bool // the functions of streamsql in it
	err      error
}

// filterCost is the size above which streamsql's filter would refuse a WHERE for
// its number of nodes, such as an IN of hundreds of values.
const filterCost = 400

// condition returns WHERE as an expr-lang condition.
func (c *compiler) condition(e syntax.Expr) (string, error) {
	if cost(e) > filterCost || !filterRuns(e) {
		field, err := c.flag(e)
		for i := range c.plan.computed {
			if f := &c.plan.computed[i]; f.field == field {
				f.where = true
			}
		}
		return field + " == 1", err
	}
	w := &conditioner{c: c}
	n := normalize(e, false)
	text, simple := w.fast(n)
	if !simple {
		text = w.cond(n)
	}
	return text, w.err
}

// filterRuns says that streamsql's filter evaluates e without an error that
// guards could not prevent: calls may fail, CASE evaluates what no guard has
// seen, and its LIKE takes _ for one byte.
func filterRuns(e syntax.Expr) bool {
	runs := true
	syntax.Walk(e, func(e syntax.Expr) bool {
		switch e := e.(type) {
		case *syntax.Call, *syntax.Case:
			runs = false
		case *syntax.Binary:
			runs = runs && e.Op != "||" && e.Op != "%"
		case *syntax.Like:
			text, ok := e.Pattern.(*syntax.Text)
			runs = runs && ok && !strings.Contains(text.Value, "_")
		}
		return runs
	})
	return runs
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// fast writes an AND of comparisons between a column and a literal in the form
// that streamsql evaluates without the expr-lang machine. No guard is needed:
// an error there rejects the row as unknown does.
func (w *conditioner) fast(e syntax.Expr) (string, bool) {
	b, ok := e.(*syntax.Binary)
	if !ok {
		return "", false
	}
	if b.Op == "AND" {
		x, ok1 := w.fast(b.X)
		y, ok2 := w.fast(b.Y)
		return x + " && " + y, ok1 && ok2
	}
	col, ok := b.X.(*syntax.Column)
	if !ok || !isComparison(b.Op) || b.Op == "!=" { // missing != 5 would hold
		return "", false
	}
	path := w.c.localPath(col)
	if len(path) != 1 || reserved(path[0].Name) {
		return "", false
	}
	var lit string
	switch y := b.Y.(type) {
	case *syntax.Number:
		lit = decimal(y.Text)
	case *syntax.Text:
		if strings.ContainsAny(y.Value, "'\\\n\r`&|()") || mangled.MatchString(y.Value) {
			return "", false
		}
		lit = "'" + y.Value + "'"
	default:
		return "", false
	}
	return path[0].Name + " " + exprOp(b.Op) + " " + lit, true
}

func exprOp(op string) string {
	if op == "=" {
		return "=="
	}
	return op
}

func (w *conditioner) cond(e syntax.Expr) string {
	switch e := e.(type) {
	case *syntax.Binary:
		switch e.Op {
		case "AND":
			return "(" + w.cond(e.X) + " && " + w.cond(e.Y) + ")"
		case "OR":
			return "(" + w.cond(e.X) + " || " + w.cond(e.Y) + ")"
		}
		return w.comparison(e)
	case *syntax.IsNull:
		x := w.value(e.X)
		if !w.computes {
			x = w.guarded(e.X) + x // where the guard does not hold, the value is NULL
		}
		if e.Not {
			return "(" + x + " != nil)"
		}
		return "(not (" + x + " != nil))"
	case *syntax.Like:
		x, p := w.value(e.X), w.value(e.Pattern)
		switch {
		case w.computes && e.Not:
			return apply(operatorNames["NOT LIKE"], x, p)
		case w.computes:
			return apply(operatorNames["LIKE"], x, p)
		}
		match := "like_match(" + x + ", " + p + ")"
		if e.Not {
			match = "not " + match
		}
		return "(" + guard(x, "string") + guard(p, "string") + match + ")"
	case *syntax.Bool:
		return strconv.FormatBool(e.Value)
	case *syntax.Null:
		return "false"
	}
	w.fail(e, "it is not a condition")
	return "false"
}

func guard(x, kind string) string { return "type(" + x + `) == "` + kind + `" && ` }

const numeric = `["int", "uint", "float"]`

// comparison writes x op y so that it is false unless both sides have a value
// of the same kind.
func (w *conditioner) comparison(e *syntax.Binary) string {
	x, y := w.value(e.X), w.value(e.Y)
	kx, ky := w.kind(e.X), w.kind(e.Y)
	if kx == "null" || ky == "null" {
		return "false"
	}
	if w.computes {
		return apply(operatorNames[e.Op], x, y)
	}
	pre := w.guarded(e.X) + w.guarded(e.Y)
	test := func(v, kind string) string {
		if kind == "number" {
			return "type(" + v + ") in " + numeric + " && "
		}
		return guard(v, kind)
	}
	switch {
	case kx != "" && ky != "" && kx != ky:
		return "false"
	case ky != "" && kx == "":
		pre += test(x, ky)
	case kx != "" && ky == "":
		pre += test(y, kx)
	case kx == "" && ky == "":
		pre += fmt.Sprintf("((type(%[1]s) in %[3]s && type(%[2]s) in %[3]s) || (type(%[1]s) == type(%[2]s) && %[1]s != nil)) && ", x, y, numeric)
	}
	return "(" + pre + x + " " + exprOp(e.Op) + " " + y + ")"
}

// kind returns the kind of value that e always has, "" when it depends on the row.
func (w *conditioner) kind(e syntax.Expr) string {
	switch e := e.(type) {
	case *syntax.Number:
		return "number"
	case *syntax.Text:
		return "string"
	case *syntax.Bool:
		return "bool"
	case *syntax.Null:
		return "null"
	case *syntax.Unary:
		return "number"
	case *syntax.Binary:
		if e.Op == "||" {
			return "string"
		}
		return "number"
	}
	return ""
}

// guarded returns the tests that must hold before streamsql's filter can evaluate
// e: operands of arithmetic are numbers.
func (w *conditioner) guarded(e syntax.Expr) string {
	var b strings.Builder
	var visit func(e syntax.Expr, arithmetic bool)
	visit = func(e syntax.Expr, arithmetic bool) {
		switch e := e.(type) {
		case *syntax.Column:
			if arithmetic {
				b.WriteString("type(" + w.value(e) + ") in " + numeric + " && ")
			}
		case *syntax.Unary:
			visit(e.X, true)
		case *syntax.Binary:
			visit(e.X, true)
			visit(e.Y, true)
		}
	}
	visit(e, false)
	return b.String()
}

func (w *conditioner) value(e syntax.Expr) string {
	switch e := e.(type) {
	case *syntax.Column:
		return w.column(e)
	case *syntax.Number:
		return decimal(e.Text)
	case *syntax.Text:
		return quoted(e.Value)
	case *syntax.Bool:
		return strconv.FormatBool(e.Value)
	case *syntax.Null:
		return "nil"
	case *syntax.Unary:
		switch {
		case e.Op == "NOT":
			return w.truth(e)
		case e.Op == "+":
			return w.value(e.X)
		case w.computes:
			return apply(operatorNames["neg"], w.value(e.X))
		}
		return "(-" + w.value(e.X) + ")"
	case *syntax.Binary:
		switch e.Op {
		case "||":
			return w.call("concat", e.X, e.Y)
		case "%":
			return w.call("mod", e.X, e.Y)
		case "+", "-", "*", "/":
			x, y := w.value(e.X), w.value(e.Y)
			if w.computes {
				return apply(operatorNames[e.Op], x, y)
			}
			return "(" + x + " " + e.Op + " " + y + ")"
		}
		return w.truth(e)
	case *syntax.Call:
		return w.call(e.Name, e.Args...)
	case *syntax.Case:
		out := "nil"
		if e.Else != nil {
			out = w.result(e.Else)
		}
		for i := len(e.Whens) - 1; i >= 0; i-- {
			out = "(" + w.cond(e.Whens[i].Cond) + " ? " + w.result(e.Whens[i].Then) + " : " + out + ")"
		}
		return out
	case *syntax.IsNull, *syntax.Like, *syntax.In, *syntax.Between:
		return w.truth(e)
	}
	w.fail(e, "it is not a value")
	return "nil"
}

// result writes what CASE gives. A number in the SQL is a float64 there, as all of
// streamsql's numbers are.
func (w *conditioner) result(e syntax.Expr) string {
	text := w.value(e)
	if u, ok := e.(*syntax.Unary); ok {
		e = u.X
	}
	if _, ok := e.(*syntax.Number); ok {
		return "float(" + text + ")"
	}
	return text
}

// truth writes a condition as a value: true, false or NULL.
func (w *conditioner) truth(e syntax.Expr) string {
	return "(" + w.cond(normalize(e, false)) + " ? true : (" + w.cond(normalize(e, true)) + " ? false : nil))"
}

func (w *conditioner) call(name string, args ...syntax.Expr) string {
	name = exprName(name)
	var list []string
	_, known := functions.Get(name)
	if known {
		if w.calls == nil {
			w.calls = map[string]bool{}
		}
		w.calls[name] = true
		list = append(list, failuresField)
	}
	for _, a := range args {
		text := w.value(a)
		if n, ok := a.(*syntax.Number); ok && known && !strings.Contains(n.Text, ".") {
			text += ".0" // numbers of a row are floats mostly, and some functions ask for the same type
		}
		list = append(list, text)
	}
	return apply(name, list...)
}

func apply(name string, args ...string) string { return name + "(" + strings.Join(args, ", ") + ")" }

func (w *conditioner) fail(e syntax.Expr, why string) {
	if w.err == nil {
		w.err = w.c.errorf(e.Position(), ErrUnsupported, "", "this expression cannot stand here: %s", why)
	}
}

// column reads a value of the row, nil when any step of its path is missing.
func (w *conditioner) column(e *syntax.Column) string {
	path := w.c.localPath(e)
	out := path[0].Name
	if reserved(out) {
		out = "$env[" + quoted(out) + "]"
	}
	for _, s := range path[1:] {
		if s.IsIndex {
			out = "get(" + out + ", " + strconv.Itoa(s.Index) + ")"
		} else {
			out = "get(" + out + ", " + quoted(s.Name) + ")"
		}
	}
	return out
}

var exprWords = map[string]bool{"in": true, "not": true, "and": true, "or": true, "let": true, "if": true, "else": true,
	"true": true, "false": true, "nil": true, "matches": true, "contains": true, "startsWith": true, "endsWith": true}

// reserved says that expr-lang would not read name as a variable.
func reserved(name string) bool {
	if !plainName.MatchString(name) || exprWords[name] {
		return true
	}
	if _, ok := functions.Get(strings.ToLower(name)); ok {
		return true
	}
	return functions.GetExprBridge().IsExprLangFunction(name) || exprBuiltins[name]
}

// exprBuiltins are functions of expr-lang that streamsql does not list.
var exprBuiltins = map[string]bool{"all": true, "none": true, "any": true, "one": true, "filter": true, "map": true, "find": true,
	"findIndex": true, "findLast": true, "findLastIndex": true, "count": true, "sum": true, "groupBy": true, "sortBy": true, "reduce": true,
	"len": true, "type": true, "abs": true, "ceil": true, "floor": true, "round": true, "int": true, "float": true, "string": true,
	"trim": true, "trimPrefix": true, "trimSuffix": true, "upper": true, "lower": true, "split": true, "splitAfter": true, "replace": true,
	"repeat": true, "join": true, "indexOf": true, "lastIndexOf": true, "hasPrefix": true, "hasSuffix": true, "max": true, "min": true,
	"mean": true, "median": true, "toJSON": true, "fromJSON": true, "toBase64": true, "fromBase64": true, "now": true, "duration": true,
	"date": true, "timezone": true, "first": true, "last": true, "get": true, "take": true, "keys": true, "values": true, "toPairs": true,
	"fromPairs": true, "reverse": true, "concat": true, "flatten": true, "uniq": true, "sort": true, "bitand": true, "bitor": true,
	"bitxor": true, "bitnand": true, "bitshl": true, "bitshr": true, "bitushr": true, "bitnot": true, "like_match": true,
	"is_null": true, "is_not_null": true}

// mangled finds text that streamsql rewrites even inside a string literal.
var mangled = regexp.MustCompile("(?i)like|\\bis\\b|`")

// quoted writes an expr-lang string that streamsql's textual preprocessing does
// not touch.
func quoted(s string) string {
	q := strconv.Quote(s)
	if !mangled.MatchString(q) {
		return q
	}
	return strings.NewReplacer("l", `\u006c`, "L", `\u004c`, "i", `\u0069`, "I", `\u0049`, "`", `\u0060`).Replace(q)
}

// decimal writes a number without an exponent, which streamsql's lexer does
// not read.
func decimal(text string) string {
	if !strings.ContainsAny(text, "eE") {
		return text
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
