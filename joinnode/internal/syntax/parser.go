package syntax

import (
	"fmt"
	"unicode/utf8"
)

// Limits that keep hostile text from costing more than its share. They are far
// above anything a person writes.
const (
	maxLength    = 1 << 20 // bytes of SQL
	maxDepth     = 500     // nesting of parentheses, calls, CASE and prefix operators
	maxOperators = 10_000  // infix operators in one statement: a chain of them is a tree as deep as it is long
)

// Parse reads one SELECT statement, with or without a final semicolon. Every
// error is an *Error with Kind ErrSyntax.
//
// What only table scripts know (ScriptOnly) is refused; ParseScript reads it.
//
// The grammar is StreamSQL's, with WITHIN and the clauses that package plan
// refuses. Two of its rules differ from other dialects: "x" in double quotes is
// a string, as in StreamSQL, never a name (names are quoted in backquotes), and
// a backslash is an ordinary character.
func Parse(sql string) (*Select, error) {
	p, err := newParser(sql)
	if err != nil {
		return nil, err
	}
	if p.tok.kind == endOfText {
		return nil, p.errorAt(p.tok.pos, "a query has the form SELECT … FROM …", "the statement is empty")
	}
	s, err := p.selectStatement()
	if err != nil {
		return nil, err
	}
	p.accept(";")
	if p.tok.kind != endOfText {
		return nil, p.unexpected("the end of the statement")
	}
	if what, at, found := ScriptOnly(s); found {
		return nil, p.errorAt(at, "give the query a name: Name := SELECT …", "%s is for table scripts", what)
	}
	return s, nil
}

// ParseExpr reads a single expression. Every error is an *Error with Kind
// ErrSyntax.
func ParseExpr(sql string) (Expr, error) {
	p, err := newParser(sql)
	if err != nil {
		return nil, err
	}
	e, err := p.expression()
	if err != nil {
		return nil, err
	}
	if p.tok.kind != endOfText {
		return nil, p.unexpected("an operator or the end of the expression")
	}
	return e, nil
}

// parser is a recursive-descent parser for clauses and a Pratt parser for
// expressions. Its methods read from tok on, and leave in tok the first token
// that is not theirs.
type parser struct {
	lexer     lexer
	tok       token    // the next token
	ahead     [2]token // the tokens behind it
	queued    int      // how many of ahead are read
	last      token    // the one before it
	alias     token    // the last alias written without AS: it may be a misspelt keyword
	depth     int      // of nesting around tok
	cases     int      // CASE expressions around tok
	operators int      // infix operators so far
}

func newParser(sql string) (*parser, error) {
	p := &parser{lexer: newLexer(sql)}
	if len(sql) > maxLength {
		n := maxLength
		for n > 0 && !utf8.RuneStart(sql[n]) {
			n--
		}
		return nil, p.errorAt(p.lexer.at.after(sql[:n]), "", "the SQL is longer than %d bytes", maxLength)
	}
	if n := validUTF8(sql); n < len(sql) {
		return nil, p.errorAt(p.lexer.at.after(sql[:n]), "", "the text is not valid UTF-8 here")
	}
	p.tok = p.lexer.next()
	return p, nil
}

// validUTF8 returns the length of the valid UTF-8 at the start of s.
func validUTF8(s string) int {
	if utf8.ValidString(s) {
		return len(s)
	}
	for i, r := range s {
		if r != utf8.RuneError {
			continue
		}
		if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
			return i
		}
	}
	return len(s)
}

// advance goes one token on and returns the one that it leaves.
func (p *parser) advance() token {
	p.last = p.tok
	if p.queued > 0 {
		p.tok, p.ahead[0] = p.ahead[0], p.ahead[1]
		p.queued--
	} else {
		p.tok = p.lexer.next()
	}
	return p.last
}

// peek returns the n-th token behind tok; the grammar needs at most two.
func (p *parser) peek(n int) token {
	for p.queued < n {
		p.ahead[p.queued] = p.lexer.next()
		p.queued++
	}
	return p.ahead[n-1]
}

// accept goes on if the next token is the given keyword or symbol.
func (p *parser) accept(s string) bool {
	if !p.tok.is(s) {
		return false
	}
	p.advance()
	return true
}

// expect goes on over the given keyword or symbol; anything else is an error.
// why, if not empty, says what it is needed for.
func (p *parser) expect(s, why string) error {
	if p.accept(s) {
		return nil
	}
	expected := s
	if r, _ := utf8.DecodeRuneInString(s); !startsName(r) {
		expected = `"` + s + `"`
	}
	if why != "" {
		expected += " " + why
	}
	return p.unexpected(expected, s)
}

// errorAt makes an error at pos.
func (p *parser) errorAt(pos Pos, hint, format string, args ...any) *Error {
	return &Error{Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint, SQL: p.lexer.sql, Kind: ErrSyntax}
}

// enter counts one level of nesting; leave must follow.
func (p *parser) enter() error {
	p.depth++
	if p.depth > maxDepth {
		return p.errorAt(p.tok.pos, "", "the expression is nested more than %d levels deep", maxDepth)
	}
	return nil
}

func (p *parser) leave() { p.depth-- }
