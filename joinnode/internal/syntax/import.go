package syntax

import "strings"

// importOptions are the options that can stand behind IMPORT without WITH. There
// only their names tell where a value ends.
var importOptions = [...]string{"TIMESTAMP", "TIMEUNIT", "MAXOUTOFORDERNESS", "IDLETIMEOUT", "MAXFUTURESKEW"}

func importOption(upper string) bool {
	for _, name := range importOptions {
		if name == upper {
			return true
		}
	}
	return false
}

// importStatement reads IMPORT name [option …], where an option is NAME value,
// NAME = value, or WITH (NAME = value, …).
func (p *parser) importStatement() (Statement, error) {
	s := &Import{Pos: p.advance().pos}
	if !p.tok.namesTable() {
		return nil, p.noName("the name of a stream behind IMPORT")
	}
	s.Name = p.advance().ident()
	for {
		var err error
		switch {
		case p.tok.kind == word && importOption(p.tok.upper):
			var o Option
			if o, err = p.importedOption(); err == nil {
				s.Options = append(s.Options, o)
			}
		case p.tok.is("WITH"):
			s.Options, err = p.importWith(s.Options)
		case p.tok.is(";"), p.tok.kind == endOfText:
			return s, nil
		default:
			return nil, p.noImportOption(s)
		}
		if err != nil {
			return nil, err
		}
	}
}

// importWith reads WITH (NAME [=] value, …). Unlike the WITH of a query it also
// takes a path as value.
func (p *parser) importWith(options []Option) ([]Option, error) {
	p.advance()
	if err := p.expect("(", "behind WITH"); err != nil {
		return nil, err
	}
	for {
		if p.tok.kind != word {
			return nil, p.unexpected("the name of an option")
		}
		o, err := p.importedOption()
		if err != nil {
			return nil, err
		}
		options = append(options, o)
		if !p.accept(",") {
			return options, p.closeList("WITH")
		}
	}
}

func (p *parser) importedOption() (Option, error) {
	name := p.advance()
	o := Option{Pos: name.pos, Name: name.upper}
	if !p.accept("=") {
		p.accept("==")
	}
	var err error
	switch {
	case p.tok.kind == text:
		o.Value, o.Quote = p.advance().value, true
	case p.tok.kind == number || p.tok.is("-"):
		o.Value, err = p.importedAmount(o.Name)
	case p.tok.isName() && !p.beginsImportOption():
		var path Expr
		if path, err = p.column(); err == nil {
			o.Value = PrintExpr(path)
		}
	default:
		err = p.noName("a value for " + clip(o.Name))
	}
	return o, err
}

// beginsImportOption tells whether the word in tok names an option that has its
// value, and not a field that is called like one: TIMESTAMP timestamp.
func (p *parser) beginsImportOption() bool {
	next := p.peek(1)
	return p.tok.kind == word && importOption(p.tok.upper) && (next.is("=") || next.kind == text || next.kind == number)
}

// importedAmount reads a number with an optional unit, which the name of another
// option is not.
func (p *parser) importedAmount(name string) (string, error) {
	var b strings.Builder
	if p.accept("-") {
		b.WriteString("-")
	}
	if p.tok.kind != number {
		return "", p.unexpected("a value for " + clip(name))
	}
	b.WriteString(p.advance().raw)
	if p.tok.kind == word && !importOption(p.tok.upper) && !reserved(p.tok.upper) {
		b.WriteString(" " + p.advance().raw)
	}
	return b.String(), nil
}

func (p *parser) noImportOption(s *Import) *Error {
	err := p.unexpected(strings.Join(importOptions[:], ", ")+`, WITH or ";"`, append(importOptions[:], "WITH")...)
	if err.Hint == "" && p.tok.is(".") && len(s.Options) == 0 {
		err.Hint = "a name with dots is quoted in backquotes"
	}
	return err
}
