package value

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// numberLike draws text that is a number, or nearly one.
var numberLike = rapid.Custom(func(t *rapid.T) string {
	text := rapid.StringMatching(`-?[0-9]{0,20}(\.[0-9]{0,17})?([eE][+-]?[0-9]{0,2})?`).Draw(t, "text")
	if len(text) > 0 && rapid.IntRange(0, 3).Draw(t, "spoil") == 0 {
		at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		text = text[:at] + string(rapid.Byte().Draw(t, "byte")) + text[at+1:]
	}
	return text
})

func isJSONNumber(text string) bool {
	return json.Valid([]byte(text)) && text != "" && (text[0] == '-' || text[0]-'0' <= 9) && strings.TrimSpace(text) == text
}

// TestShortInteger against strconv and encoding/json: it reads what both take.
func TestShortInteger(t *testing.T) {
	check := func(t require.TestingT, text string) {
		got, ok := shortInteger([]byte(text))
		want, err := strconv.ParseInt(text, 10, 64)
		read := err == nil && isJSONNumber(text) && want != -1<<63
		require.Equal(t, read, ok, text)
		if read {
			require.Equal(t, want, got, text)
		}
	}
	for _, text := range []string{"", "-", "0", "-0", "00", "01", "12345678", "1234567x", "x2345678", "123456789012345678",
		"9223372036854775807", "9223372036854775808", "-9223372036854775807", "-9223372036854775808", "99999999999999999999", "1234567:", "1234567/", "1234567\xb0"} {
		check(t, text)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, numberLike.Draw(t, "text")) })
}

// TestShortFloat: what it reads is a JSON number with the float that strconv
// finds, and it reads all up to 15 digits without an exponent.
func TestShortFloat(t *testing.T) {
	check := func(t require.TestingT, text string) {
		got, ok := shortFloat([]byte(text))
		digits := len(strings.NewReplacer("-", "", ".", "").Replace(text))
		require.Equal(t, isJSONNumber(text) && digits <= 15 && !strings.ContainsAny(text, "eE"), ok, text)
		if ok {
			want, err := strconv.ParseFloat(text, 64)
			require.NoError(t, err)
			require.Equal(t, want, got, text)
		}
	}
	for _, text := range []string{"", "-", ".", "1.", ".5", "-.5", "0", "-0", "-0.0", "00.1", "01", "0.1", "123456789012345", "1234567890123456",
		"12345678.9012345", "12345678.90123456", "-12345678.9012345", "0.00000000000001", "1.2.3", "1e3"} {
		check(t, text)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, numberLike.Draw(t, "text")) })
}

func TestDecimalDigits(t *testing.T) {
	require.Zero(t, decimalDigits(0))
	for n, u := int64(1), uint64(1); n <= 19; n, u = n+1, u*10 {
		require.Equal(t, n, decimalDigits(u), u)
		require.Equal(t, n, decimalDigits(u*10-1), u*10-1)
	}
}

func BenchmarkTimestamp(b *testing.B) {
	for _, text := range []string{"1700000000", "1700000000000", "1700000000000000", "1700000000000000000", "1700000000.5"} {
		v := OfNumber([]byte(text))
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				if _, ok := Timestamp(v, AutoUnit); !ok {
					b.Fatal(text)
				}
			}
		})
	}
}

func BenchmarkCompareNumbers(b *testing.B) {
	one := OfInt(1)
	for _, text := range []string{"57.31", "42", "1e400"} {
		v := OfNumber(bytes.Clone([]byte(text)))
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				if _, ok := Compare(v, one); !ok {
					b.Fatal(text)
				}
			}
		})
	}
}
