package joinnode_test

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode"
)

// standing is a clock that never moves: no timer fires.
type standing struct{}

func (standing) Now() time.Time { return time.Unix(1700000000, 0) }

func (standing) AfterFunc(time.Duration, func()) joinnode.Timer { return noTimer{} }

type noTimer struct{}

func (noTimer) Stop() bool { return true }

// allocations measures everything that the process allocates, on whatever
// goroutine, for each of n calls. Of three measurements the least counts: what the
// runtime does beside them, such as emptying pools, is not ours.
func allocations(n int, call func(i int)) float64 {
	least := math.Inf(1)
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range n {
			call(i)
		}
		runtime.ReadMemStats(&after)
		least = min(least, float64(after.Mallocs-before.Mallocs)/float64(n))
	}
	return least
}

// TestAllocationsOfEmitJSON: one object costs the caller nothing that lasts,
// and the loop next to nothing: state grows in chunks.
func TestAllocationsOfEmitJSON(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, c := range []struct {
		name, with string
		budget     float64
	}{
		{"processing time", "", 0.01},
		{"event time", " WITH (TIMESTAMP='ts')", 0.01},
		{"filtered", " WHERE a.v > 100", 0.01},
		{"late", " WITH (TIMESTAMP='bad')", 0.01},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := joinnode.New(joinnode.WithDiscardLog(), joinnode.WithClock(standing{}))
			require.NoError(t, e.Execute("SELECT a.id, b.v FROM sa AS a JOIN sb AS b WITHIN 1 HOUR ON a.k = b.k"+c.with))
			defer e.Stop()
			texts := make([][]byte, 64)
			for i := range texts {
				texts[i] = fmt.Appendf(nil, `{"id":"d%d","k":%d,"v":%d.5,"ts":1700000000000,"more":{"nested":[1,2,3]}}`, i, i%16, i)
			}
			emit := func(i int) {
				if err := e.EmitJSON("sa", texts[i%len(texts)]); err != nil {
					t.Error(err)
				}
			}
			for i := range 20000 {
				emit(i)
			}
			require.NoError(t, e.Drain(t.Context()))
			got := allocations(20000, emit)
			require.LessOrEqual(t, got, c.budget, "allocations per row, loop and emitter included")
			t.Logf("%.4f allocations per row", got)
		})
	}
}

// TestAllocationsOfDelivery: a result reaches a JSON sink without allocations
// of its own.
func TestAllocationsOfDelivery(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	e := joinnode.New(joinnode.WithDiscardLog(), joinnode.WithClock(standing{}))
	require.NoError(t, e.Execute("SELECT a.id AS aid, b.id AS bid, a.v FROM sa AS a JOIN sb AS b WITHIN 1 HOUR ON a.k = b.k"))
	defer e.Stop()
	size, results := 0, 0
	e.AddJSONSink(func(text []byte) { size, results = len(text), results+1 })
	for i := range 100 {
		require.NoError(t, e.EmitJSON("sa", fmt.Appendf(nil, `{"id":"a%d","k":1,"v":1.50}`, i)))
	}
	text := []byte(`{"id":"b","k":1}`)
	emit := func(int) {
		if err := e.EmitJSON("sb", text); err != nil {
			t.Error(err)
		}
	}
	for i := range 200 {
		emit(i)
	}
	require.NoError(t, e.Drain(t.Context()))
	results = 0
	got := allocations(500, emit) / 100
	require.NoError(t, e.Drain(t.Context()))
	require.Equal(t, 3*500*100, results, "three measurements")
	require.Positive(t, size)
	require.LessOrEqual(t, got, 0.005, "allocations per result")
	t.Logf("%.4f allocations per result", got)
}

// TestBytesOfARow: in a window that slides, a row and its match cost no memory
// that is not used again, also where the loop gets large batches and the emitter
// many deliveries at a time, as on one core.
func TestBytesOfARow(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	e := joinnode.New(joinnode.WithDiscardLog())
	require.NoError(t, e.Execute(`SELECT a.k, a.v, b.v AS w FROM sa AS a JOIN sb AS b WITHIN 1 SECONDS ON a.k = b.k
		WHERE a.v >= 1 AND b.v >= 1 WITH (TIMESTAMP='ts', TIMEUNIT='us')`))
	defer e.Stop()
	results := 0
	e.AddJSONSink(func([]byte) { results++ })
	const round = 20_000
	n := 0
	var msg []byte
	feed := func() {
		for range round {
			// A row of each stream every 100 µs; a key comes back after half a window.
			pair := n / 2
			msg = fmt.Appendf(msg[:0], `{"k":"device-%05d","v":57.31,"ts":%d}`, pair%5000, 1700000000000000+100*pair)
			if err := e.EmitJSON([]string{"sa", "sb"}[n%2], msg); err != nil {
				t.Error(err)
			}
			n++
		}
		if err := e.Drain(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for range 3 {
		feed()
	}
	least := math.Inf(1)
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		feed()
		runtime.ReadMemStats(&after)
		least = min(least, float64(after.TotalAlloc-before.TotalAlloc)/round)
	}
	require.Greater(t, results, n, "about two matches a row")
	// The message that the test makes takes 16 bytes: its boxed arguments.
	require.LessOrEqual(t, least, 32.0, "bytes per row")
	t.Logf("%.1f bytes per row", least)
}
