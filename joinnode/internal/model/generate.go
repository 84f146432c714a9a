package model

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"
)

// Epoch is the instant that generated clocks start from.
const Epoch = int64(1_700_000_000_000_000_000)

// Shape says what Draw may put into a scenario.
type Shape struct {
	Event bool // event time
	Idle  bool // with IDLETIMEOUT
	Gates bool // with small maxRows and maxKeys
	Where bool // with WHERE
	Odd   bool // strange key types, bad and future timestamps, a clock that falls
	JSON  bool // rows as JSON text
	Long  bool // windows that hold dozens of rows
	Depth int  // most joins, at least 1
	Steps int  // most steps
}

// Scenario is a random query and what happens to it.
type Scenario struct {
	Query Query
	Steps []Step
	Stop  int64 // clock of Stop
}

// Step is one arrival, or time passing when Stream is "".
type Step struct {
	Stream string
	JSON   []byte         // the row as text when the shape asks for it
	Row    map[string]any // the row for EmitTo; of a JSON row, what it decodes to
	Clock  int64
}

// String shows the step as a failing property prints it.
func (s Step) String() string {
	clock := time.Duration(s.Clock - Epoch)
	switch {
	case s.Stream == "":
		return fmt.Sprintf("%v: time passes", clock)
	case s.JSON != nil:
		return fmt.Sprintf("%v: %s %s", clock, s.Stream, s.JSON)
	}
	return fmt.Sprintf("%v: %s %#v", clock, s.Stream, s.Row)
}

// cell is one value in both spellings.
type cell struct {
	golang any
	json   string // "" where JSON has no such value
}

func same(v any) cell {
	text, err := json.Marshal(v)
	if err != nil {
		return cell{golang: v}
	}
	return cell{v, string(text)}
}

// generator holds what the draws of one scenario share.
type generator struct {
	t     *rapid.T
	shape Shape
	unit  int64 // the grid that windows and times lie on, ns
	keys  []cell
	query Query
}

// Draw draws a scenario.
func Draw(t *rapid.T, shape Shape) Scenario {
	g := &generator{t: t, shape: shape, unit: rapid.SampledFrom([]int64{1, 1e6, 1e9}).Draw(t, "unit")}
	g.keys = rapid.SampledFrom(g.alphabets()).Draw(t, "keys")
	g.drawQuery()
	return g.drawScenario()
}

func (g *generator) alphabets() [][]cell {
	plain := [][]cell{
		{same("x")},
		{same("x"), same("y")},
		{same(1), same(2), same("x"), same("y"), same(nil), {}},
		{same(1), same(2), same(3), same(4), same(5), same(6)},
	}
	if !g.shape.Odd {
		return plain
	}
	return append(plain,
		[]cell{same(1), {1.0, "1.0"}, {int8(1), "10e-1"}, {uint64(1), "0.1E1"}, {float32(1), "1.00"}, same("1"), same(true), {json.Number("1"), "1"}},
		[]cell{same(int64(9007199254740993)), same(int64(9007199254740992)), {9007199254740992.0, "9007199254740992.0"}, {json.Number("9007199254740993"), "9007199254740993.0"}, same(uint64(math.MaxUint64))},
		[]cell{same(nil), {}, {golang: math.NaN()}, {golang: float32(math.NaN())}, same(""), same("null"), same(0), {math.Copysign(0, -1), "-0.0"}, same(false)},
		[]cell{same(map[string]any{"p": 1, "q": "z"}), {map[string]any{"q": "z", "p": 1}, `{ "q" : "z", "p":1}`}, same([]any{1, 2}), {[]any{2, 1}, "[2, 1]"}, same([]any{}), same(map[string]any{}), same("[]")},
		[]cell{same("a\x1fs:b"), same("a"), same("b\x1fs:c"), same("c"), same("b"), same("é\"\\\n")},
		[]cell{{golang: math.Inf(1)}, {golang: math.Inf(-1)}, {json.Number("1e400"), "1e400"}, {json.Number("1e401"), "10e400"}, same(0.5), {float32(0.5), "5e-1"}, same(-1)},
	)
}

