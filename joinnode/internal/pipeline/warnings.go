package pipeline

import (
	"sync"
	"time"

	"github.com/rulego/streamsql/logger"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
)

// warnEvery is how often one kind of warning of one stage may be logged.
const warnEvery = 10 * time.Second

// warnings logs each kind of trouble at once when it begins and then at most
// every 10 s, with the number of cases since the last line.
type warnings struct {
	log   logger.Logger
	clock Clock

	mu    sync.Mutex
	kinds map[trouble]*throttle
}

// trouble is one kind of trouble at one stage, or at none.
type trouble struct {
	stage int
	what  string
}

// throttle is the state of one kind of trouble.
type throttle struct {
	last  time.Time // of the last line
	cases int64     // since then
}

func newWarnings(log logger.Logger, clock Clock) *warnings {
	return &warnings{log: log, clock: clock, kinds: map[trouble]*throttle{}}
}

// due counts cases and tells whether it is time for a line, and how many cases
// it stands for.
func (w *warnings) due(t trouble, cases int64) (int64, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	th := w.kinds[t]
	if th == nil {
		th = &throttle{}
		w.kinds[t] = th
	}
	th.cases += cases
	now := w.clock.Now()
	if !th.last.IsZero() && now.Sub(th.last) < warnEvery {
		return 0, false
	}
	cases, th.cases, th.last = th.cases, 0, now
	return cases, true
}

// advice says, for each reason of a drop, what to do about it.
func advice(why operator.Reason) (what, todo string) {
	switch why {
	case operator.Late:
		return "rows came later than WITHIN and were dropped", "enlarge WITHIN, or mend the source's order or clock"
	case operator.BadTimestamp:
		return "rows without a usable TIMESTAMP were dropped", "check the field named by TIMESTAMP, and TIMEUNIT"
	case operator.FutureTimestamp:
		return "rows dated too far in the future were dropped", "mend the source's clock, or set MAXFUTURESKEW"
	case operator.RowsGate:
		return "rows were dropped because joinMaxRows is reached", "raise joinMaxRows, shorten WITHIN, or filter earlier in WHERE"
	case operator.KeyEvicted:
		return "rows of the least recently used keys were evicted, pending LEFT rows among them get no NULL row", "raise joinMaxKeys above the number of keys active within WITHIN"
	case operator.Overflow:
		return "rows found no room in the input queue and were dropped", "use overflow=block, raise bufferSize, or speed up the consumer of the results"
	}
	return why.String(), ""
}

func (w *warnings) drop(stage int, why operator.Reason, rows int64) {
	if n, due := w.due(trouble{stage, why.String()}, rows); due {
		what, todo := advice(why)
		w.log.Warn("join stage %d: %s (%d since the last warning, counter %s); %s", stage+1, what, n, counterOf(why), todo)
	}
}

// counterOf names the counter that shows a reason.
func counterOf(why operator.Reason) string {
	if why == operator.Late {
		return "late_dropped"
	}
	return why.String()
}

func (w *warnings) refused() {
	if n, due := w.due(trouble{what: "refused"}, 1); due {
		w.log.Warn("Emit after Stop: %d rows were not taken; stop the source before the query", n)
	}
}

func (w *warnings) skew(stage int, skew, within int64) {
	if _, due := w.due(trouble{stage, "skew"}, 1); due {
		ahead := "left"
		if skew < 0 {
			ahead, skew = "right", -skew
		}
		w.log.Warn("join stage %d: the %s stream is %s ahead of the other in event time (WITHIN is %s): its rows expire that much too early for the other side, so pairs further apart than %s are missed; align the sources or enlarge WITHIN",
			stage+1, ahead, time.Duration(skew), time.Duration(within), max(time.Duration(within-skew), 0))
	}
}

func (w *warnings) functionErrors(stage int, calls int64, last error) {
	if n, due := w.due(trouble{stage, "function errors"}, calls); due {
		w.log.Warn("join stage %d: %d function calls failed and gave NULL (counter function_errors), the last one with: %v", stage+1, n, last)
	}
}
