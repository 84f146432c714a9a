package eval

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// like compiles x LIKE pattern. % stands for any characters and _ for one; there
// is no escape, and case counts, as in StreamSQL. (There _ is one byte.) What is
// not text is Unknown.
func (c *compiler) like(e *syntax.Like) (term, error) {
	terms, err := c.compileAll([]syntax.Expr{e.X, e.Pattern})
	if err != nil {
		return term{}, err
	}
	x, pattern := terms[0].asExpr(), terms[1].asExpr()
	pred := func(ctx *Context, r row.Row) value.Tri {
		text, p := x(ctx, r).Resolve(), pattern(ctx, r).Resolve()
		if !isTextOrNull(text) || !isTextOrNull(p) {
			ctx.mismatch(e, text, p)
		}
		if text.Kind != value.Text || p.Kind != value.Text {
			return value.Unknown
		}
		return value.TriOf(matchLike(text.Text, p.Text))
	}
	if p := terms[1].val; terms[1].constant && p.Kind == value.Text {
		match := compileLike(string(p.Text))
		pred = func(ctx *Context, r row.Row) value.Tri {
			text := x(ctx, r).Resolve()
			if !isTextOrNull(text) {
				ctx.mismatch(e, text, p)
			}
			if text.Kind != value.Text {
				return value.Unknown
			}
			return value.TriOf(match(text.Text))
		}
	}
	return fold(term{pred: negated(pred, e.Not)}, terms...), nil
}

func isTextOrNull(v value.Value) bool { return v.Kind == value.Text || v.Kind == value.Null }

// compileLike returns a matcher for pattern, a plain search where that is all
// the pattern asks for.
func compileLike(pattern string) func([]byte) bool {
	core := strings.Trim(pattern, "%")
	if strings.ContainsAny(core, "%_") {
		p := []byte(pattern)
		return func(text []byte) bool { return matchLike(text, p) }
	}
	part := []byte(core)
	left, right := strings.HasPrefix(pattern, "%"), strings.HasSuffix(pattern, "%")
	switch {
	case left && right:
		return func(text []byte) bool { return bytes.Contains(text, part) }
	case left:
		return func(text []byte) bool { return bytes.HasSuffix(text, part) }
	case right:
		return func(text []byte) bool { return bytes.HasPrefix(text, part) }
	}
	return func(text []byte) bool { return bytes.Equal(text, part) }
}

// matchLike matches with one place to return to: behind the last %, which then
// takes one character more. Worst case is the product of the lengths.
func matchLike(text, pattern []byte) bool {
	t, p := 0, 0
	back, from := -1, 0 // behind the last %, and where in text it was tried last
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '%':
			p++
			back, from = p, t
		case p < len(pattern) && pattern[p] == '_':
			t += runeLen(text[t:])
			p++
		case p < len(pattern) && pattern[p] == text[t]:
			t++
			p++
		case back >= 0:
			from += runeLen(text[from:])
			t, p = from, back
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '%' {
		p++
	}
	return p == len(pattern)
}

func runeLen(b []byte) int {
	_, n := utf8.DecodeRune(b)
	return n
}
