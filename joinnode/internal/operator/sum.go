package operator

import (
	"math"
	"math/bits"
	"strconv"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// sum is SUM(x). Integers are summed exactly and decimals with compensation,
// apart from one another, so that the sum is an integer again, and exact, once
// the last decimal is retracted.
//
// A row that would bring the sum of integers out of 64 bits is refused. A
// retraction cannot be: what is left then has no sum, which shows as NULL until
// it has one again.
type sum struct{ arg, at, object int }

// total is the state of a sum.
type total struct {
	integers wide
	decimals int64 // how many
	decimal  compensated
}

const totalSize = 40

func (s *sum) load(g *groupState) total {
	b := g.fixed[s.at : s.at+totalSize]
	return total{
		integers: wide{hi: int64(load64(b)), lo: load64(b[8:])},
		decimals: int64(load64(b[16:])),
		decimal:  compensated{sum: loadFloat(b[24:]), rest: loadFloat(b[32:])},
	}
}

func (s *sum) storeIntegers(g *groupState, w wide) {
	b := g.fixed[s.at : s.at+totalSize]
	store64(b, uint64(w.hi))
	store64(b[8:], w.lo)
}

func (s *sum) storeDecimals(g *groupState, n int64, d compensated) {
	if n == 0 {
		d = compensated{}
	}
	b := g.fixed[s.at : s.at+totalSize]
	store64(b[16:], uint64(n))
	store64(b[24:], math.Float64bits(d.sum))
	store64(b[32:], math.Float64bits(d.rest))
}

func (s *sum) outgrows(g *groupState, in []operand, diff int64) bool {
	x := &in[s.arg]
	if x.null || x.form != integerForm {
		return false
	}
	before := s.load(g).integers
	return before.times(x.integer, diff).outgrows(before)
}

func (s *sum) apply(g *groupState, in []operand, diff int64) {
	x := &in[s.arg]
	if x.null {
		return
	}
	switch x.form {
	case integerForm:
		s.storeIntegers(g, s.load(g).integers.times(x.integer, diff))
	case decimalForm:
		t := s.load(g)
		if math.Abs(x.decimal) < hugeFrom {
			t.decimal.add(float64(diff) * x.decimal)
		} else {
			s.huge(g).add(x.decimal, diff)
		}
		s.storeDecimals(g, t.decimals+diff, t.decimal)
	}
}

func (s *sum) appendTo(dst *row.Row, g *groupState) {
	t := s.load(g)
	switch {
	case t.decimals != 0:
		appendFloat(dst, s.over(1, g, &t))
	case !t.integers.fits():
		appendNull(dst)
	default:
		dst.Enc = row.AppendInt(dst.Enc, int64(t.integers.lo))
	}
}

// over returns the sum of integers and decimals, divided by n.
func (s *sum) over(n float64, g *groupState, t *total) float64 {
	d := t.decimal
	if t.integers != (wide{}) {
		t.integers.addTo(&d)
	}
	if g.more != nil && t.decimals != 0 {
		if h := held[hugeSum](g, s.object); h != nil {
			return h.plus(d.value(), n)
		}
	}
	return d.value() / n
}

func (s *sum) huge(g *groupState) *hugeSum {
	if h := held[hugeSum](g, s.object); h != nil {
		return h
	}
	h := &hugeSum{}
	hold(g, s.object, h, 48)
	return h
}

// average is AVG(x). Its sum of integers has 128 bits and refuses nothing.
type average struct {
	sum sum
	at  int // how many numbers
}

func (a *average) apply(g *groupState, in []operand, diff int64) {
	if x := &in[a.sum.arg]; x.null || x.form == noNumber {
		return
	}
	a.sum.apply(g, in, diff)
	store64(g.fixed[a.at:], load64(g.fixed[a.at:])+uint64(diff))
}

func (a *average) appendTo(dst *row.Row, g *groupState) {
	n := int64(load64(g.fixed[a.at:]))
	if n == 0 {
		appendNull(dst)
		return
	}
	t := a.sum.load(g)
	appendFloat(dst, a.sum.over(float64(n), g, &t))
}

// appendFloat appends a calculated float; what is not a number is NULL
// (semantics.md §7).
func appendFloat(dst *row.Row, f float64) {
	if math.IsNaN(f) {
		appendNull(dst)
		return
	}
	dst.Enc = row.AppendFloat(dst.Enc, f)
}

// wide is an integer of 128 bits.
type wide struct {
	hi int64
	lo uint64
}

func wideInt(i int64) wide { return wide{hi: i >> 63, lo: uint64(i)} }

// isInteger tells whether a JSON number is spelled as an integer. 1.0 and 1e0 are
// spelled as decimals, as in all arithmetic.
func isInteger(number []byte) bool {
	for _, c := range number {
		if c == '.' || c|' ' == 'e' {
			return false
		}
	}
	return true
}

// integerOf returns the integer that a JSON number spelled as one is, if it has
// 64 bits.
func integerOf(v *value.Value) (wide, bool) {
	if i, ok := v.Int64(); ok {
		return wideInt(i), true
	}
	u, err := strconv.ParseUint(string(v.Text), 10, 64)
	return wide{lo: u}, err == nil
}

// times returns w + n·x for n of 1 or −1.
func (w wide) times(x wide, n int64) wide {
	if n < 0 {
		lo, borrow := bits.Sub64(w.lo, x.lo, 0)
		return wide{hi: w.hi - x.hi - int64(borrow), lo: lo}
	}
	lo, carry := bits.Add64(w.lo, x.lo, 0)
	return wide{hi: w.hi + x.hi + int64(carry), lo: lo}
}

// fits tells whether w is an int64.
func (w wide) fits() bool { return w.hi == int64(w.lo)>>63 }

// outgrows tells whether w is out of 64 bits, and farther than before was.
func (w wide) outgrows(before wide) bool {
	switch {
	case w.fits():
		return false
	case w.hi < 0:
		return w.hi < before.hi || w.hi == before.hi && w.lo < before.lo
	}
	return w.hi > before.hi || w.hi == before.hi && w.lo > before.lo
}

func (w wide) float() float64 {
	var d compensated
	w.addTo(&d)
	return d.value()
}

// addTo adds w to d in parts that floats hold exactly.
func (w wide) addTo(d *compensated) {
	const exact = 1 << 53
	if i := int64(w.lo); w.fits() && -exact <= i && i <= exact {
		d.add(float64(i))
		return
	}
	d.add(math.Ldexp(float64(w.hi), 64))
	d.add(float64(w.lo &^ math.MaxUint32))
	d.add(float64(w.lo & math.MaxUint32))
}

// compensated is a sum of floats with the rounding errors of its additions
// beside it (Neumaier).
type compensated struct{ sum, rest float64 }

func (d *compensated) add(x float64) {
	sum := d.sum + x
	if math.Abs(d.sum) >= math.Abs(x) {
		d.rest += (d.sum - sum) + x
	} else {
		d.rest += (x - sum) + d.sum
	}
	d.sum = sum
}

func (d compensated) value() float64 { return d.sum + d.rest }

// hugeSum is the sum of those floats that would make a sum infinite, from which
// no retraction leads back. They are summed in a smaller unit; infinities are
// counted.
type hugeSum struct {
	up, down int64 // infinities
	finite   int64
	scaled   compensated // of the others
}

const (
	hugeFrom = 0x1p1000 // 10³⁰¹
	hugeUnit = 100      // as power of 2
)

func (h *hugeSum) add(x float64, diff int64) {
	switch {
	case math.IsInf(x, 1):
		h.up += diff
	case math.IsInf(x, -1):
		h.down += diff
	default:
		h.finite += diff
		h.scaled.add(float64(diff) * math.Ldexp(x, -hugeUnit))
		if h.finite == 0 {
			h.scaled = compensated{}
		}
	}
}

// plus returns the sum with the ordinary floats added, divided by n.
func (h *hugeSum) plus(ordinary, n float64) float64 {
	switch {
	case h.up > 0 && h.down > 0:
		return math.NaN()
	case h.up > 0:
		return math.Inf(1)
	case h.down > 0:
		return math.Inf(-1)
	case h.finite == 0:
		return ordinary / n
	}
	d := h.scaled
	d.add(math.Ldexp(ordinary, -hugeUnit))
	return math.Ldexp(d.value()/n, hugeUnit)
}
