package syntax

// parentRow is how a nested table names the row that it belongs to.
const parentRow = "@"

// ident makes a name of a token.
func (t token) ident() Ident {
	return Ident{Pos: t.pos, Name: t.value, Quoted: t.kind == quotedWord}
}

// namesTable tells whether t can be the first word of a table's name.
func (t token) namesTable() bool {
	return t.isName() && !(t.kind == word && joinWord(t.upper))
}

// tableName reads the name of a table, with its parent's in front of it.
func (p *parser) tableName(expected string) (Name, error) {
	var n Name
	for {
		if first := len(n.Parts) == 0; first && !p.tok.namesTable() || !p.tok.isName() {
			return n, p.noName(expected)
		}
		n.Parts = append(n.Parts, p.advance().ident())
		if !p.accept(".") {
			return n, nil
		}
		expected = "a name behind the dot"
	}
}

// name writes the parts of a table's name.
func (p *printer) name(parts []Ident) {
	for i, part := range parts {
		if i > 0 {
			p.write(".")
		}
		switch {
		case part.Quoted:
			p.write(backquote(part.Name))
		case i == 0 && part.Name == parentRow:
			p.write(parentRow)
		case i == 0 && joinWord(upperASCII(part.Name)):
			p.write(backquote(part.Name))
		case i > 0 && isSegment(part.Name) && !reserved(upperASCII(part.Name)):
			p.write(part.Name) // behind a dot a name may begin with a digit
		default:
			p.write(quoteName(part.Name))
		}
	}
}
