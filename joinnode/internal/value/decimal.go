package value

import (
	"cmp"
	"math"
	"math/bits"
	"reflect"
	"strconv"
)

// maxExponent is where exponents stop counting: numbers of at least this power
// of ten are as large as one another if their digits are the same.
const maxExponent = 1 << 60

// decimal is an exact decimal number ±0.D₁D₂… × 10^exp with D₁ ≠ 0. It points
// into the text it was read from, so that reading one allocates nothing and a
// huge exponent costs nothing.
type decimal struct {
	neg bool
	inf bool
	// digits reaches from the first to the last non-zero digit and may have a
	// decimal point among them. Empty for zero.
	digits []byte
	n      int // digits without the point
	exp    int64
}

// isNumber reports whether s is a number as JSON writes it.
func isNumber(s []byte) bool {
	i := 0
	if i < len(s) && s[i] == '-' {
		i++
	}
	switch {
	case i < len(s) && s[i] == '0':
		i++
	case i < len(s) && '1' <= s[i] && s[i] <= '9':
		i = skipDigits(s, i)
	default:
		return false
	}
	if i < len(s) && s[i] == '.' {
		from := i + 1
		if i = skipDigits(s, from); i == from {
			return false
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		from := i
		if i = skipDigits(s, from); i == from {
			return false
		}
	}
	return i == len(s)
}

func skipDigits(s []byte, i int) int {
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return i
}

// parseDecimal reads a JSON number. It returns false for anything else.
func parseDecimal(s []byte) (decimal, bool) {
	if !isNumber(s) {
		return decimal{}, false
	}
	var d decimal
	i := 0
	if s[0] == '-' {
		d.neg, i = true, 1
	}
	first, last, point := -1, -1, -1
	for ; i < len(s) && s[i] != 'e' && s[i] != 'E'; i++ {
		switch {
		case s[i] == '.':
			point = i
		case s[i] != '0':
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 {
		return decimal{}, true // every spelling of zero, the negative one too
	}
	if point < 0 {
		point = i
	}
	d.digits = s[first : last+1]
	d.n = len(d.digits)
	if first < point {
		d.exp = int64(point - first)
		if last > point {
			d.n--
		}
	} else {
		d.exp = int64(point - first + 1)
	}
	if i < len(s) {
		d.exp = clampExponent(d.exp + parseExponent(s[i+1:]))
	}
	return d, true
}

// parseExponent reads the digits behind an e, saturating.
func parseExponent(s []byte) int64 {
	neg := s[0] == '-'
	if neg || s[0] == '+' {
		s = s[1:]
	}
	var e int64
	for _, c := range s {
		if e = e*10 + int64(c-'0'); e > 2*maxExponent {
			e = 2 * maxExponent
			break
		}
	}
	if neg {
		return -e
	}
	return e
}

func clampExponent(e int64) int64 { return max(-maxExponent, min(e, maxExponent)) }

// compare returns -1, 0 or 1.
func (d decimal) compare(o decimal) int {
	if d.sign() != o.sign() {
		return cmp.Compare(d.sign(), o.sign())
	}
	if d.neg {
		return o.compareMagnitude(d)
	}
	return d.compareMagnitude(o)
}

func (d decimal) sign() int {
	switch {
	case d.n == 0 && !d.inf:
		return 0
	case d.neg:
		return -1
	}
	return 1
}

func (d decimal) compareMagnitude(o decimal) int {
	if d.inf || o.inf {
		return b2i(d.inf) - b2i(o.inf)
	}
	if d.n == 0 || o.n == 0 || d.exp != o.exp {
		if d.n == 0 || o.n == 0 {
			return cmp.Compare(d.n, o.n)
		}
		return cmp.Compare(d.exp, o.exp)
	}
	i, j := 0, 0
	for i < len(d.digits) && j < len(o.digits) {
		switch {
		case d.digits[i] == '.':
			i++
		case o.digits[j] == '.':
			j++
		case d.digits[i] != o.digits[j]:
			return cmp.Compare(d.digits[i], o.digits[j])
		default:
			i, j = i+1, j+1
		}
	}
	return cmp.Compare(d.n, o.n)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// integer returns the magnitude of d when it is a whole number below 2⁶⁴.
func (d decimal) integer() (uint64, bool) {
	if d.inf || d.exp > 20 || d.exp < int64(d.n) {
		return 0, false
	}
	u, k := d.leading(d.n)
	if k < d.n {
		return 0, false
	}
	hi, lo := bits.Mul64(u, pow10[int(d.exp)-d.n])
	return lo, hi == 0
}

// leading returns the first digits of d as an integer, at most limit of them
// and no more than fit, and how many those are.
func (d decimal) leading(limit int) (u uint64, k int) {
	for _, c := range d.digits {
		if c == '.' {
			continue
		}
		if k == limit {
			break
		}
		if u > (math.MaxUint64-uint64(c-'0'))/10 {
			break
		}
		u = u*10 + uint64(c-'0')
		k++
	}
	return u, k
}

var pow10 = [20]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// number is the exact number of a Value in one of three forms, of which the
// first that can hold it is used, so that equal numbers have equal forms.
type number struct {
	form numberForm
	i    int64   // signed
	u    uint64  // unsigned, above math.MaxInt64
	d    decimal // any other
}

type numberForm uint8

const (
	signed numberForm = iota
	unsigned
	fraction
)

// numberOf returns the number of v, or false when v has none (NaN too).
//
// A float that is a 64-bit integer is that integer; any other float is the
// decimal number it prints as, so the Go float64 0.1 is the JSON number 0.1,
// and float32(0.1) is so as well.
//
// buf lends space for printing floats; the result may point into it.
func numberOf(v *Value, buf *[32]byte) (number, bool) {
	switch v.Kind {
	case Int:
		return number{i: int64(v.Bits)}, true
	case Uint:
		return ofMagnitude(v.Bits, false), true
	case Float:
		return floatNumber(v, buf)
	case Number:
		if i, ok := shortInteger(v.Text); ok {
			return number{i: i}, true
		}
		d, ok := parseDecimal(v.Text)
		if !ok {
			return number{}, false
		}
		return ofDecimal(d), true
	}
	return number{}, false
}

func floatNumber(v *Value, buf *[32]byte) (number, bool) {
	f := v.Float()
	switch {
	case math.IsNaN(f):
		return number{}, false
	case math.IsInf(f, 0):
		return number{form: fraction, d: decimal{inf: true, neg: f < 0}}, true
	case f == math.Trunc(f):
		if f >= -1<<63 && f < 1<<63 {
			return number{i: int64(f)}, true
		}
		if f > 0 && f < 1<<64 {
			return number{form: unsigned, u: uint64(f)}, true
		}
	}
	d, ok := parseDecimal(strconv.AppendFloat(buf[:0], f, 'e', -1, v.floatBits()))
	return ofDecimal(d), ok // float32(2⁶⁴) prints as a 64-bit integer
}

// floatBits returns the size of the float type that a Float had in Go.
func (v *Value) floatBits() int {
	if reflect.Kind(v.Go) == reflect.Float32 {
		return 32
	}
	return 64
}

func ofMagnitude(u uint64, neg bool) number {
	switch {
	case !neg && u > math.MaxInt64:
		return number{form: unsigned, u: u}
	case neg:
		return number{i: -int64(u)} // right for 2⁶³ as well
	}
	return number{i: int64(u)}
}

func ofDecimal(d decimal) number {
	if u, ok := d.integer(); ok && (!d.neg || u <= 1<<63) {
		return ofMagnitude(u, d.neg)
	}
	return number{form: fraction, d: d}
}

// decimal returns n as a decimal whose digits lie in buf or where they were.
func (n number) decimal(buf *[32]byte) decimal {
	var s []byte
	switch n.form {
	case fraction:
		return n.d
	case signed:
		s = strconv.AppendInt(buf[:0], n.i, 10)
	case unsigned:
		s = strconv.AppendUint(buf[:0], n.u, 10)
	}
	d, _ := parseDecimal(s)
	return d
}
