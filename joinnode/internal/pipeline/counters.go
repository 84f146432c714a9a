package pipeline

import (
	"sync"
	"sync/atomic"

	"github.com/rulego/streamsql/metrics"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
)

// counters count for one query. The loop owns plain integers and publishes them
// into a metrics registry between steps, so that counting costs no atomics. Stats
// never sees half a step; a reader of the registry itself may.
type counters struct {
	p        *Pipeline
	mu       sync.Mutex // held while the registry is brought up to date
	registry *metrics.Registry
	warnings *warnings

	rowsIn  int64
	rowsOut int64
	drops   [][operator.NumReasons]int64 // by stage
	pending []int64                      // by stage: LEFT rows evicted while they waited

	overflowed []atomic.Int64 // by stage; written by callers
	refused    atomic.Int64   // rows offered after Stop

	// What the registry shows.
	stages                               []*stageMetrics
	input, output, inputDropped, dropped published

	rejected  []int64 // by stage: composite rows that WHERE refused before a reload
	failed    []int64 // by stage: function errors that the warnings know of
	unlike    []int64 // by stage: type mismatches that they know of
	skewSince []int64 // by stage: clock since |skew| is above W/4; 0 = it is not
}

func newCounters(p *Pipeline) *counters {
	n := len(p.plan.Stages)
	r := metrics.NewRegistry()
	c := &counters{p: p, registry: r, warnings: newWarnings(p.cfg.Log, p.cfg.Clock, n),
		drops: make([][operator.NumReasons]int64, n), pending: make([]int64, n), rejected: make([]int64, n), failed: make([]int64, n), unlike: make([]int64, n),
		overflowed: make([]atomic.Int64, n), skewSince: make([]int64, n)}
	for i := range n {
		c.stages = append(c.stages, newStageMetrics(r, i))
	}
	c.input.counter, c.output.counter = r.Counter("input_count"), r.Counter("output_count")
	c.inputDropped.counter, c.dropped.counter = r.Counter("input_dropped_count"), r.Counter("dropped_count")
	return c
}

// drop counts one row that was accepted and then dropped; describe, which may be
// nil, says for the log what is special about it.
func (c *counters) drop(stage int, why operator.Reason, pending bool, describe func() string) {
	c.drops[stage][why]++
	if pending {
		c.pending[stage]++
	}
	if why != operator.Filtered {
		c.warnings.drop(stage, why, 1, describe)
	}
}

// overflow counts rows that found no room; callers run it.
func (c *counters) overflow(rows []Row) {
	for i := range rows {
		stage := c.p.plan.Inputs[rows[i].Input].Stage
		c.overflowed[stage].Add(1)
		c.warnings.drop(stage, operator.Overflow, 1, nil)
	}
}

// Refused counts a row that came after Stop and could not be answered with an
// error.
func (p *Pipeline) Refused() {
	p.counters.refused.Add(1)
	p.counters.warnings.refused()
}

// publish brings the registry up to date.
func (c *counters) publish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	var dropped, overflowed int64
	for i := range c.stages {
		over := c.overflowed[i].Load()
		overflowed += over
		dropped += over + c.publishStage(i, over)
	}
	c.input.set(c.rowsIn)
	c.output.set(c.rowsOut)
	c.inputDropped.set(overflowed)
	c.dropped.set(dropped)
}

// publishStage does so for one stage and returns how many rows it has lost
// behind the queue.
func (c *counters) publishStage(i int, overflowed int64) (lost int64) {
	s, m, d := &c.p.graph.stages[i], c.stages[i], &c.drops[i]
	stats := s.join.Stats()
	late := d[operator.Late] + d[operator.BadTimestamp] + d[operator.FutureTimestamp]
	m[matchesEmitted].set(stats.Matches)
	m[leftTimeoutEmitted].set(stats.LeftTimeouts)
	m[lateDropped].set(late)
	m[inputDropped].set(overflowed)
	m[rowsDropped].set(d[operator.RowsGate])
	m[keysEvicted].set(stats.KeysEvicted)
	m[badTimestamp].set(d[operator.BadTimestamp])
	m[futureTimestamp].set(d[operator.FutureTimestamp])
	m[filtered].set(d[operator.Filtered])
	m[leftPendingEvicted].set(c.pending[i])
	m[typeMismatch].set(s.context.TypeMismatch)
	m[functionErrors].set(s.context.FunctionErrors)
	m[compositeFiltered].set(c.rejectedBy(i))
	m[expired].set(stats.Expired)
	m[rowsEvicted].set(d[operator.KeyEvicted])
	m[memoryDropped].set(d[operator.BytesGate])
	m[bufferedRows].set(stats.Rows)
	m[bufferedKeys].set(stats.Keys)
	m[stateBytes].set(stats.Bytes)
	left, right := c.p.watermark(i, 0), c.p.watermark(i, 1)
	m[leftWatermark].set(seenOrZero(left))
	m[rightWatermark].set(seenOrZero(right))
	c.skew(i, s.within, left, right)
	if failed := s.context.FunctionErrors; failed > c.failed[i] {
		c.warnings.functionErrors(i, failed-c.failed[i], s.context.LastFunctionError)
		c.failed[i] = failed
	}
	if unlike := s.context.TypeMismatch; unlike > c.unlike[i] {
		if c.warnings.mismatches(i, unlike-c.unlike[i], s.context.Example) {
			s.context.Example = nil
		}
		c.unlike[i] = unlike
	}
	return late + d[operator.RowsGate] + d[operator.BytesGate] + d[operator.KeyEvicted]
}

// rejectedBy counts the composite rows that WHERE refused behind stage i.
func (c *counters) rejectedBy(i int) int64 {
	n := c.rejected[i]
	if f := c.p.graph.stages[i].filter; f != nil {
		n += f.Stats().Rejected
	}
	return n
}

func seenOrZero(wm int64) int64 {
	if wm == minTime {
		return 0
	}
	return wm
}

// skewPatience is how long streams may drift apart before a warning, in ns.
const skewPatience = int64(10e9)

// skew shows how far the two sides are apart and warns once it costs matches:
// each side's own watermark ends its rows' lives (semantics.md §4).
func (c *counters) skew(stage int, within, left, right int64) {
	if left == minTime || right == minTime {
		return
	}
	apart := subTime(left, right)
	c.stages[stage][skew].set(apart)
	if !c.p.plan.Time.Event() || max(apart, -apart) <= within/4 {
		c.skewSince[stage] = 0
		return
	}
	if c.skewSince[stage] == 0 {
		c.skewSince[stage] = c.p.now
	}
	if c.p.now-c.skewSince[stage] >= skewPatience {
		c.warnings.skew(stage, apart, within)
	}
}

// Metrics returns the registry of the query's counters and gauges.
func (p *Pipeline) Metrics() *metrics.Registry { return p.counters.registry }

// Stats returns every counter and gauge by name. Watermarks are ns since the
// epoch, 0 where nothing was seen.
func (p *Pipeline) Stats() map[string]int64 {
	p.counters.mu.Lock()
	defer p.counters.mu.Unlock()
	stats := map[string]int64{}
	for name, v := range p.counters.registry.Snapshot() {
		if n, ok := v.(int64); ok {
			stats[name] = n
		}
	}
	for i := range p.counters.overflowed {
		stats[inputDropped.of(i)] = p.counters.overflowed[i].Load()
	}
	stats["refused_after_stop"] = p.counters.refused.Load()
	return stats
}
