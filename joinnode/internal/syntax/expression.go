package syntax

import (
	"strconv"
	"strings"
)

// precedence says how tightly an operator binds. The parser and the printer
// share it.
type precedence uint8

const (
	lowest      precedence = iota
	disjunction            // OR
	conjunction            // AND
	negation               // NOT
	comparison             // = != < <= > >= IS IN BETWEEN LIKE
	additive               // + - ||
	multiplicative
	sign // unary + and -
	primary
)

// binding returns the precedence of an infix operator as the tree spells it,
// lowest for anything else.
func binding(op string) precedence {
	switch op {
	case "OR":
		return disjunction
	case "AND":
		return conjunction
	case "=", "!=", "<", "<=", ">", ">=":
		return comparison
	case "+", "-", "||":
		return additive
	case "*", "/", "%":
		return multiplicative
	}
	return lowest
}

// operator returns the tree's spelling of an infix operator token, "" for
// anything else.
func (t token) operator() string {
	switch {
	case t.is("<>"):
		return "!="
	case t.is("=="):
		return "="
	case t.kind == symbol && binding(t.raw) != lowest:
		return t.raw
	case t.kind == word && binding(t.upper) != lowest:
		return t.upper
	}
	return ""
}

func (p *parser) expression() (Expr, error) { return p.binary(disjunction) }

// binary reads an expression whose infix operators bind at least as tightly as
// least. All of them associate to the left.
func (p *parser) binary(least precedence) (Expr, error) {
	x, err := p.operand(least)
	if err != nil {
		return nil, err
	}
	var compared, tested bool // x is a comparison or a predicate, in no parentheses
	for {
		if least <= comparison {
			y, ok, err := p.predicate(x)
			if err != nil {
				return nil, err
			}
			if ok {
				x, compared, tested = y, false, true
				continue
			}
		}
		op := p.tok.operator()
		level := binding(op)
		if level < least || level == lowest {
			return x, nil
		}
		if level == comparison && compared {
			return nil, p.errorAt(p.tok.pos, "write a < b AND b < c, or use parentheses", "comparisons cannot be chained")
		}
		if level > comparison && tested { // a IS NULL + 1 would bind against its precedence
			return nil, p.errorAt(p.tok.pos, "put the condition in parentheses", "expected AND, OR or a comparison behind the condition, found %s", p.tok)
		}
		pos := p.tok.pos
		if err := p.operates(); err != nil {
			return nil, err
		}
		y, err := p.binary(level + 1)
		if err != nil {
			return nil, err
		}
		x, compared, tested = &Binary{Pos: pos, Op: op, X: x, Y: y}, level == comparison, false
	}
}

// operates goes on over an infix operator and counts it.
func (p *parser) operates() error {
	p.operators++
	if p.operators > maxOperators {
		return p.errorAt(p.tok.pos, "a long list of alternatives is shorter with IN", "the statement has more than %d operators", maxOperators)
	}
	p.advance()
	return nil
}

// predicate reads IS, IN, BETWEEN or LIKE behind x, if one stands there.
func (p *parser) predicate(x Expr) (Expr, bool, error) {
	pos, not := p.tok.pos, false
	op := p.tok
	if op.is("NOT") {
		op, not = p.peek(1), true
	}
	switch {
	case op.is("IS") && !not, op.is("IN"), op.is("BETWEEN"), op.is("LIKE"):
	default:
		return nil, false, nil
	}
	if not {
		p.advance()
	}
	if err := p.operates(); err != nil {
		return nil, false, err
	}
	var e Expr
	var err error
	switch op.upper {
	case "IS":
		not = p.accept("NOT")
		err = p.expect("NULL", "behind IS")
		e = &IsNull{Pos: pos, X: x, Not: not}
	case "IN":
		var list []Expr
		list, err = p.inList()
		e = &In{Pos: pos, X: x, List: list, Not: not}
	case "LIKE":
		var pattern Expr
		pattern, err = p.binary(additive)
		e = &Like{Pos: pos, X: x, Pattern: pattern, Not: not}
	case "BETWEEN":
		b := &Between{Pos: pos, X: x, Not: not}
		if b.Lo, err = p.binary(additive); err != nil {
			break
		}
		if err = p.expect("AND", "between the bounds of BETWEEN"); err != nil {
			break
		}
		b.Hi, err = p.binary(additive)
		e = b
	}
	if err != nil {
		return nil, false, err
	}
	return e, true, nil
}

