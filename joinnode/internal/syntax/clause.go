package syntax

import (
	"fmt"
	"strings"
)

// selectStatement reads SELECT … up to, and without, a semicolon.
func (p *parser) selectStatement() (*Select, error) {
	s := &Select{Pos: p.tok.pos}
	if err := p.expect("SELECT", ""); err != nil {
		return nil, err
	}
	if p.tok.is("DISTINCT") {
		s.Distinct = p.advance().pos
	}
	for {
		item, err := p.item()
		if err != nil {
			return nil, err
		}
		s.Items = append(s.Items, item)
		if !p.accept(",") {
			break
		}
	}
	if !p.accept("FROM") {
		return nil, p.unexpected(`"," or FROM`, "FROM")
	}
	if err := p.sources(s); err != nil {
		return nil, err
	}
	for p.beginsJoin() {
		j, err := p.join()
		if err != nil {
			return nil, err
		}
		s.Joins = append(s.Joins, j)
	}
	if p.tok.is("MATCH_RECOGNIZE") && p.peek(1).is("(") {
		span, body, err := p.verbatim("MATCH_RECOGNIZE")
		if err != nil {
			return nil, err
		}
		s.Match = &MatchRecognize{Span: span, Text: body}
	}
	return s, p.clauses(s)
}

func (p *parser) item() (Item, error) {
	t := p.tok
	item := Item{Pos: t.pos}
	switch {
	case t.is("*"):
		p.advance()
		item.Expr = &Star{Pos: t.pos}
	case t.isName() && p.peek(1).is(".") && p.peek(2).is("*"):
		p.advance()
		p.advance()
		p.advance()
		item.Expr = &Star{Pos: t.pos, Qualifier: t.value}
	default:
		e, err := p.expression()
		if err != nil {
			return Item{}, err
		}
		item.Expr = e
	}
	var err error
	item.Alias, err = p.optionalAlias()
	return item, err
}

// optionalAlias reads AS name, or a name that no clause can begin with.
func (p *parser) optionalAlias() (string, error) {
	if p.accept("AS") {
		// Many StreamSQL queries have window_end() AS end.
		if !p.tok.isName() && !p.tok.is("END") {
			return "", p.noAlias()
		}
		return p.advance().value, nil
	}
	if p.tok.kind == word && (reserved(p.tok.upper) || joinWord(p.tok.upper)) || !p.tok.isName() || p.tok.glued && p.last.kind == number {
		return "", nil
	}
	if p.peek(1).is("(") || p.tok.is("GLOBAL") && p.peek(1).is("WINDOW") {
		return "", nil
	}
	p.alias = p.advance()
	return p.alias.value, nil
}

func (p *parser) noAlias() *Error {
	err := p.unexpected("a name behind AS")
	if p.tok.kind == word {
		err.Hint = quoteHint(p.tok)
	}
	return err
}

// sources reads what stands behind FROM.
func (p *parser) sources(s *Select) error {
	for {
		src, err := p.source("FROM")
		if err != nil {
			return err
		}
		if p.tok.is("WITHIN") && p.durationFollows() {
			return p.errorAt(p.tok.pos, "it bounds the time between the rows of a JOIN: … JOIN other WITHIN 30 SECONDS ON …",
				"WITHIN belongs to a JOIN, not to the source behind FROM")
		}
		if src.Alias, err = p.sourceAlias(); err != nil {
			return err
		}
		if s.From.Name == "" {
			s.From = src
		} else {
			s.More = append(s.More, src)
		}
		if !p.accept(",") {
			return nil
		}
	}
}

// source reads the name of a stream or table, without its alias. A name with
// dots in it is one name.
func (p *parser) source(behind string) (Source, error) {
	src := Source{Pos: p.tok.pos}
	for {
		if !p.tok.isName() || p.tok.kind == word && joinWord(p.tok.upper) && src.Name == "" {
			return Source{}, p.noSource(behind)
		}
		src.Name += p.advance().value
		if !p.tok.is(".") {
			return src, nil
		}
		p.advance()
		src.Name += "."
	}
}

func (p *parser) noSource(behind string) *Error {
	err := p.noName("the name of a stream or table behind " + behind)
	switch {
	case p.tok.is("("):
		err.Hint = "subqueries are not supported"
	case p.tok.kind == text:
		err.Hint = "a name is quoted in backquotes: " + backquote(clip(p.tok.value))
	}
	return err
}

// sourceAlias reads the alias of a source. A misspelt LEFT in front of JOIN
// would pass for one and silently make the join an inner one.
func (p *parser) sourceAlias() (string, error) {
	alias, err := p.optionalAlias()
	if err != nil || p.alias.kind != word || p.alias.pos != p.last.pos || !p.tok.is("JOIN") && !p.tok.is("OUTER") {
		return alias, err
	}
	a := p.alias
	if a.is("NATURAL") {
		return "", p.errorAt(a.pos, "write the condition as ON a.k = b.k", "NATURAL JOIN is not supported")
	}
	if meant := nearest(a.upper, []string{"INNER", "LEFT", "RIGHT", "FULL", "CROSS"}); meant != "" && a.raw == a.upper {
		return "", p.errorAt(a.pos, "did you mean "+meant+"? As an alias it is written AS "+a.raw, "expected a kind of JOIN, found %s", a)
	}
	return alias, nil
}

