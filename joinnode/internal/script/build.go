package script

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/plan"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// Needed reports whether a text needs this package: whether it is more than one
// query that a stream join or streamsql runs.
func Needed(s *syntax.Script) bool {
	if len(s.Statements) != 1 {
		return true
	}
	d, ok := s.Statements[0].(*syntax.Define)
	if !ok || len(d.Name.Parts) > 0 {
		return true
	}
	sel, ok := d.Query.(*syntax.Select)
	if !ok {
		return true
	}
	if within(sel) {
		sel = withoutIntervals(sel)
	}
	if _, _, only := syntax.ScriptOnly(sel); only {
		return true
	}
	for _, o := range sel.With {
		if (o.Name == "STATETTL" || o.Name == "TIMEZONE") && (aggregates(sel) || sel.Distinct != (syntax.Pos{})) && !streamsqlOnly(sel) {
			return true
		}
	}
	for _, g := range sel.GroupBy {
		if c, ok := g.(*syntax.Call); ok && eval.IsTimeWindow(c.Name) {
			return true
		}
		if c, ok := g.(*syntax.Column); ok && len(c.Path) == 1 {
			for i := range sel.Items {
				if call, ok := sel.Items[i].Expr.(*syntax.Call); ok && sel.Items[i].Alias == c.Path[0].Name && eval.IsTimeWindow(call.Name) {
					return true
				}
			}
		}
	}
	return false
}

// within tells whether a query is a WITHIN join, where an INTERVAL is a value like
// others.
func within(s *syntax.Select) bool {
	return slices.ContainsFunc(s.Joins, func(j syntax.Join) bool { return j.Within != nil })
}

// withoutIntervals returns a copy in which intervals are no longer to be seen.
func withoutIntervals(s *syntax.Select) *syntax.Select {
	c := *s
	hide := func(e syntax.Expr) syntax.Expr {
		out, err := rewrite(e, func(x syntax.Expr) (syntax.Expr, error) {
			if i, ok := x.(*syntax.Interval); ok {
				return &syntax.Null{Pos: i.Pos}, nil
			}
			return nil, nil
		})
		if err != nil {
			return e
		}
		return out
	}
	c.Items, c.Joins = slices.Clone(s.Items), slices.Clone(s.Joins)
	for i := range c.Items {
		c.Items[i].Expr = hide(c.Items[i].Expr)
	}
	for i := range c.Joins {
		c.Joins[i].On = hide(c.Joins[i].On)
	}
	c.Where, c.Having = hide(s.Where), hide(s.Having)
	return &c
}

// streamsqlOnly tells whether a query has windows or functions that only streamsql
// runs.
func streamsqlOnly(s *syntax.Select) bool {
	found := s.Match != nil
	look := func(e syntax.Expr) {
		syntax.Walk(e, func(e syntax.Expr) bool {
			switch e := e.(type) {
			case *syntax.GlobalWindow:
				found = true
			case *syntax.Call:
				kind := eval.Classify(e.Name).Kind
				found = found || e.Over != nil || kind == eval.Window || kind == eval.Analytic
			}
			return !found
		})
	}
	for i := range s.Items {
		look(s.Items[i].Expr)
	}
	for _, g := range s.GroupBy {
		look(g)
	}
	return found
}

