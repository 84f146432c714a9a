package operator

import (
	"fmt"
	"testing"
)

// BenchmarkJoin feeds two alternating streams, one match a row, with so many
// rows a side in the window.
func BenchmarkJoin(b *testing.B) {
	for _, window := range []int{60_000, 1_000_000} {
		b.Run(fmt.Sprintf("%d rows a side", window), func(b *testing.B) {
			keys := names(window + window/8) // a key returns when its last rows have expired
			j := newBench(b, JoinConfig{Within: int64(window)})
			feed := func(i int) { j.feed(i%2, int64(i/2), keys[i/2%len(keys)]) }
			for i := range 2 * window {
				feed(i)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				feed(2*window + i)
			}
			b.StopTimer()
			st := j.Stats()
			b.ReportMetric(float64(st.Bytes)/float64(st.Rows), "B/row")
		})
	}
}
