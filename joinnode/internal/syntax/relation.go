package syntax

// beginsRelation tells whether JOIN or what can stand in front of it comes next.
// LEFT and its like are also functions.
func (p *parser) beginsRelation() bool {
	if p.tok.kind != word || !joinWord(p.tok.upper) {
		return p.beginsJoin()
	}
	next := p.peek(1)
	return next.is("JOIN") || next.is("OUTER") || next.is("TEMPORAL")
}

// relation reads JOIN table ON … [JOIN …] [ORDER BY …].
func (p *parser) relation() (Query, error) {
	r := &Relation{Pos: p.tok.pos}
	for p.beginsJoin() {
		j, err := p.join()
		if err != nil {
			return nil, err
		}
		r.Joins = append(r.Joins, j)
	}
	if p.tok.is("ORDER") {
		var err error
		if r.OrderBy, err = p.orderBy(); err != nil {
			return nil, err
		}
	}
	if p.tok.is(";") || p.tok.kind == endOfText {
		return r, nil
	}
	err := p.unexpected("JOIN, ORDER BY or the end of the statement", "JOIN", "ORDER")
	if p.tok.is("WHERE") {
		err.Hint = "put the condition into ON"
	}
	return nil, err
}
