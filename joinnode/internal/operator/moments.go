package operator

import (
	"maps"
	"math"
	"slices"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// appendMoment appends the moment of n numbers whose squared distances from
// their mean add up to squares. It is NULL when a float cannot hold these.
func appendMoment(dst *row.Row, of AggregateKind, n int64, squares float64) {
	if n == 0 || math.IsNaN(squares) || math.IsInf(squares, 0) {
		appendNull(dst)
		return
	}
	if of == AggVarSamp || of == AggStddevSamp {
		n = max(n-1, 1)
	}
	moment := math.Max(squares, 0) / float64(n)
	if of == AggStddev || of == AggStddevSamp {
		moment = math.Sqrt(moment)
	}
	dst.Enc = row.AppendFloat(dst.Enc, moment)
}

// moments are variance and standard deviation of numbers that stay (Welford). The
// first number is the origin of the others, or numbers that are large beside
// their distances would lose these.
type moments struct {
	arg, at int
	of      AggregateKind
}

const welfordSize = 32 // count, origin, mean, sum of squared distances from it

func (m *moments) apply(g *groupState, in []operand, _ int64) {
	x := &in[m.arg]
	if x.null || x.form == noNumber {
		return
	}
	b := g.fixed[m.at : m.at+welfordSize]
	n := load64(b) + 1
	if n == 1 {
		store64(b[8:], math.Float64bits(x.float()))
	}
	origin, mean, squares := loadFloat(b[8:]), loadFloat(b[16:]), loadFloat(b[24:])
	f := x.float() - origin
	delta := f - mean
	mean += delta / float64(n)
	squares += delta * (f - mean)
	store64(b, n)
	store64(b[16:], math.Float64bits(mean))
	store64(b[24:], math.Float64bits(squares))
}

func (m *moments) appendTo(dst *row.Row, g *groupState) {
	b := g.fixed[m.at : m.at+welfordSize]
	appendMoment(dst, m.of, int64(load64(b)), loadFloat(b[24:]))
}

// retractableMoments are those of numbers that may leave again.
type retractableMoments struct {
	arg, object int
	of          AggregateKind
}

// spread has the numbers of a group, and the sums of their distances from a
// shift and of the squares of these, which give the moments at once as long as
// the shift is near the mean. When an outlier that came first has left, it is
// not; then the sums are made anew from the numbers.
type spread struct {
	numbers  map[float64]int64
	n        int64
	shift    float64
	sum, sqr compensated
	peak     float64 // the greatest sum of squares since the shift was chosen
}

const spreadEntry = 40 // bytes of a number

func (m *retractableMoments) apply(g *groupState, in []operand, diff int64) {
	x := &in[m.arg]
	if x.null || x.form == noNumber {
		return
	}
	s := held[spread](g, m.object)
	if s == nil {
		if diff < 0 {
			return
		}
		s = &spread{numbers: map[float64]int64{}}
		hold(g, m.object, s, 96)
	}
	before := len(s.numbers)
	s.apply(x.float(), diff)
	g.more.bytes += int64(len(s.numbers)-before) * spreadEntry
}

func (m *retractableMoments) appendTo(dst *row.Row, g *groupState) {
	s := held[spread](g, m.object)
	if s == nil {
		appendNull(dst)
		return
	}
	appendMoment(dst, m.of, s.n, s.squares())
}

func (s *spread) apply(x float64, diff int64) {
	had := s.numbers[x]
	switch {
	case had+diff < 0:
		return // never came, or fell with its group
	case had+diff == 0:
		delete(s.numbers, x)
	default:
		s.numbers[x] = had + diff
	}
	if s.n == 0 {
		*s = spread{numbers: s.numbers, shift: x}
	}
	s.n += diff
	s.add(x, float64(diff))
}

func (s *spread) add(x, times float64) {
	d := x - s.shift
	s.sum.add(times * d)
	s.sqr.add(times * (d * d))
	s.peak = math.Max(s.peak, math.Abs(s.sqr.sum))
}

// squares returns the sum of the squared distances from the mean. It is a
// function of the numbers that are there and of the sums, which it may renew:
// called again it returns the same.
func (s *spread) squares() float64 {
	if len(s.numbers) < 2 {
		for x := range s.numbers {
			return x - x // 0, and not a number when x is infinite
		}
		return 0
	}
	// With these bounds cancellation costs at most six of sixteen digits, and
	// what rounding left of numbers that are gone is far below what remains.
	m, sqr := s.centred(), s.sqr.value()
	if m > sqr*1e-6 && sqr > s.peak*1e-12 {
		return m
	}
	s.renew()
	return s.centred()
}

func (s *spread) centred() float64 {
	sum := s.sum.value()
	return s.sqr.value() - sum*sum/float64(s.n)
}

// renew shifts by the mean.
func (s *spread) renew() {
	numbers := slices.Sorted(maps.Keys(s.numbers)) // the order of a map would show in the last digit
	shift := numbers[len(numbers)/2]
	var mean compensated
	for _, x := range numbers {
		mean.add((x - shift) * float64(s.numbers[x]))
	}
	s.shift = shift + mean.value()/float64(s.n)
	s.sum, s.sqr, s.peak = compensated{}, compensated{}, 0
	for _, x := range numbers {
		s.add(x, float64(s.numbers[x]))
	}
}
