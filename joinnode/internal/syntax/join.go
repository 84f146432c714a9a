package syntax

import "errors"

func (p *parser) beginsJoin() bool {
	return p.tok.is("JOIN") || p.tok.kind == word && joinWord(p.tok.upper) || p.beginsTemporal()
}

// beginsTemporal tells whether the word TEMPORAL in tok belongs to a JOIN. It is
// no reserved word, but what follows it here cannot follow an alias of a source
// that is meant as one: FROM a AS temporal LEFT JOIN b.
func (p *parser) beginsTemporal() bool {
	if !p.tok.is("TEMPORAL") {
		return false
	}
	next := p.peek(1)
	return next.is("JOIN") || next.kind == word && joinWord(next.upper)
}

// join reads one JOIN clause.
func (p *parser) join() (Join, error) {
	j := Join{Pos: p.tok.pos}
	if err := p.joinKind(&j); err != nil {
		return j, err
	}
	p.advance()
	var err error
	if j.Source, err = p.source("JOIN"); err != nil {
		return j, err
	}
	if err = p.within(&j); err != nil {
		return j, err
	}
	if j.Source.Alias, err = p.sourceAlias(); err != nil {
		return j, err
	}
	if err = p.within(&j); err != nil {
		return j, err
	}
	if p.tok.is("ON") {
		j.OnPos = p.advance().pos
		if j.On, err = p.expression(); err != nil {
			return j, err
		}
		err = p.within(&j)
		return j, err
	}
	// What belongs to a row, such as o.items, needs no condition to find it.
	if j.Kind == CrossJoin || len(j.Source.Parts) > 1 && j.Within == nil {
		return j, nil
	}
	missing := p.unexpected("ON behind the joined "+clip(j.Source.Name), "WITHIN")
	if missing.Hint == "" && errors.Is(missing, ErrSyntax) && p.tok.kind != invalid {
		missing.Hint = "a JOIN needs its keys: ON a.k = b.k"
	}
	return j, missing
}

// joinKind reads what stands in front of JOIN. TEMPORAL stands on either side of
// the kind.
func (p *parser) joinKind(j *Join) error {
	if p.beginsTemporal() {
		p.advance()
		j.Temporal = true
	}
	kind := p.tok
	switch kind.upper {
	case "INNER":
		j.Explicit = true
	case "LEFT":
		j.Kind = LeftJoin
	case "RIGHT":
		j.Kind = RightJoin
	case "FULL":
		j.Kind = FullJoin
	case "CROSS":
		j.Kind = CrossJoin
	}
	if !kind.is("JOIN") {
		p.advance()
		if j.Kind == LeftJoin || j.Kind == RightJoin || j.Kind == FullJoin {
			p.accept("OUTER")
		}
		if p.tok.is("TEMPORAL") {
			if j.Temporal {
				return p.errorAt(p.tok.pos, "", "TEMPORAL is given twice")
			}
			p.advance()
			j.Temporal = true
		}
	}
	if !p.tok.is("JOIN") {
		return p.unexpected("JOIN behind "+p.last.upper, "JOIN", "OUTER", "TEMPORAL")
	}
	if j.Temporal && j.Kind != InnerJoin && j.Kind != LeftJoin {
		return p.errorAt(kind.pos, "write TEMPORAL JOIN or LEFT TEMPORAL JOIN", "a TEMPORAL JOIN cannot be %s", j.Kind)
	}
	return nil
}
