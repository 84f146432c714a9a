package rows

import (
	"runtime"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/bench/harness"
	"github.com/streamjoin/streamjoin/joinnode/bench/workload"
)

// longestRow measures the longest time one row takes in the loop: what the
// pipeline calls for an arrival (Advance, with what it expires, Process,
// EndStep), with a reading of the clock behind each.
func longestRow(r *harness.Run) error {
	window := r.Scaled(1_000_000, 50_000)
	w, err := newStandard(window, false)
	if err != nil {
		return err
	}
	c, err := workload.NewEncoded(r.Scaled(500_000, 25_000), w.keys)
	if err != nil {
		return err
	}
	op, err := newBareOperator(false, within)
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var steps stepTimes
	op.step = steps.step
	round := func() (time.Duration, time.Duration, error) {
		if err := c.Fill(w.stream); err != nil {
			return 0, 0, err
		}
		steps.begin()
		op.feed(c)
		return steps.longest, steps.longestCPU, nil
	}
	var filling time.Duration
	for fed := 0; fed < 2*window+window/2; fed += len(c.Rows) {
		longest, _, err := round()
		if err != nil {
			return err
		}
		filling, steps.all = max(filling, longest), steps.all[:0]
	}
	if err := checkBuffered(op.join.Stats().Rows, w.stream); err != nil {
		return err
	}
	expired := op.join.Stats().Expired
	const chunks = 2
	steps.all = make([]time.Duration, 0, chunks*len(c.Rows))
	for range r.Rounds {
		var longest, onCPU time.Duration
		steps.all = steps.all[:0]
		for range chunks {
			l, onlyCPU, err := round()
			if err != nil {
				return err
			}
			longest, onCPU = max(longest, l), max(onCPU, onlyCPU)
		}
		r.Add(milliseconds(longest))
		r.Figure("Longest in CPU time of the thread", "ms", milliseconds(onCPU))
		r.Figure("p99.99 of a row", "µs", microseconds(harness.Quantile(steps.all, 0.9999)))
	}
	r.Note("%d rows are buffered; the longest row while they were filled in took %.2f ms", w.stream.Buffered(), milliseconds(filling))
	r.Note("Where the wall clock is far above the CPU time, another process had the core")
	return harness.Equal("rows expired", op.join.Stats().Expired-expired, int64(r.Rounds*chunks*len(c.Rows)))
}

// stepTimes reads the clocks behind every step.
type stepTimes struct {
	last       time.Time
	lastCPU    time.Duration
	longest    time.Duration
	longestCPU time.Duration
	all        []time.Duration
}

func (s *stepTimes) begin() {
	s.longest, s.longestCPU = 0, 0
	s.lastCPU, s.last = harness.ThreadCPU(), time.Now()
}

func (s *stepTimes) step() {
	d := time.Since(s.last)
	cpu := harness.ThreadCPU() - s.lastCPU
	s.longest, s.longestCPU = max(s.longest, d), max(s.longestCPU, cpu)
	s.all = append(s.all, d)
	s.lastCPU, s.last = harness.ThreadCPU(), time.Now()
}

func milliseconds(d time.Duration) float64 { return float64(d) / 1e6 }
func microseconds(d time.Duration) float64 { return float64(d) / 1e3 }
