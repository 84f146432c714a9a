package tables

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// Draw draws a scenario of up to that many events. Scripts are valid by
// construction: a statement picks among the tables before it those of the kind
// it needs.
func Draw(t *rapid.T, events int) Scenario {
	g := &generator{t: t, s: Scenario{Kinds: map[string]string{}, Ordered: map[string]bool{}, Rough: map[string]bool{}}}
	g.imports()
	n := pick(g, []int{1, 2, 3, 3, 4, 4, 5, 5}, "definitions")
	for i := range n {
		g.hiding = i < n-1 // the last one leaves if no other does
		g.definition()
	}
	g.exports()
	g.s.Script = strings.Join(g.lines, "\n")
	g.events(events)
	return g.s
}

// generator holds what the draws of one scenario share.
type generator struct {
	t      *rapid.T
	s      Scenario
	inputs []*source
	tables []*source // that a statement can read
	made   []*source // in order of definition
	lines  []string
	number int
	hiding bool // the table at hand may be a hidden one
}

// source is a table that a later statement may use.
type source struct {
	name    string
	state   bool
	cols    []column
	keys    []string // visible ones that all are
	time    string   // of a stream: the column with its rows' time
	items   bool     // it has the array items
	ordered bool     // rows of one event have a fixed order
	direct  bool     // nothing between it and its input keeps rows
	byValue bool     // DISTINCT ON by another order than time: no versions
	clocked bool     // timed by arrival
	rough   bool
	leaf    bool      // not to be read by others
	roots   []string  // the inputs behind it
	nested  []*source // its nested tables
	related []relative
}

// relative is a relationship of a table.
type relative struct {
	name string
	to   *source
}

// column has one of the kinds k (key), n (number), t (time), x (whatever).
type column struct {
	name string
	kind byte
}

// between draws evenly, which rapid's own ranges do not: they prefer the ends.
func (g *generator) between(lo, hi int, label string) int {
	n := 0
	for span := 4 * (hi - lo); span > 0; span >>= 1 {
		n = 2*n + bit(rapid.Bool().Draw(g.t, label))
	}
	return lo + n%(hi-lo+1)
}

// chance is true in about n of 10.
func (g *generator) chance(n int, label string) bool { return g.between(0, 9, label) >= 10-n }

func pick[T any](g *generator, list []T, label string) T {
	return list[g.between(0, len(list)-1, label)]
}

// fresh makes a name that nothing has.
func (g *generator) fresh(prefix string) string {
	g.number++
	return fmt.Sprintf("%s%d", prefix, g.number)
}

func (g *generator) imports() {
	for _, name := range []string{"A", "B", "C"}[:g.between(1, 3, "inputs")] {
		in := &source{name: name, items: true, ordered: true, direct: true, time: "time", roots: []string{name},
			cols: []column{{"id", 'k'}, {"k", 'k'}, {"v", 'n'}, {"w", 'n'}, {"time", 't'}}}
		line := "IMPORT " + name
		if g.chance(9, "event time") {
			line += " TIMESTAMP time TIMEUNIT 'ms'"
			if g.chance(4, "disorder") {
				line += fmt.Sprintf(" MAXOUTOFORDERNESS '%ds'", g.between(1, 4, "out of orderness"))
			}
			switch g.between(0, 3, "idle timeout") {
			case 0:
				line += " IDLETIMEOUT '0'"
			case 1:
				line += fmt.Sprintf(" IDLETIMEOUT '%ds'", g.between(1, 8, "timeout"))
			}
		} else {
			in.time, in.clocked = "", true
		}
		g.lines = append(g.lines, line+";")
		g.inputs = append(g.inputs, in)
		g.tables = append(g.tables, in)
	}
}

func (g *generator) exports() {
	if !slices.ContainsFunc(g.made, func(t *source) bool { return t.name[0] != '_' }) {
		g.project(g.inputs[:1])
	}
	var names []string
	for _, t := range g.made {
		if t.name[0] != '_' && !slices.Contains(names, t.name) {
			names = append(names, t.name)
		}
	}
	last := names[len(names)-1]
	for _, name := range names {
		if name == last || g.chance(6, "export") {
			g.lines = append(g.lines, "EXPORT "+name+" TO stream_event;")
		}
	}
}

