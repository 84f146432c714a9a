package tables

import "github.com/streamjoin/streamjoin/joinnode/internal/syntax"

// view is the rows of in, each made anew by f or, where that is nil, left out:
// filters, SELECT lists, added columns. Keys and times stay.
func (b *builder) view(in *node, f func(*record) []part) *node {
	made := func(r *record) *record {
		if r == nil {
			return nil
		}
		parts := f(r)
		if parts == nil {
			return nil
		}
		return &record{key: r.key, parts: parts, ts: r.ts, seq: r.seq}
	}
	n := &node{state: in.state, in: []*node{in}, run: func(n *node) {
		n.follows(in)
		if !in.state {
			for _, c := range in.changes {
				if r := made(c.now); r != nil {
					n.emit(r)
				}
			}
			return
		}
		var rows []*record
		for _, r := range in.rows {
			if r := made(r); r != nil {
				rows = append(rows, r)
			}
		}
		n.become(rows, causedBy(in))
	}}
	if in.history == nil {
		return b.add(n)
	}
	n.history = func() versions {
		out := versions{}
		for key, list := range in.history() {
			for _, v := range list {
				out[key] = append(out[key], version{v.ts, made(v.row)})
			}
		}
		return out
	}
	return b.add(n)
}

// causedBy is the time of a change whose key is that of the input's change.
func causedBy(in *node) func(old, now *record) int64 {
	return func(old, now *record) int64 {
		key := change{old: old, now: now}.key()
		ts, ok := touched(in, func(r *record) bool { return r.key == key })
		if !ok {
			return in.e.now
		}
		return ts
	}
}

// filter keeps the rows for which cond is true.
func (b *builder) filter(in *node, cond func(*env) bool) *node {
	return b.view(in, func(r *record) []part {
		if cond(&env{parts: r.parts, now: b.e.now}) {
			return r.parts
		}
		return nil
	})
}

// streamOn turns changes of one kind into rows, with the time of what caused
// them.
func (b *builder) streamOn(in *node, kind syntax.ChangeKind) *node {
	return b.add(&node{in: []*node{in}, run: func(n *node) {
		n.waitsFor(in)
		for _, c := range in.changes {
			r := c.now
			switch {
			case kind == syntax.OnAdd && (c.old != nil || c.now == nil),
				kind == syntax.OnUpdate && (c.old == nil || c.now == nil),
				kind == syntax.OnDelete && c.now != nil:
				continue
			case kind == syntax.OnDelete:
				r = c.old
			}
			n.emit(n.e.streamRow(r.parts[0].row, c.ts))
		}
	}})
}

// streamRow makes a row of a stream, with a key of its own.
func (e *Evaluator) streamRow(row object, ts int64) *record {
	seq := e.next()
	key := sequenceKey(seq)
	return &record{key: key, parts: []part{{key: key, row: row}}, ts: ts, seq: seq}
}
