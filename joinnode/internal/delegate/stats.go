package delegate

import (
	"github.com/rulego/streamsql/metrics"
	"github.com/rulego/streamsql/stream"
)

// Plan returns the plan that the engine runs.
func (e *Engine) Plan() *Plan { return e.plan }

// IsAggregationQuery reports whether the query has windows.
func (e *Engine) IsAggregationQuery() bool { return e.plan.Kind == Aggregation }

// IsCEPQuery reports whether the query is MATCH_RECOGNIZE.
func (e *Engine) IsCEPQuery() bool { return e.plan.Kind == CEP }

// GetStats returns streamsql's statistics, with the engine's queue in place of
// streamsql's, and the counters of this package. dropped_count has every row that
// was lost, but for those of windows that Stop found unfinished.
func (e *Engine) GetStats() map[string]int64 {
	stats := e.st.GetStats()
	stats[stream.DataChanLen], stats[stream.DataChanCap] = int64(len(e.queue)), int64(cap(e.queue))
	for _, name := range own {
		stats[name] = e.st.MetricsRegistry().Counter(name).Value()
	}
	for _, loss := range [...]string{lateRows.Counter, rowErrors.Counter, expiredRows.Counter, whereErrors.Counter, stream.WindowRowsDroppedCount} {
		stats[stream.DroppedCount] += stats[loss]
	}
	return stats
}

// GetDetailedStats returns streamsql's detailed statistics over GetStats.
func (e *Engine) GetDetailedStats() map[string]any {
	stats := e.st.GetDetailedStats()
	basic := e.GetStats()
	stats[stream.BasicStats] = basic
	if in := basic[stream.InputCount]; in > 0 {
		stats[stream.DropRate] = float64(basic[stream.DroppedCount]) / float64(in) * 100
	}
	stats[stream.DataChanUsage] = 100 * float64(len(e.queue)) / float64(cap(e.queue))
	return stats
}

// Metrics returns streamsql's registry; the counters of this package are in it.
func (e *Engine) Metrics() *metrics.Registry { return e.st.MetricsRegistry() }