func (p *parser) beginsJoin() bool {
	return p.tok.is("JOIN") || p.tok.kind == word && joinWord(p.tok.upper)
}

// join reads one JOIN clause.
func (p *parser) join() (Join, error) {
	j := Join{Pos: p.tok.pos}
	outer := false
	switch p.tok.upper {
	case "LEFT":
		j.Kind, outer = LeftJoin, true
	case "RIGHT":
		j.Kind, outer = RightJoin, true
	case "FULL":
		j.Kind, outer = FullJoin, true
	case "CROSS":
		j.Kind = CrossJoin
	}
	if !p.tok.is("JOIN") {
		kind := p.advance().upper
		if outer {
			p.accept("OUTER")
		}
		if !p.tok.is("JOIN") {
			return j, p.unexpected("JOIN behind "+kind, "JOIN", "OUTER")
		}
	}
	p.advance()
	var err error
	if j.Source, err = p.source("JOIN"); err != nil {
		return j, err
	}
	if err = p.within(&j); err != nil {
		return j, err
	}
	if j.Source.Alias, err = p.sourceAlias(); err != nil {
		return j, err
	}
	if err = p.within(&j); err != nil {
		return j, err
	}
	if p.tok.is("ON") {
		j.OnPos = p.advance().pos
		if j.On, err = p.expression(); err != nil {
			return j, err
		}
		err = p.within(&j)
		return j, err
	}
	if j.Kind == CrossJoin {
		return j, nil
	}
	missing := p.unexpected("ON behind the joined "+clip(j.Source.Name), "WITHIN")
	if missing.Hint == "" && missing.Kind == ErrSyntax && p.tok.kind != invalid {
		missing.Hint = "a JOIN needs its keys: ON a.k = b.k"
	}
	return j, missing
}

// The order in which clauses stand. WITH may stand anywhere among them.
const (
	rankWhere = iota + 1
	rankGroup
	rankHaving
	rankResult // ORDER BY and LIMIT, in either order
)

// tail remembers the clauses read so far.
type tail struct {
	rank int
	name string
}

// begin goes on over the first word of a clause and notes its place, unless the
// clause is given twice or out of order.
func (p *parser) begin(t *tail, rank int, name string, at *Pos) error {
	if at.Line != 0 {
		hint := ""
		if rank == rankWhere || rank == rankHaving {
			hint = "combine the conditions with AND"
		}
		return p.errorAt(p.tok.pos, hint, "%s is given twice", name)
	}
	if rank < t.rank {
		return p.errorAt(p.tok.pos, "", "%s must stand before %s", name, t.name)
	}
	t.rank, t.name = rank, name
	*at = p.tok.pos
	return nil
}

// clauses reads everything behind the sources.
func (p *parser) clauses(s *Select) error {
	var t tail
	for {
		var err error
		switch {
		case p.tok.is("WHERE"):
			if err = p.begin(&t, rankWhere, "WHERE", &s.WherePos); err == nil {
				p.advance()
				s.Where, err = p.expression()
			}
		case p.tok.is("GROUP"):
			if err = p.begin(&t, rankGroup, "GROUP BY", &s.GroupPos); err == nil {
				err = p.groupBy(s)
			}
		case p.beginsWindow():
			// StreamSQL also takes a window without GROUP BY in front of it.
			if err = p.begin(&t, rankGroup, "GROUP BY", &s.GroupPos); err == nil {
				err = p.groupings(s)
			}
		case p.tok.is("HAVING"):
			if err = p.begin(&t, rankHaving, "HAVING", &s.HavePos); err == nil {
				p.advance()
				s.Having, err = p.expression()
			}
		case p.tok.is("ORDER"):
			if err = p.begin(&t, rankResult, "ORDER BY", &s.OrderPos); err == nil {
				err = p.orderBy(s)
			}
		case p.tok.is("LIMIT"):
			if err = p.begin(&t, rankResult, "LIMIT", &s.LimitPos); err == nil {
				err = p.limit(s)
			}
		case p.tok.is("WITH"):
			if s.WithPos.Line == 0 {
				s.WithPos = p.tok.pos
			}
			err = p.with(s)
		case p.tok.kind == endOfText, p.tok.is(";"):
			return nil
		default:
			return p.noClause(s, t)
		}
		if err != nil {
			return err
		}
	}
}

