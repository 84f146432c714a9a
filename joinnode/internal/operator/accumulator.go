package operator

import (
	"bytes"
	"hash/maphash"
	"math"
	"slices"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// An accumulator folds the values of one Aggregation. It is itself without
// state: that is in the group's groupState, where the accumulator has so many
// bytes at a fixed place, all zero when there are no values, and so many places
// for Go objects. What has a fixed size lies in the bytes.
type accumulator interface {
	// apply adds a row's operands, or takes them away for diff −1.
	apply(g *groupState, in []operand, diff int64)
	// appendTo appends the aggregate. The same state gives the same bytes.
	appendTo(dst *row.Row, g *groupState)
}

// limited is an accumulator that cannot take every value.
type limited interface {
	// outgrows tells that the operands would bring the aggregate out of its range,
	// or farther out.
	outgrows(g *groupState, in []operand, diff int64) bool
}

// groupState is what one group has accumulated.
type groupState struct {
	rows  int64
	fixed []byte
	more  *holdings // nil until something needs it
}

// holdings are the parts of a group's state that are Go objects.
type holdings struct {
	key     row.Row          // the key columns, where a Go value among them has no encoding
	objects []any            // of the accumulators, by place
	refused map[string]int64 // rows that were not counted, and how often
	bytes   int64            // estimated
}

// overhead is the size of what the accumulators do not count.
func (m *holdings) overhead() int64 {
	n := holdingsSize + int64(len(m.key.Enc)) + 16*int64(len(m.key.Side))
	for r := range m.refused {
		n += refusedSize + int64(len(r))
	}
	return n
}

const (
	holdingsSize = 160 // estimated bytes, the list of objects among them
	refusedSize  = 48  // estimated bytes, beside the row
)

// forget drops what was accumulated, but not what was refused.
func (g *groupState) forget() {
	g.rows = 0
	clear(g.fixed)
	if m := g.more; m != nil {
		clear(m.objects)
		m.bytes = m.overhead()
	}
}

// aggregates are Aggregations made ready to fold rows into a group's state.
type aggregates struct {
	list     []accumulator
	limits   []limited
	fixed    int // bytes of a group's state of fixed size
	objects  int // places for Go objects
	mismatch func(value.Value)

	cols    []int // columns that rows are read at, rising
	numeric []bool
	whole   []bool    // the column itself is asked for, not only its number
	in      []operand // of the last row read, by the place of the column in cols
	offsets []int
	scratch []byte
	// row is the identity of the last row read, where an accumulator asks for it.
	row      uint64
	identify bool
	seed     maphash.Seed
	own      row.Row // memory of a row with Go values
}

func newAggregates(aggs []Aggregation, appendOnly bool, mismatch func(value.Value)) *aggregates {
	l := &aggregates{mismatch: mismatch, seed: maphash.MakeSeed()}
	for _, g := range aggs {
		l.cols = append(l.cols, g.Arg, g.Time)
	}
	slices.Sort(l.cols)
	l.cols = slices.Compact(l.cols)
	l.cols = slices.DeleteFunc(l.cols, func(col int) bool { return col < 0 })
	l.numeric, l.whole, l.in = make([]bool, len(l.cols)), make([]bool, len(l.cols)), make([]operand, len(l.cols))
	for _, g := range aggs {
		arg, timeAt := l.place(g.Arg), l.place(g.Time)
		acc := l.accumulator(g, arg, timeAt, appendOnly)
		for _, at := range []int{arg, timeAt} {
			if at >= 0 && (g.Distinct || !g.Kind.byNumber()) {
				l.whole[at] = true
			}
		}
		l.list = append(l.list, acc)
		if lim, ok := acc.(limited); ok {
			l.limits = append(l.limits, lim)
		}
	}
	return l
}

// place returns where in l.in a column's operand is, −1 for no column.
func (l *aggregates) place(col int) int { return slices.Index(l.cols, max(col, -1)) }

func (l *aggregates) accumulator(g Aggregation, arg, timeAt int, appendOnly bool) accumulator {
	bytes := func(n int) int { l.fixed += n; return l.fixed - n }
	object := func() int { l.objects++; return l.objects - 1 }
	switch g.Kind {
	case AggCount:
		switch {
		case arg < 0:
			return rowCount{}
		case g.Distinct:
			return &distinctCount{l: l, arg: arg, object: object()}
		}
		return count{arg: arg, at: bytes(8)}
	case AggMin, AggMax:
		by := byValue
		if g.Kind == AggMax {
			by = byValueDown
		}
		return l.extreme(by, arg, -1, object(), appendOnly)
	case AggFirstValue, AggLastValue:
		by := byTime
		if g.Kind == AggLastValue {
			by = byTimeDown
		}
		return l.extreme(by, arg, timeAt, object(), appendOnly)
	case AggCollect:
		l.identify = l.identify || !appendOnly
		return &collect{l: l, arg: arg, object: object(), distinct: g.Distinct, appendOnly: appendOnly}
	}
	l.numeric[arg] = true
	var acc accumulator
	switch {
	case g.Kind == AggSum:
		acc = &sum{arg: arg, at: bytes(totalSize), object: object()}
	case g.Kind == AggAvg:
		acc = &average{sum: sum{arg: arg, at: bytes(totalSize), object: object()}, at: bytes(8)}
	case appendOnly:
		acc = &moments{arg: arg, at: bytes(welfordSize), of: g.Kind}
	default:
		acc = &retractableMoments{arg: arg, object: object(), of: g.Kind}
	}
	if g.Distinct {
		d := distinct{l: l, arg: arg, object: object(), of: acc}
		if lim, ok := acc.(limited); ok {
			return &limitedDistinct{distinct: d, limit: lim}
		}
		return &d
	}
	return acc
}

func (l *aggregates) extreme(by ordering, arg, timeAt, object int, appendOnly bool) accumulator {
	if appendOnly {
		return &best{by: by, arg: arg, time: timeAt, object: object}
	}
	l.identify = l.identify || by.timed()
	return &extreme{l: l, by: by, arg: arg, time: timeAt, object: object}
}

// read takes the operands from a row, until the next read. Of values that a
// numeric aggregate skips it tells mismatch when the row is an insertion.
func (l *aggregates) read(r row.Row, diff int64) {
	switch {
	case len(l.cols) == 0:
		return
	case len(l.cols) == 1 && !l.whole[0]:
		if text, ok := r.Number(l.cols[0]); ok && l.in[0].setSpelled(text) {
			return
		}
	}
	l.offsets = r.AppendOffsets(l.offsets[:0], l.cols[len(l.cols)-1]+1)
	for i, col := range l.cols {
		from, to := l.offsets[col], l.offsets[col+1]
		x := &l.in[i]
		if !l.whole[i] && x.setText(row.Row{Enc: r.Enc[from:to:to]}) {
			continue
		}
		x.set(row.Row{Enc: r.Enc[from:to:to], Side: r.Side}, l.numeric[i])
		if l.numeric[i] && !x.null && x.form == noNumber && diff > 0 && l.mismatch != nil {
			l.mismatch(x.v)
		}
	}
	if l.identify {
		l.row = l.identity(r)
	}
}

// identity returns a number that equal rows have in common.
func (l *aggregates) identity(r row.Row) uint64 {
	if len(r.Side) == 0 {
		return maphash.Bytes(l.seed, r.Enc)
	}
	l.own = own(l.own, r)
	l.scratch = append(l.scratch[:0], l.own.Enc...)
	for _, x := range l.own.Side {
		l.scratch = value.AppendJSON(l.scratch, value.OfAny(x))
	}
	clear(l.own.Side)
	return maphash.Bytes(l.seed, l.scratch)
}

// outgrows tells that the row read would bring an aggregate out of its range.
func (l *aggregates) outgrows(g *groupState, diff int64) bool {
	for _, lim := range l.limits {
		if lim.outgrows(g, l.in, diff) {
			return true
		}
	}
	return false
}

// apply adds the row read to a group, or takes it away.
func (l *aggregates) apply(g *groupState, diff int64) {
	g.rows += diff
	for _, acc := range l.list {
		acc.apply(g, l.in, diff)
	}
}

// done lets go of the row read.
func (l *aggregates) done(r row.Row) {
	if len(r.Side) > 0 {
		clear(l.in)
	}
}

func (l *aggregates) appendTo(dst *row.Row, g *groupState) {
	for _, acc := range l.list {
		acc.appendTo(dst, g)
	}
}

func appendNull(dst *row.Row) { *dst = row.Append(*dst, value.Value{}) }

// held returns the object at place i, nil when there is none.
func held[T any](g *groupState, i int) *T {
	if g.more == nil || len(g.more.objects) <= i {
		return nil
	}
	x, _ := g.more.objects[i].(*T)
	return x
}

// hold puts an object of so many bytes at place i.
func hold(g *groupState, i int, x any, size int64) {
	if g.more == nil {
		g.more = &holdings{}
	}
	for len(g.more.objects) <= i {
		g.more.objects = append(g.more.objects, nil)
	}
	g.more.objects[i] = x
	g.more.bytes += size
}

// An operand is a column of the row that is folded.
type operand struct {
	col  row.Row // the column alone
	v    value.Value
	null bool // NULL or NaN
	// What follows is set for the columns of numeric aggregates.
	form    form
	integer wide
	decimal float64
}

type form uint8

const (
	noNumber form = iota
	integerForm
	decimalForm
)

func (x *operand) set(col row.Row, numeric bool) {
	x.col, x.v = col, col.Col(0)
	switch x.v.Kind {
	case value.Null:
		x.null = true
		return
	case value.Float:
		x.null = x.v.IsNaN()
	case value.Any:
		v := x.v.Resolve()
		x.null = isMissing(v)
		if numeric {
			x.setNumber(&v)
		}
		return
	default:
		x.null = false
	}
	if numeric {
		x.setNumber(&x.v)
	}
}

// setText sets what numeric aggregates need of a column that is a JSON number, as
// most are, without a Value of it; false for others.
func (x *operand) setText(col row.Row) bool {
	text, ok := col.Number(0)
	return ok && x.setSpelled(text)
}

// setSpelled sets the number that a JSON number of usual size is.
func (x *operand) setSpelled(text []byte) bool {
	switch {
	case !isInteger(text):
		f, ok := value.ShortFloat(text)
		if ok {
			x.null, x.form, x.decimal = false, decimalForm, f
		}
		return ok
	case len(text) < 16: // within float64's integers, too
		f, ok := value.ShortFloat(text)
		if ok {
			x.null, x.form, x.integer = false, integerForm, wideInt(int64(f))
		}
		return ok
	}
	return false
}

func (x *operand) setNumber(v *value.Value) {
	x.form = noNumber
	switch v.Kind {
	case value.Int:
		x.form, x.integer = integerForm, wideInt(v.Int())
	case value.Uint:
		x.form, x.integer = integerForm, wide{lo: v.Bits}
	case value.Float:
		x.form, x.decimal = decimalForm, v.Float()
	case value.Number:
		if isInteger(v.Text) {
			if i, ok := integerOf(v); ok {
				x.form, x.integer = integerForm, i
				return
			}
		} else if f, ok := value.ShortFloat(v.Text); ok {
			x.form, x.decimal = decimalForm, f
			return
		}
		if f, ok := v.Float64(); ok && !math.IsNaN(f) {
			x.form, x.decimal = decimalForm, f
		}
	}
}

// float returns the operand's number.
func (x *operand) float() float64 {
	if x.form == integerForm {
		return x.integer.float()
	}
	return x.decimal
}

// copyColumn returns a column with memory of its own.
func copyColumn(col row.Row) row.Row { return row.AppendRow(row.Row{}, col) }

// sameColumn tells whether two columns are spelled the same, Go values without an
// encoding as JSON: unlike a comparison of Go values it holds NaN the same.
func sameColumn(a, b row.Row) bool {
	if len(a.Side) == 0 && len(b.Side) == 0 {
		return bytes.Equal(a.Enc, b.Enc)
	}
	v, w := a.Col(0), b.Col(0)
	if v.Kind == value.Any && w.Kind == value.Any {
		return bytes.Equal(value.AppendJSON(nil, v), value.AppendJSON(nil, w))
	}
	return v.Kind != value.Any && w.Kind != value.Any && bytes.Equal(a.Enc, b.Enc)
}

// accumulators fold rows into one row of aggregates, for operators that hold one
// group at a time.
type accumulators struct {
	l *aggregates
	g groupState
}

// accumulatorsOf returns accumulators of nothing.
func accumulatorsOf(l *aggregates) *accumulators {
	return &accumulators{l: l, g: groupState{fixed: make([]byte, l.fixed)}}
}

// another returns accumulators of nothing for the same aggregations, cheaper than
// accumulatorsOf. Both must be used by one goroutine.
func (a *accumulators) another() *accumulators { return accumulatorsOf(a.l) }

// add takes a row. It returns false, and the row is not counted, when a sum of
// integers would leave the range of 64 bits.
func (a *accumulators) add(r row.Row) bool {
	a.l.read(r, 1)
	defer a.l.done(r)
	if a.l.outgrows(&a.g, 1) {
		return false
	}
	a.l.apply(&a.g, 1)
	return true
}

// appendTo appends a column for each aggregation.
func (a *accumulators) appendTo(dst *row.Row) { a.l.appendTo(dst, &a.g) }

// reset forgets all rows.
func (a *accumulators) reset() { a.g.forget() }
