package syntax

// streamOn reads STREAM ON ADD|UPDATE|DELETE AS SELECT ….
func (p *parser) streamOn() (Query, error) {
	s := &StreamOn{Pos: p.advance().pos}
	p.advance() // ON
	kinds := [...]ChangeKind{OnAdd, OnUpdate, OnDelete}
	found := false
	for _, k := range kinds {
		if p.tok.is(k.String()) {
			s.On, found = k, true
		}
	}
	if !found {
		err := p.unexpected("ADD, UPDATE or DELETE behind STREAM ON", "UPDATE", "DELETE")
		switch p.tok.upper {
		case "INSERT", "ADDED", "CREATE":
			err.Hint = "write STREAM ON ADD"
		case "REMOVE":
			err.Hint = "write STREAM ON DELETE"
		}
		return nil, err
	}
	p.advance()
	if err := p.expect("AS", "behind STREAM ON "+s.On.String()); err != nil {
		return nil, err
	}
	if !p.tok.is("SELECT") {
		err := p.unexpected("SELECT behind AS", "SELECT")
		if err.Hint == "" && p.tok.isName() {
			err.Hint = "the changes of a table are STREAM ON " + s.On.String() + " AS SELECT * FROM table"
		}
		return nil, err
	}
	var err error
	if s.Query, err = p.selectStatement(); err != nil {
		return nil, err
	}
	return s, nil
}
