package rows

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/bench/workload"
)

// BenchmarkVertices is the judged part of the rows of table scripts alone, for
// profiles.
func BenchmarkVertices(b *testing.B) {
	for name, t := range map[string]tableCase{"distinct-on": distinctCase, "grouped-sum": sumCase, "temporal": temporalCase} {
		b.Run(name, func(b *testing.B) {
			v, err := newVertices(t.sql)
			require.NoError(b, err)
			t.updates.Keys = t.full
			keys, err := workload.NewKeys(t.full)
			require.NoError(b, err)
			u, err := workload.NewUpdates(t.updates)
			require.NoError(b, err)
			c, err := workload.NewExtracted(240_000, keys, v.extractors())
			require.NoError(b, err)
			for fed := 0; fed < 2*t.full; fed += len(c.Rows) {
				require.NoError(b, c.FillUpdates(u))
				v.feed(c)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				b.StopTimer()
				require.NoError(b, c.FillUpdates(u))
				b.StartTimer()
				v.feed(c)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(c.Rows)), "ns/row")
		})
	}
}
