package pipeline

import (
	"time"

	"github.com/rulego/streamsql/logger"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/warning"
)

// warnings logs the losses of a query and what else its user should know, each
// kind of trouble of each place throttled for itself.
type warnings struct {
	log *warning.Log
}

func newWarnings(log logger.Logger, clock Clock) *warnings {
	return &warnings{log: warning.New(log, clock.Now)}
}

// losses says, for each reason for which a stream join drops rows, which counter
// shows it and what to do about it.
var losses = [operator.NumReasons]warning.Loss{
	operator.Late: {Counter: "late_dropped", What: "rows came later than WITHIN and were dropped",
		Todo: "enlarge WITHIN, or mend the source's order or clock"},
	operator.BadTimestamp: {Counter: "bad_timestamp", What: "rows without a usable TIMESTAMP were dropped",
		Todo: warning.BadTimestamp},
	operator.FutureTimestamp: {Counter: "future_timestamp", What: "rows dated too far in the future were dropped",
		Todo: warning.FutureTimestamp},
	operator.RowsGate: {Counter: "rows_dropped", What: "rows were dropped because joinMaxRows is reached",
		Todo: "raise joinMaxRows, shorten WITHIN, or filter earlier in WHERE"},
	operator.BytesGate: {Counter: "memory_dropped", What: "rows were dropped because joinMaxBytes is reached",
		Todo: "raise joinMaxBytes, shorten WITHIN, select fewer columns, or filter earlier in WHERE"},
	operator.KeyEvicted: {Counter: "keys_evicted",
		What: "rows of the least recently used keys were evicted, pending LEFT rows among them get no NULL row",
		Todo: "raise joinMaxKeys above the number of keys active within WITHIN"},
	operator.Overflow: {Counter: "input_dropped", What: "rows found no room in the input queue and were dropped",
		Todo: warning.Overflow},
}

// tableLosses says so for the tables of a script.
var tableLosses = [operator.NumReasons]warning.Loss{
	operator.Late: {Counter: "late_dropped", What: "rows came later than the watermark and were dropped",
		Todo: "set or enlarge MAXOUTOFORDERNESS of their stream (of a WITHIN join: WITHIN), say which field is its time with IMPORT … TIMESTAMP, or mend the source's order"},
	operator.BadTimestamp: {Counter: "bad_timestamp", What: "rows whose time window is unknown were dropped",
		Todo: "check the field that the window is made of, and TIMEUNIT"},
	operator.RowsGate:   losses[operator.RowsGate],
	operator.BytesGate:  losses[operator.BytesGate],
	operator.KeyEvicted: losses[operator.KeyEvicted],
	operator.BadElement: {Counter: "bad_element", What: "elements of arrays were no objects, or what should be an array was none, and were left out",
		Todo: "mend the source"},
	operator.SumOverflow: {Counter: "sum_overflow", What: "rows would have taken a sum of integers out of the range of 64 bits and were not added",
		Todo: "sum decimals, such as x * 1.0, or a larger unit"},
}

// lateVersions is a loss of accuracy: results that left are not revised.
var lateVersions = warning.Loss{Counter: "late_version", What: "changes of tables came after results that they would have changed",
	Todo: "set MAXOUTOFORDERNESS on the stream so that it waits for them, or enlarge IDLETIMEOUT of the table's input"}

// loss warns of rows that were lost at a place of the query; last describes the
// last of them, if it is not nil.
func (w *warnings) loss(place string, l *warning.Loss, rows int64, last func() string) {
	w.log.Lost(place, l, rows, last)
}

func (w *warnings) refused() {
	if n, due := w.log.Due(warning.Kind{What: "refused"}, 1); due {
		w.log.Warn("Emit after Stop: %d rows were not taken; stop the source before the query", n)
	}
}

func (w *warnings) skew(place string, skew, within int64) {
	if _, due := w.log.Due(warning.Kind{Place: place, What: "skew"}, 1); due {
		ahead := "left"
		if skew < 0 {
			ahead, skew = "right", -skew
		}
		w.log.Warn("%s: the %s stream is %s ahead of the other in event time (WITHIN is %s): its rows expire that much too early for the other side, so pairs further apart than %s are missed; align the sources or enlarge WITHIN",
			place, ahead, syntax.FormatDuration(time.Duration(skew)), syntax.FormatDuration(time.Duration(within)),
			syntax.FormatDuration(max(time.Duration(within-skew), 0)))
	}
}

func (w *warnings) functionErrors(place string, calls int64, last error) {
	if n, due := w.log.Due(warning.Kind{Place: place, What: "function errors"}, calls); due {
		w.log.Warn("%s: %d function calls failed and gave NULL (counter function_errors), the last one with: %v", place, n, last)
	}
}

// mismatches tells whether it has written the example.
func (w *warnings) mismatches(place string, cases int64, example *eval.Mismatch) bool {
	n, due := w.log.Due(warning.Kind{Place: place, What: "type mismatch"}, cases)
	switch {
	case !due:
	case example == nil:
		w.log.Warn("%s: %d values of kinds that do not go with an aggregate were left out of it (counter type_mismatch); cast, or mend the source", place, n)
	default:
		w.log.Warn("%s: values of kinds that do not go together gave NULL, such as %s in %s (%d since the last warning, counter type_mismatch); cast, or mend the source",
			place, example.Values, example.SQL, n)
	}
	return due
}
