package syntax

import (
	"fmt"
	"strings"
)

// verbatim reads KEYWORD ( … ) as text: comments out, each gap one blank.
func (p *parser) verbatim(keyword string) (Span, string, error) {
	var b strings.Builder
	open := p.tok
	span := Span{Start: open.pos}
	b.WriteString(p.advance().raw)
	for depth := 0; ; {
		t := p.tok
		switch {
		case t.kind == invalid:
			return span, "", t.err
		case t.kind == endOfText:
			return span, "", p.errorAt(t.pos, fmt.Sprintf("it begins in line %d, column %d", open.pos.Line, open.pos.Col),
				`expected ")" to close %s, found %s`, keyword, t)
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		}
		if !t.glued {
			b.WriteByte(' ')
		}
		b.WriteString(t.raw)
		p.advance()
		if depth == 0 {
			span.End = t.end
			return span, b.String(), nil
		}
	}
}
