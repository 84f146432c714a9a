package value

import (
	"encoding/binary"
	"math"
)

// Numbers as JSON spells them, read without looking twice: most numbers of most
// messages are short, and every row's time and every comparison in WHERE reads
// one. What is not short, or no number at all, is left to numberOf.

// shortInteger reads an integer that fits into 64 bits, in JSON's spelling.
func shortInteger(s []byte) (int64, bool) {
	digits := s
	if len(s) > 0 && s[0] == '-' {
		digits = s[1:]
	}
	if len(digits) == 0 || len(digits) > 19 || digits[0] == '0' && len(digits) > 1 {
		return 0, false
	}
	var u uint64
	for len(digits) >= 8 {
		eight, ok := eightDigits(binary.LittleEndian.Uint64(digits))
		if !ok {
			return 0, false
		}
		u, digits = u*1e8+eight, digits[8:]
	}
	for _, c := range digits {
		if c -= '0'; c > 9 {
			return 0, false
		}
		u = u*10 + uint64(c)
	}
	if u > math.MaxInt64 {
		return 0, false
	}
	if s[0] == '-' {
		return -int64(u), true
	}
	return int64(u), true
}

// eightDigits reads the eight bytes of w, the first of them lowest, as decimal
// digits: neighbours are joined into numbers below 100, those into numbers below
// 10,000, and those again.
func eightDigits(w uint64) (uint64, bool) {
	const zeros = ones * '0'
	w ^= zeros // digits become 0 to 9, all else more
	if (w+ones*(0x7f-9)|w)&highs != 0 {
		return 0, false
	}
	w = (w*10 + w>>8) & 0x00ff00ff00ff00ff
	w = (w*100 + w>>16) & 0x0000ffff0000ffff
	return (w*10000 + w>>32) & 0xffffffff, true
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// ShortFloat returns the float64 nearest to a JSON number of at most 15 digits
// without an exponent, and false for all other text. No two such numbers are
// nearest to the same float, so the order of the floats is that of the numbers,
// also beside floats and beside integers up to 2⁵³.
func ShortFloat(text []byte) (float64, bool) { return shortFloat(text) }

// shortFloat reads a number of at most 15 digits without an exponent. The
// float is the one nearest to it, and as no two such numbers share a float,
// comparing the floats compares the numbers.
func shortFloat(s []byte) (float64, bool) {
	const most = 15
	neg := len(s) > 0 && s[0] == '-'
	if neg {
		s = s[1:]
	}
	if len(s) > most+1 {
		return 0, false
	}
	var m int64
	n := 0 // digits before the point
	for n < len(s) && s[n]-'0' <= 9 {
		m = m*10 + int64(s[n]-'0')
		n++
	}
	if n == 0 || n > most || n > 1 && s[0] == '0' {
		return 0, false
	}
	f := float64(m)
	if n < len(s) {
		fraction := s[n+1:]
		if s[n] != '.' || len(fraction) == 0 {
			return 0, false
		}
		for _, c := range fraction {
			if c -= '0'; c > 9 {
				return 0, false
			}
			m = m*10 + int64(c)
		}
		// Both operands are exact, so the quotient is correctly rounded.
		f = float64(m) / float64(pow10[len(fraction)])
	}
	if neg {
		f = -f
	}
	return f, true
}
