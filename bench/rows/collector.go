package rows

import (
	"bytes"
	"fmt"
	"runtime/metrics"

	"github.com/streamjoin/streamjoin/joinnode/bench/harness"
	"github.com/streamjoin/streamjoin/joinnode/bench/workload"
)

// collectorShare measures which share of the CPU time goes to the garbage
// collector. Every message is a new slice, as it is where messages come from a
// network: their garbage is what makes the collector run, and what it then costs
// is the state.
func collectorShare(r *harness.Run) error {
	window := r.Scaled(500_000, 25_000)
	w, err := newStandard(window, true)
	if err != nil {
		return err
	}
	c, err := workload.NewMessages(r.Scaled(500_000, 100_000), w.keys)
	if err != nil {
		return err
	}
	q, err := start(standardSQL)
	if err != nil {
		return err
	}
	defer q.Stop()
	q.countJSON()
	if err := q.fill(w.stream, c, 2*window+window/2); err != nil {
		return err
	}
	if err := harness.AtLeast("rows buffered", float64(w.stream.Buffered()), 0.97*2*float64(window)); err != nil {
		return err
	}
	const chunks = 4
	for range r.Rounds {
		var spent collector
		for range chunks {
			if err := c.Fill(w.stream); err != nil {
				return err
			}
			q.expect(c)
			before, err := readCollector()
			if err != nil {
				return err
			}
			for i := range c.Rows {
				if err := q.EmitJSON(c.Stream(i), bytes.Clone(c.Message(i))); err != nil {
					return err
				}
			}
			if err := q.drain(); err != nil {
				return err
			}
			after, err := readCollector()
			if err != nil {
				return err
			}
			spent.add(before, after)
		}
		r.Add(100 * spent.gc / spent.used)
		r.Figure("Collections a round", "", spent.cycles)
		r.Figure("Allocated beside the messages", "B a row", spent.allocated/float64(chunks*len(c.Rows))-messageClass(c))
	}
	r.Note("%d rows are buffered", w.stream.Buffered())
	return q.check(w.stream)
}

// messageClass is what the copy of an average message takes on the heap: Go's
// size classes here are 144, 160 and 176 bytes.
func messageClass(c *workload.Chunk) float64 {
	total := 0
	for i := range c.Rows {
		total += (len(c.Message(i)) + 15) / 16 * 16
	}
	return float64(total) / float64(len(c.Rows))
}

// collector is what the runtime has spent, in seconds, since the start.
type collector struct{ gc, used, cycles, allocated float64 }

func readCollector() (collector, error) {
	samples := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/cpu/classes/total:cpu-seconds"},
		{Name: "/cpu/classes/idle:cpu-seconds"},
		{Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/gc/heap/allocs:bytes"},
	}
	metrics.Read(samples)
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindBad {
			return collector{}, fmt.Errorf("this Go has no metric %s", s.Name)
		}
	}
	return collector{gc: samples[0].Value.Float64(), used: samples[1].Value.Float64() - samples[2].Value.Float64(),
		cycles: float64(samples[3].Value.Uint64()), allocated: float64(samples[4].Value.Uint64())}, nil
}

func (c *collector) add(before, after collector) {
	c.gc += after.gc - before.gc
	c.used += after.used - before.used
	c.cycles += after.cycles - before.cycles
	c.allocated += after.allocated - before.allocated
}
