package syntax

// selectStatement reads SELECT … up to, and without, a semicolon.
func (p *parser) selectStatement() (*Select, error) {
	s := &Select{Pos: p.tok.pos}
	if err := p.expect("SELECT", ""); err != nil {
		return nil, err
	}
	if p.tok.is("DISTINCT") {
		s.Distinct = p.advance().pos
	}
	for {
		item, err := p.item()
		if err != nil {
			return nil, err
		}
		s.Items = append(s.Items, item)
		if !p.accept(",") {
			break
		}
	}
	if !p.accept("FROM") {
		return nil, p.unexpected(`"," or FROM`, "FROM")
	}
	if err := p.sources(s); err != nil {
		return nil, err
	}
	for p.beginsJoin() {
		j, err := p.join()
		if err != nil {
			return nil, err
		}
		s.Joins = append(s.Joins, j)
	}
	if p.tok.is("MATCH_RECOGNIZE") && p.peek(1).is("(") {
		span, body, err := p.verbatim("MATCH_RECOGNIZE")
		if err != nil {
			return nil, err
		}
		s.Match = &MatchRecognize{Span: span, Text: body}
	}
	return s, p.clauses(s)
}

func (p *parser) item() (Item, error) {
	t := p.tok
	item := Item{Pos: t.pos}
	switch {
	case t.is("*"):
		p.advance()
		item.Expr = &Star{Pos: t.pos}
	case (t.isName() || t.is(parentRow)) && p.peek(1).is(".") && p.peek(2).is("*"):
		p.advance()
		p.advance()
		p.advance()
		item.Expr = &Star{Pos: t.pos, Qualifier: t.value, Parent: t.is(parentRow)}
	default:
		e, err := p.expression()
		if err != nil {
			return Item{}, err
		}
		item.Expr = e
	}
	var err error
	item.Alias, err = p.optionalAlias()
	return item, err
}

// optionalAlias reads AS name, or a name that no clause can begin with.
func (p *parser) optionalAlias() (string, error) {
	if p.accept("AS") {
		// Many StreamSQL queries have window_end() AS end.
		if !p.tok.isName() && !p.tok.is("END") {
			return "", p.noAlias()
		}
		return p.advance().value, nil
	}
	if p.tok.kind == word && (reserved(p.tok.upper) || joinWord(p.tok.upper)) || !p.tok.isName() {
		return "", nil
	}
	if p.peek(1).is("(") || p.tok.is("GLOBAL") && p.peek(1).is("WINDOW") {
		return "", nil
	}
	p.alias = p.advance()
	return p.alias.value, nil
}

func (p *parser) noAlias() *Error {
	err := p.unexpected("a name behind AS")
	if p.tok.kind == word {
		err.Hint = quoteHint(p.tok)
	}
	return err
}
