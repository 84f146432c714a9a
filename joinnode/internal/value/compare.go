package value

import (
	"bytes"
	"cmp"
	"math"
	"time"
)

// Unordered is the order of two values that are not equal although neither is
// less: two different objects or arrays.
const Unordered = 2

// Compare returns -1, 0 or 1 as a is less than, equal to or greater than b, or
// Unordered. It returns false when the two cannot be compared: one is NULL or
// NaN, or they are of different kinds, which Mismatch tells apart.
//
// Numbers of all Go types and JSON numbers compare by exact value (see
// numberOf for what a float stands for); 1e400 is a number like any other.
// Text and []byte compare by bytes, false is less than true, time.Time compares
// by instant and only with time.Time, not with RFC 3339 text: the same instant
// has many spellings, so text equality and time equality cannot both hold.
// Objects, arrays, maps, slices and structs are equal when their canonical JSON
// is. Two values that compare equal have the same key, and the reverse
// (semantics.md §3), NULL and NaN aside.
func Compare(a, b Value) (order int, ok bool) {
	switch {
	case a.Kind == Int && b.Kind == Int:
		return cmp.Compare(int64(a.Bits), int64(b.Bits)), true
	case a.Kind == Text && b.Kind == Text:
		return bytes.Compare(a.Text, b.Text), true
	}
	return compare(&a, &b)
}

func compare(a, b *Value) (int, bool) {
	if a.Kind == Any || b.Kind == Any {
		ra, rb := a.Resolve(), b.Resolve()
		a, b = &ra, &rb
	}
	ca, cb := a.class(), b.class()
	if ca != cb {
		return 0, false
	}
	switch ca {
	case classNumber:
		return compareNumbers(a, b)
	case classText:
		return bytes.Compare(a.Text, b.Text), true
	case classBool:
		return cmp.Compare(a.Bits, b.Bits), true
	case classTime:
		return a.Ref.(time.Time).Compare(b.Ref.(time.Time)), true
	case classJSON:
		ka, okA := appendContainer(nil, a)
		kb, okB := appendContainer(nil, b)
		if !okA || !okB {
			return 0, false
		}
		if bytes.Equal(ka, kb) {
			return 0, true
		}
		return Unordered, true
	}
	return 0, false
}

// Mismatch reports whether a and b, for which Compare said false, are of
// different kinds, so that somebody should know, and not merely NULL or NaN.
func Mismatch(a, b Value) bool {
	return !a.IsNull() && !b.IsNull() && !a.IsNaN() && !b.IsNaN()
}

// class is what may be compared with what.
type class uint8

const (
	classNull class = iota
	classBool
	classNumber
	classText
	classTime
	classJSON
)

// class returns the class of a resolved value.
func (v *Value) class() class {
	switch v.Kind {
	case Null:
		return classNull
	case Bool:
		return classBool
	case Text:
		return classText
	case JSON:
		return classJSON
	case Any:
		if _, ok := v.Ref.(time.Time); ok {
			return classTime
		}
		return classJSON
	}
	return classNumber
}

// Comparable reports whether a and b are of kinds that Compare can compare,
// both being neither NULL nor NaN.
func Comparable(a, b Value) bool {
	a, b = a.Resolve(), b.Resolve()
	return a.class() == b.class()
}

func compareNumbers(a, b *Value) (int, bool) {
	if order, done, ok := compareFloats(a, b); done {
		return order, ok
	}
	var bufA, bufB [32]byte
	na, okA := numberOf(a, &bufA)
	nb, okB := numberOf(b, &bufB)
	if !okA || !okB {
		return 0, false
	}
	if na.form != fraction && nb.form != fraction {
		if na.form != nb.form {
			return int(na.form) - int(nb.form), true // unsigned is above all of signed
		}
		if na.form == signed {
			return cmp.Compare(na.i, nb.i), true
		}
		return cmp.Compare(na.u, nb.u), true
	}
	return na.decimal(&bufA).compare(nb.decimal(&bufB)), true
}

// compareFloats answers the common cases that floating point can decide
// exactly; done is false for the others.
func compareFloats(a, b *Value) (order int, done, ok bool) {
	if a.Kind == Number && b.Kind != Float {
		f, short := shortFloat(a.Text)
		switch {
		case !short:
		case b.Kind == Int:
			return compareFloatInt(f, int64(b.Bits)), true, true
		case b.Kind == Number:
			g, short := shortFloat(b.Text)
			return cmp.Compare(f, g), short, true
		}
		return 0, false, false
	}
	if a.Kind != Float && b.Kind != Float && b.Kind != Number {
		return 0, false, false
	}
	if a.Kind != Float {
		order, done, ok = compareFloats(b, a)
		return -order, done, ok
	}
	f := a.Float()
	if math.IsNaN(f) {
		return 0, true, false
	}
	switch b.Kind {
	case Float:
		g := b.Float()
		if math.IsNaN(g) {
			return 0, true, false
		}
		if a.floatBits() != b.floatBits() {
			return 0, false, false
		}
		return cmp.Compare(f, g), true, true
	case Int:
		return compareFloatInt(f, int64(b.Bits)), true, true
	case Number:
		if g, short := shortFloat(b.Text); short && a.floatBits() == 64 {
			return cmp.Compare(f, g), true, true
		}
	}
	return 0, false, false
}

// compareFloatInt compares exactly. A float that is no integer prints as a
// number between the same two integers, so its printed form need not be looked
// at.
func compareFloatInt(f float64, i int64) int {
	switch {
	case f >= 1<<63:
		return 1
	case f < -1<<63:
		return -1
	}
	floor := math.Floor(f)
	if order := cmp.Compare(int64(floor), i); order != 0 {
		return order
	}
	return cmp.Compare(f, floor)
}
