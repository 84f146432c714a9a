package eval

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// TestLimitIsAComparison: a column compared with a constant has the outcome, and
// counts the mismatch, of two columns that hold the same values.
func TestLimitIsAComparison(t *testing.T) {
	limits := []string{"1", "0", "-2.5", "0.1", "9007199254740992", "9007199254740993", "1e300", "123456789012345.6"}
	numbers := []string{"1", "1.0", "1.00000000000001", "1.000000000000000000001", "0", "-0", "-2.5", "-2.49", "0.1", "0.10000000000000001",
		"9007199254740992", "9007199254740993", "1e300", "1e0", "-1e400", "123456789012345.6", "123456789012345"}
	others := []any{nil, "1", true, 1, 2.5, 0.1, math.NaN(), math.Inf(1), float32(0.1), uint64(1 << 63), value.OfJSON([]byte("[1]"))}
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom(limits).Draw(t, "limit")
		op := rapid.SampledFrom([]string{"=", "!=", "<", "<=", ">", ">="}).Draw(t, "operator")
		var x any
		if rapid.Bool().Draw(t, "number") {
			x = value.OfNumber([]byte(rapid.SampledFrom(numbers).Draw(t, "x")))
		} else {
			x = rapid.SampledFrom(others).Draw(t, "other")
		}
		f := fields{"a": "before", "x": x, "y": value.OfNumber([]byte(limit))}
		var constant, columns Context
		test := func(ctx *Context, sql string) value.Tri {
			e, err := syntax.ParseExpr(sql)
			require.NoError(t, err)
			p, err := CompilePredicate(e, f.resolve)
			require.NoError(t, err)
			return p(ctx, f.row())
		}
		require.Equal(t, test(&columns, "x "+op+" y"), test(&constant, fmt.Sprintf("x %s %s", op, limit)))
		require.Equal(t, columns.TypeMismatch, constant.TypeMismatch)
	})
}

func BenchmarkLimit(b *testing.B) {
	f := fields{"a": "device-00042", "x": value.OfNumber([]byte("57.31"))}
	p, err := CompilePredicate(parse(b, "x >= 1"), f.resolve)
	require.NoError(b, err)
	r := f.row()
	var ctx Context
	b.ReportAllocs()
	for b.Loop() {
		if p(&ctx, r) != value.True {
			b.Fatal("57.31 < 1")
		}
	}
}