func (g *generator) drawQuery() {
	t, q := g.t, &g.query
	names := []string{"a", "b", "c", "d", "e", "f"}
	n := rapid.IntRange(1, g.shape.Depth).Draw(t, "joins")
	for _, a := range names[:n+1] {
		q.Sources = append(q.Sources, Source{"s" + a, a})
		q.Columns = append(q.Columns, Column{a, "id", a + "id"})
	}
	if rapid.Bool().Draw(t, "project v") {
		a := rapid.SampledFrom(names[:n+1]).Draw(t, "alias")
		q.Columns = append(q.Columns, Column{a, "v", "v"})
	}
	fields := []string{"k", "k2"}
	scale := g.unit
	if g.shape.Long {
		scale *= 30
	}
	for i := range n {
		j := Join{
			Left:    rapid.Bool().Draw(t, "left"),
			Within:  time.Duration(scale * rapid.Int64Range(1, 6).Draw(t, "within")),
			Style:   rapid.IntRange(0, 3).Draw(t, "style"),
			AfterOn: rapid.Bool().Draw(t, "after on"),
		}
		for range 1 + rapid.IntRange(0, 3).Draw(t, "composite")/3 {
			j.On = append(j.On, Equality{
				Alias:       rapid.SampledFrom(names[:i+1]).Draw(t, "earlier"),
				Field:       rapid.SampledFrom(fields).Draw(t, "field"),
				JoinedField: rapid.SampledFrom(fields).Draw(t, "joined field"),
				Swap:        rapid.Bool().Draw(t, "swap"),
			})
		}
		q.Joins = append(q.Joins, j)
	}
	if g.shape.Event {
		q.Timestamp = rapid.SampledFrom([]string{"ts", "meta.ts"}).Draw(t, "timestamp")
		if rapid.IntRange(0, 3).Draw(t, "time unit") == 0 && g.unit%1e6 == 0 {
			q.TimeUnit = "ms"
		}
		if g.shape.Odd && (g.shape.Idle || rare(t, 4, "tight skew")) && rapid.Bool().Draw(t, "skew") {
			skew := time.Duration(rapid.Int64Range(0, 8).Draw(t, "max future skew") * g.unit)
			q.MaxFutureSkew = &skew
		}
	}
	if g.shape.Idle {
		q.IdleTimeout = time.Duration(g.unit * rapid.Int64Range(1, 12).Draw(t, "idle timeout"))
	}
	if g.shape.Gates {
		if rapid.Bool().Draw(t, "rows gate") {
			q.MaxRows = rapid.IntRange(1, 6).Draw(t, "max rows")
		}
		q.MaxKeys = rapid.IntRange(1, 3).Draw(t, "max keys")
	}
	if g.shape.Where {
		for range rapid.IntRange(1, 3).Draw(t, "conjuncts") {
			q.Where = append(q.Where, g.drawExpr(2))
		}
		q.WhereLast = rapid.Bool().Draw(t, "where last")
	}
}

func (g *generator) drawExpr(depth int) Expr {
	t := g.t
	column := func() Operand {
		s := rapid.SampledFrom(g.query.Sources).Draw(t, "source")
		return Operand{Alias: s.Alias, Field: rapid.SampledFrom([]string{"v", "v", "n", "k", "meta.x"}).Draw(t, "column")}
	}
	switch rapid.IntRange(0, 6).Draw(t, "expression") {
	case 0:
		return IsNull{X: column(), Not: rapid.Bool().Draw(t, "not")}
	case 1:
		if depth > 0 {
			return Not{g.drawExpr(depth - 1)}
		}
	case 2, 3:
		if depth > 0 {
			return Logic{Or: depth == 2 || rapid.Bool().Draw(t, "or"), X: g.drawExpr(depth - 1), Y: g.drawExpr(depth - 1)}
		}
	}
	right := column()
	if rapid.Bool().Draw(t, "literal") {
		right = Operand{Literal: rapid.SampledFrom([]any{int64(0), int64(1), int64(2), 1.5, "x", "it's", true, nil}).Draw(t, "value")}
	}
	return Compare{column(), right, rapid.SampledFrom([]string{"=", "!=", "<>", "<", "<=", ">", ">="}).Draw(t, "operator")}
}

