package eval

import (
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// negated returns pred, or NOT pred.
func negated(pred Predicate, not bool) Predicate {
	if !not {
		return pred
	}
	return func(ctx *Context, r row.Row) value.Tri { return value.Not(pred(ctx, r)) }
}

func (c *compiler) isNull(e *syntax.IsNull) (term, error) {
	x, err := c.compile(e.X)
	if err != nil {
		return term{}, err
	}
	expr, not := x.asExpr(), e.Not
	t := term{pred: func(ctx *Context, r row.Row) value.Tri {
		return value.TriOf(expr(ctx, r).Resolve().IsNull() != not)
	}}
	return fold(t, x), nil
}

// between is x >= lo AND x <= hi with x evaluated once.
func (c *compiler) between(e *syntax.Between) (term, error) {
	terms, err := c.compileAll([]syntax.Expr{e.X, e.Lo, e.Hi})
	if err != nil {
		return term{}, err
	}
	pred := betweenValues(e, terms[0].asExpr(), terms[1].asExpr(), terms[2].asExpr())
	if lower, upper := c.pair(e.X, e.Lo), c.pair(e.X, e.Hi); lower.times || upper.times {
		pred = betweenMoments(e, terms, lower, upper)
	}
	return fold(term{pred: negated(pred, e.Not)}, terms...), nil
}

func betweenValues(e syntax.Expr, x, lo, hi Expr) Predicate {
	return func(ctx *Context, r row.Row) value.Tri {
		v, least := x(ctx, r), lo(ctx, r)
		above, mismatchLo := greaterOrEqual.outcome(v, least)
		if above == value.False {
			return value.False
		}
		most := hi(ctx, r)
		below, mismatchHi := lessOrEqual.outcome(v, most)
		switch {
		case mismatchLo:
			ctx.mismatch(e, v, least)
		case mismatchHi:
			ctx.mismatch(e, v, most)
		}
		return value.And(above, below)
	}
}

// betweenMoments is betweenValues with bounds that lower and upper compare with x.
func betweenMoments(e syntax.Expr, terms []term, lower, upper pairing) Predicate {
	x, lo, hi := terms[0].asMoments(), terms[1].asMoments(), terms[2].asMoments()
	return func(ctx *Context, r row.Row) value.Tri {
		v, least := x(ctx, r), lo(ctx, r)
		above, mismatchLo := lower.outcome(greaterOrEqual, &v, &least)
		if above == value.False {
			return value.False
		}
		most := hi(ctx, r)
		below, mismatchHi := upper.outcome(lessOrEqual, &v, &most)
		switch {
		case mismatchLo:
			ctx.mismatch(e, v.v, least.v)
		case mismatchHi:
			ctx.mismatch(e, v.v, most.v)
		}
		return value.And(above, below)
	}
}

// in is x = a OR x = b …: TRUE when one is equal, else Unknown when x or one of
// the list is NULL or of another kind, else FALSE.
func (c *compiler) in(e *syntax.In) (term, error) {
	x, err := c.compile(e.X)
	if err != nil {
		return term{}, err
	}
	list, err := c.compileAll(e.List)
	if err != nil {
		return term{}, err
	}
	constants := make([]value.Value, 0, len(list))
	for _, t := range list {
		if t.constant {
			constants = append(constants, t.val)
		}
	}
	var pred Predicate
	if len(constants) == len(list) && len(list) > linearIn {
		pred = inSet(e, x.asExpr(), newSet(constants))
	} else {
		pred = inList(e, x.asExpr(), list)
	}
	return fold(term{pred: negated(pred, e.Not)}, append(list, x)...), nil
}

// linearIn is up to how many constants comparing one by one is faster than
// building the key of x and looking it up.
const linearIn = 8

func inList(in syntax.Expr, x Expr, list []term) Predicate {
	exprs := make([]Expr, len(list))
	for i, t := range list {
		exprs[i] = t.asExpr()
	}
	return func(ctx *Context, r row.Row) value.Tri {
		v := x(ctx, r)
		var other value.Value // the first that v does not compare with
		result, mismatch := value.False, false
		for _, e := range exprs {
			member := e(ctx, r)
			t, m := equal.outcome(v, member)
			if t == value.True {
				return value.True
			}
			result = value.Or(result, t)
			if m && !mismatch {
				other, mismatch = member, true
			}
		}
		if mismatch {
			ctx.mismatch(in, v, other)
		}
		return result
	}
}

// set is a constant IN list by key, which is equal exactly when Compare says so.
type set struct {
	keys map[string]struct{}
	null bool
	// kinds has one member of each kind in the list, to find out what x does not
	// compare with.
	kinds []value.Value
}

func newSet(list []value.Value) set {
	s := set{keys: make(map[string]struct{}, len(list))}
	for _, v := range list {
		if v.IsNull() || v.IsNaN() {
			s.null = true
			continue
		}
		s.keys[string(value.AppendKey(nil, v))] = struct{}{}
		known := false
		for _, k := range s.kinds {
			known = known || value.Comparable(k, v)
		}
		if !known {
			s.kinds = append(s.kinds, v)
		}
	}
	return s
}

func inSet(in syntax.Expr, x Expr, s set) Predicate {
	return func(ctx *Context, r row.Row) value.Tri {
		v := x(ctx, r)
		if v.IsNull() || v.IsNaN() {
			return value.Unknown
		}
		ctx.key = value.AppendKey(ctx.key[:0], v)
		if _, found := s.keys[string(ctx.key)]; found {
			return value.True
		}
		for _, k := range s.kinds {
			if !value.Comparable(k, v) {
				ctx.mismatch(in, v, k)
				return value.Unknown
			}
		}
		if s.null {
			return value.Unknown
		}
		return value.False
	}
}
