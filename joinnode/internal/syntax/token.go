package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is the lexical class of a token.
type kind uint8

const (
	endOfText  kind = iota
	invalid         // no token: token.err says why
	word            // a name or keyword outside quotes
	quotedWord      // `name`
	number          // unsigned, as written
	text            // 'string' or "string"
	symbol          // operator or punctuation
)

// token is one lexical element.
type token struct {
	kind  kind
	raw   string // as written
	value string // raw without quotes and escapes
	upper string // of a word: its ASCII letters in upper case, for comparison with keywords
	pos   Pos
	end   int  // offset behind it
	glued bool // no blank or comment before it
	err   *Error
}

// is tells whether t is the given keyword (upper case) or symbol.
func (t token) is(s string) bool {
	return t.kind == word && t.upper == s || t.kind == symbol && t.raw == s
}

// isName tells whether t can be a name where keywords may also stand.
func (t token) isName() bool {
	return t.kind == quotedWord || t.kind == word && !reserved(t.upper)
}

// isOperand tells whether t looks like what the verb of a statement is followed by:
// a word, a value or an opening parenthesis.
func (t token) isOperand() bool {
	return t.kind == word || t.kind == quotedWord || t.kind == number || t.kind == text || t.is("(")
}

// String describes t for an error message.
func (t token) String() string {
	switch t.kind {
	case endOfText:
		return "the end of the text"
	case word:
		if reserved(t.upper) {
			return t.upper
		}
		return "name " + clip(t.raw)
	case quotedWord:
		return "name " + clip(t.raw)
	case number:
		return "number " + clip(t.raw)
	case text:
		return "string " + clip(t.raw)
	default:
		return `"` + t.raw + `"`
	}
}

// clip keeps quotations from the text short enough for one line.
func clip(s string) string {
	const most = 40
	s = strings.Map(printable, s)
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// printable keeps terminal escapes and line breaks of the text out of messages.
func printable(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

// reserved tells whether an unquoted word, in upper case, is never a name.
// Everything else that looks like a keyword (WITHIN, OVER, WINDOW, BY, ASC …)
// is one only where its clause can stand. StreamSQL users name columns freely,
// so the list has only words without which the grammar would be ambiguous.
func reserved(upper string) bool {
	switch upper {
	case "SELECT", "DISTINCT", "FROM", "JOIN", "ON", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "WITH", "AS",
		"AND", "OR", "NOT", "IN", "IS", "LIKE", "BETWEEN", "NULL", "TRUE", "FALSE",
		"CASE", "WHEN", "THEN", "ELSE", "END":
		return true
	}
	return false
}

// joinWord tells whether a word can begin a JOIN clause. Such a word is a
// column's or function's name inside an expression (LEFT(s, 2)), but as the
// name of a source, or as an alias without AS, it must be quoted.
func joinWord(upper string) bool {
	switch upper {
	case "INNER", "LEFT", "RIGHT", "FULL", "CROSS":
		return true
	}
	return false
}

// upperASCII leaves other letters alone: in Unicode ſ is also an S, and no
// keyword should be written with it.
func upperASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}, s)
}