// Build checks a script and plans it; gates bound the sides of its WITHIN joins.
// Errors are *syntax.Error.
func Build(s *syntax.Script, gates plan.Gates) (*Program, error) {
	b := &builder{sql: s.SQL, program: &Program{SQL: s.SQL}, gates: gates, tables: map[string]*table{}, uses: map[string]map[string]bool{}}
	for _, st := range s.Statements {
		b.looked = map[string]bool{}
		var err error
		switch st := st.(type) {
		case *syntax.Import:
			err = b.importStream(st)
		case *syntax.Export:
			b.exports = append(b.exports, st)
		case *syntax.Define:
			err = b.definition(st)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := b.finish(); err != nil {
		return nil, err
	}
	return b.program, nil
}

// importStream is IMPORT.
func (b *builder) importStream(st *syntax.Import) error {
	name := st.Name.Name
	if t := b.tables[name]; t != nil {
		if in, ok := t.node.(*inputNode); ok && in.imported && !t.define {
			return b.errorf(st.Name.Pos, plan.ErrDuplicateName, "write all its options in one IMPORT", "%s is imported twice", name)
		}
		hint := "IMPORT stands before the statements that read the stream"
		if t.define {
			hint = name + " is a table by now: IMPORT stands before its definition"
		}
		return b.errorf(st.Name.Pos, plan.ErrDuplicateName, hint, "%s is imported after it was used", name)
	}
	n := b.input(name, true).node.(*inputNode)
	given := map[string]bool{}
	for _, o := range st.Options {
		if given[o.Name] {
			return b.errorf(o.Pos, plan.ErrOption, "", "%s is given twice", o.Name)
		}
		given[o.Name] = true
		if err := b.importOption(n, o); err != nil {
			return err
		}
	}
	if n.time == nil {
		for _, o := range st.Options {
			b.warnf("IMPORT %s: %s has no effect without TIMESTAMP: rows take their arrival time", name, o.Name)
		}
		n.unit, n.disorder = value.AutoUnit, 0
	}
	return nil
}

func (b *builder) importOption(n *inputNode, o syntax.Option) error {
	duration := func(to *time.Duration) error {
		d, err := plan.OptionDuration(b.sql, o)
		*to = d
		return err
	}
	switch o.Name {
	case "TIMESTAMP":
		e, err := syntax.ParseExpr(o.Value)
		c, ok := e.(*syntax.Column)
		if err != nil || !ok || c.Path[0].Name == "@" {
			return b.errorf(o.Pos, plan.ErrOption, "name a field of the rows: TIMESTAMP time or TIMESTAMP payload.ts", "TIMESTAMP: %q is not a field", o.Value)
		}
		n.time, n.timeText = ref(c.Path), o.Value
		return nil
	case "TIMEUNIT":
		u, err := value.ParseUnit(o.Value)
		if err != nil {
			return b.errorf(o.Pos, plan.ErrOption, "", "TIMEUNIT: %v", err)
		}
		n.unit = u
		return nil
	case "MAXOUTOFORDERNESS":
		return duration(&n.disorder)
	case "IDLETIMEOUT":
		return duration(&n.idle)
	case "MAXFUTURESKEW":
		return duration(&n.skew)
	}
	return b.unknown(o.Pos, "option of IMPORT", o.Name, []string{"TIMESTAMP", "TIMEUNIT", "MAXOUTOFORDERNESS", "IDLETIMEOUT", "MAXFUTURESKEW"},
		"IMPORT takes TIMESTAMP, TIMEUNIT, MAXOUTOFORDERNESS, IDLETIMEOUT and MAXFUTURESKEW")
}

// defaultName is the table of a query without a name.
const defaultName = "result"

// definition is one := or a query alone.
func (b *builder) definition(st *syntax.Define) error {
	parts := st.Name.Parts
	b.table = st.Name.String()
	switch len(parts) {
	case 0:
		b.table = defaultName
		for n := 1; b.tables[b.table] != nil; n++ {
			b.table = defaultName + strings.Repeat("_", n)
		}
	case 1:
	case 2:
		return b.nestedDefinition(st)
	default:
		return b.errorf(parts[2].Pos, ErrUnsupported, "define it under a table of one name", "tables are nested one level deep: %s", b.table)
	}
	if st.Query == nil {
		return b.errorf(st.Pos, ErrUnsupported, "", "%s needs a query", b.table)
	}
	q, err := b.query(st.Query, nil)
	if err != nil {
		return err
	}
	if len(parts) == 1 {
		if err := b.checkCycle(b.table, parts[0].Pos); err != nil {
			return err
		}
	}
	b.define(&table{name: b.table, node: q.node, order: q.order, nested: map[string]*nested{}})
	return nil
}

// nestedDefinition is parent.name := …: a column, a relationship or a table.
func (b *builder) nestedDefinition(st *syntax.Define) error {
	p, own := st.Name.Parts[0], st.Name.Parts[1]
	parent, err := b.lookup(p.Name, p.Pos)
	if err != nil {
		return err
	}
	if st.Query == nil {
		return b.addColumn(parent, own, st.Column)
	}
	n := &nested{query: st.Query}
	switch q := st.Query.(type) {
	case *syntax.Relation:
		n.tables = make([]*table, len(q.Joins))
		if err := b.checkRelation(parent, n, q); err != nil {
			return err
		}
		parent.nested[own.Name] = n
		return nil
	case *syntax.Select:
		n.fold = b.folds(parent, q)
	default:
		return b.errorf(st.Query.Position(), ErrUnsupported, "write "+b.table+" := SELECT … FROM @ …, or give the table a name of its own", "a nested table is a SELECT")
	}
	result, err := b.query(st.Query, parent)
	if err != nil {
		return err
	}
	b.uses[b.table] = b.looked
	n.keys = result.parentKeys
	t := &table{name: b.table, node: result.node, order: result.order, nested: map[string]*nested{}}
	n.table = t
	parent.nested[own.Name] = n
	b.define(t)
	return nil
}

// addColumn is parent.column := expression.
func (b *builder) addColumn(parent *table, own syntax.Ident, e syntax.Expr) error {
	b.table = parent.name
	q := &query{b: b}
	q.from("@", parent)
	bound, err := q.bind(e)
	if err != nil {
		return err
	}
	if err := q.checkScalar(bound); err != nil {
		return err
	}
	if parent.node.kind() == State {
		if err := b.checkStable(bound); err != nil {
			return err
		}
	}
	for _, k := range parent.node.keys() {
		if len(k) > 0 && k[0].Name == own.Name {
			return b.errorf(own.Pos, ErrUnsupported, "give the column another name", "%s is a key column of %s and cannot be replaced", own.Name, parent.name)
		}
	}
	// The expression reads the row without an alias.
	bound, err = rewrite(bound, func(x syntax.Expr) (syntax.Expr, error) {
		if c, ok := x.(*syntax.Column); ok {
			cp := *c
			cp.Path = c.Path[1:]
			return &cp, nil
		}
		return nil, nil
	})
	if err != nil {
		return err
	}
	n := add(b, &extendNode{in: parent.node, fields: []field{{own.Name, bound}}})
	b.define(&table{name: parent.name, node: n, nested: parent.nested, order: parent.order})
	return nil
}

// checkStable refuses expressions that may give another value when a change is
// taken back.
func (b *builder) checkStable(e syntax.Expr) error {
	var err error
	syntax.Walk(e, func(x syntax.Expr) bool {
		c, ok := x.(*syntax.Call)
		if ok && err == nil && !eval.Classify(c.Name).Custom && eval.Volatile(&syntax.Call{Pos: c.Pos, Name: c.Name, Args: c.Args}) && eval.Classify(c.Name).Volatile {
			hint := "compute it in a stream, before the state table"
			if strings.EqualFold(c.Name, "now") {
				hint = "now() stands in a condition such as WHERE time > now() - INTERVAL 7 DAY, alone on its side and AND-ed with others"
			}
			err = b.errorf(c.Pos, ErrUnsupported, hint, "%s() changes by itself and cannot be part of a state table's rows", strings.ToLower(c.Name))
		}
		return err == nil
	})
	return err
}

func (b *builder) warnf(format string, args ...any) {
	b.program.Warnings = append(b.program.Warnings, fmt.Sprintf(format, args...))
}
