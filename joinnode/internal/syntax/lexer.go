package syntax

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lexer cuts SQL into tokens, one at a time, so that an error early in the
// text is found before one that stands behind it.
type lexer struct {
	sql     string
	at      Pos  // of the first unread byte
	behind  Pos  // behind the last token: where something missing at the end is reported
	named   bool // a path can go on behind the last token
	segment bool // the last token was the dot of a path: a digit begins a name
	failed  *Error
}

func newLexer(sql string) lexer {
	start := Pos{Line: 1, Col: 1}
	return lexer{sql: sql, at: start, behind: start}
}

// next returns the next token. At the end, and after an error, it returns the
// same token again and again.
func (l *lexer) next() token {
	from := l.at.Offset
	if l.failed == nil {
		l.skipBlank()
	}
	if l.failed != nil {
		return token{kind: invalid, pos: l.failed.Pos, end: len(l.sql), err: l.failed}
	}
	if l.at.Offset == len(l.sql) {
		return token{kind: endOfText, pos: l.behind, end: l.behind.Offset}
	}
	glued := l.at.Offset == from
	named, segment := l.named && glued, l.segment && glued
	t := token{pos: l.at, glued: glued}
	r, _ := utf8.DecodeRuneInString(l.rest())
	switch {
	case startsName(r) || segment && isDigit(r):
		l.word(&t)
	case isDigit(r) || r == '.' && !named && len(l.rest()) > 1 && isDigit(rune(l.rest()[1])):
		l.number(&t)
	case r == '\'' || r == '"':
		l.quoted(&t, text, r)
	case r == '`':
		l.quoted(&t, quotedWord, r)
	default:
		l.symbol(&t, r)
	}
	if l.failed != nil {
		return token{kind: invalid, pos: l.failed.Pos, end: len(l.sql), err: l.failed}
	}
	t.end, l.behind = l.at.Offset, l.at
	l.named = t.kind == word || t.kind == quotedWord || t.is("]") || t.is("@")
	l.segment = named && t.is(".")
	return t
}

func (l *lexer) rest() string { return l.sql[l.at.Offset:] }

// take moves over the next n bytes and returns them.
func (l *lexer) take(n int) string {
	s := l.rest()[:n]
	l.at = l.at.after(s)
	return s
}

// after returns the place behind s, where s begins at p.
func (p Pos) after(s string) Pos {
	p.Offset += len(s)
	for _, r := range s {
		if r == '\n' {
			p.Line, p.Col = p.Line+1, 1
		} else {
			p.Col++
		}
	}
	return p
}

func (l *lexer) fail(pos Pos, hint, format string, args ...any) {
	l.failed = &Error{Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint, SQL: l.sql, Kind: ErrSyntax}
}

// skipBlank moves over white space and comments. A byte order mark counts as
// white space: editors put it in front of files.
func (l *lexer) skipBlank() {
	for {
		rest := l.rest()
		blank := strings.TrimLeftFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' })
		l.take(len(rest) - len(blank))
		switch {
		case strings.HasPrefix(blank, "--"):
			end := strings.IndexByte(blank, '\n')
			if end < 0 {
				end = len(blank)
			}
			l.take(end)
		case strings.HasPrefix(blank, "/*"):
			end := strings.Index(blank[2:], "*/")
			if end < 0 {
				l.fail(l.at, "end it with */", "the comment is not closed")
				return
			}
			l.take(end + 4)
		default:
			return
		}
	}
}

func (l *lexer) word(t *token) {
	n := strings.IndexFunc(l.rest(), func(r rune) bool { return !continuesName(r) })
	if n < 0 {
		n = len(l.rest())
	}
	t.kind, t.raw = word, l.take(n)
	t.value, t.upper = t.raw, upperASCII(t.raw)
}

func (l *lexer) number(t *token) {
	rest := l.rest()
	n := digits(rest)
	if strings.HasPrefix(rest[n:], ".") {
		if frac := digits(rest[n+1:]); frac > 0 {
			n += 1 + frac
		}
	}
	if n < len(rest) && (rest[n] == 'e' || rest[n] == 'E') {
		sign := n + 1
		if sign < len(rest) && (rest[sign] == '+' || rest[sign] == '-') {
			sign++
		}
		if exp := digits(rest[sign:]); exp > 0 {
			n = sign + exp
		}
	}
	if strings.HasPrefix(rest[n:], ".") {
		l.fail(l.at, "a decimal has digits on both sides of one point, as in 1.0", "malformed number %s", clip(rest[:n+1]))
		return
	}
	t.kind, t.raw = number, l.take(n)
	t.value = t.raw
}

// quoted reads up to the closing quote; the quote written twice stands for
// itself. A backslash is an ordinary character, as in StreamSQL and the SQL
// standard.
func (l *lexer) quoted(t *token, k kind, quote rune) {
	rest, q := l.rest(), byte(quote)
	n := 1
	for {
		i := strings.IndexByte(rest[n:], q)
		if i < 0 {
			l.unclosed(k, q)
			return
		}
		n += i + 1
		if n == len(rest) || rest[n] != q {
			break
		}
		n++
	}
	t.kind, t.raw = k, l.take(n)
	one := string(q)
	t.value = strings.ReplaceAll(t.raw[1:n-1], one+one, one)
	if k == quotedWord && t.value == "" {
		l.fail(t.pos, "", "a name in backquotes must not be empty")
	}
}

func (l *lexer) unclosed(k kind, quote byte) {
	what, hint := "string", "close it with "+string(quote)
	if k == quotedWord {
		what = "name in backquotes"
	} else if strings.Contains(l.sql[:l.at.Offset], `\`+string(quote)) || strings.Contains(l.rest(), `\`+string(quote)) {
		hint = doubledQuote
	}
	l.fail(l.at, hint, "the %s is not closed", what)
}

func (l *lexer) symbol(t *token, r rune) {
	rest := l.rest()
	t.kind = symbol
	for _, s := range [...]string{"<=", ">=", "<>", "!=", "==", "||", "&&", ":="} {
		if strings.HasPrefix(rest, s) {
			t.raw = l.take(2)
			t.value = t.raw
			return
		}
	}
	// Not all of these mean something in a query: { } | ? ^ occur in
	// MATCH_RECOGNIZE, and := @ ? in scripts.
	if r < utf8.RuneSelf && strings.ContainsRune("()[]{},.;+-*/%=<>!?|&^@:", r) {
		t.raw = l.take(1)
		t.value = t.raw
		return
	}
	hint := ""
	if ascii := typographic(r); ascii != "" {
		hint = "write the ASCII character " + ascii
	}
	l.fail(l.at, hint, "unexpected character %q", r)
}

// typographic returns the ASCII spelling of a character that word processors
// and East Asian input methods put in place of it.
func typographic(r rune) string {
	switch r {
	case '‘', '’', '′':
		return "'"
	case '“', '”', '″':
		return `"`
	case '–', '—', '−':
		return "-"
	case '、', '。':
		return ","
	}
	if r >= '！' && r <= '～' { // the full-width forms of U+0021 to U+007E
		return string(r - '！' + '!')
	}
	return ""
}

func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(rune(s[n])) {
		n++
	}
	return n
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func startsName(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_' || r == '$'
	}
	return unicode.IsLetter(r)
}

func continuesName(r rune) bool {
	if startsName(r) || isDigit(r) {
		return true
	}
	return r >= utf8.RuneSelf && r != utf8.RuneError && (unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Mc, r))
}
