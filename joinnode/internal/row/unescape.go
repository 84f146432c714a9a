package row

import (
	"unicode/utf16"
	"unicode/utf8"
)

// unescape appends the text that the inside of a validated JSON string stands
// for. As in encoding/json, half a surrogate pair and every byte that is no
// UTF-8 become U+FFFD, so all text that comes out of JSON is valid UTF-8.
func unescape(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case c == '\\':
			var r rune
			r, i = unescapeOne(raw, i)
			dst = utf8.AppendRune(dst, r)
		case c < utf8.RuneSelf:
			dst = append(dst, c)
			i++
		default:
			r, size := utf8.DecodeRune(raw[i:])
			dst = utf8.AppendRune(dst, r)
			i += size
		}
	}
	return dst
}

// unescapeOne reads the escape sequence at i and returns what lies behind it.
func unescapeOne(raw []byte, i int) (rune, int) {
	c := raw[i+1]
	i += 2
	switch c {
	case 'b':
		return '\b', i
	case 'f':
		return '\f', i
	case 'n':
		return '\n', i
	case 'r':
		return '\r', i
	case 't':
		return '\t', i
	case 'u':
		r := hex4(raw[i:])
		i += 4
		if !utf16.IsSurrogate(r) {
			return r, i
		}
		if i+6 <= len(raw) && raw[i] == '\\' && raw[i+1] == 'u' {
			if pair := utf16.DecodeRune(r, hex4(raw[i+2:])); pair != utf8.RuneError {
				return pair, i + 6
			}
		}
		return utf8.RuneError, i
	default: // a quote, a backslash, a slash
		return rune(c), i
	}
}

// hex4 returns the value of the four hexadecimal digits that b begins with.
func hex4(b []byte) rune {
	var r rune
	for _, c := range b[:4] {
		switch {
		case c <= '9':
			r = r<<4 | rune(c-'0')
		default:
			r = r<<4 | rune(c|0x20-'a'+10)
		}
	}
	return r
}

// clean returns raw JSON text with every byte that is no UTF-8 replaced by
// U+FFFD; such bytes can only stand inside strings. Text that is in order is
// returned as it is, otherwise buf is used.
func clean(buf, raw []byte) (text, newBuf []byte) {
	if utf8.Valid(raw) {
		return raw, buf
	}
	buf = buf[:0]
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRune(raw[i:])
		buf = utf8.AppendRune(buf, r)
		i += size
	}
	return buf, buf
}
