// Package plan gives a parsed WITHIN join its meaning: which name is which
// column of which input, what the combination of clauses allows, where each
// conjunct of WHERE runs, and which columns each operator has to keep. Its
// result, a Plan, is plain data and closures; package pipeline makes a running
// graph of it.
package plan

import (
	"math"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// Plan is one WITHIN join, ready to run. It is immutable.
type Plan struct {
	SQL      string
	Time     Time
	Inputs   []Input // FROM first, then one per JOIN
	Stages   []Stage // stage i joins Inputs[0..i] with Inputs[i+1]
	Output   Output
	Warnings []string // accepted clauses that have no effect, to be logged once
	// ReadsClock says that results depend on when a row came, and not only on what
	// came in which order: processing time, idleness, or a volatile function
	// somewhere. MaxFutureSkew is not among them.
	ReadsClock bool

	names *names
}

// Time is how rows get their time (semantics.md §2).
type Time struct {
	Field         row.Path      // the event-time field; nil in processing time
	Text          string        // Field as written
	Unit          string        // TIMEUNIT as written; "" = guess by magnitude
	IdleTimeout   time.Duration // 0 = inputs never become idle
	MaxFutureSkew time.Duration // 0 = no bound
}

// Event tells whether rows carry their own time.
func (t Time) Event() bool { return t.Field != nil }

// Input is one stream of the query.
type Input struct {
	Stream  string
	Alias   string // the stream's name when the query gives none
	Layout  Layout // keys, then the other kept columns, then those only the filter and the clock read
	TimeCol int    // column of Layout that holds the event time; −1 in processing time
	Keys    int    // Layout[:Keys] is the join key
	Keep    int    // Layout[:Keep] is buffered
	Filters []Conjunct
	Filter  eval.Predicate // all Filters; nil when there are none
	Stage   int            // index of the stage it enters
	Port    int            // 0 for FROM, 1 for a joined stream
	Within  int64          // lateness bound, ns
}

// Stage is one binary join with the filter behind it.
type Stage struct {
	Left           bool
	Within         int64 // ns
	RightRetention int64 // ns; Within in processing time, the sum of all WITHIN so far in event time
	On             string
	LeftKeys       int    // key columns at the front of the left port's layout
	LeftKeep       int    // buffered columns of the left port
	LeftLayout     Layout // of the left port: Inputs[0].Layout or the previous stage's Layout
	Layout         Layout // of the composite that leaves
	Out            []OutCol
	Filters        []Conjunct
	Filter         eval.Predicate
}

// OutCol says from which port and column a composite's column is copied.
type OutCol struct {
	Port int
	Col  int
}

// Conjunct is one AND-ed part of WHERE.
type Conjunct struct {
	Text string // canonical SQL
	Expr syntax.Expr
}

// Output is the SELECT list over the last stage's layout.
type Output struct {
	Exprs  []eval.Expr // one per column of the result row
	Copy   []int       // for Exprs[i]: the layout column it copies unchanged, or −1
	Text   []string    // canonical SQL of each, for EXPLAIN
	Fields []row.Field
	Names  []string // column names in SELECT order, as PrintTable needs them
}

// Identity tells whether the rows that leave the last stage are result rows
// already: they begin with the columns of the SELECT list, in its order, and
// what follows only served the filter.
func (o *Output) Identity() bool {
	for i, from := range o.Copy {
		if from != i {
			return false
		}
	}
	return true
}

// Streams returns the input names in query order.
func (p *Plan) Streams() []string {
	names := make([]string, len(p.Inputs))
	for i := range p.Inputs {
		names[i] = p.Inputs[i].Stream
	}
	return names
}

// Build checks a parsed statement and plans it. Errors are *syntax.Error with
// ErrQuery behind them.
func Build(stmt *syntax.Select, sql string) (*Plan, error) {
	if err := check(stmt, sql); err != nil {
		return nil, err
	}
	b := &builder{sql: sql, stmt: stmt, plan: &Plan{SQL: sql}}
	for _, step := range []func() error{b.bindNames, b.readOptions, b.bindStages, b.placeWhere, b.bindOutput, b.layOut, b.compile} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	b.plan.ReadsClock = b.readsClock()
	return b.plan, nil
}

// builder carries what the steps of Build share.
type builder struct {
	sql  string
	stmt *syntax.Select
	plan *Plan

	names *names
	// keys[i] are the equalities of stage i: left column (of an earlier input)
	// and right column (of Inputs[i+1]), in ON order.
	keys [][]equality
	// items are the SELECT list after stars were expanded; taken are its names.
	items []item
	taken map[string]bool
}

type equality struct {
	left, right column
}

// bindStages reads WITHIN and ON of every JOIN.
func (b *builder) bindStages() error {
	var sum int64
	for i := range b.stmt.Joins {
		j := &b.stmt.Joins[i]
		within := int64(j.Within.D)
		sum = saturatingAdd(sum, within)
		stage := Stage{Left: j.Kind == syntax.LeftJoin, Within: within, RightRetention: within, On: syntax.PrintExpr(j.On)}
		if b.plan.Time.Event() {
			stage.RightRetention = sum
		}
		eqs, err := b.bindOn(j, i)
		if err != nil {
			return err
		}
		b.keys = append(b.keys, eqs)
		b.plan.Stages = append(b.plan.Stages, stage)
		in := &b.plan.Inputs[i+1]
		in.Stage, in.Port, in.Within = i, 1, within
	}
	b.plan.Inputs[0].Within = b.plan.Stages[0].Within
	return nil
}

// bindOn reads ON of stage i: equalities of one earlier and the new input,
// either way round (semantics.md §3).
func (b *builder) bindOn(j *syntax.Join, stage int) ([]equality, error) {
	var eqs []equality
	for _, e := range syntax.Conjuncts(j.On) {
		bin, ok := e.(*syntax.Binary)
		if !ok || bin.Op != "=" {
			return nil, b.errorf(e.Position(), ErrUnsupported, "use AND-ed equalities such as a.x = b.x AND a.y = b.y; put other conditions into WHERE",
				"ON of a WITHIN join takes only equality conditions, found %s", syntax.PrintExpr(e))
		}
		var cols [2]column
		for k, side := range []syntax.Expr{bin.X, bin.Y} {
			c, ok := side.(*syntax.Column)
			if !ok {
				return nil, b.errorf(side.Position(), ErrUnsupported, "compute the value before the join, or compare in WHERE",
					"each equality in ON must compare two fields, found %s", syntax.PrintExpr(side))
			}
			col, err := b.names.resolve(c, stage+2)
			if err != nil {
				return nil, err
			}
			cols[k] = col
		}
		added := stage + 1
		switch {
		case cols[0].input < added && cols[1].input == added:
			eqs = append(eqs, equality{cols[0], cols[1]})
		case cols[1].input < added && cols[0].input == added:
			eqs = append(eqs, equality{cols[1], cols[0]})
		default:
			return nil, b.errorf(bin.Pos, ErrUnsupported, "write one side with the alias "+b.plan.Inputs[added].Alias+" and the other with an alias that stands before it",
				"each equality in ON must name one earlier source and the newly joined one, found %s", syntax.PrintExpr(e))
		}
	}
	return eqs, nil
}

func saturatingAdd(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
