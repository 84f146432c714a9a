package delegate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/delegate"
)

func BenchmarkRows(b *testing.B) {
	for name, sql := range map[string]string{
		"direct":   "SELECT a, k FROM s WHERE a > 5 AND k = 'x'",
		"guarded":  "SELECT a, k FROM s WHERE a > 500 OR k = 'x'",
		"tumbling": "SELECT k, sum(a) AS x FROM s GROUP BY k, TumblingWindow('1s') WITH (TIMESTAMP='ts')",
		"counting": "SELECT k, sum(a) AS x FROM s GROUP BY k, CountingWindow(10)",
	} {
		b.Run(name, func(b *testing.B) {
			e := open(b, sql, delegate.Config{})
			r := row{"a": 7.0, "k": "x", "ts": 1_700_000_000_000}
			b.ReportAllocs()
			for i := range b.N {
				r["ts"] = 1_700_000_000_000 + i
				if err := e.Emit(r); err != nil {
					b.Fatal(err)
				}
			}
			require.NoError(b, e.Drain(b.Context()))
			e.Stop()
		})
	}
}
