package syntax

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