func (p *parser) inList() ([]Expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	if err := p.expect("(", "behind IN"); err != nil {
		return nil, err
	}
	list, err := p.expressions()
	if err != nil {
		return nil, err
	}
	return list, p.closeList("IN")
}

// closeList goes on over the parenthesis behind a list.
func (p *parser) closeList(of string) error {
	if p.accept(")") {
		return nil
	}
	return p.unexpected(`"," or ")" to close ` + of)
}

// expressions reads one or more expressions with commas between them.
func (p *parser) expressions() ([]Expr, error) {
	var list []Expr
	for {
		e, err := p.expression()
		if err != nil {
			return nil, err
		}
		list = append(list, e)
		if !p.accept(",") {
			return list, nil
		}
	}
}

// operand reads what an infix operator applies to, prefix operators included.
func (p *parser) operand(least precedence) (Expr, error) {
	t := p.tok
	switch {
	case t.kind == number:
		return p.numeral()
	case t.kind == text:
		p.advance()
		return &Text{Pos: t.pos, Value: t.value}, nil
	case t.is("NULL"):
		p.advance()
		return &Null{Pos: t.pos}, nil
	case t.is("TRUE"), t.is("FALSE"):
		p.advance()
		return &Bool{Pos: t.pos, Value: t.upper == "TRUE"}, nil
	case t.isName():
		if p.peek(1).is("(") {
			return p.call()
		}
		return p.column()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	switch {
	case t.is("("):
		return p.group()
	case t.is("CASE"):
		return p.caseExpression()
	case t.is("NOT"):
		if least > negation {
			return nil, p.errorAt(t.pos, "put NOT and its condition in parentheses", "expected an operand, found NOT")
		}
		p.advance()
		x, err := p.binary(negation)
		if err != nil {
			return nil, err
		}
		return &Unary{Pos: t.pos, Op: "NOT", X: x}, nil
	case t.is("-"), t.is("+"):
		p.advance()
		x, err := p.binary(sign)
		if err != nil {
			return nil, err
		}
		return &Unary{Pos: t.pos, Op: t.raw, X: x}, nil
	}
	return nil, p.noName("an expression")
}

// numeral reads a number. The lexer lets a unit stand directly behind a number
// (WITHIN 30s); in an expression that is a slip.
func (p *parser) numeral() (Expr, error) {
	t := p.advance()
	if p.tok.kind == word && p.tok.glued {
		return nil, p.errorAt(t.pos, "a name that begins with a digit is quoted in backquotes", "malformed number %s", clip(t.raw+p.tok.raw))
	}
	return &Number{Pos: t.pos, Text: t.raw}, nil
}

func (p *parser) group() (Expr, error) {
	p.advance()
	e, err := p.expression()
	if err != nil {
		return nil, err
	}
	return e, p.expect(")", "")
}

func (p *parser) caseExpression() (Expr, error) {
	p.cases++
	defer func() { p.cases-- }()
	c := &Case{Pos: p.advance().pos}
	var err error
	if !p.tok.is("WHEN") {
		if c.Operand, err = p.expression(); err != nil {
			return nil, err
		}
	}
	if !p.tok.is("WHEN") {
		return nil, p.unexpected("WHEN", "WHEN")
	}
	for p.accept("WHEN") {
		var w When
		if w.Cond, err = p.expression(); err != nil {
			return nil, err
		}
		if err = p.expect("THEN", "behind the condition of WHEN"); err != nil {
			return nil, err
		}
		if w.Then, err = p.expression(); err != nil {
			return nil, err
		}
		c.Whens = append(c.Whens, w)
	}
	if p.accept("ELSE") {
		if c.Else, err = p.expression(); err != nil {
			return nil, err
		}
	}
	return c, p.expect("END", "to close CASE")
}

func (p *parser) call() (Expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	name := p.advance()
	c := &Call{Pos: name.pos, Name: name.value}
	p.advance() // the parenthesis
	c.Distinct = p.accept("DISTINCT")
	if p.tok.is("*") && p.peek(1).is(")") && !c.Distinct {
		p.advance()
		c.Star = true
	} else if !p.tok.is(")") || c.Distinct {
		for {
			e, err := p.argument()
			if err != nil {
				return nil, err
			}
			c.Args = append(c.Args, e)
			if len(c.Args) == 1 && name.is("CAST") && p.tok.is("AS") {
				if e, err = p.castType(); err != nil {
					return nil, err
				}
				c.Args = append(c.Args, e)
			}
			if !p.accept(",") {
				break
			}
		}
	}
	if err := p.closeList(clip(name.raw) + "(…)"); err != nil {
		return nil, err
	}
	if p.tok.is("OVER") && p.peek(1).is("(") {
		span, body, err := p.verbatim("OVER")
		if err != nil {
			return nil, err
		}
		c.Over = &Over{Span: span, Text: body}
	}
	return c, nil
}

// castType reads AS type in CAST(x AS type), which is the same as
// cast(x, 'type'). StreamSQL takes it too and then evaluates it to NULL.
func (p *parser) castType() (Expr, error) {
	p.advance()
	if p.tok.kind != word {
		return nil, p.unexpected("a type behind AS")
	}
	t := p.advance()
	return &Text{Pos: t.pos, Value: strings.ToLower(t.value)}, nil
}

// argument reads an argument of a call. StreamSQL's changed_cols and its like
// take a * among others.
func (p *parser) argument() (Expr, error) {
	if p.tok.is("*") {
		return &Star{Pos: p.advance().pos}, nil
	}
	return p.expression()
}

// column reads a path such as s.items[0].price or s['odd key'].
func (p *parser) column() (Expr, error) {
	first := p.advance()
	c := &Column{Pos: first.pos, Path: []Step{{Name: first.value, Quoted: first.kind == quotedWord}}}
	for {
		switch {
		case p.tok.is("."):
			p.advance()
			// Behind the dot of a path a reserved word is a name, as in StreamSQL,
			// unless a blank suggests that the name was forgotten.
			if p.tok.kind != quotedWord && (p.tok.kind != word || reserved(p.tok.upper) && !p.tok.glued) {
				return nil, p.noName("a field name behind the dot")
			}
			t := p.advance()
			c.Path = append(c.Path, Step{Name: t.value, Quoted: t.kind == quotedWord})
		case p.tok.is("["):
			p.advance()
			step, err := p.subscript()
			if err != nil {
				return nil, err
			}
			c.Path = append(c.Path, step)
		case p.tok.is("(") && len(c.Path) > 1:
			return nil, p.unexpected("an operator (function names have no dots)")
		default:
			return c, nil
		}
	}
}

// subscript reads the inside of a[…]: an index, negative to count from the end,
// or a key in quotes, which is the same as .`key`.
func (p *parser) subscript() (Step, error) {
	if p.tok.kind == text {
		key := p.advance()
		return Step{Name: key.value, Quoted: true}, p.expect("]", "to close the subscript")
	}
	at, minus := p.tok.pos, ""
	if p.accept("-") {
		minus = "-"
	}
	if p.tok.kind != number {
		return Step{}, p.unexpected("an index or a key in quotes")
	}
	n, err := strconv.Atoi(minus + p.tok.raw)
	if err != nil {
		return Step{}, p.errorAt(at, "", "an index is a whole number of at most 19 digits, found %s", clip(p.tok.raw))
	}
	p.advance()
	return Step{Index: n, IsIndex: true}, p.expect("]", "to close the subscript")
}
