package joinnode_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode"
)

// TestReportedBytesAreThoseOfTheHeap: the gauge state_bytes is within a fifth of
// what rows make the heap grow by, whichever way they come in, so that
// WithJoinMaxBytes bounds what it says. And that is little.
func TestReportedBytesAreThoseOfTheHeap(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector changes what is allocated")
	}
	const n = 300_000
	for _, c := range []struct {
		keys           int
		json, fromMaps int64 // most bytes a row; the maxKeys gate has 16 of each key
	}{
		{10_000, 48, 64},
		{n, 144, 144},
	} {
		json := func(e *joinnode.Streamsql, stream string, i int) error {
			return e.EmitJSON(stream, fmt.Appendf(nil, `{"k":"device-%06d","t":%d.%d,"ts":%d,"site":"north"}`, i%c.keys, i%90, i%7, 1_700_000_000_000+i))
		}
		maps := func(e *joinnode.Streamsql, stream string, i int) error {
			return e.EmitTo(stream, map[string]any{"k": fmt.Sprintf("device-%06d", i%c.keys), "t": float64(i%90) + 0.5, "ts": 1_700_000_000_000 + int64(i), "site": "north"})
		}
		for _, in := range []struct {
			name   string
			emit   func(e *joinnode.Streamsql, stream string, i int) error
			budget int64
		}{{"EmitJSON", json, c.json}, {"EmitTo", maps, c.fromMaps}} {
			t.Run(fmt.Sprintf("%s, %d keys", in.name, c.keys), func(t *testing.T) {
				e := joinnode.New(joinnode.WithDiscardLog(), joinnode.WithClock(standing{}), joinnode.WithJoinMaxKeys(n), joinnode.WithBufferSizes(1000, 1000, 0))
				require.NoError(t, e.Execute("SELECT a.k, a.t, a.ts, b.t AS u, b.ts AS us FROM sa AS a LEFT JOIN sb AS b WITHIN 1 HOUR ON a.k = b.k WITH (TIMESTAMP='ts')"))
				defer e.Stop()
				fill := func(from, to int) {
					for i := from; i < to; i++ {
						require.NoError(t, in.emit(e, "sa", i))
					}
					require.NoError(t, e.Drain(t.Context()))
				}
				fill(0, 1000) // what the queue and the emitter need
				has := func() (heap, reported int64) {
					var m runtime.MemStats
					for range 3 { // what lies in pools goes with the second
						runtime.GC()
					}
					runtime.ReadMemStats(&m)
					return int64(m.HeapAlloc), e.GetStats()["join_stage1_state_bytes"]
				}
				heap, reported := has()
				fill(1000, n)
				heapNow, reportedNow := has()
				heap, reported = heapNow-heap, reportedNow-reported
				require.EqualValues(t, n, e.GetStats()["join_stage1_buffered_rows"])
				t.Logf("%.1f B a row reported, %.1f B on the heap", float64(reported)/n, float64(heap)/n)
				require.InEpsilon(t, heap, reported, 0.2)
				require.LessOrEqual(t, heap/n, in.budget, "bytes a row")
			})
		}
	}
}
