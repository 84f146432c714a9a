package delegate

import (
	"github.com/rulego/streamsql/metrics"

	"github.com/streamjoin/streamjoin/joinnode/internal/warning"
)

// counters count every row that is not processed to its end, under these names
// in GetStats and Metrics, present at zero from the start. Whatever costs rows is
// logged as well, see losses.go.
type counters struct {
	warnings *warning.Log

	late          *metrics.Counter // late_dropped
	badTime       *metrics.Counter // bad_timestamp, also in late_dropped
	futureTime    *metrics.Counter // future_timestamp, also in late_dropped
	unfinished    *metrics.Counter // window_rows_unfinished: in windows without end at Stop
	expired       *metrics.Counter // window_rows_expired: by STATETTL
	panics        *metrics.Counter // row_panics: rows whose evaluation panicked, also in row_errors
	failed        *metrics.Counter // row_errors: rows whose evaluation failed
	expressions   *metrics.Counter // expression_errors: calls in WHERE, CASE and conditions that became NULL by an error
	whereFailed   *metrics.Counter // where_errors: rows that WHERE rejected with such an error
	sinkPanics    *metrics.Counter // sink_panics
	inputDropped  *metrics.Counter // streamsql's input_dropped_count
	outputDropped *metrics.Counter // streamsql's output_dropped_count
	input         *metrics.Counter // streamsql's input_count
}

// own are the names that streamsql's statistics do not have.
var own = []string{"late_dropped", "bad_timestamp", "future_timestamp", "window_rows_unfinished",
	"window_rows_expired", "row_panics", "row_errors", "expression_errors", "where_errors", "sink_panics"}

func newCounters(r *metrics.Registry, w *warning.Log) *counters {
	return &counters{
		warnings: w,

		late: r.Counter("late_dropped"), badTime: r.Counter("bad_timestamp"), futureTime: r.Counter("future_timestamp"),
		unfinished: r.Counter("window_rows_unfinished"),
		expired:    r.Counter("window_rows_expired"), panics: r.Counter("row_panics"), failed: r.Counter("row_errors"),
		expressions: r.Counter("expression_errors"), whereFailed: r.Counter("where_errors"),
		sinkPanics: r.Counter("sink_panics"), inputDropped: r.Counter("input_dropped_count"), outputDropped: r.Counter("output_dropped_count"),
		input: r.Counter("input_count"),
	}
}
