package row

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// maxDepth is how deep objects and arrays may nest in a message. encoding/json
// reads 10,000 levels; the difference is for the row and the array that a result
// puts around a value, so that every result can be read again.
const maxDepth = 10_000 - 10

// scanner validates JSON text (RFC 8259, strictly) and tells where values end.
// Its methods take an offset and return the offset behind what they read, or −1
// after they have noted the fault in err.
//
// Like encoding/json it lets bytes that are no UTF-8 pass inside strings; who
// takes a string out of the text replaces them (see unescape).
type scanner struct {
	b   []byte
	err JSONError
}

// fail notes the fault and returns −1.
//
//go:noinline
func (s *scanner) fail(at int, msg string) int {
	s.err = JSONError{Offset: at, Msg: msg}
	return -1
}

// unexpected is fail for a byte, or the end of the text, where want was needed.
//
//go:noinline
func (s *scanner) unexpected(at int, want string) int {
	if at >= len(s.b) {
		return s.fail(len(s.b), "unexpected end, want "+want)
	}
	c := s.b[at]
	if c == 0xEF && at+2 < len(s.b) && s.b[at+1] == 0xBB && s.b[at+2] == 0xBF {
		return s.fail(at, "unexpected byte order mark, want "+want)
	}
	if c >= 0x20 && c < 0x7F {
		return s.fail(at, fmt.Sprintf("unexpected %q, want %s", c, want))
	}
	return s.fail(at, fmt.Sprintf("unexpected byte 0x%02x, want %s", c, want))
}

// fault returns the noted fault as an error.
func (s *scanner) fault() error {
	e := s.err
	return &e
}

