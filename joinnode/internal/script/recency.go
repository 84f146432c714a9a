package script

import (
	"slices"
	"strings"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

func isNow(e syntax.Expr) bool {
	c, ok := e.(*syntax.Call)
	return ok && strings.EqualFold(c.Name, "now") && len(c.Args) == 0 && !c.Star
}

func nowIn(e syntax.Expr) *syntax.Call {
	var found *syntax.Call
	syntax.Walk(e, func(x syntax.Expr) bool {
		if isNow(x) && found == nil {
			found = x.(*syntax.Call)
		}
		return found == nil
	})
	return found
}

// recency takes the comparisons with now() out of the conditions of WHERE
// (docs/tables.md, "Recency"): each stands alone in its AND-ed condition.
func (q *query) recency(where []syntax.Expr) (bounds []recencyBound, conds, rest []syntax.Expr, err error) {
	for _, e := range where {
		call := nowIn(e)
		if call == nil {
			rest = append(rest, e)
			continue
		}
		bs, ok, err := q.boundsOf(e)
		if err != nil {
			return nil, nil, nil, err
		}
		if !ok {
			return nil, nil, nil, q.b.errorf(call.Pos, ErrUnsupported,
				"write time > now() - INTERVAL 7 DAY: now() alone on its side, once in each AND-ed condition, not under OR, NOT or CASE",
				"now() cannot be used so")
		}
		for _, b := range bs {
			bounds, conds = append(bounds, b), append(conds, e)
		}
	}
	return bounds, conds, rest, nil
}

// boundsOf reads one condition as comparisons of an instant with now().
func (q *query) boundsOf(e syntax.Expr) ([]recencyBound, bool, error) {
	switch e := e.(type) {
	case *syntax.Between:
		if e.Not || nowIn(e.X) != nil && (nowIn(e.Lo) != nil || nowIn(e.Hi) != nil) {
			return nil, false, nil
		}
		var all []recencyBound
		for _, side := range []struct {
			op string
			y  syntax.Expr
		}{{">=", e.Lo}, {"<=", e.Hi}} {
			cmp := &syntax.Binary{Pos: e.Pos, Op: side.op, X: e.X, Y: side.y}
			if nowIn(cmp) == nil {
				return nil, false, nil
			}
			bs, ok, err := q.boundsOf(cmp)
			if !ok || err != nil {
				return nil, ok, err
			}
			all = append(all, bs...)
		}
		return all, true, nil
	case *syntax.Binary:
		op, x, y := e.Op, e.X, e.Y
		if nowIn(x) != nil {
			x, y = y, x
			flipped, ok := map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<="}[op]
			if !ok {
				return nil, false, nil
			}
			op = flipped
		}
		shift, ok := nowTerm(y)
		if !ok || nowIn(x) != nil {
			return nil, false, nil
		}
		at, err := q.bind(x)
		if err != nil {
			return nil, false, err
		}
		if err := q.checkScalar(at); err != nil {
			return nil, false, err
		}
		b := recencyBound{at: at, shift: shift}
		// at op now() + shift: compared is now() with at − shift.
		switch op {
		case ">":
		case ">=":
			b.inclusive = true
		case "<":
			b.enter = true
		case "<=":
			b.enter, b.inclusive = true, true
		default:
			return nil, false, nil
		}
		return []recencyBound{b}, true, nil
	}
	return nil, false, nil
}

// nowTerm reads now() ± interval …
func nowTerm(e syntax.Expr) (shift int64, ok bool) {
	if isNow(e) {
		return 0, true
	}
	b, isBinary := e.(*syntax.Binary)
	if !isBinary || b.Op != "+" && b.Op != "-" {
		return 0, false
	}
	if iv, isInterval := b.Y.(*syntax.Interval); isInterval {
		shift, ok = nowTerm(b.X)
		if b.Op == "-" {
			return shift - iv.D, ok
		}
		return shift + iv.D, ok
	}
	if iv, isInterval := b.X.(*syntax.Interval); isInterval && b.Op == "+" {
		shift, ok = nowTerm(b.Y)
		return shift + iv.D, ok
	}
	return 0, false
}

// filter lets the rows pass for which all conditions are true. Each is put as near
// to the rows it reads as the joins allow, so that these keep fewer rows.
func (q *query) filter(conds []syntax.Expr) error {
	bounds, nows, rest, err := q.recency(conds)
	if err != nil {
		return err
	}
	var fresh []node // made here: later conditions join earlier ones
	for _, c := range rest {
		cond, err := q.bind(c)
		if err != nil {
			return err
		}
		if err := q.checkScalar(cond); err != nil {
			return err
		}
		if q.node.kind() == State {
			if err := q.b.checkStable(cond); err != nil {
				return err
			}
		}
		q.sink(aliasesOf(cond), func(in node, _ []ref) node {
			if f, ok := in.(*filterNode); ok && slices.Contains(fresh, in) {
				f.cond = &syntax.Binary{Pos: cond.Position(), Op: "AND", X: f.cond, Y: cond}
				return in
			}
			f := &filterNode{in: in, cond: cond, zone: q.zone}
			fresh = append(fresh, f)
			return f
		})
	}
	for i, bd := range bounds {
		text := syntax.PrintExpr(nows[i])
		q.sink(aliasesOf(bd.at), func(in node, ident []ref) node {
			if r, ok := in.(*recencyNode); ok && slices.Contains(fresh, in) {
				r.bounds = append(r.bounds, bd)
				if !strings.HasSuffix(r.cond, text) {
					r.cond += " AND " + text
				}
				return in
			}
			r := &recencyNode{in: in, bounds: []recencyBound{bd}, ident: ident, cond: text, zone: q.zone}
			fresh = append(fresh, r)
			return r
		})
	}
	return nil
}

// aliasesOf are the aliases whose columns a bound expression reads.
func aliasesOf(e syntax.Expr) map[string]bool {
	aliases := map[string]bool{}
	eachColumn(e, func(c *syntax.Column) { aliases[c.Path[0].Name] = true })
	return aliases
}
