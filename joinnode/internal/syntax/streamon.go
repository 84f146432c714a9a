package syntax

// beginsStreamOn tells whether the word STREAM in tok is meant as a keyword, its
// ON perhaps forgotten. A column or table may have that name.
func (p *parser) beginsStreamOn() bool {
	if !p.tok.is("STREAM") {
		return false
	}
	next := p.peek(1)
	return next.is("ON") || next.is("ADD") || next.is("UPDATE") || next.is("DELETE")
}

// streamOn reads STREAM ON ADD|UPDATE|DELETE AS SELECT ….
func (p *parser) streamOn() (Query, error) {
	s := &StreamOn{Pos: p.advance().pos}
	err := p.expect("ON", "behind STREAM")
	if err != nil {
		return nil, err
	}
	if s.On, err = p.changeKind(); err != nil {
		return nil, err
	}
	if !p.accept("AS") {
		return nil, p.noStreamed("AS behind STREAM ON "+s.On.String(), s.On)
	}
	if !p.tok.is("SELECT") {
		return nil, p.noStreamed("SELECT behind AS", s.On)
	}
	if s.Query, err = p.selectStatement(); err != nil {
		return nil, err
	}
	return s, nil
}

func (p *parser) changeKind() (ChangeKind, error) {
	for _, k := range [...]ChangeKind{OnAdd, OnUpdate, OnDelete} {
		if p.accept(k.String()) {
			return k, nil
		}
	}
	err := p.unexpected("ADD, UPDATE or DELETE behind STREAM ON", "UPDATE", "DELETE")
	switch p.tok.upper {
	case "INSERT", "CREATE":
		err.Hint = "write STREAM ON ADD"
	case "REMOVE":
		err.Hint = "write STREAM ON DELETE"
	}
	return 0, err
}

// noStreamed makes the error for STREAM ON without AS SELECT.
func (p *parser) noStreamed(expected string, k ChangeKind) *Error {
	err := p.unexpected(expected, "SELECT")
	if p.tok.is("SELECT") || p.tok.is("DISTINCT") || p.tok.is("STREAM") || err.Hint == "" && p.tok.isName() {
		err.Hint = "write STREAM ON " + k.String() + " AS SELECT * FROM table"
	}
	return err
}
