package tables

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// env is what an expression is evaluated on.
type env struct {
	parts []part
	aggs  []any // values of the aggregates of a group
	now   int64 // ns
}

// expr is a compiled expression. Conditions are true, false or nil, for unknown.
type expr func(*env) any

// scope says what names mean.
type scope struct {
	aliases map[string]int // alias → part
	plain   []int          // the parts that a column without alias may belong to
	unit    int64          // of numbers that are times
	zone    *time.Location
	// aggregate, where aggregates may stand, takes one and returns its place in
	// env.aggs.
	aggregate func(*syntax.Call) (int, error)
}

// locate splits a column into the part and the path in it.
func (s *scope) locate(c *syntax.Column) (int, []syntax.Step, error) {
	if i, ok := s.aliases[c.Path[0].Name]; ok && len(c.Path) > 1 {
		return i, c.Path[1:], nil
	}
	if len(s.plain) == 1 {
		return s.plain[0], c.Path, nil
	}
	return 0, nil, fmt.Errorf("whose column is %s?", c.Path[0].Name)
}

func (s *scope) compile(e syntax.Expr) (expr, error) {
	switch e := e.(type) {
	case *syntax.Column:
		i, path, err := s.locate(e)
		if err != nil {
			return nil, err
		}
		if len(path) == 1 {
			name := path[0].Name
			return func(v *env) any { return v.parts[i].row[name] }, nil
		}
		return func(v *env) any { return follow(v.parts[i].row, path) }, nil
	case *syntax.Number:
		return constant(number(e.Text)), nil
	case *syntax.Text:
		return constant(e.Value), nil
	case *syntax.Bool:
		return constant(e.Value), nil
	case *syntax.Null:
		return constant(nil), nil
	case *syntax.Interval:
		return constant(e.D / ms), nil
	case *syntax.Unary:
		return s.unary(e)
	case *syntax.Binary:
		return s.binary(e)
	case *syntax.IsNull:
		x, err := s.compile(e.X)
		return func(v *env) any { return (x(v) == nil) != e.Not }, err
	case *syntax.Between:
		cond := &syntax.Binary{Op: "AND", X: &syntax.Binary{Op: ">=", X: e.X, Y: e.Lo}, Y: &syntax.Binary{Op: "<=", X: e.X, Y: e.Hi}}
		return s.negated(cond, e.Not)
	case *syntax.In:
		var cond syntax.Expr = &syntax.Bool{}
		for _, x := range e.List {
			cond = &syntax.Binary{Op: "OR", X: cond, Y: &syntax.Binary{Op: "=", X: e.X, Y: x}}
		}
		return s.negated(cond, e.Not)
	case *syntax.Case:
		return s.cases(e)
	case *syntax.Call:
		return s.call(e)
	}
	return nil, fmt.Errorf("the model has no %T", e)
}

func constant(v any) expr { return func(*env) any { return v } }

func number(text string) any {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil
	}
	return f
}

// follow follows a path into a row.
func follow(row object, path []syntax.Step) any {
	var v any = row
	for _, st := range path {
		if !st.IsIndex {
			o, ok := v.(object)
			if !ok {
				return nil
			}
			v = o[st.Name]
			continue
		}
		list, ok := v.([]any)
		i := st.Index
		if i < 0 {
			i += len(list)
		}
		if !ok || i < 0 || i >= len(list) {
			return nil
		}
		v = list[i]
	}
	return v
}

func (s *scope) negated(e syntax.Expr, not bool) (expr, error) {
	if not {
		e = &syntax.Unary{Op: "NOT", X: e}
	}
	return s.compile(e)
}

func (s *scope) unary(e *syntax.Unary) (expr, error) {
	x, err := s.compile(e.X)
	switch e.Op {
	case "NOT":
		return func(v *env) any {
			if b, ok := x(v).(bool); ok {
				return !b
			}
			return nil
		}, err
	case "-":
		return func(v *env) any { return arithmetic("*", x(v), int64(-1)) }, err
	}
	return func(v *env) any { return arithmetic("+", x(v), int64(0)) }, err
}

func (s *scope) binary(e *syntax.Binary) (expr, error) {
	x, err := s.compile(e.X)
	if err != nil {
		return nil, err
	}
	y, err := s.compile(e.Y)
	if err != nil {
		return nil, err
	}
	switch e.Op {
	case "AND", "OR":
		decisive := e.Op == "OR"
		return func(v *env) any {
			a, aKnown := x(v).(bool)
			if aKnown && a == decisive {
				return decisive
			}
			b, bKnown := y(v).(bool)
			if bKnown && b == decisive {
				return decisive
			}
			if aKnown && bKnown {
				return !decisive
			}
			return nil
		}, nil
	case "=", "!=", "<", "<=", ">", ">=":
		return func(v *env) any {
			d, ok := compare(x(v), y(v))
			if !ok {
				return nil
			}
			return holds(e.Op, d)
		}, nil
	}
	// A time plus or minus an interval is epoch milliseconds, whatever the time
	// was written in.
	if isInterval(e.Y) && !isInterval(e.X) {
		inner := x
		x = func(v *env) any { return millis(inner(v), s.unit) }
	} else if isInterval(e.X) && !isInterval(e.Y) {
		inner := y
		y = func(v *env) any { return millis(inner(v), s.unit) }
	}
	return func(v *env) any { return arithmetic(e.Op, x(v), y(v)) }, nil
}

