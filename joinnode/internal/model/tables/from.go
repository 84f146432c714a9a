package tables

import (
	"fmt"
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
