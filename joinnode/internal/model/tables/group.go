package tables

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// aggregates are the functions that make one value of the rows of a group.
var aggregates = map[string]bool{"count": true, "sum": true, "avg": true, "min": true, "max": true,
	"stddev": true, "stddevs": true, "var": true, "vars": true,
	"collect": true, "first_value": true, "last_value": true}

func isAggregate(name string) bool { return aggregates[name] }

// aggregate is one call of one of them.
type aggregate struct {
	kind     string
	arg      expr // nil: COUNT(*)
	distinct bool
}

func (s *scope) newAggregate(c *syntax.Call) (aggregate, error) {
	a := aggregate{kind: strings.ToLower(c.Name), distinct: c.Distinct}
	if c.Star {
		return a, nil
	}
	if len(c.Args) != 1 {
		return a, fmt.Errorf("%s takes one argument", a.kind)
	}
	inner := *s
	inner.aggregate = nil
	var err error
	a.arg, err = inner.compile(c.Args[0])
	return a, err
}

// sample is one value that an aggregate takes.
type sample struct {
	v       any
	ts, seq int64
}

// of computes the aggregate of rows in the order in which they came.
func (a *aggregate) of(rows []*record) any {
	if a.arg == nil {
		return int64(len(rows))
	}
	var in []sample
	seen := map[string]bool{}
	for _, r := range rows {
		v := a.arg(&env{parts: r.parts})
		if v == nil || a.numeric() && !isNumber(v) {
			continue
		}
		if a.distinct {
			k := text(v)
			if seen[k] {
				continue
			}
			seen[k] = true
		}
		in = append(in, sample{v, r.ts, r.seq})
	}
	if len(in) == 0 {
		switch a.kind {
		case "count", "sum":
			return int64(0)
		}
		return nil
	}
	switch a.kind {
	case "count":
		return int64(len(in))
	case "sum":
		return sum(in)
	case "avg":
		return toFloat(sum(in)) / float64(len(in))
	case "min":
		return slices.MinFunc(in, func(x, y sample) int { return total(x.v, y.v) }).v
	case "max":
		return slices.MaxFunc(in, func(x, y sample) int { return total(x.v, y.v) }).v
	case "first_value":
		return slices.MinFunc(in, byTime).v
	case "last_value":
		return slices.MaxFunc(in, byTime).v
	case "collect":
		list := make([]any, len(in))
		for i, x := range in {
			list[i] = x.v
		}
		return list
	}
	return spread(a.kind, in)
}

func (a *aggregate) numeric() bool {
	switch a.kind {
	case "sum", "avg", "stddev", "stddevs", "var", "vars":
		return true
	}
	return false
}

func byTime(x, y sample) int {
	if d := cmp.Compare(x.ts, y.ts); d != 0 {
		return d
	}
	return cmp.Compare(x.seq, y.seq)
}

// sum is an integer when all values are.
func sum(in []sample) any {
	var total any = int64(0)
	for _, x := range in {
		total = arithmetic("+", total, x.v)
	}
	return total
}

// spread is the variance or standard deviation, of a population or (…s) of a
// sample, for which one value is not enough.
func spread(kind string, in []sample) any {
	n := float64(len(in))
	mean := toFloat(sum(in)) / n
	squares := 0.0
	for _, x := range in {
		d := toFloat(x.v) - mean
		squares += d * d
	}
	if strings.HasSuffix(kind, "s") {
		if n--; n == 0 {
			return nil
		}
	}
	if strings.HasPrefix(kind, "var") {
		return squares / n
	}
	return math.Sqrt(squares / n)
}

// grouping is GROUP BY with what SELECT makes of each group.
type grouping struct {
	keys       []expr
	parent     bool // groups are also by the parent row, part 0
	aggregates []aggregate
	having     func(*env) bool
	row        func(*env) object
}

// group is the rows of one group in the order in which they came.
type group struct {
	key  string
	rows []*record
}

func (g *grouping) keyOf(r *record) string {
	v := &env{parts: r.parts}
	values := make([]any, len(g.keys), len(g.keys)+1)
	for i, x := range g.keys {
		values[i] = x(v)
	}
	if g.parent {
		return r.parts[0].key + tuple(values)
	}
	return tuple(values)
}

// taken spells what the groups and aggregates take of a row.
func (g *grouping) taken(r *record) []string {
	list := []string{g.keyOf(r)}
	for _, a := range g.aggregates {
		if a.arg != nil {
			list = append(list, text(a.arg(&env{parts: r.parts})))
		}
	}
	return list
}

