package delegate

import (
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
	"github.com/streamjoin/streamjoin/joinnode/internal/warning"
)

// What a query may lose, and what to do about it. Rows above WithWindowMaxRows
// are streamsql's to log, those of unfinished windows are logged at Stop.
var (
	lateRows = warning.Loss{Counter: "late_dropped", What: "rows came after their window was closed and were dropped",
		Todo: "raise MAXOUTOFORDERNESS or ALLOWEDLATENESS, or mend the source's order or clock"}
	badTimestamps = warning.Loss{Counter: "bad_timestamp", What: "rows without a usable TIMESTAMP were dropped",
		Todo: warning.BadTimestamp}
	futureTimestamps = warning.Loss{Counter: "future_timestamp", What: "rows dated too far in the future were dropped",
		Todo: warning.FutureTimestamp}
	rowErrors = warning.Loss{Counter: "row_errors", What: "rows failed and were dropped",
		Todo: "mend what the error names, or filter such rows in WHERE"}
	expiredRows = warning.Loss{Counter: "window_rows_expired", What: "rows were dropped because their counting window was not filled within STATETTL",
		Todo: "raise STATETTL"}
	overflowed = warning.Loss{Counter: "input_dropped_count", What: "rows found no room in the input queue and were dropped",
		Todo: warning.Overflow}
)

func (c *counters) lateRow() {
	c.late.Inc()
	c.warnings.Lost("", &lateRows, 1, nil)
}

func (c *counters) badTimestamp(field string, v any) {
	c.late.Inc()
	c.badTime.Inc()
	c.warnings.Lost("", &badTimestamps, 1, func() string { return warning.Field(field, value.FromGo(v)) })
}

func (c *counters) futureTimestamp(field string, v any) {
	c.late.Inc()
	c.futureTime.Inc()
	c.warnings.Lost("", &futureTimestamps, 1, func() string { return warning.Field(field, value.FromGo(v)) })
}

func (c *counters) rowError(err error) {
	c.failed.Inc()
	c.warnings.Lost("", &rowErrors, 1, func() string { return "this: " + firstLine(err) })
}

func (c *counters) rowsExpired(n int) {
	c.expired.IncBy(int64(n))
	c.warnings.Lost("", &expiredRows, int64(n), nil)
}

func (c *counters) overflow() {
	c.inputDropped.Inc()
	c.warnings.Lost("", &overflowed, 1, nil)
}

// expressionErrors are no loss of rows: the columns are NULL.
func (c *counters) expressionErrors(n int, last error) {
	c.expressions.IncBy(int64(n))
	if n, due := c.warnings.Due(warning.Kind{What: "expression errors"}, int64(n)); due {
		c.warnings.Warn("%d expressions of SELECT failed and gave NULL (counter expression_errors), the last one with: %s", n, firstLine(last))
	}
}
