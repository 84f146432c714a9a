package delegate

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// word is a token of a MATCH_RECOGNIZE clause: a word or number, a quoted text or
// name, or one other character.
type word struct {
	raw   string
	at    int // byte offset in the SQL
	depth int // parentheses around it, those of MATCH_RECOGNIZE included
}

func (w word) is(s string) bool { return strings.EqualFold(w.raw, s) }
func (w word) end() int         { return w.at + len(w.raw) }

// matchWords cuts a MATCH_RECOGNIZE clause into tokens, without comments. The
// parser has read it before, so that it is well-formed as far as tokens go.
func (c *compiler) matchWords() []word {
	span := c.stmt.Match.Span
	var words []word
	depth := 0
	for i := span.Start.Offset; i < span.End; {
		rest := c.sql[i:span.End]
		r, size := utf8.DecodeRuneInString(rest)
		n := size
		switch {
		case unicode.IsSpace(r) || r == '\uFEFF':
			i += size
			continue
		case strings.HasPrefix(rest, "--"):
			i += upTo(rest, "\n")
			continue
		case strings.HasPrefix(rest, "/*"):
			i += upTo(rest, "*/")
			continue
		case r == '\'' || r == '"' || r == '`':
			n = quotedLength(rest)
		case inWord(r):
			n = strings.IndexFunc(rest, func(r rune) bool { return !inWord(r) })
			if n < 0 {
				n = len(rest)
			}
		case r == ')':
			depth--
		}
		words = append(words, word{raw: rest[:n], at: i, depth: depth})
		if r == '(' {
			depth++
		}
		i += n
	}
	return words
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '$' }

func upTo(text, end string) int {
	if i := strings.Index(text, end); i >= 0 {
		return i + len(end)
	}
	return len(text)
}

// quotedLength is the length of the quoted text that text begins with; the quote
// written twice stands for itself.
func quotedLength(text string) int {
	for i := 1; i < len(text); i++ {
		if text[i] != text[0] {
			continue
		}
		if i+1 == len(text) || text[i+1] != text[0] {
			return i + 1
		}
		i++
	}
	return len(text)
}

// matchClause is one clause within MATCH_RECOGNIZE; its words begin with the
// keyword.
type matchClause struct {
	keyword string
	words   []word
}

// matchClauses splits what stands within the parentheses.
func matchClauses(words []word) []matchClause {
	var list []matchClause
	for i, w := range words {
		if w.depth == 0 {
			continue // MATCH_RECOGNIZE, its parentheses
		}
		if k := clauseKeyword(words[i:]); k != "" || len(list) == 0 {
			list = append(list, matchClause{keyword: k})
		}
		last := &list[len(list)-1]
		last.words = append(last.words, w)
	}
	return list
}

// clauseKeyword returns the keyword of the clause that begins here, "" if none
// does. Most keywords are names of fields as well.
func clauseKeyword(words []word) string {
	if words[0].depth != 1 || len(words) < 2 {
		return ""
	}
	for _, k := range [...]struct{ word, next string }{
		{"PARTITION", "BY"}, {"ORDER", "BY"}, {"MEASURES", ""}, {"ONE", "ROW"}, {"ALL", "ROWS"}, {"AFTER", "MATCH"},
		{"PATTERN", "("}, {"SUBSET", ""}, {"WITHIN", ""}, {"DEFINE", ""},
	} {
		if words[0].is(k.word) && (words[1].is(k.next) || k.next == "" && inWordOrQuoted(words[1].raw)) {
			return k.word
		}
	}
	return ""
}

func inWordOrQuoted(raw string) bool {
	r, _ := utf8.DecodeRuneInString(raw)
	return inWord(r) || r == '\'' || r == '"' || r == '`' || r == '(' || r == '-' || r == '+'
}

// splitItems cuts words at the commas outside parentheses.
func splitItems(words []word) [][]word {
	var items [][]word
	var item []word
	for _, w := range words {
		if w.raw == "," && w.depth == 1 {
			items = append(items, item)
			item = nil
			continue
		}
		item = append(item, w)
	}
	return append(items, item)
}

// joined writes words back, each gap as one blank.
func joined(words []word) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 && words[i-1].end() < w.at {
			b.WriteByte(' ')
		}
		b.WriteString(w.raw)
	}
	return b.String()
}

// variables returns the names that PATTERN and SUBSET define, and whether rows
// of the match can be of different ones.
func variables(clauses []matchClause) (names map[string]bool, several bool) {
	names = map[string]bool{}
	for _, cl := range clauses {
		for i, w := range cl.words[1:] {
			r, _ := utf8.DecodeRuneInString(w.raw)
			named := unicode.IsLetter(r) || r == '_' || r == '`'
			switch cl.keyword {
			case "PATTERN":
				if named && !w.is("PERMUTE") {
					names[strings.Trim(w.raw, "`")] = true
				}
			case "SUBSET":
				if named && w.depth == 1 && i+2 < len(cl.words) && cl.words[i+2].raw == "=" {
					names[strings.Trim(w.raw, "`")] = true
				}
			}
		}
	}
	return names, len(names) > 1
}

// matchExpr is a parsed expression of MEASURES or DEFINE with what only pattern
// matching writes, by offsets in the SQL.
type matchExpr struct {
	expr     syntax.Expr
	prefixes map[int]string // FINAL or RUNNING before the call there
	stars    map[int]bool   // A.* whose A is there
}

// expression parses the words of an expression, with positions in the SQL.
func (c *compiler) expression(words []word) (*matchExpr, error) {
	m := &matchExpr{prefixes: map[int]string{}, stars: map[int]bool{}}
	var text strings.Builder
	for i, w := range words {
		text.WriteString(blank(c.sql[text.Len():w.at]))
		raw := w.raw
		if (w.is("FINAL") || w.is("RUNNING")) && i+2 < len(words) && inWordOrQuoted(words[i+1].raw) && words[i+2].raw == "(" {
			m.prefixes[words[i+1].at] = strings.ToUpper(raw)
			raw = blank(raw)
		}
		if raw == "*" && i > 1 && words[i-1].raw == "." {
			m.stars[words[i-2].at] = true
			raw = "_" // a name, for the parser
		}
		text.WriteString(raw)
	}
	var err error
	if m.expr, err = syntax.ParseExpr(text.String()); err != nil {
		var e *syntax.Error
		if errors.As(err, &e) {
			e.SQL = c.sql
		}
		return nil, err
	}
	m.expr = nullTests(m.expr)
	return m, nil
}

// blank is white space as long as s, in bytes and, but for the rarest letters,
// in characters, with its line breaks.
func blank(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteByte('\n')
		case utf8.RuneLen(r) == 2:
			b.WriteRune('\u00A0')
		case utf8.RuneLen(r) == 3:
			b.WriteRune('\u3000')
		case utf8.RuneLen(r) == 4:
			b.WriteString("\u3000 ")
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}
