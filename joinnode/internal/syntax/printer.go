package syntax

import (
	"strconv"
	"strings"
)

// Print writes a statement in its canonical form: on one line, keywords in
// upper case, clauses in StreamSQL's order, parentheses and quotes only where
// they are needed. Parsing the result gives the same tree but for positions.
// The line is broken only inside names and strings that have a line break.
//
// Where two spellings mean the same, the one that StreamSQL reads as well is
// preferred: "it's" over 'it”s', s['odd key'] over s.`odd key`.
func Print(q Query) string {
	var p printer
	p.query(q)
	return p.String()
}

// PrintExpr writes an expression as Print does.
func PrintExpr(e Expr) string {
	var p printer
	p.expr(e, lowest)
	return p.String()
}

type printer struct{ strings.Builder }

func (p *printer) write(parts ...string) {
	for _, s := range parts {
		p.WriteString(s)
	}
}

func (p *printer) selectStatement(s *Select) {
	p.write("SELECT ")
	if s.Distinct.Line != 0 {
		p.write("DISTINCT ")
	}
	for i, item := range s.Items {
		p.comma(i)
		p.expr(item.Expr, lowest)
		if item.Alias != "" {
			p.write(" AS ", quoteAlias(item.Alias))
		}
	}
	p.write(" FROM ")
	p.source(s.From)
	for _, src := range s.More {
		p.write(", ")
		p.source(src)
	}
	for i := range s.Joins {
		p.write(" ")
		p.join(&s.Joins[i])
	}
	if s.Match != nil {
		p.write(" ", s.Match.Text)
	}
	p.clause(" WHERE ", s.Where)
	p.list(" GROUP BY ", s.GroupBy)
	p.clause(" HAVING ", s.Having)
	p.with(s.With)
	p.orderBy(s.OrderBy)
	p.clause(" LIMIT ", s.Limit)
}

func (p *printer) orderBy(list []Order) {
	for i, o := range list {
		if i == 0 {
			p.write(" ORDER BY ")
		}
		p.comma(i)
		p.expr(o.Expr, lowest)
		if o.Desc {
			p.write(" DESC")
		}
		if o.NullsLast {
			p.write(" NULLS LAST")
		}
	}
}

func (p *printer) comma(i int) {
	if i > 0 {
		p.write(", ")
	}
}

func (p *printer) clause(keyword string, e Expr) {
	if e != nil {
		p.write(keyword)
		p.expr(e, lowest)
	}
}

func (p *printer) list(opening string, list []Expr) {
	for i, e := range list {
		if i == 0 {
			p.write(opening)
		}
		p.comma(i)
		p.expr(e, lowest)
	}
}

func (p *printer) source(s Source) {
	p.name(s.Parts)
	if s.Alias != "" {
		p.write(" AS ", quoteAlias(s.Alias))
	}
}

func (p *printer) join(j *Join) {
	if j.Kind != InnerJoin || j.Explicit {
		p.write(j.Kind.String(), " ")
	}
	if j.Temporal {
		p.write("TEMPORAL ")
	}
	p.write("JOIN ")
	p.source(j.Source)
	if j.Within != nil {
		p.write(" WITHIN ", durationText(j.Within.D))
	}
	p.clause(" ON ", j.On)
}

func (p *printer) with(options []Option) {
	if len(options) == 0 {
		return
	}
	p.write(" WITH (")
	for i, o := range options {
		p.comma(i)
		p.write(o.Name, " = ")
		p.value(o)
	}
	p.write(")")
}

func (p *printer) value(o Option) {
	if o.Quote {
		p.write(quoteText(o.Value))
	} else {
		p.write(o.Value)
	}
}

