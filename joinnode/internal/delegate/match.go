package delegate

import (
	"strings"

	"github.com/rulego/streamsql/functions"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// MATCH_RECOGNIZE is streamsql's. Its expressions in DEFINE and MEASURES have an
// evaluator of their own, which reads on past what it does not know (NOT, IN,
// BETWEEN, doubled quotes, nested fields), and then the variable never matches.
// So whatever depends on one row alone is computed here before streamsql sees the
// row, and only what looks at several rows is left to it, in the forms that it
// computes as SQL does; other forms are refused.

// matcher writes the expressions of one MATCH_RECOGNIZE.
type matcher struct {
	c         *compiler
	variables map[string]bool
	several   bool   // there is more than one variable
	defines   string // the variable whose condition is being written, "" in MEASURES
	written   *matchExpr
}

// match writes the MATCH_RECOGNIZE clause.
func (c *compiler) match() (string, error) {
	words := c.matchWords()
	clauses := matchClauses(words)
	m := &matcher{c: c}
	m.variables, m.several = variables(clauses)
	parts := make([]string, len(clauses))
	for i, cl := range clauses {
		var err error
		switch cl.keyword {
		case "DEFINE":
			parts[i], err = m.list(cl, m.define)
		case "MEASURES":
			parts[i], err = m.list(cl, m.measure)
		case "PARTITION", "ORDER":
			parts[i], err = m.fields(cl)
		default:
			parts[i] = joined(cl.words)
		}
		if err != nil {
			return "", err
		}
	}
	return "MATCH_RECOGNIZE (" + strings.Join(parts, " ") + ")", nil
}

func (m *matcher) list(cl matchClause, item func([]word) (string, error)) (string, error) {
	items := splitItems(cl.words[1:])
	texts := make([]string, len(items))
	for i, words := range items {
		var err error
		if texts[i], err = item(words); err != nil {
			return "", err
		}
	}
	return cl.keyword + " " + strings.Join(texts, ", "), nil
}

// define writes A AS condition.
func (m *matcher) define(words []word) (string, error) {
	if len(words) < 3 || !words[1].is("AS") {
		return joined(words), nil // streamsql says what is wrong
	}
	m.defines = strings.Trim(words[0].raw, "`")
	if !m.variables[m.defines] {
		m.c.plan.Warnings = append(m.c.plan.Warnings, "DEFINE "+m.defines+": PATTERN has no such variable")
	}
	text, err := m.write(words[2:], func(e syntax.Expr) (string, error) { return m.cond(normalize(e, false)) })
	return words[0].raw + " AS " + text, err
}

// measure writes expression AS name.
func (m *matcher) measure(words []word) (string, error) {
	n := len(words)
	if n < 3 || !words[n-2].is("AS") {
		return joined(words), nil
	}
	m.defines = ""
	text, err := m.write(words[:n-2], m.value)
	return text + " AS " + words[n-1].raw, err
}

func (m *matcher) write(words []word, as func(syntax.Expr) (string, error)) (string, error) {
	e, err := m.c.expression(words)
	if err != nil {
		return "", err
	}
	if cost(e.expr) > maxCost {
		return "", m.c.unsupported(e.expr.Position(), "split it over several variables", "the expression is too complex")
	}
	m.written = e
	if err := m.check(e.expr); err != nil {
		return "", err
	}
	return as(e.expr)
}

// fields writes PARTITION BY and ORDER BY, whose fields streamsql reads at the
// top of the row only.
func (m *matcher) fields(cl matchClause) (string, error) {
	items := splitItems(cl.words[2:])
	texts := make([]string, len(items))
	for i, words := range items {
		order := ""
		if n := len(words); n > 1 && (words[n-1].is("ASC") || words[n-1].is("DESC")) {
			words, order = words[:n-1], " "+words[n-1].raw
		}
		texts[i] = joined(words) + order
		if len(words) == 0 {
			continue
		}
		e, err := m.c.expression(words)
		if err != nil {
			return "", err
		}
		col, ok := e.expr.(*syntax.Column)
		if !ok {
			return "", m.c.unsupported(e.expr.Position(), "", "%s BY of a pattern takes fields", cl.keyword)
		}
		path := m.c.localPath(col)
		if len(path) == 1 && identifier.MatchString(path[0].Name) {
			texts[i] = path[0].Name + order
		} else {
			texts[i] = m.c.mirror(path) + order
		}
	}
	return cl.keyword + " BY " + strings.Join(texts, ", "), nil
}

// check refuses calls that pattern matching does not know.
func (m *matcher) check(e syntax.Expr) (err error) {
	syntax.Walk(e, func(e syntax.Expr) bool {
		call, ok := e.(*syntax.Call)
		if !ok || err != nil {
			return err == nil
		}
		t, known := functionType(call.Name)
		switch {
		case call.Distinct || call.Over != nil:
			err = m.c.unsupported(call.Pos, "", "DISTINCT and OVER do not work in MATCH_RECOGNIZE")
		case navigates(call):
		case !known:
			err = m.c.unknownFunction(call)
		case t == functions.TypeAnalytical:
			err = m.c.unsupported(call.Pos, "use PREV, NEXT, FIRST or LAST", "%s does not work in MATCH_RECOGNIZE", call.Name)
		case t == functions.TypeAggregation || t == functions.TypeWindow:
			err = m.c.unsupported(call.Pos, "use COUNT, SUM, AVG, MIN or MAX", "%s does not work in MATCH_RECOGNIZE", call.Name)
		}
		return err == nil
	})
	return err
}

// single says that e depends on the current row alone.
func (m *matcher) single(e syntax.Expr) bool {
	single := true
	syntax.Walk(e, func(e syntax.Expr) bool {
		switch e := e.(type) {
		case *syntax.Call:
			single = single && !navigates(e)
		case *syntax.Column:
			single = single && !m.ofVariable(e)
		}
		return single
	})
	return single
}

// ofVariable says that col is A.field of a variable A.
func (m *matcher) ofVariable(col *syntax.Column) bool {
	return len(col.Path) > 1 && m.variables[col.Path[0].Name]
}

// cond writes a normalized condition.
func (m *matcher) cond(e syntax.Expr) (string, error) {
	if m.single(e) {
		field, err := m.c.flag(e)
		return field + " = 1", err
	}
	switch e := e.(type) {
	case *syntax.Binary:
		if test := nullTest(e); test != nil {
			return m.cond(test)
		}
		x, y := m.value, m.value
		if e.Op == "AND" || e.Op == "OR" {
			x, y = m.cond, m.cond
		}
		left, err := x(e.X)
		if err != nil {
			return "", err
		}
		right, err := y(e.Y)
		if err != nil {
			return "", err
		}
		if e.Op == "AND" || e.Op == "OR" {
			return "(" + left + " " + e.Op + " " + right + ")", nil
		}
		guards, err := m.guards(e)
		return "(" + guards + left + " " + e.Op + " " + right + ")", err
	case *syntax.IsNull:
		x, err := m.value(e.X)
		if e.Not {
			return "(" + x + " IS NOT NULL)", err
		}
		return "(" + x + " IS NULL)", err
	case *syntax.Like:
		if p, ok := e.Pattern.(*syntax.Text); ok && !e.Not && !strings.ContainsAny(p.Value, "'_\\") {
			x, err := m.value(e.X)
			return "(" + x + " LIKE '" + p.Value + "')", err
		}
		return "", m.refuse(e, "LIKE with _, quotes or NOT")
	}
	return "", m.refuse(e, "this condition")
}

// nullTest returns is_null(x) as IS NULL, nil for another condition.
func nullTest(e *syntax.Binary) syntax.Expr {
	call, ok := e.X.(*syntax.Call)
	want, isBool := e.Y.(*syntax.Bool)
	if !ok || !isBool || e.Op != "=" || len(call.Args) != 1 {
		return nil
	}
	switch strings.ToLower(call.Name) {
	case "is_null":
		return &syntax.IsNull{Pos: call.Pos, X: call.Args[0], Not: !want.Value}
	case "is_not_null":
		return &syntax.IsNull{Pos: call.Pos, X: call.Args[0], Not: want.Value}
	}
	return nil
}

// refuse says that streamsql has no form of e over several rows.
func (m *matcher) refuse(e syntax.Expr, what string) error {
	return m.c.unsupported(e.Position(), "compare with = < > IS NULL, AND and OR; conditions over one row can be anything",
		"%s over several rows of a match is not supported: streamsql would never match", what)
}

// guards asks for NULL in the arguments of calls: streamsql takes a call that
// fails for a failure of the whole condition.
func (m *matcher) guards(e syntax.Expr) (string, error) {
	var b strings.Builder
	var err error
	var visit func(e syntax.Expr, within bool)
	visit = func(e syntax.Expr, within bool) {
		if err != nil {
			return
		}
		leaf := m.single(e)
		switch e := e.(type) {
		case *syntax.Unary:
			visit(e.X, within)
			return
		case *syntax.Binary:
			visit(e.X, within || e.Op == "%")
			visit(e.Y, within || e.Op == "%")
			return
		case *syntax.Column:
			leaf = true
		case *syntax.Call:
			if navigates(e) {
				leaf = true
				break
			}
			for _, a := range e.Args {
				visit(a, failsOnNull(e.Name))
			}
			return
		}
		if _, number := e.(*syntax.Number); leaf && within && !number {
			var text string
			if text, err = m.value(e); err == nil {
				b.WriteString(text + " IS NOT NULL AND ")
			}
		}
	}
	visit(e, false)
	return b.String(), err
}

// failsOnNull says that a function of NULL is an error.
func failsOnNull(name string) bool {
	t, _ := functionType(name)
	switch strings.ToLower(name) {
	case "greatest", "least":
		return false
	}
	return t == functions.TypeMath || t == functions.TypeDateTime
}

// plainText finds texts that all of streamsql's lexers read alike.
func plainText(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r > '~' || r < ' ' || strings.ContainsRune("'\"`\\()", r)
	})
}

