package value

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"
)

// The first byte of every encoded key value.
const (
	keyNull     = 0x00
	keyFalse    = 0x01
	keyTrue     = 0x02
	keySigned   = 0x10 // varint
	keyUnsigned = 0x11 // uvarint
	keyPositive = 0x12 // exponent as varint, number of digits as uvarint, digits
	keyNegative = 0x13 // the same
	keyInf      = 0x14
	keyNegInf   = 0x15
	keyText     = 0x20 // length as uvarint, bytes
	keyTime     = 0x30 // seconds since the epoch as varint, nanoseconds as uvarint
	keyObject   = 0x40 // members sorted by name, each a keyText and a value, then keyEnd
	keyArray    = 0x41 // values, then keyEnd
	keyBroken   = 0x50 // JSON text that cannot be read: length as uvarint, bytes
	keyOpaque   = 0x51 // a Go value without JSON form: its type like a keyText
	keyEnd      = 0xff
)

// AppendKey appends the join key of v (semantics.md §3). Every encoding ends
// by itself, so a composite key is the concatenation of its parts and no two
// different tuples collide. Missing, NULL and NaN are one key. Values for which
// Compare says equal have the same bytes, others different ones. Text, integers,
// floats and JSON numbers cost no allocation beyond the growth of dst.
//
// Three corners are coarser than that: exponents count up to ±2⁶⁰, a Go value
// that JSON cannot express (a channel, a cyclic map) is known by its type only,
// and inside objects and arrays NaN equals null, the infinities are themselves
// and a time.Time is its RFC 3339 text.
func AppendKey(dst []byte, v Value) []byte {
	switch v.Kind {
	case Text:
		return appendText(dst, v.Text)
	case Int:
		return binary.AppendVarint(append(dst, keySigned), int64(v.Bits))
	}
	return appendKey(dst, &v)
}

func appendKey(dst []byte, v *Value) []byte {
	if v.Kind == Any {
		r := v.Resolve()
		v = &r
	}
	switch v.class() {
	case classJSON:
		if out, ok := appendContainer(dst, v); ok {
			return out
		}
		return appendOpaque(dst, v)
	case classTime:
		t := v.Ref.(time.Time)
		dst = binary.AppendVarint(append(dst, keyTime), t.Unix())
		return binary.AppendUvarint(dst, uint64(t.Nanosecond()))
	}
	return appendScalar(dst, v)
}

func appendScalar(dst []byte, v *Value) []byte {
	switch v.Kind {
	case Bool:
		return append(dst, keyFalse+byte(v.Bits))
	case Text:
		return appendText(dst, v.Text)
	case Null:
		return append(dst, keyNull)
	}
	var buf [32]byte
	n, ok := numberOf(v, &buf)
	if !ok {
		if v.Kind == Number {
			return appendOpaque(dst, v)
		}
		return append(dst, keyNull) // NaN
	}
	return appendNumber(dst, n)
}

func appendNumber(dst []byte, n number) []byte {
	switch n.form {
	case signed:
		return binary.AppendVarint(append(dst, keySigned), n.i)
	case unsigned:
		return binary.AppendUvarint(append(dst, keyUnsigned), n.u)
	}
	d := n.d
	neg := byte(b2i(d.neg))
	if d.inf {
		return append(dst, keyInf+neg)
	}
	dst = binary.AppendVarint(append(dst, keyPositive+neg), d.exp)
	dst = binary.AppendUvarint(dst, uint64(d.n))
	for _, c := range d.digits {
		if c != '.' {
			dst = append(dst, c)
		}
	}
	return dst
}

func appendText[T string | []byte](dst []byte, s T) []byte {
	dst = binary.AppendUvarint(append(dst, keyText), uint64(len(s)))
	return append(dst, s...)
}

func appendOpaque(dst []byte, v *Value) []byte {
	if v.Kind != Any {
		dst = binary.AppendUvarint(append(dst, keyBroken), uint64(len(v.Text)))
		return append(dst, v.Text...)
	}
	return appendText(append(dst, keyOpaque), reflect.TypeOf(v.Ref).String())
}

// appendContainer appends the canonical form of an object or array. It returns
// false, with dst unspecified behind its length, when there is none.
func appendContainer(dst []byte, v *Value) ([]byte, bool) {
	if v.Kind == JSON {
		return appendJSONKey(dst, v.Text)
	}
	return appendGoKey(dst, v.Ref, 0)
}

// member is one name and encoded value of an object.
type member struct {
	name string
	enc  []byte
}

