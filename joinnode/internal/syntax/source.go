package syntax

import "errors"

// sources reads what stands behind FROM.
func (p *parser) sources(s *Select) error {
	for {
		src, err := p.source("FROM")
		if err != nil {
			return err
		}
		if p.tok.is("WITHIN") && p.durationFollows() {
			return p.errorAt(p.tok.pos, "it bounds the time between the rows of a JOIN: … JOIN other WITHIN 30 SECONDS ON …",
				"WITHIN belongs to a JOIN, not to the source behind FROM")
		}
		if src.Alias, err = p.sourceAlias(); err != nil {
			return err
		}
		if s.From.Name == "" {
			s.From = src
		} else {
			s.More = append(s.More, src)
		}
		if !p.accept(",") {
			return nil
		}
	}
}

// source reads the name of a stream or table, without its alias. A name with
// dots in it is one name.
func (p *parser) source(behind string) (Source, error) {
	src := Source{Pos: p.tok.pos}
	for {
		if !p.tok.isName() || p.tok.kind == word && joinWord(p.tok.upper) && src.Name == "" {
			return Source{}, p.noSource(behind)
		}
		src.Name += p.advance().value
		if !p.tok.is(".") {
			return src, nil
		}
		p.advance()
		src.Name += "."
	}
}

func (p *parser) noSource(behind string) *Error {
	err := p.noName("the name of a stream or table behind " + behind)
	switch {
	case p.tok.is("("):
		err.Hint = "subqueries are not supported"
	case p.tok.kind == text:
		err.Hint = "a name is quoted in backquotes: " + backquote(clip(p.tok.value))
	}
	return err
}

// sourceAlias reads the alias of a source. A misspelt LEFT in front of JOIN, or
// a kind of JOIN that is not ours, would pass for one and silently make the join
// an inner one.
func (p *parser) sourceAlias() (string, error) {
	alias, err := p.optionalAlias()
	if err != nil || p.alias.kind != word || p.alias.pos != p.last.pos || !p.tok.is("JOIN") && !p.tok.is("OUTER") {
		return alias, err
	}
	a := p.alias
	switch a.upper {
	case "NATURAL", "TEMPORAL", "ASOF", "SEMI", "ANTI":
		return "", p.errorAt(a.pos, "as an alias it is written AS "+a.raw, "%s JOIN is not supported", a.upper)
	}
	if meant := nearest(a.upper, []string{"INNER", "LEFT", "RIGHT", "FULL", "CROSS"}); meant != "" && a.raw == a.upper {
		return "", p.errorAt(a.pos, "did you mean "+meant+"? As an alias it is written AS "+a.raw, "expected a kind of JOIN, found %s", a)
	}
	return alias, nil
}

func (p *parser) beginsJoin() bool {
	return p.tok.is("JOIN") || p.tok.kind == word && joinWord(p.tok.upper)
}

// join reads one JOIN clause.
func (p *parser) join() (Join, error) {
	j := Join{Pos: p.tok.pos}
	outer := false
	switch p.tok.upper {
	case "LEFT":
		j.Kind, outer = LeftJoin, true
	case "RIGHT":
		j.Kind, outer = RightJoin, true
	case "FULL":
		j.Kind, outer = FullJoin, true
	case "CROSS":
		j.Kind = CrossJoin
	}
	if !p.tok.is("JOIN") {
		kind := p.advance().upper
		if outer {
			p.accept("OUTER")
		}
		if !p.tok.is("JOIN") {
			return j, p.unexpected("JOIN behind "+kind, "JOIN", "OUTER")
		}
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
	if j.Kind == CrossJoin {
		return j, nil
	}
	missing := p.unexpected("ON behind the joined "+clip(j.Source.Name), "WITHIN")
	if missing.Hint == "" && errors.Is(missing, ErrSyntax) && p.tok.kind != invalid {
		missing.Hint = "a JOIN needs its keys: ON a.k = b.k"
	}
	return j, missing
}
