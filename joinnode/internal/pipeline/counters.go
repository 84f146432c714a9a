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
//
// Here are the counters that every query has; what its operators do is counted by
// the graph, under names of its own.
type counters struct {
	p        *Pipeline
	mu       sync.Mutex // held while the registry is brought up to date
	registry *metrics.Registry
	warnings *warnings

	rowsIn  int64
	rowsOut int64
	doors   []*door
	door    []*door      // by input
	refused atomic.Int64 // rows offered after Stop

	// What the registry shows.
	input, output, inputDropped, dropped published
}

// door is where rows of some inputs may find no room.
type door struct {
	place  string       // as the log calls it
	metric string       // that counts the rows
	lost   atomic.Int64 // written by callers
}

func newCounters(p *Pipeline) *counters {
	r := metrics.NewRegistry()
	c := &counters{p: p, registry: r, warnings: newWarnings(p.cfg.Log, p.cfg.Clock)}
	c.input.counter, c.output.counter = r.Counter("input_count"), r.Counter("output_count")
	c.inputDropped.counter, c.dropped.counter = r.Counter("input_dropped_count"), r.Counter("dropped_count")
	return c
}

// addDoor returns a new door for the graph to give to its inputs.
func (c *counters) addDoor(place, metric string) *door {
	d := &door{place: place, metric: metric}
	c.doors = append(c.doors, d)
	return d
}

// overflow counts rows that found no room; callers run it.
func (c *counters) overflow(rows []Row) {
	for i := range rows {
		d := c.door[rows[i].Input]
		d.lost.Add(1)
		c.warnings.loss(d.place, &losses[operator.Overflow], 1, nil)
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
	var overflowed int64
	for _, d := range c.doors {
		overflowed += d.lost.Load()
	}
	c.input.set(c.rowsIn)
	c.output.set(c.rowsOut)
	c.inputDropped.set(overflowed)
	c.dropped.set(overflowed + c.p.graph.publish())
}

// inherit goes on with the old query's counts.
func (c *counters) inherit(old *counters) {
	c.rowsIn, c.rowsOut = old.rowsIn, old.rowsOut
	for _, d := range c.doors {
		for _, o := range old.doors {
			if o.metric == d.metric {
				d.lost.Add(o.lost.Load())
			}
		}
	}
	c.refused.Add(old.refused.Load())
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
	for _, d := range p.counters.doors {
		stats[d.metric] = d.lost.Load()
	}
	stats["refused_after_stop"] = p.counters.refused.Load()
	return stats
}

// published is a metric in the registry with the value that it has from us.
// Counters are given differences, so that others may count into them too.
type published struct {
	value   int64
	counter *metrics.Counter
	gauge   *metrics.Gauge // nil: it is a counter
}

func (p *published) set(v int64) {
	switch delta := v - p.value; {
	case delta == 0:
		return
	case p.gauge != nil:
		p.gauge.Set(v)
	default:
		p.counter.IncBy(delta)
	}
	p.value = v
}