// appendMembers appends an object. Of members with one name the last wins.
func appendMembers(dst []byte, members []member) []byte {
	slices.SortStableFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	dst = append(dst, keyObject)
	for i, m := range members {
		if i+1 < len(members) && members[i+1].name == m.name {
			continue
		}
		dst = append(appendText(dst, m.name), m.enc...)
	}
	return append(dst, keyEnd)
}

// appendJSONKey appends the canonical form of a JSON text.
func appendJSONKey(dst, text []byte) ([]byte, bool) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	dst, ok := appendTokens(dst, dec, 0)
	if !ok {
		return dst, false
	}
	_, err := dec.Token()
	return dst, err == io.EOF
}

func appendTokens(dst []byte, dec *json.Decoder, depth int) ([]byte, bool) {
	tok, err := dec.Token()
	if err != nil || depth > MaxDepth {
		return dst, false
	}
	var ok bool
	switch tok := tok.(type) {
	case json.Delim:
		if tok == '[' {
			dst = append(dst, keyArray)
			for dec.More() {
				if dst, ok = appendTokens(dst, dec, depth+1); !ok {
					return dst, false
				}
			}
			dst = append(dst, keyEnd)
		} else {
			var members []member
			for dec.More() {
				name, err := dec.Token()
				if err != nil {
					return dst, false
				}
				m := member{name: name.(string)}
				if m.enc, ok = appendTokens(nil, dec, depth+1); !ok {
					return dst, false
				}
				members = append(members, m)
			}
			dst = appendMembers(dst, members)
		}
		_, err = dec.Token() // the closing bracket
		return dst, err == nil
	case string:
		return appendText(dst, tok), true
	default: // bool, json.Number, nil
		v := FromGo(tok)
		return appendScalar(dst, &v), true
	}
}

// appendGoKey appends the canonical form of what encoding/json would write for
// x, without writing it where that can be avoided.
func appendGoKey(dst []byte, x any, depth int) ([]byte, bool) {
	if depth > MaxDepth {
		return dst, false
	}
	var ok bool
	switch x := x.(type) {
	case map[string]any:
		if x == nil {
			return append(dst, keyNull), true
		}
		members := make([]member, 0, len(x))
		for name, e := range x {
			m := member{name: name}
			if m.enc, ok = appendGoKey(nil, e, depth+1); !ok {
				return dst, false
			}
			members = append(members, m)
		}
		return appendMembers(dst, members), true
	case []any:
		if x == nil {
			return append(dst, keyNull), true
		}
		dst = append(dst, keyArray)
		for _, e := range x {
			if dst, ok = appendGoKey(dst, e, depth+1); !ok {
				return dst, false
			}
		}
		return append(dst, keyEnd), true
	case time.Time:
		return appendText(dst, x.AppendFormat(nil, time.RFC3339Nano)), true
	case []byte:
		return appendText(dst, base64.StdEncoding.EncodeToString(x)), true
	}
	v := FromGo(x)
	v = v.Resolve()
	switch {
	case v.class() == classTime:
		return appendGoKey(dst, v.Ref, depth+1)
	case v.Kind == JSON:
		return appendJSONKey(dst, v.Text)
	case v.Kind != Any:
		return appendScalar(dst, &v), true
	}
	return appendReflectKey(dst, v.Ref, depth)
}

func appendReflectKey(dst []byte, x any, depth int) ([]byte, bool) {
	switch x.(type) {
	case map[string]any, []any:
		return appendGoKey(dst, x, depth+1)
	}
	rv := reflect.ValueOf(x)
	switch {
	case (rv.Kind() == reflect.Slice || rv.Kind() == reflect.Array) && rv.Type().Elem().Kind() != reflect.Uint8:
		dst = append(dst, keyArray)
		var ok bool
		for i := range rv.Len() {
			if dst, ok = appendGoKey(dst, rv.Index(i).Interface(), depth+1); !ok {
				return dst, false
			}
		}
		return append(dst, keyEnd), true
	case rv.Kind() == reflect.Map && rv.Type().Key() == reflect.TypeFor[string]():
		var members []member
		for it := rv.MapRange(); it.Next(); {
			enc, ok := appendGoKey(nil, it.Value().Interface(), depth+1)
			if !ok {
				return dst, false
			}
			members = append(members, member{it.Key().String(), enc})
		}
		return appendMembers(dst, members), true
	}
	text, err := marshal(x)
	if err != nil {
		return dst, false
	}
	return appendJSONKey(dst, text)
}