// value writes an expression.
func (m *matcher) value(e syntax.Expr) (string, error) {
	switch e := e.(type) {
	case *syntax.Number:
		return decimal(e.Text), nil
	case *syntax.Text:
		if plainText(e.Value) {
			return "'" + e.Value + "'", nil
		}
	case *syntax.Column:
		if m.ofVariable(e) {
			return m.variable(e.Path[0].Name, e)
		}
		return m.c.mirror(m.c.localPath(e)), nil // there even when the row has no such field
	}
	if m.single(e) {
		return m.c.onRow(e)
	}
	switch e := e.(type) {
	case *syntax.Unary:
		if e.Op == "-" {
			x, err := m.value(e.X)
			return "(0 - " + x + ")", err
		}
		if e.Op == "+" {
			return m.value(e.X)
		}
	case *syntax.Binary:
		switch e.Op {
		case "%":
			return m.call("mod", e.X, e.Y)
		case "||":
			return m.call("concat", e.X, e.Y)
		}
		if binding[e.Op] > 0 {
			x, err := m.value(e.X)
			if err != nil {
				return "", err
			}
			y, err := m.value(e.Y)
			return "(" + x + " " + e.Op + " " + y + ")", err
		}
	case *syntax.Call:
		if navigates(e) {
			return m.navigation(e)
		}
		name := strings.ToLower(e.Name)
		if strings.HasPrefix(name, "is") || strings.HasPrefix(name, "or") { // streamsql reads the operators IS and OR
			return "", m.refuse(e, "the function "+e.Name)
		}
		return m.call(name, e.Args...)
	case *syntax.Case:
		if e == m.written.expr {
			return m.caseText(rewrite(e).(*syntax.Case))
		}
	}
	return "", m.refuse(e, "this expression")
}

func (m *matcher) call(name string, args ...syntax.Expr) (string, error) {
	texts := make([]string, len(args))
	for i, a := range args {
		var err error
		if texts[i], err = m.value(a); err != nil {
			return "", err
		}
	}
	return apply(name, texts...), nil
}

func (m *matcher) caseText(e *syntax.Case) (string, error) {
	var b strings.Builder
	b.WriteString("CASE")
	for _, w := range e.Whens {
		x, err := m.cond(w.Cond)
		if err != nil {
			return "", err
		}
		y, err := m.value(w.Then)
		if err != nil {
			return "", err
		}
		b.WriteString(" WHEN " + x + " THEN " + y)
	}
	if e.Else != nil {
		y, err := m.value(e.Else)
		if err != nil {
			return "", err
		}
		b.WriteString(" ELSE " + y)
	}
	return b.String() + " END", nil
}
