package tables

import (
	"fmt"
	"strings"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// bound is a comparison of a row's time with now(): the row is in while now() is
// before at (a bound that it leaves by), or once now() is past it.
type bound struct {
	at        func(*env) (int64, bool) // ns; false: never in
	enter     bool
	inclusive bool // in at that instant too
}

func (x bound) holds(v *env, now int64) bool {
	at, ok := x.at(v)
	switch {
	case !ok:
		return false
	case now == unseen:
		return !x.enter
	case now == at:
		return x.inclusive
	}
	return (now > at) == x.enter
}

// recency keeps the rows for which all bounds hold now.
func (b *builder) recency(in *node, bounds []bound) *node {
	holds := func(r *record) bool {
		for _, x := range bounds {
			if !x.holds(&env{parts: r.parts}, b.e.now) {
				return false
			}
		}
		return true
	}
	return b.add(&node{state: true, in: []*node{in}, run: func(n *node) {
		n.waitsFor(in)
		var rows []*record
		for _, r := range in.rows {
			if holds(r) {
				rows = append(rows, &record{key: r.key, parts: r.parts})
			}
		}
		n.become(rows, func(old, now *record) int64 {
			if now == nil && !holds(old) {
				return b.e.now // time has taken it before any record could
			}
			return causedBy(in)(old, now)
		})
	}, due: func(passed func(int64)) {
		for _, r := range in.rows {
			for _, x := range bounds {
				if at, ok := x.at(&env{parts: r.parts}); ok {
					passed(at)
					passed(add(at, 1))
				}
			}
		}
	}})
}

// bound reads a comparison with now(); ok is false for a condition without.
func (s *scope) bound(e syntax.Expr) (x bound, ok bool, err error) {
	if !mentionsNow(e) {
		return x, false, nil
	}
	cmp, isCmp := e.(*syntax.Binary)
	if !isCmp {
		return x, true, fmt.Errorf("now() in other than a comparison")
	}
	time, now, op := cmp.X, cmp.Y, cmp.Op
	if mentionsNow(time) {
		time, now = now, time
		op = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<="}[op]
	}
	offset, isNow := nowOffset(now)
	if !isNow || mentionsNow(time) || op == "=" || op == "!=" || op == "" {
		return x, true, fmt.Errorf("the model compares now() ± interval with a time only")
	}
	value, err := s.compile(time)
	if err != nil {
		return x, true, err
	}
	// time > now + offset: in while now < time − offset.
	x.enter = op == "<" || op == "<="
	x.inclusive = op == "<=" || op == ">="
	x.at = func(v *env) (int64, bool) {
		ns, ok := instant(value(v), s.unit)
		return add(ns, -offset), ok
	}
	return x, true, nil
}

func nowOffset(e syntax.Expr) (int64, bool) {
	switch e := e.(type) {
	case *syntax.Call:
		return 0, strings.EqualFold(e.Name, "now")
	case *syntax.Binary:
		d, ok := e.Y.(*syntax.Interval)
		if _, now := nowOffset(e.X); ok && now && e.Op == "+" {
			return d.D, true
		} else if ok && now && e.Op == "-" {
			return -d.D, true
		}
	}
	return 0, false
}

func mentionsNow(e syntax.Expr) bool {
	switch e := e.(type) {
	case *syntax.Call:
		if strings.EqualFold(e.Name, "now") {
			return true
		}
		for _, a := range e.Args {
			if mentionsNow(a) {
				return true
			}
		}
	case *syntax.Binary:
		return mentionsNow(e.X) || mentionsNow(e.Y)
	case *syntax.Unary:
		return mentionsNow(e.X)
	case *syntax.Between:
		return mentionsNow(e.X) || mentionsNow(e.Lo) || mentionsNow(e.Hi)
	}
	return false
}
