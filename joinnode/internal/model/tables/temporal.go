package tables

import (
	"cmp"
	"slices"
)

// temporalJoin joins each row of a stream with the version that its key had in a
// table at the row's time.
func (b *builder) temporalJoin(l *node, t *table, on *condition, outer bool) *node {
	r := t.node
	r.logged = true
	if r.log == nil {
		r.log = versions{}
	}
	key := func(row *record) (string, bool) {
		v, ok := &env{parts: row.parts}, true
		values := make([]any, len(t.keys))
		for i, name := range t.keys {
			values[i] = on.left[slices.Index(on.columns, name)](v)
			ok = ok && values[i] != nil
		}
		return tuple(values), ok
	}
	type answer struct {
		key string
		ts  int64
	}
	var waiting []*record
	var given []answer // the rows that are out
	known := versions{}
	return b.add(&node{run: func(n *node) {
		n.waitsFor(l, r)
		table := r.versions()
		// Of what both inputs have passed, only the newest version is kept.
		passed := min(l.before.low, r.before.low)
		for _, c := range l.changes {
			if k, ok := key(c.now); ok {
				if v, some := at(known[k], passed); some && c.ts < v.ts {
					b.e.drop(n.table, "late", c.ts, c.now.parts[0].row)
					continue
				}
			}
			waiting = append(waiting, c.now)
		}
		tooLate := map[answer]bool{}
		for _, g := range given {
			if v, differs := revised(known[g.key], table[g.key], g.ts); differs {
				tooLate[answer{g.key, v.ts}] = true
			}
		}
		b.e.lateVersions += int64(len(tooLate))
		known = versions{}
		for k, list := range table {
			known[k] = slices.Clone(list)
		}
		slices.SortStableFunc(waiting, func(x, y *record) int { return cmp.Compare(x.ts, y.ts) })
		for len(waiting) > 0 {
			x := waiting[0]
			if !l.after.idle && l.after.low < x.ts || !r.after.idle && r.after.low < x.ts {
				break
			}
			waiting = waiting[1:]
			k, ok := key(x)
			var v version
			if ok {
				v, _ = at(table[k], x.ts)
				given = append(given, answer{k, x.ts})
			}
			out := &record{key: x.key, ts: x.ts, seq: b.e.next()}
			switch {
			case v.row != nil && on.matches(b.e, x, v.row):
				out.parts = beside(x, &v.row.parts[0])
			case outer:
				out.parts = beside(x, nil)
			default:
				continue
			}
			n.emit(out)
		}
	}})
}

// revised says whether a key's version of a time has come to differ, and what it
// is now.
func revised(before, now []version, t int64) (version, bool) {
	x, _ := at(before, t)
	y, _ := at(now, t)
	if x.row == nil || y.row == nil {
		return y, x.row != y.row
	}
	return y, x.ts != y.ts || !sameParts(x.row.parts, y.row.parts)
}
