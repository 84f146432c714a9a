package operator

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

func TestUnnestAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	text := []byte(`[{"kind":"a","n":1},{"kind":"b","n":2},{"kind":"a","n":3}]`)
	paths := []row.Path{{{Name: "kind"}}, {{Name: "n"}}}
	src := row.Append(row.Append(row.Row{}, value.OfInt(1)), value.OfJSON(text))
	elements := func() Expander { return NewElements(1, paths, true) }
	for name, e := range map[string]Expander{
		"elements": elements(),
		"fold": NewFold(FoldConfig{
			Elements: elements(), Keys: 1, Aggs: []Aggregation{{Kind: AggCount, Arg: -1, Time: -1}, {Kind: AggSum, Arg: 1, Time: -1}},
			Args: func(dst, src row.Row) row.Row { return row.AppendColumns(dst, src, []int{2, 3}) },
		}),
	} {
		var out tally
		u, err := NewUnnest(UnnestConfig{Expander: e}, &out)
		require.NoError(t, err)
		step := func() { u.Process(0, Record{TS: 1, Diff: 1, Row: src}) }
		step()
		require.Less(t, testing.AllocsPerRun(1000, step), 0.01, name)
		require.Positive(t, out.emitted)
	}
}

// BenchmarkUnnest expands an array of three elements.
func BenchmarkUnnest(b *testing.B) {
	text := []byte(`[{"sku":"a","price":80.5,"n":1},{"sku":"b","price":1.25,"n":2},{"sku":"c","price":7,"n":3}]`)
	src := row.Append(row.Append(row.Row{}, value.OfInt(1)), value.OfJSON(text))
	var out tally
	u, err := NewUnnest(UnnestConfig{Expander: NewElements(1, []row.Path{{{Name: "sku"}}, {{Name: "price"}}}, false)}, &out)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		u.Process(0, Record{TS: 1, Diff: 1, Row: src})
	}
}
