package operator_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// tallied counts what comes out by the value of its only column.
type tallied struct {
	net     map[int64]int
	records int
	low     int64
}

func (t *tallied) Emit(rec operator.Record) {
	t.net[rec.Row.Col(0).Int()] += int(rec.Diff)
	t.records++
}
func (t *tallied) Advance(p operator.Progress)                      { t.low = p.Low }
func (t *tallied) Drop(int, operator.Record, operator.Reason, bool) {}

// What leaves a step is what its changes amount to, and no more.
func TestConsolidateIsTheNet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		out := &tallied{net: map[int64]int{}}
		c := operator.NewConsolidate(out)
		for range rapid.IntRange(1, 5).Draw(t, "steps") {
			clear(out.net)
			out.records = 0
			want := map[int64]int{}
			for range rapid.IntRange(0, 12).Draw(t, "records") {
				v := rapid.Int64Range(0, 3).Draw(t, "row")
				diff := rapid.SampledFrom([]int8{-1, 1}).Draw(t, "diff")
				want[v] += int(diff)
				c.Process(0, operator.Record{TS: 1, Diff: diff, Row: row.Append(row.Row{}, value.OfInt(v))})
			}
			require.Zero(t, out.records, "nothing leaves before the step ends")
			c.EndStep()
			least := 0
			for v, n := range want {
				require.Equal(t, n, out.net[v])
				least += max(n, -n)
			}
			require.Equal(t, least, out.records)
		}
	})
}

// Rows with Go values are equal when their values are.
func TestConsolidateComparesGoValues(t *testing.T) {
	out := &tallied{net: map[int64]int{}}
	c := operator.NewConsolidate(out)
	of := func(v any) row.Row { return row.Append(row.Append(row.Row{}, value.OfInt(1)), value.OfAny(v)) }
	c.Process(0, operator.Record{Diff: -1, Row: of([]any{"a"})})
	c.Process(0, operator.Record{Diff: 1, Row: of([]any{"a"})})
	c.Process(0, operator.Record{Diff: 1, Row: of([]any{"b"})})
	c.EndStep()
	require.Equal(t, 1, out.records)
	c.Advance(0, operator.Progress{Seen: 7, Low: 5})
	c.EndStep()
	require.EqualValues(t, 5, out.low)
}