// space skips white space.
func (s *scanner) space(i int) int {
	for i < len(s.b) {
		switch s.b[i] {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

// byteAt skips white space if there is some and returns the byte behind it, 0 at
// the end of the text.
func (s *scanner) byteAt(i int) (byte, int) {
	if i < len(s.b) && s.b[i] > ' ' {
		return s.b[i], i
	}
	if i = s.space(i); i < len(s.b) {
		return s.b[i], i
	}
	return 0, i
}

// rest checks that only white space follows.
func (s *scanner) rest(i int) int {
	if i = s.space(i); i < len(s.b) {
		return s.unexpected(i, "nothing behind the message")
	}
	return i
}

// spelling says what a string needs before its bytes can be used.
type spelling uint8

const (
	escaped  spelling = 1 << iota // has a backslash
	nonASCII                      // has a byte ≥ 0x80
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks, by the high bit of each byte of w, the first byte that ends
// the plain run of a string: a quote, a backslash or a control character. Marks
// above the lowest one may be false.
func special(w uint64) uint64 {
	quote := w ^ ones*'"'
	slash := w ^ ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*0x20)&^w) & highs
}

// text reads the inside of a string; i is behind the opening quote. It returns
// the offset of the closing quote.
func (s *scanner) text(i int) (int, spelling) {
	b := s.b
	var f spelling
	for {
		for i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			m := special(w)
			if m == 0 {
				if w&highs != 0 {
					f |= nonASCII
				}
				i += 8
				continue
			}
			n := bits.TrailingZeros64(m)
			if w&highs&(1<<n-1) != 0 {
				f |= nonASCII
			}
			i += n >> 3
			break
		}
		for i < len(b) && b[i] >= ' ' && b[i] != '"' && b[i] != '\\' {
			if b[i] >= 0x80 {
				f |= nonASCII
			}
			i++
		}
		if i >= len(b) {
			return s.fail(len(b), "unexpected end inside a string"), f
		}
		switch b[i] {
		case '"':
			return i, f
		case '\\':
			f |= escaped
			if i = s.escape(i); i < 0 {
				return -1, f
			}
		default:
			return s.fail(i, fmt.Sprintf("control character 0x%02x inside a string", b[i])), f
		}
	}
}

// escape reads one escape sequence; i is at the backslash.
func (s *scanner) escape(i int) int {
	b := s.b
	if i+1 >= len(b) {
		return s.fail(len(b), "unexpected end inside a string")
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		for k := i + 2; k < i+6; k++ {
			if k >= len(b) {
				return s.fail(len(b), "unexpected end inside a string")
			}
			if !isHex(b[k]) {
				return s.unexpected(k, `four hexadecimal digits behind \u`)
			}
		}
		return i + 6
	default:
		return s.unexpected(i+1, "an escape character behind the backslash")
	}
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// number reads a number; i is at its minus sign or first digit.
func (s *scanner) number(i int) int {
	b := s.b
	if b[i] == '-' {
		i++
	}
	from := i
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	switch {
	case i == from:
		return s.unexpected(i, "a digit")
	case b[from] == '0' && i > from+1:
		return s.fail(from+1, "unexpected digit behind a leading zero")
	}
	if i < len(b) && b[i] == '.' {
		i++
		from = i
		for i < len(b) && isDigit(b[i]) {
			i++
		}
		if i == from {
			return s.unexpected(i, "a digit")
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		return s.exponent(i + 1)
	}
	return i
}

// exponent reads what follows the e of a number.
func (s *scanner) exponent(i int) int {
	b := s.b
	if i < len(b) && (b[i] == '+' || b[i] == '-') {
		i++
	}
	from := i
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	if i == from {
		return s.unexpected(i, "a digit")
	}
	return i
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// literal reads the word, whose first byte is known to be there.
func (s *scanner) literal(i int, word string) int {
	if i+len(word) <= len(s.b) && string(s.b[i:i+len(word)]) == word {
		return i + len(word)
	}
	k := i
	for k < len(s.b) && k-i < len(word) && s.b[k] == word[k-i] {
		k++
	}
	return s.unexpected(k, word)
}

// class is what a JSON value is.
type class uint8

const (
	classNull class = iota
	classTrue
	classFalse
	classNumber
	classText
	classObject
	classArray
	classNone // no value
)

// String returns the class in the words of an error message.
func (c class) String() string {
	return [...]string{"null", "a boolean", "a boolean", "a number", "a string", "an object", "an array", "nothing"}[c]
}

// span is a value in the text: b[start:end], for a string without its quotes.
type span struct {
	start, end int
	class      class
	spelling   spelling // of a string
}

// scalar reads the scalar at i.
func (s *scanner) scalar(i int) (int, span) {
	if i >= len(s.b) {
		return s.unexpected(i, "a value"), span{}
	}
	switch c := s.b[i]; c {
	case '"':
		end, f := s.text(i + 1)
		if end < 0 {
			return -1, span{}
		}
		return end + 1, span{start: i + 1, end: end, class: classText, spelling: f}
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		end := s.number(i)
		return end, span{start: i, end: end, class: classNumber}
	case 't':
		return s.literal(i, "true"), span{class: classTrue}
	case 'f':
		return s.literal(i, "false"), span{class: classFalse}
	case 'n':
		return s.literal(i, "null"), span{class: classNull}
	}
	return s.unexpected(i, "a value"), span{}
}

// any reads the value at i, which lies depth containers deep, whatever it is.
func (s *scanner) any(i, depth int) (int, span) {
	if i < len(s.b) && (s.b[i] == '{' || s.b[i] == '[') {
		c := classObject
		if s.b[i] == '[' {
			c = classArray
		}
		end := s.container(i, depth)
		return end, span{start: i, end: end, class: c}
	}
	return s.scalar(i)
}

// container reads the object or array at i, which lies depth containers deep.
// It does not recurse, so that deep nesting costs a byte a level.
func (s *scanner) container(i, depth int) int {
	var small [64]byte
	open := small[:0] // the closing bytes still to come
	for {
		// A value begins at i.
		c, at := s.byteAt(i)
		switch c {
		case '{', '[':
			if depth+len(open) >= maxDepth {
				return s.fail(at, "nested too deeply")
			}
			closing := c + 2 // '}' or ']'
			open = append(open, closing)
			if c, i = s.byteAt(at + 1); c == closing {
				break // empty: go on at the closing byte
			}
			if closing == '}' {
				if i = s.name(i); i < 0 {
					return -1
				}
			}
			continue
		case '"':
			if i, _ = s.text(at + 1); i < 0 {
				return -1
			}
			i++
		default:
			if i, _ = s.scalar(at); i < 0 {
				return -1
			}
		}
		// A value, or the opening of an empty container, ended before i.
		for {
			closing := open[len(open)-1]
			c, at := s.byteAt(i)
			if c == closing {
				i = at + 1
				if open = open[:len(open)-1]; len(open) == 0 {
					return i
				}
				continue
			}
			if c != ',' {
				return s.unexpectedBehindValue(at, closing)
			}
			i = at + 1
			if closing == '}' {
				_, i = s.byteAt(i)
				if i = s.name(i); i < 0 {
					return -1
				}
			}
			break
		}
	}
}

//go:noinline
func (s *scanner) unexpectedBehindValue(at int, closing byte) int {
	if closing == '}' {
		return s.unexpected(at, "a comma or the closing brace of the object")
	}
	return s.unexpected(at, "a comma or the closing bracket of the array")
}

// name reads the name of a member and its colon; i is at the opening quote.
func (s *scanner) name(i int) int {
	_, _, i = s.key(i)
	return i
}

// key reads the name of a member and its colon; i is at the opening quote. It
// returns the name's bytes without quotes, their spelling, and the offset behind
// the colon.
func (s *scanner) key(i int) (name []byte, f spelling, next int) {
	if i >= len(s.b) || s.b[i] != '"' {
		return nil, 0, s.unexpected(i, "the name of a member in quotes")
	}
	start := i + 1
	end, f := s.text(start)
	if end < 0 {
		return nil, 0, -1
	}
	c, i := s.byteAt(end + 1)
	if c != ':' {
		return nil, 0, s.unexpected(i, "a colon behind the name of a member")
	}
	return s.b[start:end], f, i + 1
}
