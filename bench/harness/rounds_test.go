package harness

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSummary(t *testing.T) {
	require.Equal(t, "2.00 (1.00–9.00)", Summarize([]float64{9, 1, 2}).String())
	require.Equal(t, "1.50 (1.00–2.00)", Summarize([]float64{2, 1}).String())
	require.Equal(t, "12.3", Summarize([]float64{12.345}).String())
	require.Equal(t, "0.015 (0.0012–400)", Summarize([]float64{400, 0.0012, 0.015}).String())
}

func TestQuantile(t *testing.T) {
	var d []time.Duration
	for i := range 100 {
		d = append(d, time.Duration(100-i))
	}
	require.Equal(t, time.Duration(99), Quantile(d, 0.99))
	require.Equal(t, time.Duration(50), Quantile(d, 0.5))
	require.Equal(t, time.Duration(100), Quantile(d, 1))
	require.Equal(t, time.Duration(7), Quantile([]time.Duration{7}, 0.99))
}

// TestContestTakesTurns: each round measures both on the input made for it, who
// begins alternates, and the first round does not count.
func TestContestTakesTurns(t *testing.T) {
	r := &Run{Rounds: 5}
	var order string
	prepared := 0
	side := func(name string, d time.Duration) func() (time.Duration, error) {
		return func() (time.Duration, error) { order += name; return d * time.Duration(prepared), nil }
	}
	require.NoError(t, r.Contest(Contest{
		Per:     "row",
		Prepare: func() (int, error) { prepared++; return 10, nil },
		Own:     side("o", 30), Other: side("r", 60),
	}))
	require.Equal(t, "orroorroorro", order)
	require.Equal(t, []float64{0.5, 0.5, 0.5, 0.5, 0.5}, r.outcome.Values)
	require.Equal(t, []float64{6, 9, 12, 15, 18}, r.outcome.Own[0].Values)
}

// TestBesideIsNotJudged: rounds of it give figures and no judged number.
func TestBesideIsNotJudged(t *testing.T) {
	r := &Run{Rounds: 5}
	side := func(d time.Duration) func() (time.Duration, error) {
		return func() (time.Duration, error) { return d, nil }
	}
	require.NoError(t, r.Beside("the whole way", "the map", Contest{
		Per:     "row",
		Prepare: func() (int, error) { return 500, nil },
		Own:     side(time.Millisecond), Other: side(4 * time.Millisecond),
	}))
	require.Empty(t, r.outcome.Values)
	require.Equal(t, []Figure{
		{Name: "the whole way", Unit: "rows/s", Values: []float64{5e5, 5e5, 5e5, 5e5, 5e5}},
		{Name: "the whole way takes", Unit: "ns/row", Values: []float64{2000, 2000, 2000, 2000, 2000}},
		{Name: "the whole way over the map", Unit: "×", Values: []float64{0.25, 0.25, 0.25, 0.25, 0.25}},
	}, r.outcome.Own)
}

func TestCPUCountsWork(t *testing.T) {
	spent, err := CPU("test", func() error {
		n := 0
		for begin := time.Now(); time.Since(begin) < 30*time.Millisecond; n++ {
		}
		return nil
	})
	require.NoError(t, err)
	require.Positive(t, spent)
	asleep, err := CPU("test", func() error { time.Sleep(30 * time.Millisecond); return nil })
	require.NoError(t, err)
	require.Less(t, asleep, 25*time.Millisecond)
}

func TestTable(t *testing.T) {
	spec := Spec{Name: "a", What: "speed", Reference: "a snail", Unit: Times, Target: 0.5, Stretch: 0.2, How: "We race."}
	for _, test := range []struct {
		values []float64
		err    error
		want   string
	}{
		{[]float64{0.2, 0.1, 0.3}, nil, "| speed | a snail | ≤ 0.50 × | ≤ 0.20 × | 0.20 (0.10–0.30) × | met, stretch too | — | — |"},
		{[]float64{0.4}, nil, "| speed | a snail | ≤ 0.50 × | ≤ 0.20 × | 0.40 × | met | — | — |"},
		{[]float64{0.6}, nil, "| speed | a snail | ≤ 0.50 × | ≤ 0.20 × | 0.60 × | **not met** | — | — |"},
		{nil, errors.New("fell asleep"), "| speed | a snail | ≤ 0.50 × | ≤ 0.20 × | — | failed | — | — |"},
	} {
		var b bytes.Buffer
		require.NoError(t, Write(&b, Machine{Rounds: 3}, []Result{{Spec: spec, Outcome: Outcome{Values: test.values}, Err: test.err}}))
		require.Contains(t, b.String(), test.want)
		if test.err != nil {
			require.Contains(t, b.String(), fmt.Sprintf("Failed: %v.", test.err))
		}
	}
}
