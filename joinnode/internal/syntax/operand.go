package syntax

import (
	"strconv"
	"strings"
)

// operand reads what an infix operator applies to, prefix operators included.
func (p *parser) operand(least precedence) (Expr, error) {
	t := p.tok
	switch {
	case t.is("NOT"):
		if least > negation {
			return nil, p.errorAt(t.pos, "put NOT and its condition in parentheses", "expected an operand, found NOT")
		}
		return p.prefix("NOT", negation)
	case t.is("-"), t.is("+"):
		return p.prefix(t.raw, sign)
	}
	x, err := p.primary()
	if err != nil || !p.tok.is("?") {
		return x, err
	}
	return p.orDefault(t.pos, x)
}

// prefix reads a prefix operator and what it applies to.
func (p *parser) prefix(op string, binds precedence) (Expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	pos := p.advance().pos
	x, err := p.binary(binds)
	if err != nil {
		return nil, err
	}
	return &Unary{Pos: pos, Op: op, X: x}, nil
}

// primary reads an operand without the operators around it.
func (p *parser) primary() (Expr, error) {
	t := p.tok
	switch {
	case p.beginsInterval():
		return p.interval()
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
	case t.is(parentRow):
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

// column reads a path such as s.items[0].price or s['odd key'], or one that
// begins at the parent row: @.id.
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
