package rows

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/bench/harness"
	"github.com/streamjoin/streamjoin/joinnode/bench/workload"
)

// absenceDelay measures how long after its due instant the NULL row of a LEFT
// row without a match reaches the sink, in processing time with the real clock.
// Rows are due as evenly as they were sent.
func absenceDelay(r *harness.Run) error {
	within := time.Duration(r.Scaled(2000, 200)) * time.Millisecond
	pending, perTick := r.Scaled(10_000, 2000), r.Scaled(5, 10)
	const tick = time.Millisecond
	q, err := start(fmt.Sprintf(`SELECT c.id, a.code FROM commands AS c LEFT JOIN acks AS a WITHIN %d MS ON c.id = a.id`, within.Milliseconds()))
	if err != nil {
		return err
	}
	defer q.Stop()
	total := (r.Rounds + 2) * pending
	sent, delays := make([]time.Time, total), make([]time.Duration, total)
	var arrived atomic.Int64
	q.AddJSONSink(func(b []byte) {
		now := time.Now()
		id, err := numberBehind(b, `"id":`)
		if err == nil && bytes.Contains(b, []byte(`"code":null`)) {
			// sent is a little before the row's time, so the delay is no less than shown.
			delays[id] = now.Sub(sent[id].Add(within))
			arrived.Add(1)
		}
	})
	var msg []byte
	most := int64(0)
	begin := time.Now()
	for id := 0; id < total; {
		for range perTick {
			msg = fmt.Appendf(msg[:0], `{"id":%d,"command":"open","operator":"station-7"}`, id)
			sent[id] = time.Now()
			if err := q.EmitJSON("commands", msg); err != nil {
				return err
			}
			id++
		}
		if id%1000 == 0 {
			most = max(most, q.GetStats()["join_stage1_buffered_rows"])
		}
		time.Sleep(time.Until(begin.Add(tick * time.Duration(id/perTick))))
	}
	for deadline := time.Now().Add(2*within + 10*time.Second); arrived.Load() < int64(total); {
		if time.Now().After(deadline) {
			return fmt.Errorf("%w: %d of %d NULL rows came", harness.ErrCheck, arrived.Load(), total)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := harness.AtLeast("rows pending at a time", float64(most), 0.9*float64(pending)); err != nil {
		return err
	}
	for i := range r.Rounds {
		round := delays[(i+1)*pending : (i+2)*pending]
		r.Add(milliseconds(harness.Quantile(round, 0.99)))
		r.Figure("Median", "ms", milliseconds(harness.Quantile(round, 0.5)))
		r.Figure("Greatest", "ms", milliseconds(harness.Quantile(round, 1)))
	}
	r.Note("Up to %d rows were pending; %d rows a second were due", most, int(time.Second/tick)*perTick)
	return nil
}

// pairLatency measures the time from the EmitJSON of a pair's last part to the
// sink, at 20,000 rows a second. The caller looks at the clock for the next row's
// moment and lets others run meanwhile, as one does that waits for a network.
func pairLatency(r *harness.Run) error {
	const (
		window = 300_000 // rows a side in 30 s: a row every 50 µs
		pause  = 50 * time.Microsecond
	)
	pairs := r.Scaled(20_000, 4000) // a round
	total := (r.Rounds + 1) * pairs
	keys, err := workload.NewKeys(total)
	if err != nil {
		return err
	}
	s, err := workload.New(workload.Config{Window: window, Keys: total, Key: func(i int64) int32 { return int32(i / 2) }})
	if err != nil {
		return err
	}
	c, err := workload.NewMessages(2*total, keys)
	if err != nil {
		return err
	}
	if err := c.Fill(s); err != nil {
		return err
	}
	q, err := start(`SELECT t.deviceId, t.temperature, v.vibration
		FROM temperatures AS t JOIN vibrations AS v WITHIN 30 SECONDS ON t.deviceId = v.deviceId WITH (TIMESTAMP='ts')`)
	if err != nil {
		return err
	}
	defer q.Stop()
	sent, latencies := make([]time.Time, total), make([]time.Duration, total)
	q.AddJSONSink(func(b []byte) {
		now := time.Now()
		if pair, err := numberBehind(b, `"deviceId":"device-`); err == nil {
			latencies[pair] = now.Sub(sent[pair])
			q.results++
		}
	})
	late := 0
	begin := time.Now()
	for i := range c.Rows {
		for due := begin.Add(pause * time.Duration(i)); time.Now().Before(due); {
			runtime.Gosched()
		}
		if time.Since(begin) > pause*time.Duration(i+2) {
			late++
		}
		sent[i/2] = time.Now()
		if err := q.EmitJSON(c.Stream(i), c.Message(i)); err != nil {
			return err
		}
	}
	took := time.Since(begin)
	if err := q.drain(); err != nil {
		return err
	}
	if err := harness.Equal("results", q.results, c.Matches); err != nil {
		return err
	}
	if err := harness.Equal("pairs", c.Matches, int64(total)); err != nil {
		return err
	}
	for i := range r.Rounds {
		round := latencies[(i+1)*pairs : (i+2)*pairs]
		r.Add(microseconds(harness.Quantile(round, 0.99)))
		r.Figure("Median", "µs", microseconds(harness.Quantile(round, 0.5)))
		r.Figure("p99.9", "µs", microseconds(harness.Quantile(round, 0.999)))
	}
	r.Note("%.0f rows a second were sent, %.1f %% of them more than a row's time late", float64(len(c.Rows))/took.Seconds(), 100*float64(late)/float64(len(c.Rows)))
	return nil
}

// numberBehind reads the number that follows name in b.
func numberBehind(b []byte, name string) (int, error) {
	i := bytes.Index(b, []byte(name))
	if i < 0 {
		return 0, fmt.Errorf("no %s in %s", name, b)
	}
	b = b[i+len(name):]
	end := 0
	for end < len(b) && b[end] >= '0' && b[end] <= '9' {
		end++
	}
	return strconv.Atoi(string(b[:end]))
}
