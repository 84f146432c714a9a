package joinnode_test

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode"
	"github.com/streamjoin/streamjoin/joinnode/internal/model"
)

// checksVariable is the environment variable that says how many random
// scenarios the properties of this file run in all. CI runs 10,000 without
// being told.
const checksVariable = "STREAMJOIN_CHECKS"

func totalChecks(t *testing.T) int {
	t.Helper()
	if text := os.Getenv(checksVariable); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(t, err, checksVariable)
		return n
	}
	if os.Getenv("CI") != "" && !testing.Short() {
		return 10_000
	}
	return 1_000
}

// TestEngineIsTheModel runs random queries over random arrivals and compares
// the results of every step, their order, the late output and all counters
// with the brute-force model.
func TestEngineIsTheModel(t *testing.T) {
	shapes := []struct {
		name  string
		shape model.Shape
	}{
		{"event time", model.Shape{Event: true, Depth: 1, Steps: 60}},
		{"event time cascade", model.Shape{Event: true, Depth: 3, Steps: 60}},
		{"event time odd", model.Shape{Event: true, Odd: true, Depth: 3, Steps: 40}},
		{"event time where", model.Shape{Event: true, Where: true, Odd: true, Depth: 3, Steps: 40}},
		{"event time gates", model.Shape{Event: true, Gates: true, Depth: 2, Steps: 60}},
		{"idle", model.Shape{Event: true, Idle: true, Depth: 3, Steps: 60}},
		{"idle everything", model.Shape{Event: true, Idle: true, Odd: true, Gates: true, Where: true, Depth: 3, Steps: 50}},
		{"processing time", model.Shape{Depth: 3, Steps: 60}},
		{"processing time everything", model.Shape{Odd: true, Gates: true, Where: true, Depth: 3, Steps: 50}},
	}
	long := []struct {
		name  string
		shape model.Shape
	}{
		{"long event time", model.Shape{Event: true, Long: true, Depth: 2, Steps: 600}},
		{"long idle", model.Shape{Event: true, Idle: true, Odd: true, Gates: true, Long: true, Depth: 2, Steps: 600}},
		{"long processing time", model.Shape{Long: true, Odd: true, Depth: 2, Steps: 600}},
	}
	checks := totalChecks(t)/(2*len(shapes)) + 1
	t.Run("many rows", func(t *testing.T) {
		for _, s := range long {
			t.Run(s.name, func(t *testing.T) {
				setChecks(t, checks/30+1)
				rapid.Check(t, func(t *rapid.T) { compare(t, model.Draw(t, s.shape)) })
			})
		}
	})
	for _, s := range shapes {
		for _, asJSON := range []bool{false, true} {
			shape := s.shape
			shape.JSON = asJSON
			name := s.name + map[bool]string{false: " as maps", true: " as JSON"}[asJSON]
			t.Run(name, func(t *testing.T) {
				setChecks(t, checks)
				rapid.Check(t, func(t *rapid.T) { compare(t, model.Draw(t, shape)) })
			})
		}
	}
}

// TestBatchesAreTheModel sends whole scenarios without waiting in between, so
// that rows and timers meet in the loop as they come: the results of it all must
// not depend on that.
func TestBatchesAreTheModel(t *testing.T) {
	setChecks(t, totalChecks(t)/10+1)
	rapid.Check(t, func(t *rapid.T) {
		s := model.Draw(t, rapid.SampledFrom([]model.Shape{
			{Event: true, Idle: true, Odd: true, Gates: true, Where: true, Depth: 3, Steps: 60},
			{Odd: true, Gates: true, Where: true, Depth: 3, Steps: 60},
		}).Draw(t, "shape"))
		clock := newTestClock(model.Epoch)
		e := start(t, s.Query.Text(), false, engineOptions(s.Query, clock)...)
		defer e.Stop()
		m := model.New(s.Query)
		var want []string
		for _, step := range s.Steps {
			clock.Set(step.Clock)
			if step.Stream == "" {
				want = append(want, modelText(m.Advance(step.Clock))...)
				continue
			}
			want = append(want, modelText(m.Arrive(model.Arrival{Stream: step.Stream, Row: step.Row, Clock: step.Clock}))...)
			require.NoError(t, emitStep(e.Streamsql, step))
		}
		clock.Set(s.Stop)
		want = append(want, modelText(m.Stop(s.Stop))...)
		e.Stop()
		require.Equal(t, want, e.take(), s.Query.Text())
	})
}

