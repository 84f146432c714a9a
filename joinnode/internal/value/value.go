// Package value has the engine's values: what one column of one row holds, how
// two of them compare, and how they become join keys and times.
package value

import (
	"math"
	"time"
	"unsafe"
)

// Kind says what a Value holds. It is not the Go type: see Value.Go.
type Kind uint8

// The kinds. Missing fields and NULL are one kind, as semantics.md §3 and §7
// treat them alike.
const (
	Null   Kind = iota
	Bool        // Bits is 0 or 1
	Int         // Bits is an int64
	Uint        // Bits is a uint64 above MaxInt64
	Float       // Bits is math.Float64bits
	Number      // Text is a JSON number, spelled as it came
	Text        // Text is UTF-8 text as it came, escapes resolved
	JSON        // Text is the JSON text of an object or array
	Any         // Ref is a Go value with no encoding of its own: map, slice, time.Time, struct, named type …
)

// Value is one value, a copy of no data: Text and Ref belong to the row it was
// read from and are valid as long as that row. The zero Value is NULL.
type Value struct {
	Kind Kind
	// Go is the Go type that a number had when it came in through the Go API,
	// as a reflect.Kind (reflect.Int8 …, reflect.Float32 …; 0 where the value
	// was computed or came as JSON), so that it can leave with the same type.
	Go uint8
	// Plain says that Text needs no escaping inside a JSON string.
	Plain bool
	Bits  uint64
	Text  []byte
	Ref   any
}

// Tri is SQL's three-valued truth.
type Tri uint8

// The truth values; the zero Tri is Unknown.
const (
	Unknown Tri = iota
	False
	True
)

// OfBool returns a boolean.
func OfBool(b bool) Value {
	if b {
		return Value{Kind: Bool, Bits: 1}
	}
	return Value{Kind: Bool}
}

// OfInt returns an integer that leaves as an int64.
func OfInt(i int64) Value { return Value{Kind: Int, Bits: uint64(i)} }

// OfUint returns an integer that leaves as a uint64 when it is above
// math.MaxInt64 and as an int64 otherwise.
func OfUint(u uint64) Value {
	if u > math.MaxInt64 {
		return Value{Kind: Uint, Bits: u}
	}
	return Value{Kind: Int, Bits: u}
}

// OfFloat returns a float64, NaN and the infinities included.
func OfFloat(f float64) Value { return Value{Kind: Float, Bits: math.Float64bits(f)} }

// OfText returns text that shares the memory of s.
func OfText(s string) Value {
	return Value{Kind: Text, Text: unsafe.Slice(unsafe.StringData(s), len(s))}
}

// OfBytes returns text that shares b, which must not change while the value
// is in use. Plain says that b needs no escaping inside a JSON string.
func OfBytes(b []byte, plain bool) Value { return Value{Kind: Text, Text: b, Plain: plain} }

// OfNumber returns a JSON number in the spelling of b, which it shares. Text
// that is no JSON number compares with nothing.
func OfNumber(b []byte) Value { return Value{Kind: Number, Text: b} }

// OfJSON returns the object or array with the JSON text b, which it shares.
// ParseJSON takes any JSON text.
func OfJSON(b []byte) Value { return Value{Kind: JSON, Text: b} }

// OfAny returns a Go value that is kept as it is. Use FromGo unless the value
// is known to have no better kind.
func OfAny(ref any) Value { return Value{Kind: Any, Ref: ref} }

// OfTime returns an instant.
func OfTime(t time.Time) Value { return Value{Kind: Any, Ref: t} }

// Bool returns what a Bool holds.
func (v Value) Bool() bool { return v.Bits != 0 }

// Int returns what an Int holds.
func (v Value) Int() int64 { return int64(v.Bits) }

// Float returns what a Float holds.
func (v Value) Float() float64 { return math.Float64frombits(v.Bits) }

// IsNull reports whether v is NULL, that is what IS NULL asks. A NaN is not:
// it only joins like NULL.
func (v Value) IsNull() bool { return v.Kind == Null || v.Kind == Any && v.Ref == nil }

// IsNaN reports whether v is a float, of any Go type, that is not a number.
func (v Value) IsNaN() bool {
	if v.Kind == Any {
		v = v.Resolve()
	}
	return v.Kind == Float && math.IsNaN(v.Float())
}
