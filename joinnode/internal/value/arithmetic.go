package value

import (
	"math"
	"math/bits"
	"strconv"
)

// The arithmetic of SQL expressions (semantics.md §7). Integers are the Go
// integers and the JSON numbers written without point and exponent; what + - *
// and % make of two integers is an integer again, or a float64 when it is past
// 64 bits. Everything else is calculated as float64. NULL on either side gives
// NULL, and so does a result that is not a number. An operand of another kind
// gives NULL and mismatch.

// Add returns a + b.
func Add(a, b Value) (v Value, mismatch bool) { return arithmetic(add, &a, &b) }

// Sub returns a - b.
func Sub(a, b Value) (v Value, mismatch bool) { return arithmetic(subtract, &a, &b) }

// Mul returns a * b.
func Mul(a, b Value) (v Value, mismatch bool) { return arithmetic(multiply, &a, &b) }

// Div returns a / b as a float64, so 5/2 is 2.5, or NULL when b is zero.
func Div(a, b Value) (v Value, mismatch bool) { return arithmetic(divide, &a, &b) }

// Mod returns the remainder of a / b with the sign of a, or NULL when b is zero.
func Mod(a, b Value) (v Value, mismatch bool) { return arithmetic(modulo, &a, &b) }

// Neg returns -a.
func Neg(a Value) (v Value, mismatch bool) {
	minusOne := OfInt(-1)
	return arithmetic(multiply, &a, &minusOne)
}

// Pos returns +a: a itself when it is a number.
func Pos(a Value) (v Value, mismatch bool) {
	if a.IsNull() {
		return Value{}, false
	}
	if x := a.Resolve(); x.class() != classNumber {
		return Value{}, true
	}
	return a, false
}

type operation uint8

const (
	add operation = iota
	subtract
	multiply
	divide
	modulo
)

func arithmetic(op operation, a, b *Value) (Value, bool) {
	if a.Kind == Any || b.Kind == Any {
		ra, rb := a.Resolve(), b.Resolve()
		a, b = &ra, &rb
	}
	ca, cb := a.class(), b.class()
	if ca != classNumber && ca != classNull || cb != classNumber && cb != classNull {
		return Value{}, true
	}
	if ca == classNull || cb == classNull {
		return Value{}, false
	}
	if op != divide {
		x, okX := integerOf(a)
		y, okY := integerOf(b)
		if okX && okY {
			if v, ok := integerArithmetic(op, x, y); ok {
				return v, false
			}
		}
	}
	return floatArithmetic(op, floatOf(a), floatOf(b)), false
}

func floatArithmetic(op operation, x, y float64) Value {
	var f float64
	switch op {
	case add:
		f = x + y
	case subtract:
		f = x - y
	case multiply:
		f = x * y
	case divide, modulo:
		if y == 0 {
			return Value{}
		}
		if f = x / y; op == modulo {
			f = math.Mod(x, y)
		}
	}
	if math.IsNaN(f) {
		return Value{}
	}
	return OfFloat(f)
}

// integer is a sign and a magnitude, so that int64 and uint64 mix.
type integer struct {
	neg bool
	mag uint64
}

func ofInt64(i int64) integer {
	if i < 0 {
		return integer{true, -uint64(i)}
	}
	return integer{false, uint64(i)}
}

// integerOf returns the integer that v is; JSON numbers count when they are
// written as one.
func integerOf(v *Value) (integer, bool) {
	switch v.Kind {
	case Int:
		return ofInt64(v.Int()), true
	case Uint:
		return integer{false, v.Bits}, true
	case Number:
		if i, ok := shortInteger(v.Text); ok {
			return ofInt64(i), true
		}
		digits := v.Text
		neg := len(digits) > 0 && digits[0] == '-'
		if neg {
			digits = digits[1:]
		}
		if len(digits) == 0 || len(digits) > 20 || skipDigits(digits, 0) != len(digits) || !isNumber(v.Text) {
			return integer{}, false
		}
		var mag uint64
		for _, c := range digits {
			hi, lo := bits.Mul64(mag, 10)
			sum, carry := bits.Add64(lo, uint64(c-'0'), 0)
			if hi+carry != 0 {
				return integer{}, false
			}
			mag = sum
		}
		return integer{neg && mag != 0, mag}, !neg || mag <= 1<<63
	}
	return integer{}, false
}

// floatOf returns the float64 nearest to a number; what is larger than all of
// them is infinite, and text that is no JSON number is NaN.
func floatOf(v *Value) float64 {
	switch v.Kind {
	case Int:
		return float64(v.Int())
	case Uint:
		return float64(v.Bits)
	case Float:
		return v.Float()
	}
	if f, ok := shortFloat(v.Text); ok {
		return f
	}
	if !isNumber(v.Text) {
		return math.NaN()
	}
	f, err := strconv.ParseFloat(string(v.Text), 64)
	if err != nil && !math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}

// integerArithmetic returns false when the result is past 64 bits.
func integerArithmetic(op operation, x, y integer) (Value, bool) {
	switch op {
	case subtract:
		y.neg = !y.neg
		return addIntegers(x, y)
	case add:
		return addIntegers(x, y)
	case multiply:
		hi, lo := bits.Mul64(x.mag, y.mag)
		return integer{x.neg != y.neg, lo}.value(hi)
	}
	if y.mag == 0 {
		return Value{}, true
	}
	return integer{x.neg, x.mag % y.mag}.value(0)
}

func addIntegers(x, y integer) (Value, bool) {
	if x.neg == y.neg {
		sum, carry := bits.Add64(x.mag, y.mag, 0)
		return integer{x.neg, sum}.value(carry)
	}
	if x.mag < y.mag {
		x, y = y, x
	}
	return integer{x.neg, x.mag - y.mag}.value(0)
}

// value returns the integer as a Value; over is what does not fit into 64 bits.
func (x integer) value(over uint64) (Value, bool) {
	if over != 0 || x.neg && x.mag > 1<<63 {
		return Value{}, false
	}
	if x.neg {
		return OfInt(-int64(x.mag)), true
	}
	return OfUint(x.mag), true
}

// Concat returns the text of a followed by the text of b, or NULL when either
// is NULL. Text is itself; any other value is written as its JSON.
func Concat(a, b Value) Value {
	if a.IsNull() || b.IsNull() {
		return Value{}
	}
	return OfBytes(AppendString(AppendString(nil, a), b), false)
}

// AppendString appends v as plain text: text as it is, a time.Time as RFC 3339,
// anything else as JSON.
func AppendString(dst []byte, v Value) []byte {
	if v.Kind == Any {
		v = v.Resolve()
	}
	switch v.class() {
	case classText:
		return append(dst, v.Text...)
	case classTime:
		quoted := AppendJSON(nil, v)
		if len(quoted) > 1 && quoted[0] == '"' {
			return append(dst, quoted[1:len(quoted)-1]...)
		}
		return append(dst, quoted...)
	}
	return AppendJSON(dst, v)
}

// Int64 returns the integer that v is by value, whatever its spelling and type
// (1.0 and 1e0 are 1), or false when it is none or does not fit.
func (v Value) Int64() (int64, bool) {
	r := v.Resolve()
	var buf [32]byte
	n, ok := numberOf(&r, &buf)
	return n.i, ok && n.form == signed
}

// Float64 returns the float64 nearest to v, infinite when v is larger than all
// of them, or false when v is no number.
func (v Value) Float64() (float64, bool) {
	r := v.Resolve()
	if r.class() != classNumber {
		return 0, false
	}
	return floatOf(&r), true
}