// add defines a table.
func (g *generator) add(t *source, kind, query string) {
	g.lines = append(g.lines, t.name+" := "+query+";")
	g.s.Kinds[t.name] = kind
	g.s.Ordered[t.name] = t.ordered && !t.state
	g.s.Rough[t.name] = t.rough
	// A redefined name is the new table from now on.
	g.tables = slices.DeleteFunc(g.tables, func(x *source) bool { return x.name == t.name })
	g.made = append(slices.DeleteFunc(g.made, func(x *source) bool { return x.name == t.name }), t)
	if !t.leaf && !strings.Contains(t.name, ".") {
		g.tables = append(g.tables, t)
	}
}

// name names a table; now and then a hidden one.
func (g *generator) name() string {
	if g.hiding && g.chance(1, "hidden") {
		return g.fresh("_T")
	}
	return g.fresh("T")
}

func (g *generator) those(keep func(*source) bool) []*source {
	var list []*source
	for _, t := range g.tables {
		if keep(t) {
			list = append(list, t)
		}
	}
	return list
}

func (s *source) of(kinds string) []string {
	var names []string
	for _, c := range s.cols {
		if strings.IndexByte(kinds, c.kind) >= 0 {
			names = append(names, c.name)
		}
	}
	return names
}

func (s *source) kind(name string) byte {
	for _, c := range s.cols {
		if c.name == name {
			return c.kind
		}
	}
	return 'x'
}

// The sources that statements need.
func stream(s *source) bool    { return !s.state }
func state(s *source) bool     { return s.state }
func timed(s *source) bool     { return !s.state && s.time != "" }
func keyed(s *source) bool     { return len(s.keys) > 0 && s.state }
func grouped(s *source) bool   { return len(s.of("k")) > 0 }
func valued(s *source) bool    { return len(s.of("kn")) > 0 }
func withTime(s *source) bool  { return len(s.of("t")) > 0 && !s.clocked }
func withItems(s *source) bool { return s.items }
func versioned(s *source) bool { return keyed(s) && !s.byValue }
func nesting(s *source) bool   { return len(s.nested) > 0 }
func both(f, h func(*source) bool) func(*source) bool {
	return func(s *source) bool { return f(s) && h(s) }
}

// definition adds one statement of a kind for which there are sources.
func (g *generator) definition() {
	type choice struct {
		weight int
		needs  []func(*source) bool
		make   func(from []*source)
	}
	choices := []choice{
		{4, []func(*source) bool{both(timed, func(s *source) bool { return s.ordered && grouped(s) })}, g.dedup},
		{2, []func(*source) bool{valued}, g.distinct},
		{4, []func(*source) bool{valued}, g.aggregate},
		{3, []func(*source) bool{valued}, g.project},
		{3, []func(*source) bool{withTime}, g.recent},
		{3, []func(*source) bool{both(withTime, valued)}, g.window},
		{5, []func(*source) bool{state}, g.streamOn},
		{6, []func(*source) bool{both(timed, grouped), versioned}, g.temporal},
		{4, []func(*source) bool{both(state, grouped), grouped}, g.relational},
		{3, []func(*source) bool{both(timed, func(s *source) bool { return s.direct && grouped(s) }), both(timed, func(s *source) bool { return s.direct && grouped(s) })}, g.interval},
		{5, []func(*source) bool{both(keyed, grouped), grouped}, g.nest},
		{4, []func(*source) bool{nesting}, g.joinNested},
		{2, []func(*source) bool{withItems}, g.unnest},
		{1, []func(*source) bool{both(withItems, stream)}, g.foldItems},
		{2, []func(*source) bool{func(s *source) bool { return len(s.related) > 0 }}, g.useRelation},
		{2, []func(*source) bool{both(keyed, grouped), both(stream, grouped)}, g.relate},
		{1, []func(*source) bool{func(s *source) bool { return len(s.of("n")) > 0 }}, g.addColumn},
	}
	var possible []choice
	for _, c := range choices {
		ok := true
		for _, need := range c.needs {
			ok = ok && len(g.those(need)) > 0
		}
		if ok {
			for range c.weight {
				possible = append(possible, c)
			}
		}
	}
	c := pick(g, possible, "statement")
	var from []*source
	for _, need := range c.needs {
		from = append(from, pick(g, g.those(need), "from"))
	}
	c.make(from)
}

