package syntax

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The generators draw trees that the parser could have made.

var (
	anyName = rapid.OneOf(
		rapid.SampledFrom([]string{"a", "b", "Ünïcode", "日本", "order", "left", "END", "within", "global", "$z", "_1", "9lives", "a b", "x`y", "a.b", ".", "it's"}),
		rapid.StringMatching(`[a-zA-Z_$][a-zA-Z0-9_$]{0,5}`),
		rapid.StringN(1, 4, -1),
	)
	anyText = rapid.OneOf(
		rapid.SampledFrom([]string{"", "it's", `say "hi"`, `it's "both"`, `back\slash`, `\'`, "line\nbreak", "-- no comment", "/*", "`"}),
		rapid.String(),
	)
	anyNumber = rapid.OneOf(
		rapid.SampledFrom([]string{"0", "1.50", ".5", "1e5", "2.5E-3", "12345678901234567890"}),
		rapid.StringMatching(`[0-9]{1,4}(\.[0-9]{1,3})?(e[+-]?[0-9]{1,2})?`),
	)
	anyOperator = rapid.SampledFrom([]string{"+", "-", "*", "/", "%", "||", "=", "!=", "<", "<=", ">", ">=", "AND", "OR"})
)

func drawColumn(t *rapid.T) *Column {
	first := anyName.Draw(t, "first")
	c := &Column{Path: []Step{{Name: first, Quoted: quoteName(first) != first || rapid.Bool().Draw(t, "quoted")}}}
	for range rapid.IntRange(0, 3).Draw(t, "steps") {
		if rapid.Bool().Draw(t, "index") {
			c.Path = append(c.Path, Step{Index: rapid.IntRange(-3, 1000).Draw(t, "i"), IsIndex: true})
			continue
		}
		name := rapid.OneOf(anyName, anyText).Draw(t, "step")
		c.Path = append(c.Path, Step{Name: name, Quoted: !isSegment(name) || rapid.Bool().Draw(t, "quoted")})
	}
	return c
}

func drawExpr(t *rapid.T, depth int) Expr {
	kinds := 14
	if depth == 0 {
		kinds = 5
	}
	sub := func() Expr { return drawExpr(t, depth-1) }
	subs := func(least int) []Expr {
		var list []Expr
		for range rapid.IntRange(least, 3).Draw(t, "n") {
			list = append(list, sub())
		}
		return list
	}
	flag := func() bool { return rapid.Bool().Draw(t, "flag") }
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return &Number{Text: anyNumber.Draw(t, "number")}
	case 1:
		return &Text{Value: anyText.Draw(t, "text")}
	case 2:
		return &Bool{Value: flag()}
	case 3:
		return &Null{}
	case 4:
		return drawColumn(t)
	case 5:
		return &Unary{Op: rapid.SampledFrom([]string{"-", "+", "NOT"}).Draw(t, "op"), X: sub()}
	case 6:
		return &IsNull{X: sub(), Not: flag()}
	case 7:
		return &In{X: sub(), List: subs(1), Not: flag()}
	case 8:
		return &Between{X: sub(), Lo: sub(), Hi: sub(), Not: flag()}
	case 9:
		return &Like{X: sub(), Pattern: sub(), Not: flag()}
	case 10:
		c := &Case{}
		if flag() {
			c.Operand = sub()
		}
		for range rapid.IntRange(1, 3).Draw(t, "whens") {
			c.Whens = append(c.Whens, When{Cond: sub(), Then: sub()})
		}
		if flag() {
			c.Else = sub()
		}
		return c
	case 11:
		c := &Call{Name: anyName.Draw(t, "function")}
		switch rapid.IntRange(0, 3).Draw(t, "form") {
		case 0:
			c.Star = true
		case 1:
			c.Distinct, c.Args = true, subs(1)
		case 2:
			c.Args = append(subs(1), &Star{})
		case 3:
			c.Args = subs(0)
		}
		if flag() {
			c.Over = &Over{Text: "OVER (PARTITION BY a WHEN f(b) > ')')"}
		}
		return c
	default:
		return &Binary{Op: anyOperator.Draw(t, "op"), X: sub(), Y: sub()}
	}
}

// drawName draws a table's name of at most so many parts.
func drawName(t *rapid.T, most int) []Ident {
	var parts []Ident
	for range rapid.IntRange(1, most).Draw(t, "parts") {
		name := anyName.Draw(t, "name")
		bare := quoteName(name) == name && !joinWord(upperASCII(name))
		if len(parts) > 0 {
			bare = isSegment(name) && !reserved(upperASCII(name))
		}
		quoted := !bare || rapid.Bool().Draw(t, "quoted")
		parts = append(parts, Ident{Name: name, Quoted: quoted})
	}
	return parts
}

func drawSource(t *rapid.T) Source {
	s := Source{Parts: drawName(t, 3)}
	s.Name = Name{Parts: s.Parts}.String()
	if rapid.Bool().Draw(t, "aliased") {
		s.Alias = anyName.Draw(t, "alias")
	}
	return s
}

func drawOptions(t *rapid.T, most int) []Option {
	var options []Option
	for range rapid.IntRange(0, most).Draw(t, "options") {
		o := Option{Name: rapid.SampledFrom([]string{"TIMESTAMP", "X"}).Draw(t, "option")}
		if o.Quote = rapid.Bool().Draw(t, "quoted"); o.Quote {
			o.Value = anyText.Draw(t, "value")
		} else {
			o.Value = rapid.SampledFrom([]string{"ts", "30 SECONDS", "-1", "0"}).Draw(t, "value")
		}
		options = append(options, o)
	}
	return options
}

