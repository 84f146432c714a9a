package operator_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// TestPrefetchChangesNothing shows the join what comes, in batches of any size,
// and sometimes what never comes.
func TestPrefetchChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBoth(t, drawConfig(t))
		b.join.PrefetchAlways()
		var prefetcher operator.Prefetcher = b.join
		for range rapid.IntRange(1, 12).Draw(t, "batches") {
			batch := make([]operator.Arrival, rapid.IntRange(0, 40).Draw(t, "rows"))
			now := max(b.wm[0], b.wm[1], 0)
			for i := range batch {
				a := &batch[i]
				a.Port = rapid.IntRange(0, 1).Draw(t, "port")
				now += rapid.Int64Range(0, 2).Draw(t, "later")
				a.Record.TS = now
				if !b.cfg.Clocked {
					a.Record.TS = max(0, now-rapid.Int64Range(0, b.cfg.Within+1).Draw(t, "late by"))
				}
				a.Record.Row = drawRow(t, &b.cfg, a.Port, drawKey)
			}
			prefetcher.Prefetch(batch)
			b.sameStats()
			for i := range batch {
				if a := &batch[i]; rapid.IntRange(0, 9).Draw(t, "comes") > 0 {
					b.arrive(a.Port, a.Record.TS, a.Record.Row)
				}
			}
		}
		prefetcher.Prefetch([]operator.Arrival{{Record: operator.Record{Row: row.Row{}}}})
		b.flush(0)
	})
}
