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

func TestTemporalJoinOfANewVersionInTheStepOfTheRow(t *testing.T) {
	j := newTemporal(t, true)
	j.row(10, 1, "x")
	j.version(10, 1, "a")
	require.Equal(t, []string{`emit @10 ["x" "a"]`, "advance seen=10 low=10"}, j.to(10))
}

// TestTemporalJoinNeverGivesNullsForAVersionThatIsGone: the history goes back to
// the version that was current at the least Low of both ports.
func TestTemporalJoinNeverGivesNullsForAVersionThatIsGone(t *testing.T) {
	j := newTemporal(t, true)
	j.version(10, "k", "a")
	j.version(20, "k", "b")
	j.ends(15, "gone")
	j.to(25)
	for _, ts := range []int64{9, 15, 19, 20} {
		j.row(ts, "k", ts)
	}
	j.row(14, "gone", "before its end")
	j.row(15, "gone", "after it")
	j.row(14, "never there", "not known either")
	j.row(14, nil, "no key")
	require.Equal(t, []string{
		`drop late port=0 @9 ["k" int64(9)]`,
		`drop late port=0 @14 ["gone" "before its end"]`,
		`drop late port=0 @14 ["never there" "not known either"]`,
		`emit @14 ["no key" ∅] nulls=10`,
		`drop late port=0 @15 ["k" int64(15)]`,
		`emit @15 ["after it" ∅] nulls=10`,
		`drop late port=0 @19 ["k" int64(19)]`,
		`emit @20 [int64(20) "b"]`,
	}, j.to(25))
}

// TestTemporalJoinDoesNotWaitForAnIdlePort, but counts what comes too late for
// the rows that have left, and keeps the history for rows that may come.
func TestTemporalJoinDoesNotWaitForAnIdlePort(t *testing.T) {
	j := newTemporal(t, true)
	j.version(10, "k", "a")
	j.to(10)
	j.row(30, "k", 1)
	j.row(31, "other", 2)
	j.Advance(0, operator.Progress{Seen: 40, Low: 40})
	j.EndStep()
	require.Empty(t, j.log.Take(), "the table may change")
	j.Advance(1, operator.Progress{Seen: 10, Low: 10, Idle: true})
	j.EndStep()
	require.Equal(t, []string{`emit @30 [int(1) "a"]`, `emit @31 [int(2) ∅] nulls=10`, "advance seen=40 low=40"}, j.log.Take())

	late := func(want int64) {
		t.Helper()
		j.EndStep()
		require.Empty(t, j.log.Take())
		require.Equal(t, want, j.Stats().LateVersions)
	}
	j.version(31, "k", "after the row")
	late(0)
	j.past(30, 1, "k", "b")
	late(1)
	j.past(30, 1, "k", "b")
	late(1)
	j.past(30, -1, "k", nil)
	late(2)
	j.version(32, "other", "after the row")
	late(2)
	j.past(31, 1, "other", "at its time")
	late(3)

	j.row(20, "k", 3)
	j.EndStep()
	require.Equal(t, []string{`emit @20 [int(3) "a"]`}, j.log.Take(), "from the history of the idle port")
	j.Advance(0, operator.Progress{Seen: 40, Low: 40, Idle: true})
	j.row(99, "k", 4)
	j.EndStep()
	require.Equal(t, []string{`emit @99 [int(4) "after the row"]`, "advance seen=40 low=40 idle"}, j.log.Take())
}

// TestTemporalJoinTakesAStepsChangeAsOne: a replaced row is no end and a
// beginning, whatever comes first, and a late one is counted once.
func TestTemporalJoinTakesAStepsChangeAsOne(t *testing.T) {
	for name, replace := range map[string]func(j *temporal){
		"old, new":   func(j *temporal) { j.ends(20, "k"); j.version(20, "k", "b") },
		"new, old":   func(j *temporal) { j.version(20, "k", "b"); j.ends(20, "k") },
		"new, older": func(j *temporal) { j.version(20, "k", "b"); j.ends(19, "k") },
	} {
		t.Run(name, func(t *testing.T) {
			j := newTemporal(t, true)
			j.version(10, "k", "a")
			j.row(25, "k", 0)
			j.to(15)
			for port := range 2 {
				j.Advance(port, operator.Progress{Seen: 15, Low: 15, Idle: true})
			}
			j.EndStep()
			require.Contains(t, j.log.Take(), `emit @25 [int(0) "a"]`)
			replace(j)
			j.row(20, "k", 1)
			require.Equal(t, []string{`emit @20 [int(1) "b"]`, "advance seen=30 low=30"}, j.to(30))
			require.Equal(t, int64(1), j.Stats().LateVersions)
			require.Equal(t, int64(1), j.Stats().Rows)
		})
	}
	j := newTemporal(t, true)
	j.version(10, "k", "a")
	j.EndStep()
	j.version(20, "k", "b")
	j.ends(21, "k") // a later end counts
	j.row(20, "k", 1)
	j.row(21, "k", 2)
	require.Equal(t, []string{`emit @20 [int(1) "b"]`, `emit @21 [int(2) ∅] nulls=10`, "advance seen=30 low=30"}, j.to(30))
}

func TestTemporalJoinConfig(t *testing.T) {
	for name, cfg := range map[string]operator.TemporalJoinConfig{
		"no key":         {},
		"unequal keys":   {Keys: [2]int{1, 2}},
		"unknown port":   {Keys: [2]int{1, 1}, Out: []operator.OutCol{{Port: 2}}},
		"unknown column": {Keys: [2]int{1, 1}, Keep: [2]int{2, 1}, Out: []operator.OutCol{{Port: 1, Col: 1}}},
	} {
		_, err := operator.NewTemporalJoin(cfg, operatortest.NewLog())
		require.ErrorIs(t, err, operator.ErrConfig, name)
	}
	j, err := operator.NewTemporalJoin(operator.TemporalJoinConfig{Keys: [2]int{1, 1}, Left: true,
		Text: operator.JoinText{On: "o.u = u.id", Ports: [2]string{"o", "u"}, Kept: [2][]string{nil, {"u.country"}}}}, operatortest.NewLog())
	require.NoError(t, err)
	require.Equal(t, operator.Description{Name: "TemporalJoin LEFT", Lines: []string{
		"on o.u = u.id",
		"version of u as of the time of o",
		"keeps of u: u.country",
		"state: rows of o until both watermarks have reached them",
		"state: the current version of each key of u, older ones until both watermarks have passed them",
	}}, j.Describe())
}
