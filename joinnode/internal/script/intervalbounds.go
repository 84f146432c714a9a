package script

import (
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// timeTerm reads column ± interval …: a row time of one side.
func (q *query) timeTerm(n *joinNode, e syntax.Expr) (c *syntax.Column, shift int64, ok bool) {
	switch e := e.(type) {
	case *syntax.Column:
		return e, 0, true
	case *syntax.Binary:
		iv, isInterval := e.Y.(*syntax.Interval)
		if (e.Op == "+" || e.Op == "-") && isInterval {
			if c, shift, ok = q.timeTerm(n, e.X); !ok {
				return nil, 0, false
			}
			if e.Op == "-" {
				return c, shift - iv.D, true
			}
			return c, shift + iv.D, true
		}
		if iv, isInterval = e.X.(*syntax.Interval); e.Op == "+" && isInterval {
			c, shift, ok = q.timeTerm(n, e.Y)
			return c, shift + iv.D, ok
		}
	}
	return nil, 0, false
}

// limit is what one condition says of right time − left time.
type limit struct {
	lower, upper       int64
	hasLower, hasUpper bool
}

// limitOf reads x op y where both are times of different sides.
func (q *query) limitOf(n *joinNode, op string, x, y syntax.Expr) (l limit, ok bool, err error) {
	cx, sx, okx := q.timeTerm(n, x)
	cy, sy, oky := q.timeTerm(n, y)
	if !okx || !oky || n.side(ref(cx.Path)) == n.side(ref(cy.Path)) {
		return limit{}, false, nil
	}
	timed := func(c *syntax.Column) bool { return n.in[n.side(ref(c.Path))].timing(ref(c.Path)).row }
	if !timed(cx) || !timed(cy) {
		if !timed(cx) && !timed(cy) && sx == 0 && sy == 0 {
			return limit{}, false, nil // a comparison of other columns
		}
		bad := cx
		if timed(cx) {
			bad = cy
		}
		return limit{}, false, q.b.errorf(bad.Pos, ErrUnsupported, "bound the TIMESTAMP columns that IMPORT declares, or use WITHIN, which needs none",
			"an interval join bounds the times of both streams, and %s is not the time of its rows", visible(ref(bad.Path).String()))
	}
	// x.t + sx op y.t + sy  ⇔  x.t − y.t op sy − sx
	d := sy - sx
	if n.side(ref(cx.Path)) == 0 { // left − right op d  ⇔  right − left (flipped op) −d
		d = -d
		op = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<="}[op]
	}
	switch op {
	case "<":
		return limit{upper: d - 1, hasUpper: true}, true, nil
	case "<=":
		return limit{upper: d, hasUpper: true}, true, nil
	case ">":
		return limit{lower: d + 1, hasLower: true}, true, nil
	}
	return limit{lower: d, hasLower: true}, true, nil
}

// intervalBounds makes n an interval join: by WITHIN, or by conditions on the
// times of both sides, which are taken out of ON and, for an inner join, out of
// WHERE.
func (q *query) intervalBounds(n *joinNode, j *syntax.Join, on, where []syntax.Expr) (onLeft, whereLeft []syntax.Expr, err error) {
	n.how, n.follow = interval, q.follow
	left, right := n.in[0].kind(), n.in[1].kind()
	if left == State || right == State {
		return nil, nil, q.b.errorf(j.Pos, ErrKind, "leave WITHIN away; TEMPORAL JOIN takes the version as of the row's time, INNER JOIN the row of now", "WITHIN joins two streams, and one side is a state table")
	}
	var all limit
	if j.Within != nil {
		w := int64(j.Within.D)
		all = limit{-w, w, true, true}
		onLeft, whereLeft = on, where
	} else {
		take := func(conds []syntax.Expr) (kept []syntax.Expr, err error) {
			for _, e := range conds {
				ls, ok, err := q.limitsOf(n, e)
				if err != nil {
					return nil, err
				}
				if !ok {
					kept = append(kept, e)
				}
				for _, l := range ls {
					all.narrow(l)
				}
			}
			return kept, nil
		}
		if onLeft, err = take(on); err != nil {
			return nil, nil, err
		}
		whereLeft = where
		if !n.left && !(all.hasLower && all.hasUpper) {
			if whereLeft, err = q.takeWhere(n, where, &all); err != nil {
				return nil, nil, err
			}
		}
	}
	if !all.hasLower || !all.hasUpper {
		pos := j.Pos
		if j.On != nil {
			pos = j.OnPos
		}
		missing := "bounds"
		switch {
		case all.hasLower:
			missing = "an upper bound"
		case all.hasUpper:
			missing = "a lower bound"
		}
		return nil, nil, q.b.errorf(pos, ErrUnsupported,
			"add WITHIN 30 SECONDS, or bound both ways: a.time BETWEEN b.time - INTERVAL 5 MINUTE AND b.time + INTERVAL 1 HOUR; or make one side a state table",
			"a join of two streams needs %s on the time between their rows", missing)
	}
	if all.lower > all.upper {
		return nil, nil, q.b.errorf(j.OnPos, ErrUnsupported, "", "no two rows can match: the bounds leave no time between them")
	}
	n.lo, n.hi, n.behind = all.lower, all.upper, q.behind
	if j.Within == nil {
		n.disorder = max(disorderOf(n.in[0]), disorderOf(n.in[1]))
	}
	q.behind += n.kept()
	return onLeft, whereLeft, nil
}

func (l *limit) narrow(by limit) {
	if by.hasLower && (!l.hasLower || by.lower > l.lower) {
		l.lower, l.hasLower = by.lower, true
	}
	if by.hasUpper && (!l.hasUpper || by.upper < l.upper) {
		l.upper, l.hasUpper = by.upper, true
	}
}

// limitsOf reads one condition.
func (q *query) limitsOf(n *joinNode, e syntax.Expr) (ls []limit, ok bool, err error) {
	switch e := e.(type) {
	case *syntax.Between:
		if e.Not {
			return nil, false, nil
		}
		lo, okLo, err := q.limitOf(n, ">=", e.X, e.Lo)
		if err != nil {
			return nil, false, err
		}
		hi, okHi, err := q.limitOf(n, "<=", e.X, e.Hi)
		if err != nil {
			return nil, false, err
		}
		return []limit{lo, hi}, okLo && okHi, nil
	case *syntax.Binary:
		switch e.Op {
		case "<", "<=", ">", ">=":
			l, ok, err := q.limitOf(n, e.Op, e.X, e.Y)
			return []limit{l}, ok, err
		}
	}
	return nil, false, nil
}

// takeWhere finds bounds among the conditions of WHERE that read only what is
// joined so far.
func (q *query) takeWhere(n *joinNode, where []syntax.Expr, all *limit) (kept []syntax.Expr, err error) {
	for _, e := range where {
		known := true
		eachColumn(e, func(c *syntax.Column) { known = known && (len(c.Path) < 2 || q.find(c.Path[0].Name) != nil) })
		if known {
			if bound, err := q.bind(e); err == nil {
				ls, ok, err := q.limitsOf(n, bound)
				if err != nil {
					return nil, err
				}
				if ok {
					for _, l := range ls {
						all.narrow(l)
					}
					continue
				}
			}
		}
		kept = append(kept, e)
	}
	return kept, nil
}
