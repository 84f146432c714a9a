package pipeline

import (
	"fmt"
	"sync/atomic"

	"github.com/rulego/streamsql/metrics"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
)

// counters count for one query. The loop owns plain integers and publishes them
// into a metrics registry between steps, so that counting costs no atomics and
// readers never see half a step.
type counters struct {
	p        *Pipeline
	registry *metrics.Registry
	warnings *warnings

	rowsIn  int64
	rowsOut int64
	drops   [][operator.NumReasons]int64 // by stage
	pending []int64                      // by stage: LEFT rows evicted while they waited

	overflowed []atomic.Int64 // by stage; written by callers
	refused    atomic.Int64   // rows offered after Stop

	rejected  []int64 // by stage: composite rows that WHERE refused before a reload
	failed    []int64 // by stage: function errors that the warnings know of
	published map[string]int64
	skewSince []int64 // by stage: clock since |skew| is above W/4; 0 = it is not
}

func newCounters(p *Pipeline) *counters {
	n := len(p.plan.Stages)
	c := &counters{p: p, registry: metrics.NewRegistry(), drops: make([][operator.NumReasons]int64, n), pending: make([]int64, n),
		overflowed: make([]atomic.Int64, n), rejected: make([]int64, n), failed: make([]int64, n), published: map[string]int64{}, skewSince: make([]int64, n)}
	c.warnings = newWarnings(p.cfg.Log, p.cfg.Clock)
	for i := range n {
		for _, name := range append(counterNames(), gaugeNames()...) {
			c.published[stageName(i, name)] = 0
		}
		for _, name := range counterNames() {
			c.registry.Counter(stageName(i, name))
		}
		for _, name := range gaugeNames() {
			c.registry.Gauge(stageName(i, name))
		}
	}
	for _, name := range []string{"input_count", "output_count", "input_dropped_count", "dropped_count"} {
		c.registry.Counter(name)
	}
	return c
}

// stageName spells a metric of stage i (0-based here, 1-based outside) as the
// seed page does.
func stageName(i int, name string) string { return fmt.Sprintf("join_stage%d_%s", i+1, name) }

// counterNames are the counters of each stage: the seed page's, then those that
// semantics.md adds, then ours.
func counterNames() []string {
	return []string{"matches_emitted", "left_timeout_emitted", "late_dropped", "input_dropped", "rows_dropped", "keys_evicted",
		"bad_timestamp", "future_timestamp", "filtered", "left_pending_evicted", "type_mismatch",
		"function_errors", "composite_filtered", "expired", "rows_evicted"}
}

// gaugeNames are the gauges of each stage.
func gaugeNames() []string {
	return []string{"buffered_rows", "left_watermark", "right_watermark", "skew", "buffered_keys", "state_bytes"}
}

// drop counts one row that was accepted and then dropped.
func (c *counters) drop(stage int, why operator.Reason, pending bool) {
	c.drops[stage][why]++
	if pending {
		c.pending[stage]++
	}
	if why != operator.Filtered {
		c.warnings.drop(stage, why, 1)
	}
}

// overflow counts rows that found no room; callers run it.
func (c *counters) overflow(rows []Row) {
	for i := range rows {
		stage := c.p.plan.Inputs[rows[i].Input].Stage
		c.overflowed[stage].Add(1)
		c.warnings.drop(stage, operator.Overflow, 1)
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
	var dropped, overflowed int64
	for i := range c.p.graph.stages {
		s := &c.p.graph.stages[i]
		stats := s.join.Stats()
		d := &c.drops[i]
		late := d[operator.Late] + d[operator.BadTimestamp] + d[operator.FutureTimestamp]
		over := c.overflowed[i].Load()
		c.count(i, "matches_emitted", stats.Matches)
		c.count(i, "left_timeout_emitted", stats.LeftTimeouts)
		c.count(i, "late_dropped", late)
		c.count(i, "input_dropped", over)
		c.count(i, "rows_dropped", d[operator.RowsGate])
		c.count(i, "keys_evicted", stats.KeysEvicted)
		c.count(i, "bad_timestamp", d[operator.BadTimestamp])
		c.count(i, "future_timestamp", d[operator.FutureTimestamp])
		c.count(i, "filtered", d[operator.Filtered])
		c.count(i, "left_pending_evicted", c.pending[i])
		c.count(i, "rows_evicted", d[operator.KeyEvicted])
		c.count(i, "type_mismatch", s.context.TypeMismatch)
		c.count(i, "function_errors", s.context.FunctionErrors)
		c.count(i, "expired", stats.Expired)
		c.count(i, "composite_filtered", c.rejectedBy(i))
		c.gauge(i, "buffered_rows", stats.Rows)
		c.gauge(i, "buffered_keys", stats.Keys)
		c.gauge(i, "state_bytes", stats.Bytes)
		left, right := c.p.watermark(i, 0), c.p.watermark(i, 1)
		c.gauge(i, "left_watermark", seenOrZero(left))
		c.gauge(i, "right_watermark", seenOrZero(right))
		c.skew(i, s.within, left, right)
		dropped += late + d[operator.RowsGate] + d[operator.KeyEvicted] + over
		overflowed += over
		if failed := s.context.FunctionErrors; failed > c.failed[i] {
			c.warnings.functionErrors(i, failed-c.failed[i], s.context.LastFunctionError)
			c.failed[i] = failed
		}
	}
	c.set("input_count", c.rowsIn)
	c.set("output_count", c.rowsOut)
	c.set("input_dropped_count", overflowed)
	c.set("dropped_count", dropped)
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

func (c *counters) count(stage int, name string, v int64) { c.set(stageName(stage, name), v) }

func (c *counters) set(name string, v int64) {
	if delta := v - c.published[name]; delta != 0 {
		c.registry.Counter(name).IncBy(delta)
		c.published[name] = v
	}
}

func (c *counters) gauge(stage int, name string, v int64) {
	full := stageName(stage, name)
	if c.published[full] != v {
		c.registry.Gauge(full).Set(v)
		c.published[full] = v
	}
}

// skewPatience is how long streams may drift apart before a warning, in ns.
const skewPatience = int64(10e9)

// skew shows how far the two sides are apart and warns once it costs matches:
// each side's own watermark ends its rows' lives (semantics.md §4).
func (c *counters) skew(stage int, within, left, right int64) {
	if left == minTime || right == minTime {
		return
	}
	skew := subTime(left, right)
	c.gauge(stage, "skew", skew)
	if !c.p.plan.Time.Event() || max(skew, -skew) <= within/4 {
		c.skewSince[stage] = 0
		return
	}
	if c.skewSince[stage] == 0 {
		c.skewSince[stage] = c.p.now
	}
	if c.p.now-c.skewSince[stage] >= skewPatience {
		c.warnings.skew(stage, skew, within)
	}
}

// Metrics returns the registry of the query's counters and gauges.
func (p *Pipeline) Metrics() *metrics.Registry { return p.counters.registry }

// Stats returns every counter and gauge by name. Watermarks are ns since the
// epoch, 0 where nothing was seen.
func (p *Pipeline) Stats() map[string]int64 {
	stats := map[string]int64{}
	for name, v := range p.counters.registry.Snapshot() {
		if n, ok := v.(int64); ok {
			stats[name] = n
		}
	}
	for i := range p.counters.overflowed {
		stats[stageName(i, "input_dropped")] = p.counters.overflowed[i].Load()
	}
	stats["refused_after_stop"] = p.counters.refused.Load()
	return stats
}
