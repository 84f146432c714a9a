package syntax

// with reads WITH (name = value, …) and appends its options to those given.
func (p *parser) with(options []Option) ([]Option, error) {
	p.advance()
	if err := p.expect("(", "behind WITH"); err != nil {
		return nil, err
	}
	for {
		if p.tok.kind != word {
			return nil, p.unexpected("the name of an option")
		}
		name := p.advance()
		o := Option{Pos: name.pos, Name: name.upper}
		if !p.accept("=") && !p.accept("==") {
			return nil, p.unexpected(`"=" behind ` + clip(o.Name))
		}
		var err error
		if o.Value, o.Quote, err = p.optionValue(o.Name); err != nil {
			return nil, err
		}
		options = append(options, o)
		if !p.accept(",") {
			return options, p.closeList("WITH")
		}
	}
}

// optionValue reads a string, a word, or a number with an optional unit.
func (p *parser) optionValue(name string) (value string, quoted bool, err error) {
	switch {
	case p.tok.kind == text:
		return p.advance().value, true, nil
	case p.tok.kind == word:
		return p.advance().raw, false, nil
	}
	if p.accept("-") {
		value = "-"
	}
	if p.tok.kind != number {
		return "", false, p.unexpected("a value for " + clip(name))
	}
	value += p.advance().raw
	if p.tok.kind == word {
		value += " " + p.advance().raw
	}
	return value, false, nil
}