// draft is a step before the clock is known: steps are drawn independently of
// one another so that rapid can leave any of them out when it looks for a
// smaller failure.
type draft struct {
	move    int64 // of the clock, in units
	past    bool  // one nanosecond more, past every boundary
	fall    bool  // the clock falls by move; time does not
	pass    bool  // time passes, no row
	walk    int64 // of event time, in units
	behind  int64 // the row's time lies that many units back
	time    timeKind
	badTime cell
	form    int // spelling of the time
	source  Source
	k, k2   cell
	v, x    cell
	n       int
	shift   int // order of the members of a JSON row
}

type timeKind int

const (
	goodTime timeKind = iota
	badTime
	futureTime   // one unit past MAXFUTURESKEW
	farthestTime // exactly MAXFUTURESKEW ahead
)

func (g *generator) drawDraft(t *rapid.T) draft {
	d := draft{
		move:   rapid.SampledFrom([]int64{1, 0, 0, 1, 2, 3, 5, 9}).Draw(t, "clock step"),
		walk:   rapid.SampledFrom([]int64{1, 0, 0, 1, 2, 4, 7}).Draw(t, "walk"),
		behind: rapid.SampledFrom([]int64{0, 0, 0, 0, 0, 1, 2, 3, 5, 8, -1, -4}).Draw(t, "behind"),
		past:   rare(t, 10, "past a boundary"),
		pass:   rare(t, 10, "time passes"),
		form:   rapid.IntRange(0, 7).Draw(t, "spelling of the time"),
		source: rapid.SampledFrom(g.query.Sources).Draw(t, "stream"),
		k:      rapid.SampledFrom(g.keys).Draw(t, "k"),
		k2:     rapid.SampledFrom(g.keys).Draw(t, "k2"),
		v:      rapid.SampledFrom(columnValues()).Draw(t, "v"),
		x:      rapid.SampledFrom(columnValues()).Draw(t, "x"),
		n:      rapid.IntRange(0, 2).Draw(t, "n"),
	}
	if g.shape.JSON {
		d.shift = rapid.IntRange(0, 4).Draw(t, "member order")
	}
	if !g.shape.Odd {
		return d
	}
	d.fall = rare(t, 20, "clock falls")
	if rare(t, 8, "odd time") {
		d.time = rapid.SampledFrom([]timeKind{badTime, futureTime, farthestTime}).Draw(t, "kind of time")
		d.badTime = rapid.SampledFrom([]cell{{}, same(nil), same(-1), same("soon"), same(""), same(true), {golang: math.NaN()},
			{golang: math.Inf(1)}, {json.Number("1e400"), "1e400"}, {map[string]any{}, "{}"}, {[]any{1}, "[1]"},
			{uint64(math.MaxUint64), "18446744073709551615"}, {json.Number("-0.5"), "-0.5"}}).Draw(t, "bad time")
	}
	return d
}

// rare is true about once in n; the bias of rapid is towards small numbers.
func rare(t *rapid.T, n int, label string) bool {
	return rapid.IntRange(0, n-1).Draw(t, label) == n/2+1
}

func columnValues() []cell {
	return []cell{same(0), same(1), same(2), {1.0, "1"}, same("x"), same("it's"), same(true), same(nil), {}}
}

