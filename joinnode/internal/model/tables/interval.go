package tables

import (
	"cmp"
	"slices"
)

// intervalSide is the rows of one side of an interval join.
type intervalSide struct {
	in   *node
	rows []*waiting
	seen int64
}

type waiting struct {
	*record
	key     string
	matched bool
}

// intervalJoin is the join of two streams whose times are at most so far apart,
// as "Join semantics, made exact" has it for one stage: rows live until their
// own side's greatest time is more than the width past them; rows that are later
// than that when they come are late. To bounds the width adds the disorder that the
// inputs declare.
func (b *builder) intervalJoin(l, r *node, on *condition, outer bool) *node {
	width := on.span.width()
	if !on.within {
		width += max(l.disorderBehind(), r.disorderBehind())
	}
	sides := [2]*intervalSide{{in: l, seen: unseen}, {in: r, seen: unseen}}
	return b.add(&node{in: []*node{l, r}, run: func(n *node) {
		expire := func(s *intervalSide, seen int64) {
			if s.seen = max(s.seen, seen); s.seen == unseen {
				return
			}
			slices.SortStableFunc(s.rows, func(x, y *waiting) int { return cmp.Compare(x.ts, y.ts) })
			for len(s.rows) > 0 && add(s.rows[0].ts, width) < s.seen {
				if x := s.rows[0]; s == sides[0] && outer && !x.matched {
					n.emit(&record{key: x.record.key + "|", parts: beside(x.record, nil), ts: x.ts, seq: b.e.next()})
				}
				s.rows = s.rows[1:]
			}
		}
		for i, s := range sides {
			expire(s, s.in.before.seen)
			for _, c := range s.in.changes {
				if add(c.ts, width) < s.in.before.seen {
					n.drop("late", c.ts, c.now.parts[0].row)
					continue
				}
				x := &waiting{record: c.now}
				if i == 0 {
					x.key, _ = on.leftKey(c.now)
				} else {
					x.key, _ = on.rightKey(c.now)
				}
				other := slices.Clone(sides[1-i].rows)
				slices.SortStableFunc(other, func(x, y *waiting) int { return cmp.Compare(x.ts, y.ts) })
				for _, y := range other {
					lw, rw := x, y
					if i == 1 {
						lw, rw = y, x
					}
					d := rw.ts - lw.ts
					if x.key != y.key || d < on.span.lower || d > on.span.upper || !on.matches(b.e, lw.record, rw.record) {
						continue
					}
					lw.matched = true
					n.emit(&record{key: lw.record.key + "|" + rw.record.key, parts: beside(lw.record, &rw.parts[0]), ts: max(lw.ts, rw.ts), seq: b.e.next()})
				}
				s.rows = append(s.rows, x)
			}
			expire(s, s.in.after.seen)
		}
		n.before = n.after
		t, idle := frontier(l, width), l.after.idle
		if right := frontier(r, width); !outer && right > t {
			t, idle = right, r.after.idle
		}
		t = max(t, n.before.low)
		n.after = progress{t, t, idle}
	}})
}

func frontier(n *node, width int64) int64 {
	if n.after.seen == unseen || n.after.seen == forever {
		return n.after.seen
	}
	return add(n.after.seen, -width)
}