// groups sorts rows into groups, those first whose first row came first.
func (g *grouping) groups(in *node, rows []*record) []*group {
	if in.state {
		rows = slices.Clone(rows)
		slices.SortFunc(rows, func(x, y *record) int { return cmp.Compare(x.seq, y.seq) })
	}
	var list []*group
	byKey := map[string]*group{}
	for _, r := range rows {
		key := g.keyOf(r)
		x := byKey[key]
		if x == nil {
			x = &group{key: key}
			byKey[key] = x
			list = append(list, x)
		}
		x.rows = append(x.rows, r)
	}
	return list
}

// result makes the row of a group; false when HAVING rejects it.
func (g *grouping) result(e *Evaluator, x *group) (part, bool) {
	v := &env{parts: x.rows[0].parts, now: e.now}
	for i := range g.aggregates {
		v.aggs = append(v.aggs, g.aggregates[i].of(x.rows))
	}
	if !g.having(v) {
		return part{}, false
	}
	p := part{key: x.key, row: g.row(v)}
	if g.parent {
		p.parent = x.rows[0].parts[0].key
	}
	return p, true
}

// aggregation is a state table with a row for each group.
func (b *builder) aggregation(in *node, g *grouping) *node {
	return b.add(&node{state: true, in: []*node{in}, run: func(n *node) {
		n.waitsFor(in)
		var rows []*record
		for _, x := range g.groups(in, in.rows) {
			if p, ok := g.result(b.e, x); ok {
				rows = append(rows, &record{key: x.key, parts: []part{p}})
			}
		}
		n.become(rows, func(old, now *record) int64 {
			key := change{old: old, now: now}.key()
			ts, ok := touched(in, func(r *record) bool { return g.keyOf(r) == key })
			if !ok {
				return b.e.now
			}
			return ts
		})
	}})
}

// fold aggregates what belongs to each row of a stream. That came with the row,
// so the result is a stream with the row's time.
func (b *builder) fold(in *node, g *grouping) *node {
	return b.add(&node{in: []*node{in}, run: func(n *node) {
		n.follows(in)
		var came []*record
		for _, c := range in.changes {
			came = append(came, c.now)
		}
		for _, x := range g.groups(in, came) {
			if p, ok := g.result(b.e, x); ok {
				n.emit(&record{key: x.key, parts: []part{p}, ts: x.rows[0].ts, seq: b.e.next()})
			}
		}
	}})
}

// window is the aggregation of the rows of each bucket of time, whose last
// instant is key number at; its rows are a stream with that time. A bucket is
// closed when the input's low has passed it.
func (b *builder) window(in *node, g *grouping, bucket int) *node {
	end := func(r *record) (int64, bool) {
		ms, ok := g.keys[bucket](&env{parts: r.parts}).(int64)
		return ms, ok
	}
	closed := func(end, low int64) bool { return low != unseen && low/ms >= end+1 }
	done := int64(unseen)
	return b.add(&node{in: []*node{in}, run: func(n *node) {
		n.waitsFor(in)
		if low := in.after.low; low != unseen && low != forever {
			n.after.low = max(n.before.low, low-ms)
		}
		// What the window reads of rows that went and of rows that came may be the
		// same: then nothing has changed for it.
		went := map[string]int{}
		taken := func(r *record) string { return fmt.Sprint(g.taken(r)) }
		for _, c := range in.changes {
			if c.old != nil {
				went[taken(c.old)]++
			}
		}
		for _, c := range in.changes {
			if c.now == nil {
				continue
			}
			if k := taken(c.now); went[k] > 0 {
				went[k]--
				continue
			}
			if t, ok := end(c.now); !ok {
				n.drop("bad_timestamp", c.ts, c.now.parts[0].row)
			} else if closed(t, in.before.low) {
				n.drop("late", c.ts, c.now.parts[0].row)
			}
		}
		for _, c := range in.changes {
			if c.old == nil || went[taken(c.old)] == 0 {
				continue
			}
			went[taken(c.old)]--
			if t, ok := end(c.old); ok && closed(t, in.before.low) {
				b.e.lateVersions++
			}
		}
		var ready []*record
		for _, r := range in.rows {
			if t, ok := end(r); ok && closed(t, in.after.low) && !closed(t, done) {
				ready = append(ready, r)
			}
		}
		done = in.after.low
		groups := g.groups(in, ready)
		at := func(x *group) int64 { t, _ := end(x.rows[0]); return t }
		slices.SortStableFunc(groups, func(x, y *group) int { return cmp.Compare(at(x), at(y)) })
		for _, x := range groups {
			p, ok := g.result(b.e, x)
			if !ok {
				continue
			}
			r := b.e.streamRow(p.row, at(x)*ms)
			r.parts[0].parent = p.parent
			n.emit(r)
		}
	}, due: func(passed func(int64)) {
		for _, r := range in.rows {
			if t, ok := end(r); ok {
				passed((t + 1) * ms)
				passed((t + 2) * ms)
			}
		}
	}})
}
