package syntax

// ParseScript reads a table script: statements with semicolons between them. A
// semicolon behind the last one, and any without a statement, mean nothing. Only
// the last statement may be a query without a name; a text of one SELECT is such
// a script. Every error is an *Error with Kind ErrSyntax.
//
// Expressions and SELECT are those of Parse, with what ScriptOnly lists.
func ParseScript(sql string) (*Script, error) {
	p, err := newParser(sql)
	if err != nil {
		return nil, err
	}
	s := &Script{SQL: sql}
	var nameless *Define
	for {
		for p.accept(";") {
		}
		if p.tok.kind == endOfText {
			break
		}
		if nameless != nil {
			return nil, p.errorAt(nameless.Pos, "name it, as in Name := SELECT …, or put it last", "only the last statement can be a query without a name")
		}
		st, err := p.statement()
		if err != nil {
			return nil, err
		}
		s.Statements = append(s.Statements, st)
		if d, ok := st.(*Define); ok && len(d.Name.Parts) == 0 {
			nameless = d
		}
		if !p.tok.is(";") && p.tok.kind != endOfText {
			return nil, p.unexpected(`";" or the end of the script`)
		}
	}
	if len(s.Statements) == 0 {
		return nil, p.errorAt(p.tok.pos, "a query has the form SELECT … FROM …", "the script is empty")
	}
	return s, nil
}

// statementWords are the words that a statement can begin with, besides names.
var statementWords = [...]string{"IMPORT", "EXPORT", "SELECT", "DISTINCT", "STREAM"}

// statementForms says in errors what can stand where a statement begins.
const statementForms = "SELECT, IMPORT, EXPORT, DISTINCT, STREAM ON or Name := …"

// statement reads one statement up to, and without, its semicolon.
func (p *parser) statement() (Statement, error) {
	p.operators = 0
	switch {
	case p.tok.is("IMPORT") && !p.defines():
		return p.importStatement()
	case p.tok.is("EXPORT") && !p.defines():
		return p.export()
	case p.beginsQuery():
		q, err := p.query()
		if err != nil {
			return nil, err
		}
		return &Define{Pos: q.Position(), Query: q}, nil
	case p.beginsRelation():
		return nil, p.errorAt(p.tok.pos, "name its parent: Parent.name := JOIN … ON … = @.id", "a relationship needs a name, found %s", p.tok)
	case p.tok.isName():
		return p.define()
	}
	err := p.unexpected(statementForms, statementWords[:]...)
	if p.tok.is(parentRow) {
		err.Hint = "@ is the parent row inside the query of a nested table: Parent.name := SELECT … FROM @ …"
	}
	return nil, err
}

// defines tells whether the word in tok is a name that is defined here, not the
// first word of a statement.
func (p *parser) defines() bool {
	next := p.peek(1)
	return next.is(":=") || next.is(".") || next.is("=") || next.is(":")
}

// export reads EXPORT name TO target.
func (p *parser) export() (Statement, error) {
	e := &Export{Pos: p.advance().pos}
	var err error
	if e.Name, err = p.tableName("the name of a table behind EXPORT"); err != nil {
		return nil, err
	}
	if !p.accept("TO") {
		u := p.unexpected("TO behind the exported " + clip(e.Name.String()))
		if u.Hint == "" && p.tok.kind != invalid {
			u.Hint = "write EXPORT " + clip(e.Name.String()) + " TO stream_event"
		}
		return nil, u
	}
	if !p.tok.namesTable() {
		return nil, p.noName("the target behind TO")
	}
	e.To = p.advance().ident()
	return e, nil
}
