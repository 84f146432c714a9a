package syntax

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

// source reads the name of a stream or table, without its alias. Only those who
// know the tables can tell what the dots in it mean.
func (p *parser) source(behind string) (Source, error) {
	src := Source{Pos: p.tok.pos}
	for {
		first := len(src.Parts) == 0
		if first && !p.tok.namesTable() && !p.tok.is(parentRow) || !first && !p.tok.isName() {
			return Source{}, p.noSource(behind)
		}
		src.Parts = append(src.Parts, p.advance().ident())
		if !p.accept(".") {
			src.Name = Name{Parts: src.Parts}.String()
			return src, nil
		}
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
	if p.beginsJoin() { // TEMPORAL is no reserved word
		return "", nil
	}
	alias, err := p.optionalAlias()
	if err != nil || p.alias.kind != word || p.alias.pos != p.last.pos || !p.tok.is("JOIN") && !p.tok.is("OUTER") {
		return alias, err
	}
	a := p.alias
	switch a.upper {
	case "NATURAL", "ASOF", "SEMI", "ANTI":
		return "", p.errorAt(a.pos, "as an alias it is written AS "+a.raw, "%s JOIN is not supported", a.upper)
	}
	if meant := nearest(a.upper, []string{"INNER", "LEFT", "RIGHT", "FULL", "CROSS", "TEMPORAL"}); meant != "" && a.raw == a.upper {
		return "", p.errorAt(a.pos, "did you mean "+meant+"? As an alias it is written AS "+a.raw, "expected a kind of JOIN, found %s", a)
	}
	return alias, nil
}
