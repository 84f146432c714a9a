package tables

import "strconv"

// relationalJoin is the join of the rows that both sides have now.
func (c *chain) relationalJoin(t *table, on *condition, outer bool) *node {
	one := c.node.state && t.node.state && on.covers(1, t)
	c.single = c.single && one
	return c.b.matching(c.node, t.node, pairing{
		left: on.leftKey, right: on.rightKey, outer: outer, one: one, none: tuple(make([]any, len(t.keys))),
		also: func(lr, rr *record) bool { return on.matches(c.b.e, lr, rr) },
	})
}

// nested joins the rows of a nested table to those that they belong to.
func (c *chain) nested(of int, t *table, left bool) {
	parent := func(r *record) (string, bool) { return r.parts[of].key, r.parts[of].key != "" }
	if c.node.state || t.node.state {
		one := t.single && c.node.state && t.node.state
		c.single = c.single && one
		c.node = c.b.matching(c.node, t.node, pairing{
			one:   one,
			left:  parent,
			right: func(r *record) (string, bool) { return r.parts[0].parent, true },
			outer: left,
			also:  func(_, _ *record) bool { return true },
		})
	} else {
		// The nested rows of a stream's row came in the step in which it came.
		c.node = c.b.expand(c.node, left, func(r *record) (parts []*part, _ int) {
			key, _ := parent(r)
			for _, row := range t.node.rows {
				if row.parts[0].parent == key {
					parts = append(parts, &row.parts[0])
				}
			}
			return parts, 0
		})
	}
	c.tables = append(c.tables, t)
}

// elements unnests the array at a path of a part's rows. What is no object is
// skipped and handed to the late output.
func (c *chain) elements(from int, path []string, left bool) {
	c.node = c.b.expand(c.node, left, func(r *record) (parts []*part, bad int) {
		v := field(r.parts[from].row, path)
		list, ok := v.([]any)
		if !ok {
			return nil, bit(v != nil)
		}
		for i, x := range list {
			if o, ok := x.(object); ok {
				parts = append(parts, &part{key: strconv.Itoa(i), row: o})
			} else {
				bad++
			}
		}
		return parts, bad
	})
	c.tables = append(c.tables, nil)
	c.single = false
}

// expand puts beside each row of in the parts that belong to it.
func (b *builder) expand(in *node, outer bool, partsOf func(*record) (parts []*part, bad int)) *node {
	expanded := func(r *record) (rows []*record, bad int) {
		parts, bad := partsOf(r)
		if len(parts) == 0 && outer {
			parts = []*part{nil}
		}
		for _, p := range parts {
			all := beside(r, p)
			rows = append(rows, &record{key: r.key + "/" + all[len(all)-1].key, from: [2]string{r.key}, parts: all, ts: r.ts, seq: r.seq})
		}
		return rows, bad
	}
	return b.add(&node{state: in.state, in: []*node{in}, run: func(n *node) {
		n.follows(in)
		for _, c := range in.changes {
			if c.now == nil {
				continue
			}
			rows, bad := expanded(c.now)
			for range bad {
				n.drop("bad_element", c.ts, c.now.parts[0].row)
			}
			if !in.state {
				for _, r := range rows {
					r.seq = b.e.next()
					n.emit(r)
				}
			}
		}
		if !in.state {
			return
		}
		var all []*record
		for _, r := range in.rows {
			rows, _ := expanded(r)
			all = append(all, rows...)
		}
		n.become(all, func(old, now *record) int64 {
			from := change{old: old, now: now}.record().from[0]
			ts, ok := touched(in, func(r *record) bool { return r.key == from })
			if !ok {
				return b.e.now
			}
			return ts
		})
	}})
}

// pairing says which rows of two states belong together: those of one join key,
// unless false says that the row has none, for which also holds.
type pairing struct {
	left, right func(*record) (string, bool)
	also        func(l, r *record) bool
	outer       bool   // LEFT JOIN
	one         bool   // a left row meets one right row at most, so its key is that of both
	none        string // the key that stands for no right row
}

func (p *pairing) key(l *record, right string) string {
	if p.one {
		return l.key
	}
	return l.key + "|" + right
}

func (b *builder) matching(l, r *node, p pairing) *node {
	return b.add(&node{state: true, in: []*node{l, r}, run: func(n *node) {
		n.waitsFor(l, r)
		rights := map[string][]*record{}
		for _, rr := range r.rows {
			if k, ok := p.right(rr); ok {
				rights[k] = append(rights[k], rr)
			}
		}
		var rows []*record
		for _, lr := range l.rows {
			k, ok := p.left(lr)
			matched := false
			if ok {
				for _, rr := range rights[k] {
					if p.also(lr, rr) {
						rows = append(rows, &record{key: p.key(lr, rr.key), from: [2]string{lr.key, rr.key}, parts: beside(lr, &rr.parts[0])})
						matched = true
					}
				}
			}
			if !matched && p.outer {
				rows = append(rows, &record{key: p.key(lr, p.none), from: [2]string{lr.key}, parts: beside(lr, nil)})
			}
		}
		n.become(rows, func(old, now *record) int64 { return p.cause(l, r, old, now) })
	}})
}

// cause is the greatest time of the changes that concern a row of the join: of
// its sides, or for a NULL row any of its key on the right.
func (p *pairing) cause(l, r *node, old, now *record) int64 {
	x := change{old: old, now: now}.record()
	last := len(x.parts) - 1
	right, okRight := touched(r, func(rr *record) bool {
		if x.parts[last].row != nil {
			return rr.key == x.from[1]
		}
		key, joins := p.left(&record{parts: x.parts[:last]})
		other, ok := p.right(rr)
		return ok && joins && key == other
	})
	left, okLeft := touched(l, func(lr *record) bool { return lr.key == x.from[0] })
	switch {
	case okLeft && okRight:
		return max(left, right)
	case okLeft:
		return left
	case okRight:
		return right
	}
	return l.e.now
}