// roots joins the inputs behind several sources; shared says whether one is
// behind more than one of them.
func roots(from ...*source) (all []string, shared bool) {
	for _, s := range from {
		for _, r := range s.roots {
			if slices.Contains(all, r) {
				shared = true
			} else {
				all = append(all, r)
			}
		}
	}
	return all, shared
}

// events draws what happens. Times walk slowly, so that rows meet; each draft is
// independent of the others, so that rapid can leave any of them out.
func (g *generator) events(most int) {
	type draft struct {
		stream       string
		tick         bool
		move, behind int64
		row          map[string]any
	}
	drafts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) draft {
		d := draft{
			stream: rapid.SampledFrom(g.inputs).Draw(t, "stream").name,
			tick:   rapid.IntRange(0, 11).Draw(t, "time passes") == 7,
			move:   rapid.SampledFrom([]int64{500, 0, 500, 1000, 1000, 2000, 3000}).Draw(t, "clock"),
			behind: rapid.SampledFrom([]int64{0, 0, 0, 0, 0, 500, 1000, 2000, 4000, -500}).Draw(t, "behind"),
			row: map[string]any{
				"id": rapid.SampledFrom([]any{int64(1), int64(2), int64(1), int64(3), "x", nil}).Draw(t, "id"),
				"k":  rapid.SampledFrom([]any{int64(1), int64(2), int64(1), "x"}).Draw(t, "k"),
				"v":  rapid.SampledFrom([]any{int64(1), int64(2), int64(3), int64(5), int64(-1), nil, 2.5, "text"}).Draw(t, "v"),
			},
		}
		if d.tick {
			d.move = rapid.SampledFrom([]int64{1000, 3000, 6000, 12000}).Draw(t, "pause")
		}
		if rapid.Bool().Draw(t, "has w") {
			d.row["w"] = rapid.SampledFrom([]any{0.5, 1.25, int64(2), -0.75, nil}).Draw(t, "w")
		}
		element := rapid.Custom(func(t *rapid.T) any {
			if rapid.IntRange(0, 9).Draw(t, "bad element") == 6 {
				return rapid.SampledFrom([]any{int64(1), "x", nil, []any{}}).Draw(t, "element")
			}
			return map[string]any{"p": rapid.SampledFrom([]any{int64(1), int64(2), 0.5, nil}).Draw(t, "p"),
				"q": rapid.SampledFrom([]any{int64(1), int64(2)}).Draw(t, "q")}
		})
		if rapid.IntRange(0, 3).Draw(t, "has items") < 3 {
			list := rapid.SliceOfN(element, 0, 3).Draw(t, "items")
			items := make([]any, len(list))
			copy(items, list)
			d.row["items"] = items
		}
		return d
	}), pick(g, []int{0, most / 3, most * 2 / 3}, "least events"), most).Draw(g.t, "events")

	clock, last := Epoch, map[string]any(nil)
	for i, d := range drafts {
		clock += d.move
		if d.tick {
			g.s.Events = append(g.s.Events, Event{Clock: clock})
			continue
		}
		row := maps.Clone(d.row)
		row["time"] = clock - d.behind
		if last != nil && i%7 == 6 { // a duplicate
			row = maps.Clone(last)
		}
		last = row
		g.s.Events = append(g.s.Events, Event{Stream: d.stream, Row: row, Clock: clock})
	}
	g.s.Events = append(g.s.Events, Event{Clock: clock + 1000, Stop: true})
}
