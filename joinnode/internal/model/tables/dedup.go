package tables

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

func sequenceKey(seq int64) string { return "#" + strconv.FormatInt(seq, 10) }

// tuple spells several values as one key.
func tuple(values []any) string {
	b := []byte{'['}
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, v)
	}
	return string(append(b, ']'))
}

// distinctOn is DISTINCT source ON key ORDER BY …: per key the row with the best
// order, of equal ones the later arrival.
func (b *builder) distinctOn(q *syntax.DistinctOn) (*table, error) {
	src, err := b.source(q.Source)
	if err != nil {
		return nil, err
	}
	in := src.node
	if in.state {
		return nil, errKind
	}
	s := &scope{aliases: map[string]int{alias(q.Source): 0}, plain: []int{0}, unit: b.e.unit, zone: time.UTC}
	t := &table{names: src.names}
	var on, by []expr
	for _, x := range q.On {
		value, err := s.compile(x)
		if err != nil {
			return nil, err
		}
		on = append(on, value)
		c, _ := x.(*syntax.Column)
		t.keys = append(t.keys, columnName(c))
	}
	for _, o := range q.OrderBy {
		value, err := s.compile(o.Expr)
		if err != nil {
			return nil, err
		}
		by = append(by, value)
	}
	versioned := false
	if len(q.OrderBy) == 1 && q.OrderBy[0].Desc {
		c, ok := q.OrderBy[0].Expr.(*syntax.Column)
		versioned = ok && src.time != "" && columnName(c) == src.time
	}
	// better says whether a row with the order values x takes the place of an
	// earlier one with y.
	better := func(x, y []any) bool {
		for i, o := range q.OrderBy {
			d := nullsLast(x[i], y[i])
			if d == 0 && x[i] != nil {
				if d = total(x[i], y[i]); o.Desc {
					d = -d
				}
			}
			if d != 0 {
				return d < 0
			}
		}
		return true
	}
	values := func(r *record, exprs []expr) []any {
		v := &env{parts: r.parts}
		out := make([]any, len(exprs))
		for i, x := range exprs {
			out[i] = x(v)
		}
		return out
	}
	keyed := func(r *record) *record {
		key := tuple(values(r, on))
		return &record{key: key, parts: []part{{key: key, row: r.parts[0].row}}, ts: r.ts, seq: r.seq}
	}
	n := &node{state: true, in: []*node{in}, run: func(n *node) {
		n.waitsFor(in)
		var rows []*record
		place, order := map[string]int{}, [][]any{}
		for _, r := range in.rows {
			k, o := keyed(r), values(r, by)
			i, known := place[k.key]
			switch {
			case !known:
				place[k.key] = len(rows)
				rows, order = append(rows, k), append(order, o)
			case better(o, order[i]):
				rows[i], order[i] = k, o
			}
		}
		n.become(rows, func(_, now *record) int64 { return now.ts })
	}}
	if versioned {
		n.history = func() versions { return histories(in.rows, keyed) }
	}
	t.node = b.add(n)
	return t, nil
}

// histories orders the rows of each key by their time; of rows with one time the
// last arrival counts.
func histories(rows []*record, keyed func(*record) *record) versions {
	out := versions{}
	for _, r := range rows {
		k := keyed(r)
		list := out[k.key]
		i, found := slices.BinarySearchFunc(list, r.ts, func(v version, ts int64) int { return cmp.Compare(v.ts, ts) })
		if found {
			list[i].row = k
		} else {
			list = slices.Insert(list, i, version{r.ts, k})
		}
		out[k.key] = list
	}
	return out
}

// nullsLast orders NULL behind everything, in either direction.
func nullsLast(x, y any) int { return cmp.Compare(bit(x == nil), bit(y == nil)) }

// columnName writes a path without its alias; "" where it is more than fields.
func columnName(c *syntax.Column) string {
	if c == nil {
		return ""
	}
	return c.Path[len(c.Path)-1].Name
}