func holds(op string, d int) bool {
	switch op {
	case "=":
		return d == 0
	case "!=":
		return d != 0
	case "<":
		return d < 0
	case "<=":
		return d <= 0
	case ">":
		return d > 0
	}
	return d >= 0
}

func isInterval(e syntax.Expr) bool {
	_, ok := e.(*syntax.Interval)
	return ok
}

// millis reads a time as epoch milliseconds.
func millis(v any, unit int64) any {
	ns, ok := instant(v, unit)
	if !ok {
		return nil
	}
	return ns / ms
}

func (s *scope) cases(e *syntax.Case) (expr, error) {
	otherwise := constant(nil)
	var err error
	if e.Else != nil {
		if otherwise, err = s.compile(e.Else); err != nil {
			return nil, err
		}
	}
	type arm struct{ cond, then expr }
	var arms []arm
	for _, w := range e.Whens {
		cond := w.Cond
		if e.Operand != nil {
			cond = &syntax.Binary{Op: "=", X: e.Operand, Y: w.Cond}
		}
		var a arm
		if a.cond, err = s.compile(cond); err != nil {
			return nil, err
		}
		if a.then, err = s.compile(w.Then); err != nil {
			return nil, err
		}
		arms = append(arms, a)
	}
	return func(v *env) any {
		for _, a := range arms {
			if a.cond(v) == true {
				return a.then(v)
			}
		}
		return otherwise(v)
	}, nil
}

func (s *scope) call(e *syntax.Call) (expr, error) {
	name := strings.ToLower(e.Name)
	if isAggregate(name) {
		if s.aggregate == nil {
			return nil, fmt.Errorf("%s has no place here", name)
		}
		i, err := s.aggregate(e)
		return func(v *env) any { return v.aggs[i] }, err
	}
	args := make([]expr, len(e.Args))
	for i, a := range e.Args {
		var err error
		if args[i], err = s.compile(a); err != nil {
			return nil, err
		}
	}
	if unit, ok := bucketOf(name); ok {
		return s.endOf(unit, args)
	}
	switch name {
	case "coalesce":
		return func(v *env) any {
			for _, a := range args {
				if x := a(v); x != nil {
					return x
				}
			}
			return nil
		}, nil
	case "now":
		return func(v *env) any { return v.now / ms }, nil
	case "epochmillitotimestamp", "timestamptoepochmilli":
		return func(v *env) any { return millis(args[0](v), s.unit) }, nil
	case "timestamptoepoch":
		return func(v *env) any {
			if t, ok := millis(args[0](v), s.unit).(int64); ok {
				return t / 1000
			}
			return nil
		}, nil
	}
	return nil, fmt.Errorf("the model has no function %s", name)
}

func (s *scope) endOf(unit string, args []expr) (expr, error) {
	if len(args) < 1 || len(args) > 3 {
		return nil, fmt.Errorf("endOf%s takes 1 to 3 arguments", unit)
	}
	b := bucket{unit: unit, multiple: 1, zone: s.zone}
	for i, to := range []*int{&b.multiple, &b.offset} {
		if len(args) > i+1 {
			n, ok := args[i+1](nil).(int64)
			if !ok {
				return nil, fmt.Errorf("endOf%s: argument %d is no whole number", unit, i+2)
			}
			*to = int(n)
		}
	}
	// Most times repeat, and the calendar is slow.
	known := map[int64]any{}
	return func(v *env) any {
		ns, ok := instant(args[0](v), s.unit)
		if !ok {
			return nil
		}
		end, ok := known[ns]
		if !ok {
			end = b.end(ns)
			known[ns] = end
		}
		return end
	}, nil
}

// conjuncts splits a condition at its ANDs.
func conjuncts(e syntax.Expr) []syntax.Expr {
	if e == nil {
		return nil
	}
	if b, ok := e.(*syntax.Binary); ok && b.Op == "AND" {
		return append(conjuncts(b.X), conjuncts(b.Y)...)
	}
	return []syntax.Expr{e}
}

// all compiles conditions into one that must be true.
func (s *scope) all(conds []syntax.Expr) (func(*env) bool, error) {
	var list []expr
	for _, c := range conds {
		x, err := s.compile(c)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return func(v *env) bool {
		for _, x := range list {
			if x(v) != true {
				return false
			}
		}
		return true
	}, nil
}