// noClause makes the error for text that continues no clause and begins none.
func (p *parser) noClause(s *Select, t tail) *Error {
	started := t.rank > 0 || s.WithPos.Line != 0
	if p.beginsJoin() {
		return p.errorAt(p.tok.pos, "", "a JOIN must stand before the other clauses")
	}
	var open []string
	if !started {
		open = append(open, "JOIN")
	}
	for _, c := range []struct {
		at   Pos
		rank int
		name string
	}{
		{s.WherePos, rankWhere, "WHERE"}, {s.GroupPos, rankGroup, "GROUP BY"}, {s.HavePos, rankHaving, "HAVING"},
		{s.OrderPos, rankResult, "ORDER BY"}, {s.LimitPos, rankResult, "LIMIT"},
	} {
		if c.at.Line == 0 && c.rank >= t.rank {
			open = append(open, c.name)
		}
	}
	open = append(open, "WITH")
	keywords := []string{"INNER", "LEFT", "RIGHT", "FULL", "CROSS", "WITHIN", "AND"}
	for _, name := range open {
		keywords = append(keywords, strings.TrimSuffix(name, " BY"))
	}
	err := p.unexpected(strings.Join(open, ", ")+" or the end of the statement", keywords...)
	switch {
	case err.Hint != "" || p.tok.kind == invalid:
	case p.tok.is("WITHIN") && len(s.Joins) > 0:
		err.Hint = "WITHIN stands behind the joined name or directly behind its ON condition"
	case p.tok.is("OFFSET"):
		err.Hint = "OFFSET is not supported"
	case p.tok.is("ON") && len(s.Joins) == 0:
		err.Hint = "ON belongs to a JOIN"
	case t.rank == rankWhere && (p.tok.isName() || p.tok.kind == number || p.tok.kind == text):
		err.Hint = "an operator such as AND may be missing before it"
	}
	return err
}

// beginsWindow tells whether one of StreamSQL's windows stands next.
func (p *parser) beginsWindow() bool {
	if p.tok.kind != word {
		return false
	}
	switch p.tok.upper {
	case "GLOBAL":
		return p.peek(1).is("WINDOW")
	case "TUMBLINGWINDOW", "SLIDINGWINDOW", "COUNTINGWINDOW", "SESSIONWINDOW":
		return p.peek(1).is("(")
	}
	return false
}

func (p *parser) groupBy(s *Select) error {
	p.advance()
	if err := p.expect("BY", "behind GROUP"); err != nil {
		return err
	}
	return p.groupings(s)
}

// groupings reads the list of GROUP BY.
func (p *parser) groupings(s *Select) error {
	for {
		e, err := p.grouping()
		if err != nil {
			return err
		}
		s.GroupBy = append(s.GroupBy, e)
		if !p.accept(",") {
			return nil
		}
	}
}

func (p *parser) grouping() (Expr, error) {
	if !p.tok.is("GLOBAL") || !p.peek(1).is("WINDOW") {
		return p.expression()
	}
	w := &GlobalWindow{Pos: p.advance().pos}
	p.advance()
	if !p.accept("TRIGGER") {
		return w, nil
	}
	if err := p.expect("WHEN", "behind TRIGGER"); err != nil {
		return nil, err
	}
	var err error
	w.Trigger, err = p.expression()
	return w, err
}

func (p *parser) orderBy(s *Select) error {
	p.advance()
	if err := p.expect("BY", "behind ORDER"); err != nil {
		return err
	}
	for {
		e, err := p.expression()
		if err != nil {
			return err
		}
		o := Order{Expr: e, Desc: p.accept("DESC")}
		if !o.Desc {
			p.accept("ASC")
		}
		s.OrderBy = append(s.OrderBy, o)
		if !p.accept(",") {
			return nil
		}
	}
}

func (p *parser) limit(s *Select) error {
	p.advance()
	t := p.tok
	if t.kind == number && digits(t.raw) == len(t.raw) {
		e, err := p.numeral()
		s.Limit = e
		return err
	}
	err := p.unexpected("a whole number behind LIMIT")
	if err.Hint == "" && t.kind != invalid {
		err.Hint = "for example LIMIT 10"
	}
	return err
}

// with reads WITH (name = value, …).
func (p *parser) with(s *Select) error {
	p.advance()
	if err := p.expect("(", "behind WITH"); err != nil {
		return err
	}
	for {
		if p.tok.kind != word {
			return p.unexpected("the name of an option")
		}
		name := p.advance()
		o := Option{Pos: name.pos, Name: name.upper}
		if !p.accept("=") && !p.accept("==") {
			return p.unexpected(`"=" behind ` + clip(o.Name))
		}
		var err error
		if o.Value, o.Quote, err = p.optionValue(o.Name); err != nil {
			return err
		}
		s.With = append(s.With, o)
		if !p.accept(",") {
			return p.closeList("WITH")
		}
	}
}

// optionValue reads a string, a word, or a number with an optional unit.
func (p *parser) optionValue(name string) (value string, quoted bool, err error) {
	switch {
	case p.tok.kind == text:
		return p.advance().value, true, nil
	case p.tok.kind == word:
		return p.advance().raw, false, nil
	}
	if p.accept("-") {
		value = "-"
	}
	if p.tok.kind != number {
		return "", false, p.unexpected("a value for " + clip(name))
	}
	value += p.advance().raw
	if p.tok.kind == word {
		value += " " + p.advance().raw
	}
	return value, false, nil
}

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
