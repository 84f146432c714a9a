package rows

import (
	"math/rand/v2"

	"github.com/streamjoin/streamjoin/joinnode/bench/harness"
	"github.com/streamjoin/streamjoin/joinnode/bench/workload"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// hotMatches measures one key with 1,000 rows a side, all of which match.
func hotMatches(r *harness.Run) error {
	const window = 1000
	keys, err := workload.NewKeys(1)
	if err != nil {
		return err
	}
	s, err := workload.New(workload.Config{Window: window, Keys: 1})
	if err != nil {
		return err
	}
	d, err := newDuel(standard{s, keys}, r.Scaled(4000, 1000), 2*window+1000)
	if err != nil {
		return err
	}
	if err := d.contest(r, "match", true); err != nil {
		return err
	}
	return harness.AtLeast("matches a row", float64(d.chunk.Matches)/float64(len(d.chunk.Rows)), window)
}

// hotWork measures how many rows are looked at and entries moved for one key
// with 100,000 rows in the window, of which each row of the other side meets 10.
//
// The right stream lags by almost two windows, so it meets only the oldest left
// rows; left rows come in order or with times shuffled within the window.
func hotWork(shuffled bool) func(*harness.Run) error {
	return func(r *harness.Run) error {
		for round := range uint64(r.Rounds) {
			h, err := newHot(int64(r.Scaled(100_000, 10_000)), shuffled, round)
			if err != nil {
				return err
			}
			if err := h.measure(r); err != nil {
				return err
			}
		}
		return nil
	}
}

const reach = 10 // partners of a row

type hot struct {
	op       *bareOperator
	rnd      *rand.Rand
	rows     int64 // left rows in the window
	within   int64
	shuffled bool
	now      int64              // left watermark
	lagging  int64              // right watermark; 0 = unseen
	times    [2]map[int64]int64 // how many rows of a side have a time
	want     int64              // pairs
	row      row.Row
}

func newHot(rows int64, shuffled bool, seed uint64) (*hot, error) {
	h := &hot{rows: rows, within: rows, shuffled: shuffled, rnd: rand.New(rand.NewPCG(seed, 9)),
		times: [2]map[int64]int64{{}, {}}}
	if shuffled {
		// A row up to Within late stays half as long on average.
		h.within *= 2
	}
	var err error
	if h.op, err = newBareOperator(true, h.within); err != nil {
		return nil, err
	}
	h.row = row.Append(row.Row{}, value.OfText("device-00042"))
	h.row = row.Append(h.row, value.OfNumber([]byte("80.53")))
	h.row = row.Append(h.row, value.OfNumber([]byte("41.20")))
	h.now = 4 * h.within
	for range 2 * h.within {
		h.left()
	}
	return h, harness.AtLeast("rows of the key", float64(h.op.join.Stats().Rows), 0.97*float64(rows))
}

// left feeds a left row.
func (h *hot) left() {
	h.now++
	ts := h.now
	h.op.join.Advance(0, operator.Progress{Seen: h.now, Low: h.now - h.within})
	if h.shuffled {
		ts -= h.rnd.Int64N(h.within)
	}
	// A late row may meet right rows that lag.
	for t := ts - h.within; t <= h.lagging; t++ {
		h.want += h.times[1][t]
	}
	delete(h.times[0], h.now-h.within-1)
	h.times[0][ts]++
	h.op.join.Process(0, operator.Record{TS: ts, Diff: 1, Row: h.row})
	h.op.join.EndStep()
}

// right feeds a right row at ts.
func (h *hot) right(ts int64) {
	for t := max(ts-h.within, h.now-h.within); t <= min(ts+h.within, h.now); t++ {
		h.want += h.times[0][t]
	}
	h.lagging = ts
	h.times[1][ts]++
	h.op.join.Advance(1, operator.Progress{Seen: ts, Low: ts - h.within})
	h.op.join.Process(1, operator.Record{TS: ts, Diff: 1, Row: h.row})
	h.op.join.EndStep()
}

func (h *hot) work() int64 {
	st := h.op.join.Stats()
	return st.Visited + st.Moved
}

func (h *hot) measure(r *harness.Run) error {
	var left, right int64
	for range h.rows {
		at := h.work()
		h.left()
		between := h.work()
		h.right(h.now - 2*h.within + reach - 1)
		left += between - at
		right += h.work() - between
	}
	pairs := h.op.out.results - h.op.out.nulls
	if err := harness.Equal("pairs", pairs, h.want); err != nil {
		return err
	}
	met := float64(pairs) / float64(h.rows)
	if err := harness.AtLeast("partners of a row", met, 0.9*reach); err != nil {
		return err
	}
	perLeft, perRight := float64(left)/float64(h.rows), float64(right)/float64(h.rows)
	r.Figure("A left row, stored and expired", "visits", perLeft)
	r.Figure("A right row that meets the oldest", "visits", perRight)
	r.Figure("Partners of a right row", "rows", met)
	worst := max(perLeft, perRight)
	if !h.shuffled {
		newest := h.now + h.within - reach + 1
		h.right(newest) // expires all that lagged
		at, probes := h.work(), int64(1000)
		for range probes {
			h.right(newest)
		}
		if err := harness.Equal("pairs", h.op.out.results-h.op.out.nulls, h.want); err != nil {
			return err
		}
		perNewest := float64(h.work()-at) / float64(probes)
		r.Figure("A right row that meets the newest", "visits", perNewest)
		worst = max(worst, perNewest)
	}
	r.Add(worst)
	return nil
}
