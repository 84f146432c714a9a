// Package value has the engine's values: what one column of one row holds, how
// two of them compare, and how they become join keys and times.
package value

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