func (g *generator) drawScenario() Scenario {
	least := rapid.SampledFrom([]int{0, g.shape.Steps / 4, g.shape.Steps / 2}).Draw(g.t, "least steps")
	drafts := rapid.SliceOfN(rapid.Custom(g.drawDraft), least, g.shape.Steps).Draw(g.t, "steps")
	s := Scenario{Query: g.query}
	// In event time the rows' times walk on their own unless idleness ties
	// them to the clock.
	clock, walk, arrived := Epoch, Epoch, false
	for i, d := range drafts {
		move := d.move * g.unit
		if d.past {
			move++
		}
		if d.fall && arrived {
			move = -move
		}
		clock += move
		if d.pass && arrived {
			s.Steps = append(s.Steps, Step{Clock: clock})
			arrived = false
			continue
		}
		walk += d.walk * g.unit
		at := walk
		if g.shape.Idle {
			at = clock
		}
		s.Steps = append(s.Steps, g.row(i, d, clock, at-d.behind*g.unit))
		arrived = true
	}
	s.Stop = clock
	if arrived {
		s.Stop += rapid.SampledFrom([]int64{0, 0, 1, 4, 20}).Draw(g.t, "clock of stop") * g.unit
	}
	return s
}

// row makes the i-th step of a draft, whose row has the time at where the query
// has event time.
func (g *generator) row(i int, d draft, clock, at int64) Step {
	step := Step{Stream: d.source.Stream, Clock: clock, Row: map[string]any{}}
	var text []string
	put := func(into map[string]any, texts *[]string, name string, c cell) {
		if c.golang == nil && c.json == "" || g.shape.JSON && c.json == "" {
			return
		}
		into[name] = c.golang
		*texts = append(*texts, fmt.Sprintf("%q:%s", name, c.json))
	}
	put(step.Row, &text, "id", same(fmt.Sprintf("%s%d", d.source.Alias, i)))
	put(step.Row, &text, "k", d.k)
	put(step.Row, &text, "k2", d.k2)
	put(step.Row, &text, "v", d.v)
	put(step.Row, &text, "n", same(d.n))
	meta, metaText := map[string]any{}, []string{}
	put(meta, &metaText, "x", d.x)
	if g.shape.Event {
		if c := g.timeCell(d, clock, at); strings.HasPrefix(g.query.Timestamp, "meta.") {
			put(meta, &metaText, "ts", c)
		} else {
			put(step.Row, &text, "ts", c)
		}
	}
	put(step.Row, &text, "meta", cell{meta, "{" + strings.Join(metaText, ",") + "}"})
	if !g.shape.JSON {
		return step
	}
	shift := d.shift % len(text)
	text = slices.Concat(text[shift:], text[:shift])
	step.JSON = []byte("{" + strings.Join(text, ",") + "}")
	row, err := DecodeRow(step.JSON)
	if err != nil {
		g.t.Fatalf("the generator wrote broken JSON: %s: %v", step.JSON, err)
	}
	step.Row = row
	return step
}

// timeCell spells the time of a row.
func (g *generator) timeCell(d draft, clock, at int64) cell {
	skew := int64(24 * time.Hour)
	if m := g.query.MaxFutureSkew; m != nil {
		skew = int64(*m)
	}
	switch {
	case d.time == badTime:
		return d.badTime
	case d.time == futureTime:
		at = clock + skew + g.unit
	case d.time == farthestTime && g.query.MaxFutureSkew != nil:
		at = clock + skew
	}
	instant := time.Unix(0, at).UTC()
	rfc := instant.Format(time.RFC3339Nano)
	spellings := []cell{same(rfc), {instant, `"` + rfc + `"`}}
	switch {
	case g.query.TimeUnit == "ms" && at%1e6 == 0:
		spellings = append(spellings, same(at/1e6), cell{float64(at / 1e6), fmt.Sprintf("%d.0", at/1e6)})
	case g.query.TimeUnit == "":
		spellings = append(spellings, same(at), cell{json.Number(fmt.Sprint(at)), fmt.Sprint(at)})
		if at%1e3 == 0 {
			spellings = append(spellings, same(at/1e3))
		}
		if at%1e6 == 0 {
			spellings = append(spellings, same(at/1e6), cell{float64(at / 1e6), fmt.Sprintf("%d.0", at/1e6)})
		}
		if at%1e9 == 0 {
			spellings = append(spellings, cell{uint32(at / 1e9), fmt.Sprint(at / 1e9)})
		}
	}
	return spellings[d.form%len(spellings)]
}
