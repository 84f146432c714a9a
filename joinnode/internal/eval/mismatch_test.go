package eval

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestExampleOfAMismatch: every operator that counts a mismatch can show it.
func TestExampleOfAMismatch(t *testing.T) {
	f := fields{"n": 1, "s": "x", "o": map[string]any{"y": 1}, "l": []any{1}, "b": true, "t": time.Unix(0, 0).UTC(), "f": 2.5}
	for sql, want := range map[string]Mismatch{
		"s > n AND n = 1":     {"s > n", `the text "x" and the number 1`},
		"NOT s > 1.50":        {"s > 1.50", `the text "x" and the number 1.5`},
		"n BETWEEN 'a' AND 3": {"n BETWEEN 'a' AND 3", `the number 1 and the text "a"`},
		"n BETWEEN 0 AND b":   {"n BETWEEN 0 AND b", "the number 1 and the boolean true"},
		"o IN (o, 1)":         {"", ""},
		"f IN (1, s, b)":      {"f IN (1, s, b)", `the number 2.5 and the text "x"`},
		"n IN ('1','2','3','4','5','6','7','8','9')": {"n IN ('1', '2', '3', '4', '5', '6', '7', '8', '9')", `the number 1 and the text "1"`},
		"l LIKE '%'":                 {"l LIKE '%'", `the array [1] and the text "%"`},
		"s LIKE n":                   {"s LIKE n", `the text "x" and the number 1`},
		"o + 1 > 0":                  {"o + 1", `the object {"y":1} and the number 1`},
		"-s > 0":                     {"-s", `the text "x"`},
		"s OR n = 1":                 {"s", `the text "x"`},
		"1 AND n = 1":                {"1", "the number 1"},
		"CASE n WHEN 's' THEN b END": {"CASE n WHEN 's' THEN b END", `the number 1 and the text "s"`},
		"t = n":                      {"t = n", `the value "1970-01-01T00:00:00Z" and the number 1`},
	} {
		p, err := CompilePredicate(parse(t, sql), f.resolve)
		require.NoError(t, err, sql)
		ctx := NewContext(time.Now)
		p(ctx, f.row())
		if want.SQL == "" {
			require.Nil(t, ctx.Example, sql)
			continue
		}
		require.NotNil(t, ctx.Example, sql)
		require.Equal(t, want, *ctx.Example, sql)
		p(ctx, f.row())
		require.EqualValues(t, 2, ctx.TypeMismatch, sql)
	}
}
