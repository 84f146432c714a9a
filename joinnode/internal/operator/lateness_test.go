package operator_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator/operatortest"
)

func TestLatenessDropsWhatTheJoinHasForgotten(t *testing.T) {
	log := operatortest.NewLog()
	log.Clocked = true // late rows are below Low
	l, err := operator.NewLateness(5, "a", log)
	require.NoError(t, err)
	process := func(ts int64) []string {
		l.Process(0, operator.Record{TS: ts, Diff: 1, Row: encode([]any{"k"})})
		return log.Take()
	}
	require.Equal(t, []string{`emit @0 ["k"]`}, process(0), "nothing was seen yet")
	l.Advance(0, operator.Progress{Seen: 10, Low: 10})
	require.Equal(t, []string{"advance seen=10 low=10"}, log.Take())
	require.Equal(t, []string{`emit @5 ["k"]`}, process(5))
	require.Equal(t, []string{`drop late port=0 @4 ["k"]`}, process(4))
	l.Advance(0, operator.Progress{Seen: math.MaxInt64, Low: math.MaxInt64})
	log.Take()
	require.Equal(t, []string{`drop late port=0 @10 ["k"]`}, process(10))
	l.Process(0, operator.Record{TS: math.MaxInt64, Diff: 1, Past: true})
	require.Empty(t, log.Take(), "history is nothing to a join")
	require.Equal(t, operator.Description{Name: "Lateness", Lines: []string{"a", "rows more than 5ns behind the newest are late", "state: one time"}}, l.Describe())

	_, err = operator.NewLateness(-1, "", log)
	require.ErrorIs(t, err, operator.ErrConfig)
}
