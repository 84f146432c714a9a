package operator_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator/operatortest"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// aggregateRun feeds rows to an operator, a step each, and says what each step
// has emitted: "+[…]@ts" and "-[…]@ts", and drops.
type aggregateRun struct {
	t   *testing.T
	op  operator.Operator
	out changes
	seq uint64
}

// changes is an output that writes down records and drops.
type changes struct {
	lines    []string
	progress operator.Progress
}

func (c *changes) Emit(rec operator.Record) {
	sign := map[int8]string{1: "+", -1: "-"}[rec.Diff]
	c.lines = append(c.lines, fmt.Sprintf("%s%s@%d", sign, operatortest.Row(rec.Row), rec.TS))
}

func (c *changes) Advance(p operator.Progress) { c.progress = p }

func (c *changes) Drop(_ int, rec operator.Record, why operator.Reason, _ bool) {
	c.lines = append(c.lines, fmt.Sprintf("drop %s %s", why, operatortest.Row(rec.Row)))
}

func (c *changes) take() []string {
	lines := c.lines
	c.lines = nil
	return lines
}

func newAggregateRun(t *testing.T, cfg operator.AggregateConfig) *aggregateRun {
	r := &aggregateRun{t: t}
	op, err := operator.NewAggregate(cfg, &r.out)
	require.NoError(t, err)
	r.op = op
	return r
}

func (r *aggregateRun) send(ts int64, diff int8, cols ...any) {
	r.seq++
	r.op.Process(0, operator.Record{TS: ts, Seq: r.seq, Diff: diff, Row: encode(cols)})
}

// add is a step with one insertion, sub one with one retraction.
func (r *aggregateRun) add(ts int64, cols ...any) []string {
	r.send(ts, 1, cols...)
	return r.end()
}

func (r *aggregateRun) sub(ts int64, cols ...any) []string {
	r.send(ts, -1, cols...)
	return r.end()
}

func (r *aggregateRun) end() []string {
	r.op.EndStep()
	return r.out.take()
}

func (r *aggregateRun) table() []string {
	var all []string
	r.op.(operator.Reader).Read(func(x row.Row) bool {
		all = append(all, operatortest.Row(x))
		return true
	})
	slices.Sort(all)
	return all
}

func of(kind operator.AggregateKind) operator.Aggregation {
	return operator.Aggregation{Kind: kind, Arg: 0, Time: -1}
}

// TestRecentTotal is the recency example of tables.md: (1000,5)(4000,7) with
// 10 s.
func TestRecentTotal(t *testing.T) {
	r := newAggregateRun(t, operator.AggregateConfig{Aggs: []operator.Aggregation{of(operator.AggSum)}})
	require.Empty(t, r.table(), "a global group has no row before its first input")
	require.Equal(t, []string{"+[int64(5)]@1000"}, r.add(1000, json.Number("5")))
	require.Equal(t, []string{"-[int64(5)]@4000", "+[int64(12)]@4000"}, r.add(4000, json.Number("7")))
	require.Equal(t, []string{"-[int64(12)]@11000", "+[int64(7)]@11000"}, r.sub(11000, json.Number("5")))
	require.Equal(t, []string{"[int64(7)]"}, r.table())
	require.Equal(t, []string{"-[int64(7)]@14000"}, r.sub(14000, json.Number("7")))
	require.Empty(t, r.table())
	require.Zero(t, r.op.Stats().Rows)
}

// TestSpend has the totals of tables.md's STREAM ON example; a step with two
// records is one change.
func TestSpend(t *testing.T) {
	r := newAggregateRun(t, operator.AggregateConfig{Keys: 1, Aggs: []operator.Aggregation{{Kind: operator.AggSum, Arg: 1, Time: -1}}})
	require.Equal(t, []string{`+["u1" int64(60)]@1`}, r.add(1, "u1", 60))
	require.Equal(t, []string{`-["u1" int64(60)]@2`, `+["u1" int64(110)]@2`}, r.add(2, "u1", 50))
	require.Equal(t, []string{`-["u1" int64(110)]@3`, `+["u1" int64(120)]@3`}, r.add(3, "u1", 10))
	require.Equal(t, []string{`-["u1" int64(120)]@4`, `+["u1" int64(70)]@4`}, r.sub(4, "u1", 50))

	r.send(5, -1, "u1", 10)
	r.send(5, 1, "u1", 11)
	r.send(6, 1, "u2", 1)
	r.send(7, -1, "u2", 1)
	r.send(8, 1, "u1", -1)
	require.Empty(t, r.end(), "70 − 10 + 11 − 1 is 70, and u2 has come and gone")
	require.Equal(t, []string{`["u1" int64(70)]`}, r.table())
}

