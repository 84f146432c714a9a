package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rulego/streamsql/functions"
	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
)

// TestEveryCounterIsThereFromTheStart, at zero, in Stats and in the registry.
func TestEveryCounterIsThereFromTheStart(t *testing.T) {
	s := begin(t, cascade)
	stats := s.Stats()
	want := []string{"input_count", "output_count", "input_dropped_count", "dropped_count", "refused_after_stop"}
	for stage := 1; stage <= 2; stage++ {
		for _, name := range strings.Fields(`matches_emitted left_timeout_emitted late_dropped input_dropped rows_dropped keys_evicted
			buffered_rows left_watermark right_watermark bad_timestamp future_timestamp filtered left_pending_evicted type_mismatch skew
			function_errors composite_filtered expired rows_evicted memory_dropped buffered_keys state_bytes`) {
			want = append(want, fmt.Sprintf("join_stage%d_%s", stage, name))
		}
	}
	require.ElementsMatch(t, want, slices.Collect(maps.Keys(stats)))
	for name, v := range stats {
		require.Zero(t, v, name)
	}
	snapshot := s.Metrics().Snapshot()
	for _, name := range want {
		if name != "refused_after_stop" {
			require.Contains(t, snapshot, name)
		}
	}
	s.Stop()
}

// TestRegistryIsGivenDeltas: somebody else may count into it too.
func TestRegistryIsGivenDeltas(t *testing.T) {
	s := begin(t, inner)
	s.Metrics().Counter("input_count").IncBy(100)
	s.put(t, s.row(0, "a1", 1), s.row(0, "a2", 1))
	s.drain(t)
	s.put(t, s.row(1, "b1", 1))
	s.drain(t)
	require.EqualValues(t, 103, s.Metrics().Counter("input_count").Value())
	require.EqualValues(t, 2, s.Metrics().Counter("join_stage1_matches_emitted").Value())
	require.EqualValues(t, 2, s.Metrics().Counter("output_count").Value())
	s.Stop()
	require.EqualValues(t, 103, s.Metrics().Counter("input_count").Value())
	require.Zero(t, s.Metrics().Gauge("join_stage1_buffered_rows").Value())
}

// TestWarningsAreThrottled: at once, then every 10 s with the number of cases,
// each stage and each kind for itself.
func TestWarningsAreThrottled(t *testing.T) {
	c := newClock()
	s := begin(t, cascade+event, c.use)
	bad := func(input int) {
		s.put(t, s.row(input, "x", 1, "no time"))
		s.drain(t)
	}
	bad(0)
	require.Equal(t, []string{"join stage 1: rows without a usable TIMESTAMP were dropped, the last one with ts = \"no time\" (1 since the last warning, counter bad_timestamp); check the field named by TIMESTAMP, and TIMEUNIT"}, s.log.take())
	bad(0)
	bad(1)
	c.set(10*second - 1)
	bad(0)
	require.Empty(t, s.log.take())
	bad(2)
	require.Equal(t, 1, containing(s.log.take(), "join stage 2: rows without a usable TIMESTAMP were dropped, the last one with ts = \"no time\" (1 since"))
	c.set(10 * second)
	bad(0)
	require.Equal(t, 1, containing(s.log.take(), "join stage 1: rows without a usable TIMESTAMP were dropped, the last one with ts = \"no time\" (4 since"))
	s.put(t, s.row(0, "a", 1, 30*second), s.row(0, "a", 1, 0))
	s.drain(t)
	require.Equal(t, 1, containing(s.log.take(), "join stage 1: rows came later than WITHIN and were dropped (1 since the last warning, counter late_dropped); enlarge WITHIN"))
	s.Stop()
	s.Refused()
	s.Refused()
	require.Equal(t, []string{"Emit after Stop: 1 rows were not taken; stop the source before the query"}, s.log.take())
	require.EqualValues(t, 2, s.Stats()["refused_after_stop"])
}

// TestAdvice: each reason of a loss says what to do, and names a counter that
// there is.
func TestAdvice(t *testing.T) {
	var names []string
	for m := range firstGauge {
		names = append(names, m.String())
	}
	for why, todo := range map[operator.Reason]string{
		operator.Late: "enlarge WITHIN", operator.BadTimestamp: "TIMEUNIT", operator.FutureTimestamp: "MAXFUTURESKEW",
		operator.RowsGate: "raise joinMaxRows", operator.BytesGate: "raise joinMaxBytes", operator.KeyEvicted: "raise joinMaxKeys", operator.Overflow: "overflow=block",
	} {
		require.Contains(t, losses[why].What, "rows")
		require.Contains(t, losses[why].Todo, todo)
		require.Contains(t, names, losses[why].Counter)
	}
}

