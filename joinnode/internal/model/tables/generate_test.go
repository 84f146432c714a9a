package tables

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// feed plays one event.
func feed(e *Evaluator, ev Event) error {
	switch {
	case ev.Stop:
		e.Stop(ev.Clock)
	case ev.Stream == "":
		e.Tick(ev.Clock)
	default:
		return e.Arrive(ev.Stream, ev.Row, ev.Clock)
	}
	return nil
}

// Every script that is drawn is one that the evaluator accepts.
func TestEveryScriptIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Draw(t, 0)
		_, err := New(s.Script)
		require.NoError(t, err)
	})
}

// Most tables of most scenarios have rows, whatever statement defines them: a
// comparison of nothing with nothing finds nothing.
func TestMostTablesHaveRows(t *testing.T) {
	defined, filled := map[string]int{}, map[string]int{}
	late, versions, changes := 0, int64(0), map[string]int{}
	for seed := range 800 {
		s := rapid.Custom(func(t *rapid.T) Scenario { return Draw(t, 30) }).Example(seed)
		if len(s.Events) < 8 {
			continue
		}
		full := map[string]bool{}
		e, err := New(s.Script)
		require.NoError(t, err)
		for name, kind := range s.Kinds {
			defined[kind]++
			n := e.tables[name].node
			run := n.run
			n.run = func(n *node) {
				run(n)
				full[name] = full[name] || len(n.changes) > 0
			}
		}
		for _, ev := range s.Events {
			require.NoError(t, feed(e, ev))
		}
		for name := range full {
			filled[s.Kinds[name]] += bit(full[name])
		}
		for _, m := range e.Messages() {
			changes[m.Change]++
		}
		late += bit(len(e.Late()) > 0)
		versions += e.LateVersions()
	}
	for _, kind := range slices.Sorted(maps.Keys(defined)) {
		t.Logf("%-30s %4d of %4d", kind, filled[kind], defined[kind])
		require.Greater(t, defined[kind], 8, kind)
		least := 0.75
		if strings.HasPrefix(kind, "stream on") {
			least = 0.3 // not every table has updates, fewer have deletes
		}
		require.Greater(t, float64(filled[kind]), least*float64(defined[kind]), kind)
	}
	t.Logf("late rows in %d scenarios, %d late versions, %v", late, versions, changes)
	require.Len(t, defined, 21)
	require.Greater(t, late, 80)
	require.Greater(t, versions, int64(20))
	for _, c := range []string{"", "insert", "update", "delete"} {
		require.Greater(t, changes[c], 300, c)
	}
}

func BenchmarkScenario(b *testing.B) {
	var list []Scenario
	for seed := range 300 {
		if s := rapid.Custom(func(t *rapid.T) Scenario { return Draw(t, 30) }).Example(seed); len(s.Events) > 20 {
			list = append(list, s)
		}
	}
	b.ResetTimer()
	for i := range b.N {
		s := list[i%len(list)]
		e, err := New(s.Script)
		require.NoError(b, err)
		for _, ev := range s.Events {
			require.NoError(b, feed(e, ev))
		}
	}
}
