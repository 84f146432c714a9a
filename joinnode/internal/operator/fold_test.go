package operator_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator/operatortest"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// totals is a fold of rows (id, items): per item kind the number of items and
// the sum of their n.
func totals() operator.FoldConfig {
	return operator.FoldConfig{
		Elements: operator.NewElements(1, []row.Path{member("kind"), member("n")}, false),
		Args:     func(dst, src row.Row) row.Row { return row.AppendColumns(dst, src, []int{2, 3}) },
		Keys:     1,
		Aggs:     []operator.Aggregation{{Kind: operator.AggCount, Arg: -1, Time: -1}, {Kind: operator.AggSum, Arg: 1, Time: -1}},
	}
}

func foldJSON(e operator.Expander, text string) (rows []string, bad int) {
	src := row.Append(encode([]any{"o1"}), jsonText(text))
	bad = e.Expand(src, func(cols row.Row) { rows = append(rows, operatortest.Row(cols)) })
	return rows, bad
}

func TestFoldAggregatesTheElementsOfEachRow(t *testing.T) {
	e := operator.NewFold(totals())
	require.Equal(t, 3, e.Columns())
	rows, bad := foldJSON(e, `[{"kind":1.0,"n":1},{"kind":"b","n":2},7,{"kind":1,"n":3},{"n":9}]`)
	require.Equal(t, []string{"[1.0 int64(2) int64(4)]", `["b" int64(1) int64(2)]`, "[∅ int64(1) int64(9)]"}, rows, "in order of appearance, keys as spelled first")
	require.Equal(t, 1, bad)
	for _, nothing := range []string{`[]`, `[1]`} {
		rows, _ = foldJSON(e, nothing)
		require.Empty(t, rows)
	}
	rows, _ = foldJSON(e, `[{"kind":"b","n":5}]`)
	require.Equal(t, []string{`["b" int64(1) int64(5)]`}, rows, "nothing is left of the row before")
}

func TestFoldFiltersElementsAndGroups(t *testing.T) {
	cfg := totals()
	cfg.Where = func(r row.Row) bool { n, ok := r.Col(3).Int64(); return ok && n > 0 && string(r.Col(0).Text) == "o1" }
	cfg.Having = func(r row.Row) bool { n, ok := r.Col(2).Int64(); return ok && n >= 3 }
	rows, bad := foldJSON(operator.NewFold(cfg), `[{"kind":"a","n":2},{"kind":"b","n":2},{"kind":"a","n":1},{"kind":"b","n":-5},{"kind":"c","n":-1}]`)
	require.Equal(t, []string{`["a" int64(2) int64(3)]`}, rows)
	require.Zero(t, bad)
}

func TestFoldWithoutKeysIsOneGroupIfAny(t *testing.T) {
	cfg := totals()
	cfg.Keys, cfg.Aggs = 0, []operator.Aggregation{{Kind: operator.AggMax, Arg: 1, Time: -1}}
	e := operator.NewFold(cfg)
	rows, _ := foldJSON(e, `[{"n":2},{"n":4},{"n":3}]`)
	require.Equal(t, []string{"[4]"}, rows)
	rows, _ = foldJSON(e, `[]`)
	require.Empty(t, rows)
}

func TestFoldKeepsGoValuesApart(t *testing.T) {
	e := operator.NewFold(totals())
	rows, _ := expanded(e, "o1", []any{
		map[string]any{"kind": map[string]any{"a": 1}, "n": 1}, map[string]any{"kind": []any{1}, "n": 2}, map[string]any{"kind": map[string]any{"a": 1.0}, "n": 3},
	})
	require.Equal(t, []string{"[map[string]interface {}(map[a:1]) int64(2) int64(4)]", "[[]interface {}([1]) int64(1) int64(2)]"}, rows)
}

func TestFoldTellsOverflowAndMismatch(t *testing.T) {
	cfg := totals()
	var odd []string
	cfg.Mismatch = func(v value.Value) { odd = append(odd, operatortest.Value(v)) }
	log := operatortest.NewLog()
	u, err := operator.NewUnnest(operator.UnnestConfig{Expander: operator.NewFold(cfg)}, log)
	require.NoError(t, err)
	src := func(text string) row.Row { return row.Append(encode([]any{"o"}), jsonText(text)) }
	r := src(fmt.Sprintf(`[{"n":%d},{"n":1},{"n":-1},{"n":"x"}]`, math.MaxInt64))
	u.Process(0, operator.Record{TS: 1, Diff: 1, Row: r})
	text := operatortest.Row(r)
	require.Equal(t, []string{
		"emit @1 " + strings.TrimSuffix(text, "]") + fmt.Sprintf(" ∅ int64(3) int64(%d)]", math.MaxInt64-1),
		"drop sum_overflow port=0 @1 " + text,
	}, log.Take())
	require.Equal(t, []string{`"x"`}, odd)
	u.Process(0, operator.Record{TS: 1, Diff: -1, Row: r})
	require.Len(t, log.Take(), 1, "told when the row came")

	r = src(fmt.Sprintf(`[{"kind":"a","n":%d}]`, uint64(math.MaxUint64)))
	u.Process(0, operator.Record{TS: 2, Diff: 1, Row: r})
	require.Equal(t, []string{"drop sum_overflow port=0 @2 " + operatortest.Row(r)}, log.Take(), "no group of nothing but refused elements")
}

func TestFoldAgainstMaps(t *testing.T) {
	e := operator.NewFold(totals())
	rapid.Check(t, func(t *rapid.T) {
		type item struct {
			Kind int `json:"kind"`
			N    int `json:"n"`
		}
		items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) item {
			return item{Kind: rapid.IntRange(0, 30).Draw(t, "kind"), N: rapid.IntRange(-9, 9).Draw(t, "n")}
		}), 0, 60).Draw(t, "items")
		var order []int
		count, sum := map[int]int{}, map[int]int{}
		for _, it := range items {
			if count[it.Kind] == 0 {
				order = append(order, it.Kind)
			}
			count[it.Kind]++
			sum[it.Kind] += it.N
		}
		var want []string
		for _, k := range order {
			want = append(want, fmt.Sprintf("[%d int64(%d) int64(%d)]", k, count[k], sum[k]))
		}
		text, err := json.Marshal(items)
		require.NoError(t, err)
		got, bad := foldJSON(e, string(text))
		require.Equal(t, want, got)
		require.Zero(t, bad)
	})
}