// TestFunctionErrors are warned of when there are new ones.
func TestFunctionErrors(t *testing.T) {
	require.NoError(t, functions.RegisterCustomFunction("pipeline_test_fails", functions.TypeCustom, "", "", 1, 1,
		func(*functions.FunctionContext, []any) (any, error) { return nil, fmt.Errorf("no such thing") }))
	t.Cleanup(func() { functions.Unregister("pipeline_test_fails") })
	c := newClock()
	s := begin(t, "SELECT pipeline_test_fails(a.id) AS f FROM sa AS a JOIN sb AS b WITHIN 1 HOUR ON a.k = b.k", c.use)
	s.put(t, s.row(0, "a", 1), s.row(1, "b", 1))
	require.Equal(t, []string{`{"f":null}`}, s.drain(t))
	require.Equal(t, 1, containing(s.log.take(), "join stage 1: 1 function calls failed and gave NULL (counter function_errors), the last one with: "))
	s.put(t, s.row(1, "b", 1), s.row(1, "b", 1))
	s.drain(t)
	require.Empty(t, s.log.take())
	c.set(10 * second)
	s.put(t, s.row(1, "b", 2))
	s.drain(t)
	require.Empty(t, s.log.take(), "nothing new")
	s.put(t, s.row(1, "b", 1))
	s.drain(t)
	require.Equal(t, 1, containing(s.log.take(), "3 function calls failed"))
	require.EqualValues(t, 4, s.Stats()["join_stage1_function_errors"])
	s.Stop()
}

// TestTypeMismatches are warned of with an example; the values are those of the
// first case since the line before.
func TestTypeMismatches(t *testing.T) {
	c := newClock()
	s := begin(t, "SELECT a.id AS a FROM sa AS a JOIN sb AS b WITHIN 1 HOUR ON a.k = b.k WHERE a.k < 5 AND a.id <= b.n", c.use)
	s.put(t, s.row(0, "a", 1), s.row(0, "a", "text"))
	s.drain(t)
	require.Equal(t, []string{`join stage 1: values of kinds that do not go together gave NULL, such as the text "text" and the number 5 in a.k < 5 (1 since the last warning, counter type_mismatch); cast, or mend the source`}, s.log.take())
	s.put(t, s.row(1, "b", 1, nil, "n", 80.5), s.row(0, "a", "other"))
	s.drain(t)
	require.Empty(t, s.log.take())
	c.set(10 * second)
	s.put(t, s.row(0, "a", true))
	s.drain(t)
	require.Equal(t, 1, containing(s.log.take(), `join stage 1: values of kinds that do not go together gave NULL, such as the text "a" and the number 80.5 in a.id <= b.n (3 since the last warning, counter type_mismatch); cast`))
	require.EqualValues(t, 4, s.Stats()["join_stage1_type_mismatch"])
	s.Stop()
}

// TestSkew: the gauge at once, the warning after ten seconds above a quarter of
// WITHIN.
func TestSkew(t *testing.T) {
	c := newClock()
	s := begin(t, left+event, c.use)
	both := func(leftTS, rightTS int64) {
		s.put(t, s.row(0, "a", 1, leftTS), s.row(1, "b", 2, rightTS))
		s.drain(t)
	}
	skew := func() int64 { return s.Stats()["join_stage1_skew"] }
	s.put(t, s.row(0, "a", 1, 100*second))
	s.drain(t)
	require.Zero(t, skew(), "one side is not known")
	both(100*second, 98*second)
	require.Equal(t, 2*second, skew())
	c.set(100 * second)
	both(100*second, 98*second)
	require.Empty(t, s.log.take(), "2 s are less than 10 s / 4")

	both(103*second, 100*second)
	c.set(110*second - 1)
	both(103*second, 100*second)
	require.Empty(t, s.log.take(), "not yet for ten seconds")
	c.set(110 * second)
	both(103*second, 100*second)
	require.Equal(t, []string{"join stage 1: the left stream is 3s ahead of the other in event time (WITHIN is 10s): its rows expire that much too early for the other side, so pairs further apart than 7s are missed; align the sources or enlarge WITHIN"}, s.log.take())
	c.set(115 * second)
	both(103*second, 100*second)
	require.Empty(t, s.log.take(), "throttled")

	both(103*second, 103*second) // it recovers …
	c.set(130 * second)
	both(104*second, 120*second) // … and the other side runs ahead
	require.Equal(t, -16*second, skew())
	require.Empty(t, s.log.take(), "ten seconds anew")
	c.set(140 * second)
	both(104*second, 120*second)
	lines := s.log.take()
	require.Equal(t, 1, containing(lines, "the right stream is 16s ahead"))
	require.Equal(t, 1, containing(lines, "further apart than 0s are missed"))
	s.Stop()
}

// TestStatsAreOfOneMoment: what belongs together is never seen half.
func TestStatsAreOfOneMoment(t *testing.T) {
	s := begin(t, inner)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				s.put(t, s.row(i%2, "x", i/2))
			}
		}
	})
	for range 2000 {
		stats := s.Stats()
		require.Equal(t, stats["join_stage1_matches_emitted"], stats["output_count"])
	}
	close(stop)
	wg.Wait()
	s.Stop()
}
