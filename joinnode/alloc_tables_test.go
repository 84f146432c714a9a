package joinnode_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode"
)

// TestAllocationsOfTables: once a table has its keys and their sizes, rows that
// change it, their results and their way through the sink allocate nothing.
func TestAllocationsOfTables(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const keys, round = 1000, 20_000
	for _, c := range []struct {
		name, sql string
		streams   []string // in turns
		results   float64  // a row
	}{
		{"distinct on", `IMPORT A TIMESTAMP ts TIMEUNIT 'us'; T := DISTINCT A ON k ORDER BY ts DESC;`, []string{"A"}, 1},
		{"grouped sum", `T := SELECT k, sum(v) AS total, count(*) AS n FROM A GROUP BY k;`, []string{"A"}, 1},
		{"grouped sum of a distinct on", `IMPORT A TIMESTAMP ts TIMEUNIT 'us'; L := DISTINCT A ON k ORDER BY ts DESC;
			T := SELECT kind, sum(v) AS total FROM L GROUP BY kind;`, []string{"A"}, 1},
		{"filter and projection", `IMPORT A TIMESTAMP ts TIMEUNIT 'us'; L := DISTINCT A ON k ORDER BY ts DESC;
			T := SELECT k, v * 2 AS w FROM L WHERE v < 50;`, []string{"A"}, 5.0 / 9}, // four rows of a key pass, the fifth deletes it,
		{"temporal join", `IMPORT A TIMESTAMP ts TIMEUNIT 'us'; IMPORT B TIMESTAMP ts TIMEUNIT 'us'; V := DISTINCT B ON k ORDER BY ts DESC;
			T := SELECT a.k, a.v, v.v AS w FROM A a TEMPORAL JOIN V v ON a.k = v.k;`, []string{"A", "A", "A", "B"}, 0.75},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := joinnode.New(joinnode.WithDiscardLog(), joinnode.WithClock(standing{}))
			require.NoError(t, e.Execute(c.sql))
			defer e.Stop()
			results := 0
			e.AddResultSink(func(joinnode.Result) { results++ })
			n := 0
			var msg []byte
			feed := func(int) {
				for range round {
					stream := c.streams[n%len(c.streams)]
					key := n / len(c.streams) % keys
					msg = strconv.AppendInt(append(msg[:0], `{"k":"device-`...), int64(10_000+key), 10)
					msg = strconv.AppendInt(append(msg, `","kind":"`...), int64(key%7), 10)
					msg = strconv.AppendInt(append(msg, `","v":`...), int64(10+n%90), 10)
					msg = strconv.AppendInt(append(msg, `.5,"ts":`...), int64(1700000000000000+n), 10)
					msg = append(msg, '}')
					n++
					if err := e.EmitJSON(stream, msg); err != nil {
						t.Error(err)
					}
				}
				if err := e.Drain(t.Context()); err != nil {
					t.Error(err)
				}
			}
			for range 3 {
				feed(0)
			}
			results = 0
			got := allocations(1, feed) / round
			require.InDelta(t, 3*round*c.results, results, 0.01*round, "three measurements")
			require.LessOrEqual(t, got, 0.01, "allocations per row, loop and emitter included")
			t.Logf("%.4f allocations per row", got)
		})
	}
}
