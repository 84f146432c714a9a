package eval

import (
	"cmp"
	"math"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// moment is a value that may be a time.
type moment struct {
	v value.Value
	// exact says that ns is the time that v stands for. Without it the time has to
	// be read from v.
	exact bool
	ns    int64
}

// moments computes a moment from a row.
type moments func(*Context, row.Row) moment

// time returns the time of m in ns since the epoch; false when it is none.
func (m *moment) time(unit value.Unit) (ns int64, ok bool) {
	if m.exact {
		return m.ns, true
	}
	if ns, ok := value.Timestamp(m.v, unit); ok {
		return ns, true
	}
	// A time before the epoch is none that a row can have, but one that may be
	// compared and calculated with, as a result of the latter may be one as well.
	t, isTime := m.v.Resolve().Ref.(time.Time)
	if !isTime || t.After(time.Unix(0, math.MaxInt64)) || t.Before(time.Unix(0, math.MinInt64)) {
		return 0, false
	}
	return t.UnixNano(), true
}

func (t term) asMoments() moments {
	if t.at != nil {
		return t.at
	}
	if t.constant {
		m := moment{v: t.val}
		if t.val.Kind == value.Text {
			m.ns, m.exact = value.Timestamp(t.val, value.AutoUnit)
		}
		return func(*Context, row.Row) moment { return m }
	}
	expr := t.asExpr()
	return func(ctx *Context, r row.Row) moment { return moment{v: expr(ctx, r)} }
}

// pairing says how two operands are compared. The zero pairing compares values.
type pairing struct {
	times bool       // compares times where both are times
	x, y  value.Unit // of the operands as times
	// numbers says that two numbers are compared as they are.
	numbers bool
}

// pair tells how x is compared with y: as times when the unit of one is known, so
// that a column in seconds, text and the milliseconds of endOfDay go together. A
// column without unit is guessed as everywhere. A literal and the result of
// arithmetic has no unit of its own: it is a number in the unit of the other.
func (c *compiler) pair(x, y syntax.Expr) pairing {
	p := pairing{x: UnitOf(x, c.scope), y: UnitOf(y, c.scope)}
	switch {
	case p.x != value.AutoUnit && p.y != value.AutoUnit:
		p.times = true
	case p.x != value.AutoUnit:
		p.times, p.numbers = true, isCalculated(y)
		if p.numbers {
			p.y = p.x
		}
	case p.y != value.AutoUnit:
		p.times, p.numbers = true, isCalculated(x)
		if p.numbers {
			p.x = p.y
		}
	}
	return p
}

// isCalculated reports whether e, whose unit is not known, is a literal or arithmetic.
func isCalculated(e syntax.Expr) bool {
	switch e.(type) {
	case *syntax.Number, *syntax.Unary, *syntax.Binary, *syntax.Interval:
		return true
	}
	return false
}

// outcome compares a with b.
func (p *pairing) outcome(c comparison, a, b *moment) (t value.Tri, mismatch bool) {
	if p.times && !(p.numbers && isNumeric(a.v) && isNumeric(b.v)) {
		x, okX := a.time(p.x)
		y, okY := b.time(p.y)
		if okX && okY {
			return c.holds(cmp.Compare(x, y)), false
		}
	}
	return c.outcome(a.v, b.v)
}

func isNumeric(v value.Value) bool {
	switch v.Resolve().Kind {
	case value.Int, value.Uint, value.Float, value.Number:
		return true
	}
	return false
}

// predicate returns x c y, which e has.
func (p pairing) predicate(c comparison, e syntax.Expr, x, y term) Predicate {
	atX, atY := x.asMoments(), y.asMoments()
	return func(ctx *Context, r row.Row) value.Tri {
		a, b := atX(ctx, r), atY(ctx, r)
		t, mismatch := p.outcome(c, &a, &b)
		if mismatch {
			ctx.mismatch(e, a.v, b.v)
		}
		return t
	}
}
