package tables

import (
	"fmt"
	"slices"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// condition is an ON clause taken apart: equalities between what is there and
// the joined table, bounds between their times, and the rest.
type condition struct {
	part        int             // that the joined table becomes
	left, right []expr          // the two sides of each equality
	names       [2][]string     // the columns of each side, "" where it is an expression
	rest        func(*env) bool // on the composite row
	within      bool            // the bounds are WITHIN's
	bounded     bool
	span        span
}

// leftKey and rightKey spell a row's values of the equalities; false when one is
// NULL.
func (c *condition) leftKey(r *record) (string, bool) { return joinKey(r.parts, c.left) }

func (c *condition) rightKey(r *record) (string, bool) {
	parts := make([]part, c.part+1)
	parts[c.part] = r.parts[0]
	return joinKey(parts, c.right)
}

// matches says whether the rest of ON holds for a left row and a right one.
func (c *condition) matches(e *Evaluator, l, r *record) bool {
	return c.rest(&env{parts: beside(l, &r.parts[0]), now: e.now})
}

// beside is the row of a left row and a part; nil is the NULL row.
func beside(l *record, p *part) []part {
	if p == nil {
		p = &part{}
	}
	return append(l.parts[:len(l.parts):len(l.parts)], *p)
}

// covers says whether the equalities fix the key of a table on one side.
func (c *condition) covers(side int, t *table) bool {
	for _, k := range t.keys {
		if k == "" || !slices.Contains(c.names[side], k) {
			return false
		}
	}
	return t.node.state && len(t.keys) > 0
}

// keyFrom spells the key of a table on one side from the values that the other
// has; false when one is NULL.
func (c *condition) keyFrom(side int, t *table, parts []part) (string, bool) {
	others := [...][]expr{c.right, c.left}[side]
	v, ok := &env{parts: parts}, true
	values := make([]any, len(t.keys))
	for i, name := range t.keys {
		values[i] = others[slices.Index(c.names[side], name)](v)
		ok = ok && values[i] != nil
	}
	return tuple(values), ok
}

// condition takes ON and WITHIN apart, for a joined table that becomes part.
func (c *chain) condition(j *syntax.Join, t *table, as string) (*condition, error) {
	part := len(c.tables)
	s := c.scope
	s.aliases = map[string]int{}
	for name, i := range c.scope.aliases {
		s.aliases[name] = i
	}
	s.aliases[as] = part
	cond := &condition{part: part}
	if j.Within != nil {
		cond.within, cond.bounded, cond.span = true, true, span{-int64(j.Within.D), int64(j.Within.D)}
	} else {
		cond.span = span{unseen, forever}
	}
	var rest []syntax.Expr
	for _, x := range conjuncts(j.On) {
		if j.Within == nil && !c.node.state && !t.node.state {
			if b, ok := c.bounds(&s, x, t); ok {
				cond.span = cond.span.and(b)
				continue
			}
		}
		eq, ok := x.(*syntax.Binary)
		if !ok || eq.Op != "=" {
			rest = append(rest, x)
			continue
		}
		l, r := eq.X, eq.Y
		if s.side(l, part) == joinedSide {
			l, r = r, l
		}
		if s.side(l, part) != earlierSide || s.side(r, part) != joinedSide {
			rest = append(rest, x)
			continue
		}
		lv, err := s.compile(l)
		if err != nil {
			return nil, err
		}
		rv, err := s.compile(r)
		if err != nil {
			return nil, err
		}
		cond.left, cond.right = append(cond.left, lv), append(cond.right, rv)
		for i, x := range []syntax.Expr{l, r} {
			col, _ := x.(*syntax.Column)
			cond.names[i] = append(cond.names[i], columnName(col))
		}
	}
	if j.Within == nil {
		half := cond.span.lower != unseen || cond.span.upper != forever
		cond.bounded = cond.span.lower != unseen && cond.span.upper != forever
		if half && !cond.bounded {
			return nil, fmt.Errorf("JOIN %s has one bound only", as)
		}
	}
	var err error
	cond.rest, err = s.all(rest)
	return cond, err
}

type side int

const (
	noSide side = iota
	earlierSide
	joinedSide
	bothSides
)

// side says to which side of a join the columns of an expression belong.
func (s *scope) side(e syntax.Expr, joined int) side {
	found := noSide
	var walk func(syntax.Expr)
	walk = func(e syntax.Expr) {
		switch e := e.(type) {
		case *syntax.Column:
			this := earlierSide
			if i, _, err := s.locate(e); err != nil || i == joined {
				this = joinedSide
			}
			if found != noSide && found != this {
				this = bothSides
			}
			found = this
		case *syntax.Binary:
			walk(e.X)
			walk(e.Y)
		case *syntax.Unary:
			walk(e.X)
		case *syntax.Call:
			for _, a := range e.Args {
				walk(a)
			}
		}
	}
	walk(e)
	return found
}

// span is what joined time − earlier time may be, both ends included, ns.
type span struct{ lower, upper int64 }

func (p span) and(q span) span { return span{max(p.lower, q.lower), min(p.upper, q.upper)} }

// width is the greatest distance of two times.
func (p span) width() int64 { return max(p.upper, -p.lower, p.lower, -p.upper) }

// bounds reads a comparison of the times of a row of each side as bounds.
func (c *chain) bounds(s *scope, e syntax.Expr, t *table) (span, bool) {
	all, joined := span{unseen, forever}, len(c.tables)
	switch e := e.(type) {
	case *syntax.Between:
		lo, okLo := c.bounds(s, &syntax.Binary{Op: ">=", X: e.X, Y: e.Lo}, t)
		hi, okHi := c.bounds(s, &syntax.Binary{Op: "<=", X: e.X, Y: e.Hi}, t)
		return lo.and(hi), okLo && okHi && !e.Not
	case *syntax.Binary:
		x, dx, okX := timeColumn(e.X)
		y, dy, okY := timeColumn(e.Y)
		if !okX || !okY {
			return all, false
		}
		op := e.Op
		if s.side(x, joined) == joinedSide {
			x, y, dx, dy = y, x, dy, dx
			op = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<="}[op]
		}
		if s.side(x, joined) != earlierSide || s.side(y, joined) != joinedSide || !c.isTime(s, x) || columnName(y) != t.time {
			return all, false
		}
		// earlier + dx op joined + dy
		switch d := dx - dy; op {
		case "<=":
			all.lower = d
		case "<":
			all.lower = d + 1
		case ">=":
			all.upper = d
		case ">":
			all.upper = d - 1
		default:
			return all, false
		}
		return all, true
	}
	return all, false
}

// isTime says whether a column is the row time of its table.
func (c *chain) isTime(s *scope, col *syntax.Column) bool {
	i, _, err := s.locate(col)
	return err == nil && c.tables[i] != nil && columnName(col) == c.tables[i].time
}

// timeColumn splits column ± interval.
func timeColumn(e syntax.Expr) (*syntax.Column, int64, bool) {
	switch e := e.(type) {
	case *syntax.Column:
		return e, 0, true
	case *syntax.Binary:
		c, ok := e.X.(*syntax.Column)
		d, isInterval := e.Y.(*syntax.Interval)
		if ok && isInterval && e.Op == "+" {
			return c, d.D, true
		}
		if ok && isInterval && e.Op == "-" {
			return c, -d.D, true
		}
	}
	return nil, 0, false
}
