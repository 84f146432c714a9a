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
	whereErrors = warning.Loss{Counter: "where_errors", What: "rows were dropped because WHERE could not be computed for them",
		Todo: "mend what the error names, or test for such values first in WHERE"}
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

// expressionErrors counts what failed in one row. In SELECT that is no loss of the
// row: the columns are NULL. In WHERE it is one when the row is not kept.
func (c *counters) expressionErrors(f failures) {
	c.expressions.IncBy(int64(f.n))
	if f.rejected {
		c.whereFailed.Inc()
		c.warnings.Lost("", &whereErrors, 1, func() string { return "this: " + firstLine(f.last) })
		return
	}
	if n, due := c.warnings.Due(warning.Kind{What: "expression errors"}, int64(f.n)); due {
		c.warnings.Warn("%d expressions failed and gave NULL (counter expression_errors), the last one with: %s", n, firstLine(f.last))
	}
}
