package tables

import (
	"cmp"
	"slices"
)

// lookup says how a stream's row finds its version in a table.
type lookup struct {
	names []string                     // of the table's key
	key   func(*record) (string, bool) // false: a NULL is in it
	row   func(*record, *part) []part  // of the join; a nil part is the NULL row
	also  func(*env) bool              // the rest of ON
	outer bool                         // LEFT JOIN
}

// timeline is what a temporal join knows of a table's versions. It goes back to
// the horizon, up to which both inputs had come when the last step ended.
type timeline struct {
	lists   versions
	horizon int64
	// absent is the greatest time below the horizon at which some key lost its row:
	// of a key without versions nothing is known before that.
	absent int64
}

// follow brings the versions up to date with the table. A key with a NULL in it
// equals nothing and has none.
func (t *timeline) follow(table *node, key []string) {
	null := func(r *record) bool {
		return r != nil && slices.ContainsFunc(key, func(name string) bool { return r.parts[0].row[name] == nil })
	}
	if table.history != nil {
		t.lists = table.history()
		for k, list := range t.lists {
			if slices.ContainsFunc(list, func(v version) bool { return null(v.row) }) {
				delete(t.lists, k)
			}
		}
		return
	}
	for _, c := range table.changes {
		if null(c.record()) {
			continue
		}
		list, ts := t.lists[c.key()], c.ts
		if last := len(list) - 1; last >= 0 {
			if ts = max(ts, list[last].ts); ts == list[last].ts {
				list = slices.Clone(list[:last])
			}
		}
		t.lists[c.key()] = append(list, version{ts, c.now})
	}
}

// forget drops of each key what is older than its newest version below the
// horizon, and that too where it is that there was no row.
func (t *timeline) forget() {
	for key, list := range t.lists {
		first := 0
		for i, v := range list {
			if v.ts > t.horizon {
				break
			}
			first = i
			if v.row == nil {
				t.absent = max(t.absent, v.ts)
				first = i + 1
			}
		}
		t.lists[key] = list[first:]
	}
}

// at returns the version of a key at a time; lost says that it may have been
// forgotten.
func (t *timeline) at(key string, ts int64) (v version, lost bool) {
	list := t.lists[key]
	if v, ok := at(list, ts); ok {
		return v, false
	}
	return version{}, len(list) > 0 && list[0].ts <= t.horizon || ts < t.absent
}

// temporalJoin joins each row of a stream with the version that its key had in a
// table at the row's time.
func (b *builder) temporalJoin(l, r *node, by lookup) *node {
	type answer struct {
		key string
		ts  int64
	}
	var waiting []*record
	var given []answer // the rows that are out
	line := &timeline{lists: versions{}, horizon: unseen, absent: unseen}
	run := func(n *node) {
		n.waitsFor(l, r)
		before := versions{}
		for key, list := range line.lists {
			before[key] = list
		}
		line.follow(r, by.names)
		revisions := map[answer]bool{}
		for _, g := range given {
			if v, differs := revised(before[g.key], line.lists[g.key], g.ts); differs {
				revisions[answer{g.key, v.ts}] = true
			}
		}
		b.e.lateVersions += int64(len(revisions))
		line.forget()
		for _, c := range l.changes {
			waiting = append(waiting, c.now)
		}
		slices.SortStableFunc(waiting, func(x, y *record) int { return cmp.Compare(x.ts, y.ts) })
		for len(waiting) > 0 {
			x := waiting[0]
			if !l.after.idle && l.after.low < x.ts || !r.after.idle && r.after.low < x.ts {
				break
			}
			waiting = waiting[1:]
			var v version
			if key, ok := by.key(x); ok {
				found, lost := line.at(key, x.ts)
				if lost {
					n.drop("late", x.ts, x.parts[0].row)
					continue
				}
				v = found
				given = append(given, answer{key, x.ts})
			}
			out := &record{key: x.key, ts: x.ts, seq: b.e.next()}
			matched := false
			if v.row != nil {
				out.parts = by.row(x, &v.row.parts[0])
				matched = by.also(&env{parts: out.parts, now: b.e.now})
			}
			if !matched && by.outer {
				out.parts = by.row(x, nil)
			}
			if matched || by.outer {
				n.emit(out)
			}
		}
		line.horizon = max(line.horizon, min(l.after.low, r.after.low))
		line.forget()
	}
	return b.add(&node{in: []*node{l, r}, run: run, due: func(passed func(int64)) {
		for _, x := range waiting {
			passed(x.ts)
			passed(add(x.ts, ms))
		}
	}})
}

// revised says whether a key's version of a time has come to differ, and what it
// is now.
func revised(before, now []version, t int64) (version, bool) {
	x, _ := at(before, t)
	y, ok := at(now, t)
	if x.row == nil || y.row == nil {
		return y, ok && x.row != y.row
	}
	return y, x.ts != y.ts || !sameParts(x.row.parts, y.row.parts)
}
