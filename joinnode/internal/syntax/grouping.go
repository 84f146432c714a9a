package syntax

// beginsWindow tells whether one of StreamSQL's windows stands next.
func (p *parser) beginsWindow() bool {
	if p.tok.kind != word {
		return false
	}
	switch p.tok.upper {
	case "GLOBAL":
		return p.peek(1).is("WINDOW")
	case "TUMBLINGWINDOW", "SLIDINGWINDOW", "COUNTINGWINDOW", "SESSIONWINDOW":
		return p.peek(1).is("(")
	}
	return false
}

func (p *parser) groupBy(s *Select) error {
	p.advance()
	if err := p.expect("BY", "behind GROUP"); err != nil {
		return err
	}
	return p.groupings(s)
}

// groupings reads the list of GROUP BY.
func (p *parser) groupings(s *Select) error {
	for {
		e, err := p.grouping()
		if err != nil {
			return err
		}
		s.GroupBy = append(s.GroupBy, e)
		if !p.accept(",") {
			return nil
		}
	}
}

func (p *parser) grouping() (Expr, error) {
	if !p.tok.is("GLOBAL") || !p.peek(1).is("WINDOW") {
		return p.expression()
	}
	w := &GlobalWindow{Pos: p.advance().pos}
	p.advance()
	if !p.accept("TRIGGER") {
		return w, nil
	}
	if err := p.expect("WHEN", "behind TRIGGER"); err != nil {
		return nil, err
	}
	var err error
	w.Trigger, err = p.expression()
	return w, err
}