// setChecks says how many checks rapid does in this test. rapid has a flag for
// that and nothing else.
func setChecks(t *testing.T, n int) {
	t.Helper()
	before := flag.Lookup("rapid.checks").Value.String()
	require.NoError(t, flag.Set("rapid.checks", strconv.Itoa(n)))
	t.Cleanup(func() { require.NoError(t, flag.Set("rapid.checks", before)) })
}

// compare runs one scenario on the model and on the engine.
func compare(t *rapid.T, s model.Scenario) {
	clock := newTestClock(model.Epoch)
	e := start(t, s.Query.Text(), true, engineOptions(s.Query, clock)...)
	defer e.Stop()
	m := model.New(s.Query)
	fail := func(what string, want, got any) {
		var trace strings.Builder
		for _, step := range s.Steps {
			fmt.Fprintf(&trace, "  %s\n", step)
		}
		t.Fatalf("%s\nmaxRows %d maxKeys %d\n%smodel:  %v\nengine: %v\n", s.Query.Text(), s.Query.MaxRows, s.Query.MaxKeys,
			trace.String()+what+"\n", want, got)
	}
	for i, step := range s.Steps {
		clock.Set(step.Clock)
		var want []string
		if step.Stream == "" {
			want = modelText(m.Advance(step.Clock))
		} else {
			want = modelText(m.Arrive(model.Arrival{Stream: step.Stream, Row: step.Row, Clock: step.Clock}))
			if err := emitStep(e.Streamsql, step); err != nil {
				fail("emit: "+step.String(), nil, err)
			}
		}
		at := func(what string) string { return fmt.Sprintf("%s of step %d, %s", what, i, step) }
		if got := e.drain(t); !reflect.DeepEqual(want, got) {
			fail(at("results"), want, got)
		}
		if want, got := lateModel(m.TakeLate()), lateEngine(e.takeLate()); !reflect.DeepEqual(want, got) {
			fail(at("late output"), want, got)
		}
		if step.Stream == "" {
			continue // between rows gauges may lag behind
		}
		stats := e.GetStats()
		for name, want := range m.Counters() {
			if got, ok := stats[name]; !ok || got != want {
				fail(at(name), want, got)
			}
		}
	}
	clock.Set(s.Stop)
	want := modelText(m.Stop(s.Stop))
	e.Stop()
	if got := e.take(); !reflect.DeepEqual(want, got) {
		fail("results of Stop", want, got)
	}
	if want, got := lateModel(m.TakeLate()), lateEngine(e.takeLate()); !reflect.DeepEqual(want, got) {
		fail("late output of Stop", want, got)
	}
	stats := e.GetStats()
	for name, want := range m.Counters() {
		if gauge := strings.HasSuffix(name, "_buffered_rows") || strings.HasSuffix(name, "_watermark"); gauge {
			continue // what they say of an engine that has ended is nobody's business
		}
		if got := stats[name]; got != want {
			fail(name+" after Stop", want, got)
		}
	}
}

func emitStep(e *joinnode.Streamsql, step model.Step) error {
	if step.JSON != nil {
		return e.EmitJSON(step.Stream, step.JSON)
	}
	return e.EmitTo(step.Stream, step.Row)
}

func engineOptions(q model.Query, clock joinnode.Clock) []joinnode.Option {
	opts := []joinnode.Option{joinnode.WithClock(clock)}
	if q.MaxRows > 0 {
		opts = append(opts, joinnode.WithJoinMaxRows(q.MaxRows))
	}
	if q.MaxKeys > 0 {
		opts = append(opts, joinnode.WithJoinMaxKeys(q.MaxKeys))
	}
	return opts
}

func lateModel(rows []model.Late) []string {
	var texts []string
	for _, l := range rows {
		texts = append(texts, lateText(l.Stream, l.Reason, l.TS, l.Watermark))
	}
	return texts
}

func lateEngine(rows []joinnode.LateRow) []string {
	var texts []string
	for _, l := range rows {
		texts = append(texts, lateText(l.Stream, l.Reason, l.TS, l.Watermark))
	}
	return texts
}

func lateText(stream, reason string, ts, watermark int64) string {
	return fmt.Sprintf("%q %s ts %d watermark %d", stream, reason, ts, watermark)
}
