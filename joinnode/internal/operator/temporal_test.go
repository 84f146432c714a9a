package operator_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator/operatortest"
)

// temporal drives a TemporalJoin of rows (key, value).
type temporal struct {
	*operator.TemporalJoin
	log *operatortest.Log
}

func newTemporal(t require.TestingT, left bool) *temporal {
	log := operatortest.NewLog()
	j, err := operator.NewTemporalJoin(operator.TemporalJoinConfig{
		Keys: [2]int{1, 1}, Keep: [2]int{2, 2}, Left: left, Out: []operator.OutCol{{Port: 0, Col: 1}, {Port: 1, Col: 1}},
	}, log)
	require.NoError(t, err)
	return &temporal{j, log}
}

func (j *temporal) row(ts int64, key, v any) {
	j.Process(0, operator.Record{TS: ts, Diff: 1, Row: encode([]any{key, v})})
}

func (j *temporal) version(ts int64, key, v any) {
	j.Process(1, operator.Record{TS: ts, Diff: 1, Row: encode([]any{key, v})})
}

func (j *temporal) ends(ts int64, key any) {
	j.Process(1, operator.Record{TS: ts, Diff: -1, Row: encode([]any{key, nil})})
}

func (j *temporal) past(ts int64, diff int8, key, v any) {
	j.Process(1, operator.Record{TS: ts, Diff: diff, Past: true, Row: encode([]any{key, v})})
}

// to ends a step in which both ports came to low.
func (j *temporal) to(low int64) []string {
	for port := range 2 {
		j.Advance(port, operator.Progress{Seen: low, Low: low})
	}
	j.EndStep()
	return j.log.Take()
}

func TestTemporalJoinTakesTheVersionOfTheTime(t *testing.T) {
	for _, left := range []bool{false, true} {
		j := newTemporal(t, left)
		j.version(1000, "u1", "DE")
		j.version(5000, "u1", "US")
		for _, ts := range []int64{5000, 4999, 999, 1000} {
			j.row(ts, "u1", ts)
		}
		want := []string{`emit @1000 [int64(1000) "DE"]`, `emit @4999 [int64(4999) "DE"]`, `emit @5000 [int64(5000) "US"]`}
		if left {
			want = append([]string{`emit @999 [int64(999) ∅] nulls=10`}, want...)
		}
		require.Equal(t, append(want, "advance seen=6000 low=6000"), j.to(6000))
		require.Empty(t, j.log.Broken)
	}
}

func TestTemporalJoinKnowsThePast(t *testing.T) {
	j := newTemporal(t, false)
	j.version(1000, 1, "a")
	j.to(1000)
	j.version(3000, 1, "b")
	j.EndStep()
	j.past(2000, 1, 1, "c")
	j.EndStep()
	for _, ts := range []int64{3000, 2500, 2000, 1999} {
		j.row(ts, 1, ts)
	}
	require.Equal(t, []string{`emit @1999 [int64(1999) "a"]`, `emit @2000 [int64(2000) "c"]`,
		`emit @2500 [int64(2500) "c"]`, `emit @3000 [int64(3000) "b"]`, "advance seen=3000 low=3000"}, j.to(3000))
}
