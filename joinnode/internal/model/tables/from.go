package tables

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// chain is FROM and its JOINs as far as they are read.
type chain struct {
	b      *builder
	node   *node
	scope  scope
	tables []*table // of each part; nil for the elements of an array
	parent bool     // part 0 is the parent row @
	single bool     // a row of the first table is in one row at most: its key is the chain's
}

// source returns the table that a whole name means.
func (b *builder) source(s syntax.Source) (*table, error) {
	if len(s.Parts) > 1 && b.e.tables[s.Name] == nil {
		return nil, fmt.Errorf("unknown table %s", s.Name)
	}
	return b.lookup(s.Name), nil
}

func alias(s syntax.Source) string {
	if s.Alias != "" {
		return s.Alias
	}
	return s.Parts[len(s.Parts)-1].Name
}

// from begins a chain.
func (b *builder) from(s syntax.Source, parent *table) (*chain, error) {
	c := &chain{b: b, single: true, scope: scope{aliases: map[string]int{}, unit: b.e.unit, zone: time.UTC}}
	names := names(s.Parts)
	first, used := parent, 1
	switch {
	case names[0] != "@":
		// The longest name of a table in front; what follows belongs to its rows.
		for used = len(names); used > 1 && b.e.tables[strings.Join(names[:used], ".")] == nil; used-- {
		}
		first = b.lookup(strings.Join(names[:used], "."))
	case parent == nil:
		return nil, fmt.Errorf("@ without a parent")
	default:
		c.parent = true
	}
	c.node = first.node
	c.tables = []*table{first}
	if c.parent {
		c.scope.aliases["@"] = 0
	}
	if used == len(names) {
		c.name(alias(s), 0)
		return c, nil
	}
	return c, c.path(0, names[used:], alias(s), false)
}

func names(parts []syntax.Ident) []string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = p.Name
	}
	return out
}

// name gives a part its alias; columns without alias may be its own, unless it
// is the parent row and not alone.
func (c *chain) name(alias string, part int) {
	c.scope.aliases[alias] = part
	if len(c.scope.plain) == 1 && c.parent && c.scope.plain[0] == 0 {
		c.scope.plain = nil
	}
	c.scope.plain = append(c.scope.plain, part)
}

// join reads one JOIN.
func (c *chain) join(j *syntax.Join) error {
	if j.Kind != syntax.InnerJoin && j.Kind != syntax.LeftJoin {
		return fmt.Errorf("the model has no %s JOIN", j.Kind)
	}
	left := j.Kind == syntax.LeftJoin
	names := names(j.Source.Parts)
	if part, ok := c.scope.aliases[names[0]]; ok && len(names) > 1 {
		if j.On != nil {
			return fmt.Errorf("JOIN %s has its condition already", j.Source.Name)
		}
		return c.path(part, names[1:], alias(j.Source), left)
	}
	t, err := c.b.source(j.Source)
	if err != nil {
		return err
	}
	if err := c.table(t, alias(j.Source), j, c.parent); err != nil {
		return err
	}
	c.name(alias(j.Source), len(c.tables)-1)
	return nil
}

// path joins what belongs to the rows of a part: relationships, nested tables,
// and at last an array.
func (c *chain) path(part int, names []string, as string, left bool) error {
	for i, name := range names {
		t := c.tables[part]
		switch {
		case t != nil && t.relations[name] != nil:
			if err := c.relation(part, t.relations[name], left); err != nil {
				return err
			}
		case t != nil && t.nested[name] != nil:
			c.nested(part, t.nested[name], left)
		default:
			c.elements(part, names[i:], left)
			c.name(as, len(c.tables)-1)
			return nil
		}
		part = len(c.tables) - 1
	}
	c.name(as, part)
	return nil
}

// relation joins what a relationship leads to; @ is the row of part, and names
// mean what they meant where it was defined.
func (c *chain) relation(part int, r *relation, left bool) error {
	outer, now := c.scope, c.b.e.tables
	c.scope = scope{aliases: map[string]int{"@": part}, unit: outer.unit, zone: outer.zone}
	c.b.e.tables = r.tables
	defer func() { c.scope, c.b.e.tables = outer, now }()
	for i := range r.joins {
		j := r.joins[i]
		if left {
			j.Kind = syntax.LeftJoin
		}
		names := names(j.Source.Parts)
		if p, ok := c.scope.aliases[names[0]]; ok && len(names) > 1 {
			if err := c.path(p, names[1:], alias(j.Source), left); err != nil {
				return err
			}
			continue
		}
		t := r.tables[j.Source.Name]
		if t == nil {
			return fmt.Errorf("unknown table %s in a relationship", j.Source.Name)
		}
		if err := c.table(t, alias(j.Source), &j, true); err != nil {
			return err
		}
		c.name(alias(j.Source), len(c.tables)-1)
	}
	return nil
}

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

// table joins t. relational says that it is a join with the parent row.
func (c *chain) table(t *table, as string, j *syntax.Join, relational bool) error {
	cond, err := c.condition(j, t, as)
	if err != nil {
		return err
	}
	left := j.Kind == syntax.LeftJoin
	onKey := cond.covers(1, t)
	// FROM state JOIN stream means the same as the other way round.
	onKeyLeft := len(c.tables) == 1 && !left && !t.node.state && cond.covers(0, c.tables[0])
	switch {
	case !c.node.state && !t.node.state && cond.bounded:
		c.node = c.b.intervalJoin(c.node, t.node, cond, left)
	case !c.node.state && !t.node.state && !relational:
		return fmt.Errorf("join of the streams %s and %s needs bounds: %w", c.node.table, t.name, errKind)
	case cond.bounded:
		return fmt.Errorf("bounded join of a state table: %w", errKind)
	case onKeyLeft && !j.Explicit && !relational:
		state := c.tables[0]
		c.node = c.b.temporalJoin(t.node, state.node, lookup{
			names: state.keys,
			key:   func(r *record) (string, bool) { return cond.keyFrom(0, state, []part{{}, r.parts[0]}) },
			row:   func(r *record, p *part) []part { return []part{*p, r.parts[0]} }, also: cond.rest})
	case j.Temporal && (c.node.state || !onKey):
		return fmt.Errorf("TEMPORAL JOIN of %s not on its key, or not from a stream: %w", t.name, errKind)
	case j.Temporal, !c.node.state && onKey && !j.Explicit && !relational:
		c.node = c.b.temporalJoin(c.node, t.node, lookup{
			names: t.keys,
			key:   func(r *record) (string, bool) { return cond.keyFrom(1, t, r.parts) },
			row:   beside, also: cond.rest, outer: left})
	default:
		c.node = c.relationalJoin(t, cond, left)
	}
	c.tables = append(c.tables, t)
	return nil
}

// joinKey spells the values of one side of the equalities; false when one is
// NULL, which equals nothing.
func joinKey(parts []part, sides []expr) (string, bool) {
	v, ok := &env{parts: parts}, true
	values := make([]any, len(sides))
	for i, x := range sides {
		values[i] = x(v)
		ok = ok && values[i] != nil
	}
	return tuple(values), ok
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
