package syntax

// define reads name := query or name := expression.
func (p *parser) define() (Statement, error) {
	d := &Define{Pos: p.tok.pos}
	first := p.tok
	var err error
	if d.Name, err = p.tableName("a name"); err != nil {
		return nil, err
	}
	if !p.accept(":=") {
		return nil, p.noDefinition(first, d.Name)
	}
	nested := len(d.Name.Parts) > 1
	switch {
	case p.beginsQuery():
		d.Query, err = p.query()
	case p.beginsRelation():
		if !nested {
			return nil, p.errorAt(p.tok.pos, "name its parent: Parent."+clip(d.Name.String())+" := JOIN … ON … = @.id",
				"a relationship belongs to a parent table")
		}
		d.Query, err = p.relation()
	case p.misspeltQuery() != "":
		return nil, p.errorAt(p.tok.pos, "did you mean "+p.misspeltQuery()+"?", "expected a query behind :=, found %s", p.tok)
	case p.tok.kind == endOfText || p.tok.is(";"):
		return nil, p.errorAt(p.tok.pos, "write SELECT …, DISTINCT … ON …, STREAM ON … AS SELECT … or, for a column, an expression",
			"expected a query behind :=, found %s", p.tok)
	default:
		start := p.tok.pos
		if d.Column, err = p.expression(); err == nil && !nested {
			return nil, p.errorAt(start, "a query begins with SELECT, DISTINCT or STREAM ON; a column is added to a table with Table."+
				clip(d.Name.String())+" := expression", "%s is a table's name, which an expression does not define", clip(d.Name.String()))
		}
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// noDefinition makes the error for a name at the start of a statement without :=
// behind it.
func (p *parser) noDefinition(first token, n Name) *Error {
	if len(n.Parts) == 1 && first.kind == word && p.tok.kind != invalid {
		if meant := nearest(first.upper, statementWords[:]); meant != "" && !p.tok.is("=") {
			return p.errorAt(first.pos, "did you mean "+meant+"?", "expected a statement, found %s", first)
		}
	}
	err := p.unexpected(":= behind " + clip(n.String()))
	if p.tok.is("=") || p.tok.is("==") || p.tok.is(":") {
		err.Hint = "a table is defined with :="
	}
	return err
}

// beginsQuery tells whether a query stands next. A relationship is none: it has
// no meaning without a name.
func (p *parser) beginsQuery() bool {
	return p.tok.is("SELECT") || p.tok.is("DISTINCT") || p.tok.is("STREAM") && p.peek(1).is("ON")
}

// query reads a SELECT, DISTINCT … ON or STREAM ON query.
func (p *parser) query() (Query, error) {
	// An untyped nil must not become a Query that is not nil.
	switch {
	case p.tok.is("DISTINCT"):
		return p.distinctOn()
	case p.tok.is("STREAM"):
		return p.streamOn()
	}
	s, err := p.selectStatement()
	if err != nil {
		return nil, err
	}
	return s, nil
}

// misspeltQuery returns the word that the one in tok was meant to be, where an
// expression can only be the start of a misspelt query.
func (p *parser) misspeltQuery() string {
	if p.tok.kind != word {
		return ""
	}
	next := p.peek(1)
	if next.kind != word && next.kind != quotedWord && !next.is("@") && !next.is("*") ||
		next.operator() != "" && !next.is("*") || next.is("IS") || next.is("IN") || next.is("NOT") || next.is("BETWEEN") || next.is("LIKE") {
		return ""
	}
	if next.is("*") && !p.peek(2).is("FROM") && !p.peek(2).is(",") {
		return ""
	}
	return nearest(p.tok.upper, []string{"SELECT", "DISTINCT", "STREAM", "JOIN", "TEMPORAL"})
}