func drawSelect(t *rapid.T) *Select {
	flag := func() bool { return rapid.Bool().Draw(t, "flag") }
	some := func(most int, add func()) {
		for range rapid.IntRange(0, most).Draw(t, "n") {
			add()
		}
	}
	expr := func() Expr { return drawExpr(t, 2) }
	s := &Select{From: drawSource(t)}
	if flag() {
		s.Distinct = Pos{Line: 1}
	}
	item := func() {
		var i Item
		switch rapid.IntRange(0, 3).Draw(t, "item") {
		case 0:
			i.Expr = &Star{}
		case 1:
			i.Expr = &Star{Qualifier: anyName.Draw(t, "qualifier")}
		default:
			i.Expr = expr()
		}
		if flag() {
			i.Alias = anyName.Draw(t, "alias")
		}
		s.Items = append(s.Items, i)
	}
	item()
	some(2, item)
	some(1, func() { s.More = append(s.More, drawSource(t)) })
	some(3, func() {
		j := Join{Kind: JoinKind(rapid.IntRange(0, 4).Draw(t, "kind")), Source: drawSource(t)}
		if flag() {
			j.Within = &Within{D: time.Duration(rapid.Int64Range(1, 1<<63-1).Draw(t, "ns"))}
		}
		if j.Kind != CrossJoin || flag() {
			j.On = expr()
		}
		j.Explicit = j.Kind == InnerJoin && flag()
		s.Joins = append(s.Joins, j)
	})
	some(1, func() {
		s.Match = &MatchRecognize{Text: "MATCH_RECOGNIZE (PATTERN (A{2,}? | {- B -}) DEFINE A AS x > ')')"}
	})
	some(1, func() { s.Where = expr() })
	some(2, func() { s.GroupBy = append(s.GroupBy, expr()) })
	some(1, func() { s.GroupBy = append(s.GroupBy, &GlobalWindow{Trigger: expr()}) })
	some(1, func() { s.Having = expr() })
	s.With = drawOptions(t, 2)
	some(2, func() { s.OrderBy = append(s.OrderBy, Order{Expr: expr(), Desc: flag()}) })
	some(1, func() { s.Limit = &Number{Text: rapid.StringMatching(`[0-9]{1,5}`).Draw(t, "limit")} })
	return s
}

func TestPrintedStatementParsesToTheSameTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSelect(t)
		printed := Print(s)
		parsed, err := Parse(printed)
		require.NoError(t, err, printed)
		require.Equal(t, s, withoutPlaces(parsed), printed)
		require.Equal(t, printed, Print(parsed))
	})
}

func TestPrintedExpressionParsesToTheSameTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawExpr(t, 4)
		printed := PrintExpr(e)
		parsed, err := ParseExpr(printed)
		require.NoError(t, err, printed)
		require.Equal(t, e, withoutPlaces(parsed), printed)
	})
}

// Parentheses in the canonical text are needed: without any pair of them the
// text is another tree or none.
func TestPrintedParenthesesAreNeeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawArithmetic(t, 4)
		printed := PrintExpr(e)
		for open := range printed {
			if printed[open] != '(' {
				continue
			}
			closing := open
			for depth := 0; ; closing++ {
				switch printed[closing] {
				case '(':
					depth++
				case ')':
					depth--
				}
				if depth == 0 {
					break
				}
			}
			without := printed[:open] + printed[open+1:closing] + printed[closing+1:]
			if other, err := ParseExpr(without); err == nil {
				require.NotEqual(t, e, withoutPlaces(other), "%s says the same as %s", without, printed)
			}
		}
	})
}

// drawArithmetic draws a tree whose only parentheses, printed, are groups.
func drawArithmetic(t *rapid.T, depth int) Expr {
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
		return &Column{Path: []Step{{Name: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")}}}
	}
	x := drawArithmetic(t, depth-1)
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		return &Unary{Op: rapid.SampledFrom([]string{"-", "NOT"}).Draw(t, "op"), X: x}
	case 1:
		return &IsNull{X: x}
	case 2:
		return &Between{X: x, Lo: drawArithmetic(t, depth-1), Hi: drawArithmetic(t, depth-1)}
	default:
		return &Binary{Op: anyOperator.Draw(t, "op"), X: x, Y: drawArithmetic(t, depth-1)}
	}
}

// Blanks and comments between tokens, and the case of keywords, mean nothing.
func TestSpacingMeansNothing(t *testing.T) {
	gap := rapid.SampledFrom([]string{" ", "\n", "\t\r\n", "/* c ' */", " -- c `\n", "\u00a0"})
	rapid.Check(t, func(t *rapid.T) {
		s := drawSelect(t)
		printed := Print(s)
		var b strings.Builder
		l := newLexer(printed)
		for tok := l.next(); tok.kind != endOfText; tok = l.next() {
			if !tok.glued {
				b.WriteString(gap.Draw(t, "gap"))
			}
			b.WriteString(tok.raw)
		}
		b.WriteString(gap.Draw(t, "gap") + ";" + gap.Draw(t, "gap"))
		parsed, err := Parse(b.String())
		require.NoError(t, err, b.String())
		require.Equal(t, s, withoutPlaces(parsed))
	})
}
