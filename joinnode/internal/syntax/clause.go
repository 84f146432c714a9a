package syntax

import "strings"

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
				s.OrderBy, err = p.orderBy()
			}
		case p.tok.is("LIMIT"):
			if err = p.begin(&t, rankResult, "LIMIT", &s.LimitPos); err == nil {
				err = p.limit(s)
			}
		case p.tok.is("WITH"):
			if s.WithPos.Line == 0 {
				s.WithPos = p.tok.pos
			}
			s.With, err = p.with(s.With)
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
	keywords := []string{"INNER", "LEFT", "RIGHT", "FULL", "CROSS", "TEMPORAL", "WITHIN", "AND"}
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
