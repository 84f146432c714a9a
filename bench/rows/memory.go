package rows

import (
	"math/rand/v2"
	"runtime"

	"github.com/streamjoin/streamjoin/joinnode/bench/harness"
	"github.com/streamjoin/streamjoin/joinnode/bench/workload"
)

// storeSQL keeps two value columns of each stream beside the key.
const storeSQL = `SELECT t.deviceId, t.temperature, t.humidity, v.vibration, v.humidity AS outside
	FROM temperatures AS t JOIN vibrations AS v WITHIN 30 SECONDS ON t.deviceId = v.deviceId
	WITH (TIMESTAMP='ts')`

// apart gives the two streams keys of their own, so that rows are stored and
// never meet.
func apart(keys int) func(int64) int32 {
	rnd := rand.New(rand.NewPCG(3, 5))
	return func(i int64) int32 { return int32(2*rnd.IntN(keys/2)) + int32(i&1) }
}

// heapPerRow measures the growth of the heap by buffered rows. keys 0 means one
// key a row.
func heapPerRow(keys int, asMaps bool) func(*harness.Run) error {
	return func(r *harness.Run) error {
		n := r.Scaled(1_000_000, 50_000)
		cfg := workload.Config{Window: n / 2, Keys: keys, Key: apart(max(keys, 2))}
		if keys == 0 {
			cfg.Keys, cfg.Key = n, func(i int64) int32 { return int32(i) }
		}
		names, err := workload.NewKeys(cfg.Keys)
		if err != nil {
			return err
		}
		c, err := workload.NewMessages(n/10, names)
		if err != nil {
			return err
		}
		for range r.Rounds {
			if err := heapRound(r, cfg, c, n, asMaps); err != nil {
				return err
			}
		}
		r.Note("%d rows are buffered, half of them a side, none has a match", n)
		return nil
	}
}

func heapRound(r *harness.Run, cfg workload.Config, c *workload.Chunk, n int, asMaps bool) error {
	s, err := workload.New(cfg)
	if err != nil {
		return err
	}
	before := harness.Heap()
	q, err := start(storeSQL)
	if err != nil {
		return err
	}
	defer q.Stop()
	q.countJSON()
	emit := q.emit
	if asMaps {
		emit = q.emitMaps
	}
	for fed := 0; fed < n; fed += len(c.Rows) {
		if err := c.Fill(s); err != nil {
			return err
		}
		if err := emit(c); err != nil {
			return err
		}
	}
	grown := harness.Heap() - before
	stats := q.GetStats()
	if err := harness.Equal("rows buffered", stats["join_stage1_buffered_rows"], int64(n)); err != nil {
		return err
	}
	if err := harness.Equal("results", q.results, 0); err != nil {
		return err
	}
	r.Add(float64(grown) / float64(n))
	r.Figure("State as the engine reports it", "B a row", float64(stats["join_stage1_state_bytes"])/float64(n))
	r.Figure("Distinct keys", "keys", float64(stats["join_stage1_buffered_keys"]))
	runtime.KeepAlive(q)
	return nil
}

func (q *query) emitMaps(c *workload.Chunk) error {
	for i := range c.Rows {
		if err := q.EmitTo(c.Stream(i), c.Map(i)); err != nil {
			return err
		}
	}
	return q.drain()
}

// heapGrowth compares the heap after many rows have passed through the window
// with that after few. New devices come and old ones go all the time.
func heapGrowth(r *harness.Run) error {
	window, early := r.Scaled(60_000, 6000), r.Scaled(100_000, 10_000)
	late := r.Scaled(10_000_000, 200_000)
	rnd := rand.New(rand.NewPCG(7, 11))
	cfg := workload.Config{Window: window, Keys: late/2 + window, Filter: true,
		// A device is heard of for one window and never again.
		Key: func(i int64) int32 { return int32(i/2) + int32(rnd.IntN(window)) }}
	names, err := workload.NewKeys(cfg.Keys)
	if err != nil {
		return err
	}
	c, err := workload.NewMessages(early, names)
	if err != nil {
		return err
	}
	s, err := workload.New(cfg)
	if err != nil {
		return err
	}
	before := harness.Heap()
	q, err := start(standardSQL)
	if err != nil {
		return err
	}
	defer q.Stop()
	q.countJSON()
	var first float64
	for fed := early; fed <= late; fed += early {
		if err := c.Fill(s); err != nil {
			return err
		}
		q.expect(c)
		if err := q.emit(c); err != nil {
			return err
		}
		if fed != early && fed != 2*early && fed <= late-r.Rounds*early {
			continue
		}
		heap := float64(harness.Heap() - before)
		switch {
		case fed == early:
			first = heap
			r.Note("The heap has grown by %.2f MB after %d rows, when %d are in the window", heap/1e6, fed, s.Buffered())
		case fed == 2*early:
			r.Note("By %.2f MB after %d rows, when the window is full with %d rows", heap/1e6, fed, s.Buffered())
		default:
			r.Add(heap / first)
			r.Figure("Growth near the end", "MB", heap/1e6)
		}
	}
	r.Note("%d rows passed, %d results", late, q.results)
	runtime.KeepAlive(q)
	return q.check(s)
}