// expr writes e, in parentheses if it binds less tightly than around requires.
func (p *printer) expr(e Expr, around precedence) {
	if level(e) < around {
		p.write("(")
		defer p.write(")")
	}
	switch e := e.(type) {
	case *Column:
		p.path(e.Path)
	case *Star:
		if e.Parent {
			p.write(parentRow, ".")
		} else if e.Qualifier != "" {
			p.write(quoteName(e.Qualifier), ".")
		}
		p.write("*")
	case *Number:
		p.write(e.Text)
	case *Text:
		p.write(quoteText(e.Value))
	case *Bool:
		p.write(strconv.FormatBool(e.Value)) // StreamSQL knows only the lower-case spelling
	case *Null:
		p.write("NULL")
	case *Interval:
		p.write("INTERVAL ", e.Text)
	case *Unary:
		p.unary(e)
	case *Binary:
		p.binary(e)
	case *IsNull:
		p.expr(e.X, comparison)
		p.write(" IS ", not(e.Not), "NULL")
	case *In:
		p.expr(e.X, comparison)
		p.list(" "+not(e.Not)+"IN (", e.List)
		p.write(")")
	case *Between:
		p.expr(e.X, comparison)
		p.write(" ", not(e.Not), "BETWEEN ")
		p.expr(e.Lo, additive)
		p.write(" AND ")
		p.expr(e.Hi, additive)
	case *Like:
		p.expr(e.X, comparison)
		p.write(" ", not(e.Not), "LIKE ")
		p.expr(e.Pattern, additive)
	case *Case:
		p.caseExpression(e)
	case *Call:
		p.call(e)
	case *GlobalWindow:
		p.write("GLOBAL WINDOW")
		p.clause(" TRIGGER WHEN ", e.Trigger)
	}
}

// level returns how tightly e binds as a whole.
func level(e Expr) precedence {
	switch e := e.(type) {
	case *Unary:
		if e.Op == "NOT" {
			return negation
		}
		return sign
	case *Binary:
		return binding(e.Op)
	case *IsNull, *In, *Between, *Like:
		return comparison
	}
	return primary
}

func not(is bool) string {
	if is {
		return "NOT "
	}
	return ""
}

func (p *printer) unary(e *Unary) {
	if e.Op == "NOT" {
		p.write("NOT ")
		p.expr(e.X, negation)
		return
	}
	p.write(e.Op)
	if x, ok := e.X.(*Unary); ok && x.Op == e.Op {
		p.write(" ") // two minus signs in a row would begin a comment
	}
	p.expr(e.X, sign)
}

func (p *printer) binary(e *Binary) {
	own := binding(e.Op)
	left := own
	if x, ok := e.X.(*Binary); ok && own == comparison && binding(x.Op) == comparison {
		left = additive // comparisons do not chain
	}
	p.expr(e.X, left)
	p.write(" ", e.Op, " ")
	p.expr(e.Y, own+1)
}

func (p *printer) caseExpression(e *Case) {
	p.write("CASE")
	p.clause(" ", e.Operand)
	for _, w := range e.Whens {
		p.clause(" WHEN ", w.Cond)
		p.clause(" THEN ", w.Then)
	}
	p.clause(" ELSE ", e.Else)
	p.write(" END")
}

func (p *printer) call(e *Call) {
	p.write(quoteName(e.Name), "(")
	if e.Distinct {
		p.write("DISTINCT ")
	}
	if e.Star {
		p.write("*")
	}
	p.list("", e.Args)
	p.write(")")
	if e.Over != nil {
		p.write(" ", e.Over.Text)
	}
}

func (p *printer) path(path []Step) {
	for i, s := range path {
		switch {
		case s.IsIndex:
			p.write("[", strconv.Itoa(s.Index), "]")
		case i == 0 && s.Quoted:
			p.write(backquote(s.Name))
		case i == 0 && s.Name == parentRow:
			p.write(parentRow)
		case i == 0:
			p.write(quoteName(s.Name))
		case s.Quoted || !isSegment(s.Name):
			p.write("[", quoteText(s.Name), "]")
		default:
			p.write(".", s.Name)
		}
	}
}

// quoteName writes a name as it may stand where keywords also can.
func quoteName(name string) string {
	if isSegment(name) && !isDigit(rune(name[0])) && !reserved(upperASCII(name)) {
		return name
	}
	return backquote(name)
}

// quoteAlias writes a name as it may stand behind AS, where END is one:
// StreamSQL would keep its backquotes.
func quoteAlias(name string) string {
	if upperASCII(name) == "END" {
		return name
	}
	return quoteName(name)
}

// isSegment tells whether name can stand unquoted behind a dot.
func isSegment(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool { return !continuesName(r) }) < 0 &&
		(startsName([]rune(name)[0]) || isDigit(rune(name[0])))
}

func backquote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func quoteText(s string) string {
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		return `"` + s + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}
