package value

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// AppendJSON appends v as JSON. JSON numbers, objects and arrays are written
// as they came; floats as encoding/json writes them; a time.Time as RFC 3339
// with nanoseconds. What JSON cannot express, at whatever depth of a map or
// slice, is null: NaN, the infinities, channels, a time outside the years 0 to
// 9999, nesting below MaxDepth, a type whose MarshalJSON fails. Map keys are
// sorted, so one value has one text; keys that are no strings are written as text,
// and so are errors.
func AppendJSON(dst []byte, v Value) []byte {
	switch v.Kind {
	case Bool:
		return strconv.AppendBool(dst, v.Bool())
	case Int:
		return strconv.AppendInt(dst, v.Int(), 10)
	case Uint:
		return strconv.AppendUint(dst, v.Bits, 10)
	case Float:
		return appendFloat(dst, v.Float(), v.floatBits())
	case Number, JSON:
		return append(dst, v.Text...)
	case Text:
		if v.Plain {
			dst = append(dst, '"')
			dst = append(dst, v.Text...)
			return append(dst, '"')
		}
		return AppendQuoted(dst, v.Text)
	case Any:
		return appendGoJSON(dst, v.Ref, 0)
	}
	return append(dst, "null"...)
}

// appendFloat writes the shortest text that gives f back, with an exponent
// where JavaScript would use one.
func appendFloat(dst []byte, f float64, size int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	abs := math.Abs(f)
	small := abs < 1e-6
	large := abs >= 1e21
	if size == 32 {
		small = float32(abs) < 1e-6
		large = float32(abs) >= 1e21
	}
	if abs == 0 || !small && !large {
		return strconv.AppendFloat(dst, f, 'f', -1, size)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, size)
	// e-09 is written e-9.
	if n := len(dst); n >= 4 && dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

const hexDigits = "0123456789abcdef"

// AppendQuoted appends text as a JSON string. Invalid UTF-8 becomes U+FFFD.
func AppendQuoted(dst, text []byte) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(text[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, text[from:i]...), "\ufffd"...)
				from = i + 1
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, text[from:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		from = i
	}
	return append(append(dst, text[from:]...), '"')
}

// IsPlain reports whether text may stand inside a JSON string as it is.
func IsPlain(text []byte) bool {
	ascii := true
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\\' {
			return false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	return ascii || utf8.Valid(text)
}

func appendGoJSON(dst []byte, x any, depth int) []byte {
	if depth > MaxDepth {
		return append(dst, "null"...)
	}
	switch x := x.(type) {
	case map[string]any:
		if x == nil {
			break
		}
		names := make([]string, 0, len(x))
		for name := range x {
			names = append(names, name)
		}
		slices.Sort(names)
		dst = append(dst, '{')
		for i, name := range names {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(AppendQuoted(dst, OfText(name).Text), ':')
			dst = appendGoJSON(dst, x[name], depth+1)
		}
		return append(dst, '}')
	case map[any]any: // as decoders of YAML and CBOR make them
		if x == nil {
			break
		}
		named := make(map[string]any, len(x))
		for k, e := range x {
			named[fmt.Sprint(k)] = e
		}
		return appendGoJSON(dst, named, depth)
	case []any:
		if x == nil {
			break
		}
		dst = append(dst, '[')
		for i, e := range x {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendGoJSON(dst, e, depth+1)
		}
		return append(dst, ']')
	case time.Time:
		if y := x.Year(); y < 0 || y > 9999 {
			break
		}
		dst = x.AppendFormat(append(dst, '"'), time.RFC3339Nano)
		return append(dst, '"')
	default:
		v := FromGo(x)
		if v.Kind != Any {
			return AppendJSON(dst, v)
		}
		if text, ok := errorText(x); ok {
			return AppendQuoted(dst, OfText(text).Text)
		}
		if text, err := marshal(x); err == nil {
			return append(dst, text...)
		}
	}
	return append(dst, "null"...)
}

// errorText returns what an error says. encoding/json would write its fields,
// which it mostly has none of.
func errorText(x any) (text string, ok bool) {
	err, isError := x.(error)
	if _, marshals := x.(json.Marshaler); !isError || marshals {
		return "", false
	}
	defer func() {
		if recover() != nil { // the caller's code
			text, ok = "", false
		}
	}()
	return err.Error(), true
}