func TestSumsAreExact(t *testing.T) {
	for name, test := range map[string]struct {
		kind   operator.AggregateKind
		values []any // added in turn; then all but the last retracted, in turn
		sum    string
		last   string
	}{
		"no decimal is left":                  {operator.AggSum, []any{0.1, 1e17, json.Number("0.2"), -0.3, 7}, "float64(1.00000000000000006e+17)", "int64(7)"},
		"tenths":                              {operator.AggSum, []any{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, "float64(1)", "float64(0.1)"},
		"small beside large":                  {operator.AggSum, []any{1e300, 0.25, -1e300, 0.5}, "float64(0.75)", "float64(0.5)"},
		"extremes of 64 bits":                 {operator.AggSum, []any{math.MaxInt64, math.MinInt64, -5, math.MaxInt64}, "int64(9223372036854775801)", "int64(9223372036854775807)"},
		"an integer of 64 bits":               {operator.AggSum, []any{-10, json.Number("9223372036854775810"), uint64(0)}, "int64(9223372036854775800)", "int64(0)"},
		"integers that a float64 cannot hold": {operator.AggSum, []any{9007199254740993, 9007199254740993}, "int64(18014398509481986)", "int64(9007199254740993)"},
		"integer beside decimal":              {operator.AggSum, []any{1 << 60, -0x1p60, 0.5, 3}, "float64(3.5)", "int64(3)"},
		"infinity goes again":                 {operator.AggSum, []any{math.Inf(1), math.MaxFloat64, math.MaxFloat64, 1.5}, "float64(+Inf)", "float64(1.5)"},
		"both infinities":                     {operator.AggSum, []any{math.Inf(1), json.Number("-1e999"), 2}, "∅", "int64(2)"},
		"NULL, NaN and text":                  {operator.AggSum, []any{nil, math.NaN(), "12", nil}, "int64(0)", "int64(0)"},
		"average of integers":                 {operator.AggAvg, []any{math.MaxInt64, math.MaxInt64, math.MaxInt64 - 3}, "float64(9.223372036854775807e+18)", "float64(9.223372036854775807e+18)"},
		"average of a mixture":                {operator.AggAvg, []any{1, json.Number("2.50"), nil, "x", 4}, "float64(2.5)", "float64(4)"},
		"average of nothing":                  {operator.AggAvg, []any{"x", nil}, "∅", "∅"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, appendOnly := range []bool{false, true} {
				r := newAggregateRun(t, operator.AggregateConfig{Aggs: []operator.Aggregation{of(test.kind)}, AppendOnly: appendOnly})
				for _, v := range test.values {
					r.send(1, 1, v)
				}
				require.Equal(t, []string{"+[" + exact(test.sum) + "]@1"}, r.end())
				if appendOnly {
					continue
				}
				for _, v := range test.values[:len(test.values)-1] {
					r.send(2, -1, v)
				}
				r.end()
				require.Equal(t, []string{"[" + exact(test.last) + "]"}, r.table())
			}
		})
	}
}

// exact spells a float as operatortest does.
func exact(s string) string {
	var f float64
	if _, err := fmt.Sscanf(s, "float64(%g)", &f); err == nil {
		return operatortest.Value(value.OfFloat(f))
	}
	return s
}

func TestOverflow(t *testing.T) {
	aggs := []operator.Aggregation{{Kind: operator.AggSum, Arg: 1, Time: -1}, {Kind: operator.AggCount, Arg: -1, Time: -1}, {Kind: operator.AggMax, Arg: 1, Time: -1}}
	r := newAggregateRun(t, operator.AggregateConfig{Keys: 1, Aggs: aggs})
	require.Equal(t, []string{`drop sum_overflow ["k" uint64(18446744073709551615)]`}, r.add(1, "k", uint64(math.MaxUint64)), "no group comes of it")
	require.Zero(t, r.op.Stats().Rows)
	r.add(2, "k", math.MaxInt64-1)
	require.Equal(t, []string{`drop sum_overflow ["k" int(2)]`}, r.add(3, "k", 2))
	require.Equal(t, []string{`["k" int64(9223372036854775806) int64(1) int(9223372036854775806)]`}, r.table(), "it is in no aggregate")
	r.add(4, "k", -1)
	r.add(5, "k", 2) // now it fits
	require.Equal(t, []string{`["k" int64(9223372036854775807) int64(3) int(9223372036854775806)]`}, r.table())
	require.Empty(t, r.sub(6, "k", 2), "it takes the refused one back")
	require.Len(t, r.sub(7, "k", 2), 2, "and this the counted one")
	require.Empty(t, r.sub(8, "k", uint64(math.MaxUint64)))

	r.add(9, "k", 2)
	require.Equal(t, []string{`drop sum_overflow ["k" int(-1)]`,
		`-["k" int64(9223372036854775807) int64(3) int(9223372036854775806)]@10`,
		`+["k" ∅ int64(2) int(9223372036854775806)]@10`}, r.sub(10, "k", -1), "what is left has no sum")
	require.Equal(t, `+["k" int64(2) int64(1) int(2)]@11`, r.sub(11, "k", math.MaxInt64-1)[1], "and has one again")
	r.sub(12, "k", 2)
	require.Empty(t, r.table())
}
