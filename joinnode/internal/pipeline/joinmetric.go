package pipeline

import (
	"fmt"

	"github.com/rulego/streamsql/metrics"
)

// metric is one counter or gauge of a stage.
type metric int

// The counters of each stage: those that StreamSQL specifies for stream
// joins, then those that the late output and WHERE need, then the rest.
const (
	matchesEmitted metric = iota
	leftTimeoutEmitted
	lateDropped
	inputDropped
	rowsDropped
	keysEvicted
	badTimestamp
	futureTimestamp
	filtered
	leftPendingEvicted
	typeMismatch
	functionErrors
	compositeFiltered
	expired
	rowsEvicted
	memoryDropped
	// The gauges of each stage.
	bufferedRows
	leftWatermark
	rightWatermark
	skew
	bufferedKeys
	stateBytes
	numMetrics

	firstGauge = bufferedRows
)

// String returns the name behind the prefix of the stage.
func (m metric) String() string {
	return [numMetrics]string{
		"matches_emitted", "left_timeout_emitted", "late_dropped", "input_dropped", "rows_dropped", "keys_evicted",
		"bad_timestamp", "future_timestamp", "filtered", "left_pending_evicted", "type_mismatch",
		"function_errors", "composite_filtered", "expired", "rows_evicted", "memory_dropped",
		"buffered_rows", "left_watermark", "right_watermark", "skew", "buffered_keys", "state_bytes",
	}[m]
}

// of spells the metric of stage i (0-based here, 1-based outside) as the seed
// page does.
func (m metric) of(stage int) string { return fmt.Sprintf("join_stage%d_%s", stage+1, m) }

// stageMetrics are the metrics of one stage.
type stageMetrics [numMetrics]published

func newStageMetrics(r *metrics.Registry, stage int) *stageMetrics {
	var s stageMetrics
	for m := range numMetrics {
		if m < firstGauge {
			s[m].counter = r.Counter(m.of(stage))
		} else {
			s[m].gauge = r.Gauge(m.of(stage))
		}
	}
	return &s
}
