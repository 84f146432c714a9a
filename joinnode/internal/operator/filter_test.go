package operator_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator/operatortest"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

func even(r row.Row) bool { return r.Col(0).Int()%2 == 0 }

func numbered(n int) operator.Record {
	return operator.Record{TS: int64(n), Seq: 7, Diff: 1, Row: encode([]any{n, "x"}), Nulls: 2, Why: operator.ClosedByIdle}
}

func TestFilterPassesRecordsAsTheyAre(t *testing.T) {
	for _, input := range []bool{true, false} {
		log := operatortest.NewLog()
		f := operator.NewFilter(even, "a.n % 2 = 0", input, log)
		f.Advance(0, operator.Progress{Seen: 9, Low: 3, Idle: true})
		f.Process(0, numbered(4))
		require.Equal(t, []string{"advance seen=9 low=3 idle", `emit @4 [int(4) "x"] nulls=10 closed=idle`}, log.Take())

		f.Process(0, numbered(5))
		if input {
			require.Equal(t, []string{`drop filtered port=0 @5 [int(5) "x"] nulls=10 closed=idle`}, log.Take())
			require.Zero(t, f.Stats().Rejected)
		} else {
			require.Empty(t, log.Take())
			require.Equal(t, int64(1), f.Stats().Rejected)
		}
		require.Equal(t, operator.Description{Name: "Filter", Lines: []string{"a.n % 2 = 0", "state: none"}}, f.Describe())
	}
}

// TestFilterAndHistory: a version that the filter rejects was none.
func TestFilterAndHistory(t *testing.T) {
	for _, input := range []bool{true, false} {
		log := operatortest.NewLog()
		f := operator.NewFilter(even, "a.n % 2 = 0", input, log)
		for _, diff := range []int8{1, -1} {
			for n := range int64(2) {
				f.Process(0, operator.Record{TS: n, Diff: diff, Past: true, Row: encode([]any{n})})
			}
		}
		require.Equal(t, []string{
			"emit @0 [int64(0)] past", "emit @1 [int64(1)] retracted past",
			"emit @0 [int64(0)] retracted past", "emit @1 [int64(1)] retracted past",
		}, log.Take())
		require.Zero(t, f.Stats().Rejected)
	}
}

func TestCutIsAProjectionToTheFirstColumns(t *testing.T) {
	for _, r := range []row.Row{encode([]any{1, "x", 2}), encode([]any{map[string]any{"x": 1}, "x", []any{2}})} {
		log, cut := operatortest.NewLog(), operatortest.NewLog()
		operator.NewProject(func(dst, src row.Row) row.Row { return row.AppendColumns(dst, src, []int{0, 1}) }, "", log).Process(0, operator.Record{TS: 1, Diff: 1, Row: r})
		p := operator.NewCut(2, "a, b", cut)
		p.Process(0, operator.Record{TS: 1, Diff: 1, Row: r})
		require.Equal(t, log.Take(), cut.Take())
		require.Equal(t, operator.Description{Name: "Project", Lines: []string{"a, b", "state: none"}}, p.Describe())
	}
}

func TestProjectKeepsAllButTheRow(t *testing.T) {
	log := operatortest.NewLog()
	p := operator.NewProject(func(dst, src row.Row) row.Row { return row.AppendColumns(dst, src, []int{1, 0, 1}) }, "a.x, a.n, a.x", log)
	p.Process(0, numbered(4))
	past := numbered(5)
	past.Past, past.Diff = true, -1
	p.Process(0, past)
	require.Equal(t, []string{`emit @4 ["x" int(4) "x"] nulls=10 closed=idle`, `emit @5 ["x" int(5) "x"] nulls=10 closed=idle retracted past`}, log.Take())
	require.Equal(t, operator.Description{Name: "Project", Lines: []string{"a.x, a.n, a.x", "state: none"}}, p.Describe())
	_, ok := p.Wake(0, math.MaxInt64)
	require.False(t, ok)
}

// A state filter whose rejection ended a version says so to the history, for an
// older version may come later.
func TestStateFilterEndsVersions(t *testing.T) {
	log := operatortest.NewLog()
	f := operator.NewStateFilter(func(r row.Row) bool { return r.Col(0).Int() > 0 }, "", log)
	rec := func(v int64, diff int8) operator.Record {
		return operator.Record{TS: 7, Diff: diff, Row: row.Append(row.Row{}, value.OfInt(v))}
	}
	f.Process(0, rec(1, 1))
	f.Process(0, rec(0, 1))
	f.Process(0, rec(0, -1))
	require.Equal(t, []string{"emit @7 [int64(1)]", "emit @7 [int64(0)] retracted past"}, log.Take())
	require.Equal(t, int64(2), f.Stats().Rejected)
}
