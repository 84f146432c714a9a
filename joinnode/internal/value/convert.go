package value

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"time"
)

// FromGo returns the Value of a Go value as a map[string]any may hold it. It
// copies nothing: text and containers are shared with x (see Copy). Numbers
// remember their Go type, so ToGo gives the same type back. nil and typed nil
// pointers, maps, slices and the like are NULL. A json.Number that is no JSON
// number, a named type, a pointer, a time.Time, a []byte and every container
// stay the Go value they are (Any); comparing and encoding look inside.
func FromGo(x any) Value {
	switch x := x.(type) {
	case nil:
		return Value{}
	case string:
		return OfText(x)
	case bool:
		return OfBool(x)
	case int:
		return ofSigned(int64(x), reflect.Int)
	case int64:
		return ofSigned(x, reflect.Int64)
	case int32:
		return ofSigned(int64(x), reflect.Int32)
	case int16:
		return ofSigned(int64(x), reflect.Int16)
	case int8:
		return ofSigned(int64(x), reflect.Int8)
	case uint:
		return ofUnsigned(uint64(x), reflect.Uint)
	case uint64:
		return ofUnsigned(x, reflect.Uint64)
	case uint32:
		return ofUnsigned(uint64(x), reflect.Uint32)
	case uint16:
		return ofUnsigned(uint64(x), reflect.Uint16)
	case uint8:
		return ofUnsigned(uint64(x), reflect.Uint8)
	case uintptr:
		return ofUnsigned(uint64(x), reflect.Uintptr)
	case float64:
		return Value{Kind: Float, Go: uint8(reflect.Float64), Bits: math.Float64bits(x)}
	case float32:
		return Value{Kind: Float, Go: uint8(reflect.Float32), Bits: math.Float64bits(float64(x))}
	case json.Number:
		if v := OfText(string(x)); isNumber(v.Text) {
			return OfNumber(v.Text)
		}
		return OfAny(x)
	case map[string]any:
		if x == nil {
			return Value{}
		}
		return OfAny(x)
	case []any:
		if x == nil {
			return Value{}
		}
		return OfAny(x)
	case time.Time:
		return OfAny(x)
	}
	switch rv := reflect.ValueOf(x); rv.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		if rv.IsNil() {
			return Value{}
		}
	}
	return OfAny(x)
}

func ofSigned(i int64, k reflect.Kind) Value {
	return Value{Kind: Int, Go: uint8(k), Bits: uint64(i)}
}

func ofUnsigned(u uint64, k reflect.Kind) Value {
	if u > math.MaxInt64 {
		return Value{Kind: Uint, Go: uint8(k), Bits: u}
	}
	return Value{Kind: Int, Go: uint8(k), Bits: u}
}

// ToGo returns v as a Go value of its own: text is copied, numbers have the Go
// type they came with (int64, uint64 and float64 when they were computed), JSON
// numbers are json.Number, JSON objects and arrays are decoded with json.Number
// inside. An Any is the very value that came in. JSON text that does not decode
// leaves as a json.RawMessage.
func (v Value) ToGo() any {
	switch v.Kind {
	case Bool:
		return v.Bool()
	case Int:
		if x := integerToGo(v.Bits, reflect.Kind(v.Go)); x != nil {
			return x
		}
		return v.Int()
	case Uint:
		if x := integerToGo(v.Bits, reflect.Kind(v.Go)); x != nil {
			return x
		}
		return v.Bits
	case Float:
		if reflect.Kind(v.Go) == reflect.Float32 {
			return float32(v.Float())
		}
		return v.Float()
	case Number:
		return json.Number(v.Text)
	case Text:
		return string(v.Text)
	case JSON:
		return decode(v.Text)
	case Any:
		return v.Ref
	}
	return nil
}

// integerToGo returns an integer that came from Go as the type it had; nil for a
// computed one.
func integerToGo(bits uint64, k reflect.Kind) any {
	switch k {
	case reflect.Int:
		return int(bits)
	case reflect.Int8:
		return int8(bits)
	case reflect.Int16:
		return int16(bits)
	case reflect.Int32:
		return int32(bits)
	case reflect.Int64:
		return int64(bits)
	case reflect.Uint:
		return uint(bits)
	case reflect.Uint8:
		return uint8(bits)
	case reflect.Uint16:
		return uint16(bits)
	case reflect.Uint32:
		return uint32(bits)
	case reflect.Uint64:
		return bits
	case reflect.Uintptr:
		return uintptr(bits)
	}
	return nil
}

func decode(text []byte) any {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var x any
	err := dec.Decode(&x)
	if err == nil {
		_, err = dec.Token()
	}
	if err != io.EOF {
		return json.RawMessage(bytes.Clone(text))
	}
	return x
}

// ParseJSON returns the Value of one JSON text of any kind. Objects, arrays and
// numbers share b. It returns false when b is not JSON.
func ParseJSON(b []byte) (Value, bool) {
	b = bytes.TrimLeft(b, " \t\r\n")
	b = bytes.TrimRight(b, " \t\r\n")
	if !json.Valid(b) {
		return Value{}, false
	}
	switch b[0] {
	case '{', '[':
		return OfJSON(b), true
	case '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return Value{}, false
		}
		return OfText(s), true
	case 't', 'f':
		return OfBool(b[0] == 't'), true
	case 'n':
		return Value{}, true
	}
	return OfNumber(b), true
}

// maxIndirections bounds how many pointers Resolve follows: an interface can
// hold a pointer to itself.
const maxIndirections = 64

// Resolve looks inside an Any: named types become the scalar they are made of,
// pointers what they point to, json.RawMessage and types that write their own
// JSON or text what they write, []byte the text with these bytes. A time.Time
// and every container stay Any.
func (v Value) Resolve() Value {
	for range maxIndirections {
		if v.Kind != Any {
			return v
		}
		switch ref := v.Ref.(type) {
		case nil:
			return Value{}
		case time.Time, map[string]any, []any:
			return v
		case []byte:
			return OfBytes(ref, false)
		case json.RawMessage:
			if parsed, ok := ParseJSON(ref); ok {
				return parsed
			}
			return v
		case *time.Time:
			if ref == nil {
				return Value{}
			}
			return OfTime(*ref)
		case json.Marshaler, encoding.TextMarshaler:
			text, err := marshal(ref)
			if err != nil {
				return v
			}
			if parsed, ok := ParseJSON(text); ok {
				return parsed
			}
			return v
		}
		rv := reflect.ValueOf(v.Ref)
		switch rv.Kind() {
		case reflect.Bool:
			return OfBool(rv.Bool())
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			return OfInt(rv.Int())
		case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
			return OfUint(rv.Uint())
		case reflect.Float32:
			return Value{Kind: Float, Go: uint8(reflect.Float32), Bits: math.Float64bits(rv.Float())}
		case reflect.Float64:
			return OfFloat(rv.Float())
		case reflect.String:
			return OfText(rv.String())
		case reflect.Slice:
			if rv.Type().Elem().Kind() == reflect.Uint8 {
				return OfBytes(rv.Bytes(), false)
			}
			return v
		case reflect.Pointer:
			if rv.IsNil() {
				return Value{}
			}
			v = FromGo(rv.Elem().Interface())
		default:
			return v
		}
	}
	return v
}

// marshal is encoding/json without the escaping of HTML, and with a panic of a
// user's MarshalJSON turned into an error.
func marshal(x any) (text []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("encoding %T as JSON: panic: %v", x, r)
		}
	}()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(x); err != nil {
		return nil, fmt.Errorf("encoding %T as JSON: %w", x, err)
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}
