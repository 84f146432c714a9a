package model

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestScenariosAreWorthRunning checks that the generator reaches what the
// properties of the engine are meant to compare.
func TestScenariosAreWorthRunning(t *testing.T) {
	seen := map[string]int{}
	shapes := []Shape{
		{Event: true, Odd: true, Depth: 3, Steps: 40},
		{Event: true, Odd: true, JSON: true, Idle: true, Depth: 3, Steps: 40},
		{Odd: true, Depth: 3, Steps: 40},
		{Event: true, Gates: true, Depth: 3, Steps: 40},
		{Gates: true, Where: true, JSON: true, Depth: 2, Steps: 40},
	}
	// Too few draws would make this a test of chance.
	before := flag.Lookup("rapid.checks").Value.String()
	require.NoError(t, flag.Set("rapid.checks", "2000"))
	t.Cleanup(func() { require.NoError(t, flag.Set("rapid.checks", before)) })
	rapid.Check(t, func(t *rapid.T) {
		s := Draw(t, rapid.SampledFrom(shapes).Draw(t, "shape"))
		m := New(s.Query)
		count := func(results []Result) {
			for _, r := range results {
				seen["closed by "+r.Closed]++
			}
		}
		for _, step := range s.Steps {
			if step.Stream == "" {
				count(m.Advance(step.Clock))
			} else {
				count(m.Arrive(Arrival{step.Stream, step.Row, step.Clock}))
			}
		}
		count(m.Stop(s.Stop))
		for name, n := range m.Counters() {
			seen[name] += int(n)
		}
		for _, l := range m.TakeLate() {
			seen["late "+l.Reason]++
		}
	})
	if testing.Verbose() {
		t.Log(seen)
	}
	for _, name := range []string{"closed by ", "closed by window", "closed by idle", "closed by stop",
		"late late", "late bad_timestamp", "late future_timestamp", "late rows_dropped", "late keys_evicted",
		"join_stage1_filtered", "join_stage1_type_mismatch", "join_stage1_left_pending_evicted", "join_stage3_matches_emitted"} {
		require.Positive(t, seen[name], name)
	}
}
