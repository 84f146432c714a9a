package syntax

import "strings"

// unexpected makes the error for a token that does not fit: what was expected,
// what was found, and a hint where the mistake is a known one. keywords are
// those that could stand here, for a misspelt one to be recognised.
func (p *parser) unexpected(expected string, keywords ...string) *Error {
	found := p.tok
	if found.kind == invalid {
		return found.err
	}
	// "FROM t WHER x > 1": WHER was taken for the alias of t, and only the name
	// behind it does not fit.
	if p.alias.kind == word && p.alias.pos == p.last.pos {
		if meant := nearest(p.alias.upper, keywords); meant != "" {
			return p.errorAt(p.alias.pos, "did you mean "+meant+"?", "expected %s, found %s", expected, p.alias)
		}
	}
	hint := ""
	if found.kind == word {
		if meant := nearest(found.upper, keywords); meant != "" {
			hint = "did you mean " + meant + "?"
		}
	}
	if hint == "" {
		hint = p.mistake(found)
	}
	return p.errorAt(found.pos, hint, "expected %s, found %s", expected, found)
}

const doubledQuote = "a quote inside a string is written twice, not with a backslash: 'it''s'"

// mistake returns a hint for what people typically do wrong before found.
func (p *parser) mistake(found token) string {
	last := p.last
	if before := p.semicolonMissing(found); before != "" {
		return "a semicolon may be missing before " + before
	}
	switch {
	case last.kind == text && strings.HasSuffix(last.raw, `\'`):
		return doubledQuote
	case last.is(",") && (found.kind == endOfText || found.is(")") || found.kind == word && reserved(found.upper) && !p.meansName()):
		return "remove the comma before " + found.String()
	case (last.is("AND") || last.is("OR")) && (found.is("AND") || found.is("OR")):
		if last.upper == found.upper {
			return found.upper + " is written twice"
		}
		return "a condition is missing between " + last.upper + " and " + found.upper
	case last.is("SELECT") && found.is("FROM"):
		return "name the columns, or write * for all"
	case found.is("SELECT"):
		return "a query has one SELECT: subqueries and UNION are not supported"
	case last.kind == number && found.kind == word && len(found.raw) > 1 && namesTime(found):
		return "a length of time is written INTERVAL " + clip(last.raw) + " " + found.upper
	case found.is(":=") && last.kind == word && reserved(last.upper):
		return quoteHint(last)
	case found.is("?"):
		return "a default is written behind its operand: x?0"
	case found.is("&&"):
		return "write AND"
	case found.is("!"):
		return "write NOT"
	case found.is("^"):
		return "write power(x, y)"
	case found.is("="):
		return "an alias is written with AS"
	case found.is(";"):
		return ""
	case found.is("USING"):
		return "write the condition as ON a.k = b.k"
	case found.kind == text && (found.raw[0] == '"' || last.is("AS")):
		return found.raw[:1] + " begins a string; a name is quoted in backquotes: " + backquote(clip(found.value))
	}
	return ""
}

// semicolonMissing returns the word that looks like the start of another
// statement: found itself, or the name before it that was taken for an alias.
func (p *parser) semicolonMissing(found token) string {
	if p.last.kind == endOfText || p.last.is(";") {
		return ""
	}
	if beginsStatement(found, p.peek(1)) {
		return clip(found.raw)
	}
	aliased := p.alias.kind == word && p.alias.pos == p.last.pos
	if aliased && (beginsStatement(p.alias, found) || found.is(".")) { // an alias has no dots
		return clip(p.alias.raw)
	}
	return ""
}

// beginsStatement tells whether t, with next behind it, looks like the start of
// a statement and like nothing else.
func beginsStatement(t, next token) bool {
	return t.isName() && next.is(":=") || (t.is("IMPORT") || t.is("EXPORT")) && next.isName()
}

// noName makes the error for a place where a name could stand.
func (p *parser) noName(expected string) *Error {
	err := p.unexpected(expected)
	if err.Hint == "" && p.tok.kind == word && (joinWord(p.tok.upper) || p.meansName()) {
		err.Hint = quoteHint(p.tok)
	}
	return err
}

func quoteHint(found token) string {
	return found.upper + " is a reserved word: to use it as a name, quote it in backquotes: " + backquote(found.raw)
}

// meansName tells whether the word in tok, a reserved one, was meant as a name.
// Only what follows it can tell: a keyword is followed by what its clause
// begins with.
func (p *parser) meansName() bool {
	if p.cases > 0 && (p.tok.is("WHEN") || p.tok.is("THEN") || p.tok.is("ELSE") || p.tok.is("END")) {
		return false
	}
	next := p.peek(1)
	switch {
	case next.kind == endOfText:
		return true
	case next.kind == symbol:
		return !next.is("(") && !next.is("-") && !next.is("+") && !next.is("*")
	case next.kind == word:
		return reserved(next.upper) && !next.is("NOT") && !next.is("CASE") && !next.is("NULL") && !next.is("TRUE") && !next.is("FALSE")
	}
	return false
}

// nearest returns the keyword that an upper-case word is a misspelling of, or
// "". Keywords of two and three letters are left out: everything is near them.
func nearest(word string, keywords []string) string {
	best, least := "", 3
	for _, k := range keywords {
		most := 1
		if len(k) > 4 {
			most = 2
		}
		if len(k) < 4 || word == k {
			continue
		}
		if d := editDistance(word, k); d <= most && d < least {
			best, least = k, d
		}
	}
	return best
}

// editDistance counts insertions, deletions, substitutions and swaps of
// neighbours. Lengths that differ by more than 2 are not looked at closely.
func editDistance(a, b string) int {
	if len(a) > len(b)+2 || len(b) > len(a)+2 {
		return 3
	}
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
