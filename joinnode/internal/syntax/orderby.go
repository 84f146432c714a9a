package syntax

// orderBy reads ORDER BY element, …
func (p *parser) orderBy() ([]Order, error) {
	p.advance()
	if err := p.expect("BY", "behind ORDER"); err != nil {
		return nil, err
	}
	var list []Order
	for {
		o, err := p.ordering()
		if err != nil {
			return nil, err
		}
		list = append(list, o)
		if !p.accept(",") {
			return list, nil
		}
	}
}

// ordering reads expression [ASC|DESC] [NULLS LAST].
func (p *parser) ordering() (Order, error) {
	e, err := p.expression()
	if err != nil {
		return Order{}, err
	}
	o := Order{Expr: e, Desc: p.accept("DESC")}
	if !o.Desc {
		p.accept("ASC")
	}
	if !p.tok.is("NULLS") {
		return o, nil
	}
	nulls := p.advance()
	if p.tok.is("FIRST") {
		return o, p.errorAt(nulls.pos, "leave it out: rows whose value is NULL come last", "NULLS FIRST is not supported")
	}
	o.NullsLast = true
	return o, p.expect("LAST", "behind NULLS")
}
