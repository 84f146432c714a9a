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
	if d.Query, err = p.definingQuery(d.Name); err != nil {
		return nil, err
	}
	if d.Query == nil {
		if d.Column, err = p.definingExpression(d.Name); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// definingQuery reads the query behind :=, or nothing where an expression stands.
func (p *parser) definingQuery(n Name) (Query, error) {
	switch {
	case p.beginsQuery():
		return p.query()
	case p.beginsRelation() && len(n.Parts) == 1:
		return nil, p.errorAt(p.tok.pos, "name its parent: Parent."+clip(n.String())+" := JOIN … ON … = @.id",
			"a relationship belongs to a parent table, which %s has not", clip(n.String()))
	case p.beginsRelation():
		return p.relation()
	case p.tok.kind == endOfText || p.tok.is(";"):
		return nil, p.errorAt(p.tok.pos, queryForms, "expected a query behind :=, found %s", p.tok)
	}
	if meant := p.misspeltQuery(); meant != "" {
		return nil, p.errorAt(p.tok.pos, "did you mean "+meant+"?", "expected a query behind :=, found %s", p.tok)
	}
	return nil, nil
}

const queryForms = "write SELECT …, DISTINCT … ON …, STREAM ON … AS SELECT … or, for a column or relationship of a table, an expression or JOIN …"

// definingExpression reads the expression that makes a column of a table.
func (p *parser) definingExpression(n Name) (Expr, error) {
	start := p.tok.pos
	e, err := p.expression()
	if err != nil || len(n.Parts) > 1 {
		return e, err
	}
	name := clip(n.String())
	hint := "a column is added to its table with Table." + name + " := expression; a query begins with SELECT, DISTINCT or STREAM ON"
	if c, ok := e.(*Column); ok {
		hint = "write " + name + " := SELECT * FROM " + clip(PrintExpr(c))
	}
	return nil, p.errorAt(start, hint, "an expression cannot define the table %s", name)
}

// noDefinition makes the error for a name at the start of a statement without :=
// behind it. Where an operand follows the name, as in INSERT INTO t, it was meant
// as the verb of a statement, and not as the name of a table.
func (p *parser) noDefinition(first token, n Name) *Error {
	if len(n.Parts) == 1 && first.kind == word && p.tok.kind != invalid {
		if meant := nearest(first.upper, statementWords[:]); meant != "" && !p.tok.is("=") {
			return p.errorAt(first.pos, "did you mean "+meant+"?", "expected a statement, found %s", first)
		}
		hint := foreignStatement(first.upper)
		if p.tok.isOperand() && (hint != "" || !p.beginsQuery() && !p.beginsRelation()) {
			return p.errorAt(first.pos, hint, "expected %s, found %s", statementForms, first)
		}
	}
	err := p.unexpected(`":=" behind ` + clip(n.String()))
	if p.tok.is("=") || p.tok.is("==") || p.tok.is(":") || p.beginsQuery() {
		err.Hint = "a table is defined with :="
	}
	return err
}

// foreignStatement returns what to do in place of a statement that other databases
// have, "" for other words.
func foreignStatement(verb string) string {
	switch verb {
	case "INSERT", "UPDATE", "UPSERT", "DELETE", "MERGE":
		return "tables follow the rows that arrive in their streams; nothing else writes to them"
	case "CREATE":
		return "a table is defined with Name := SELECT …"
	case "EXPLAIN":
		return "Explain(), streamjoin check and the route …/explain show the plan of a query"
	}
	return ""
}

// beginsQuery tells whether a query stands next. A relationship is none: it has
// no meaning without a name.
func (p *parser) beginsQuery() bool {
	return p.tok.is("SELECT") || p.tok.is("DISTINCT") || p.beginsStreamOn()
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

// misspeltQuery returns the word that the one in tok was meant to be, where what
// follows it shows that no expression was meant.
func (p *parser) misspeltQuery() string {
	if p.tok.kind != word {
		return ""
	}
	switch next := p.peek(1); {
	case next.isName(), next.kind == number, next.kind == text, next.is(parentRow), next.is("DISTINCT"), next.is("CASE"), next.is("ON"):
	case next.is("*") && (p.peek(2).is("FROM") || p.peek(2).is(",")):
	default:
		return ""
	}
	return nearest(p.tok.upper, []string{"SELECT", "DISTINCT", "STREAM", "JOIN", "TEMPORAL"})
}
