package syntax

// distinctOn reads DISTINCT source ON key, … ORDER BY time DESC [WITH (…)].
func (p *parser) distinctOn() (Query, error) {
	d := &DistinctOn{Pos: p.advance().pos}
	var err error
	if d.Source, err = p.source("DISTINCT"); err != nil {
		return nil, err
	}
	if d.Source.Alias, err = p.sourceAlias(); err != nil {
		return nil, err
	}
	if !p.accept("ON") {
		return nil, p.noKey(d)
	}
	if d.On, err = p.expressions(); err != nil {
		return nil, err
	}
	for {
		switch {
		case p.tok.is("ORDER") && d.OrderBy == nil:
			d.OrderBy, err = p.orderBy()
		case p.tok.is("WITH"):
			d.With, err = p.with(d.With)
		case d.OrderBy == nil:
			return nil, p.noOrder()
		case p.tok.is(";"), p.tok.kind == endOfText:
			return d, nil
		default:
			return nil, p.noDistinctClause(p.unexpected("WITH or the end of the statement", "WITH"))
		}
		if err != nil {
			return nil, err
		}
	}
}

func (p *parser) noKey(d *DistinctOn) *Error {
	err := p.unexpected("ON behind DISTINCT " + clip(d.Source.Name))
	switch {
	case err.Hint != "" || p.tok.kind == invalid:
	case p.tok.is(",") || p.tok.is("FROM"):
		err.Hint = "distinct columns are SELECT DISTINCT a, b FROM source; the newest row of each key is DISTINCT source ON key ORDER BY time DESC"
	default:
		err.Hint = "name the key: DISTINCT " + clip(d.Source.Name) + " ON key ORDER BY time DESC"
	}
	return err
}

func (p *parser) noOrder() *Error {
	err := p.unexpected("ORDER BY behind the key", "ORDER")
	if err.Hint == "" && p.tok.kind != invalid {
		err.Hint = "say which row of a key is the newest: ORDER BY time DESC"
	}
	return p.noDistinctClause(err)
}

// noDistinctClause gives err the hint that a clause of SELECT needs.
func (p *parser) noDistinctClause(err *Error) *Error {
	if p.tok.is("WHERE") || p.tok.is("GROUP") || p.tok.is("HAVING") || p.tok.is("LIMIT") || p.beginsJoin() {
		err.Hint = "DISTINCT … ON reads one source as it is: write " + p.tok.upper + " in a SELECT before or behind it"
	}
	return err
}
