package rows

import (
	"time"

	"github.com/streamjoin/streamjoin/joinnode/bench/harness"
	"github.com/streamjoin/streamjoin/joinnode/bench/reference"
	"github.com/streamjoin/streamjoin/joinnode/bench/workload"
)

// standard is the workload that the table's rows share.
type standard struct {
	stream *workload.Stream
	keys   *workload.Keys
}

// newStandard makes the workload of window rows a side: keys drawn evenly from
// as many as there are rows a side, so that a row meets one partner on average.
func newStandard(window int, filter bool) (standard, error) {
	keys, err := workload.NewKeys(window)
	if err != nil {
		return standard{}, err
	}
	s, err := workload.New(workload.Config{Window: window, Keys: window, Filter: filter})
	return standard{s, keys}, err
}

// jsonToJSON measures EmitJSON → AddJSONSink against json.Unmarshal.
func jsonToJSON(full, quick int) func(*harness.Run) error {
	return func(r *harness.Run) error {
		window := r.Scaled(full, quick)
		w, err := newStandard(window, true)
		if err != nil {
			return err
		}
		c, err := workload.NewMessages(r.Scaled(240_000, 24_000), w.keys)
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
		if err := checkShape(q.first, "deviceId", "temperature", "vibration"); err != nil {
			return err
		}
		if err := harness.AtLeast("rows in the window", float64(w.stream.Buffered()), 0.97*2*float64(window)); err != nil {
			return err
		}
		from, fed := q.results, 0
		err = r.Contest(harness.Contest{
			Per: "row",
			Prepare: func() (int, error) {
				fed += len(c.Rows)
				return len(c.Rows), c.Fill(w.stream)
			},
			Own: func() (time.Duration, error) {
				q.expect(c)
				spent, err := q.timedEmit(c)
				if err != nil {
					return 0, err
				}
				return spent, q.check(w.stream)
			},
			Other: func() (time.Duration, error) { return unmarshalAll(c) },
		})
		if err != nil {
			return err
		}
		noteWorkload(r, w, c, float64(q.results-from)/float64(fed))
		r.Note("The results of every round are as many as a counter a key says, and WHERE rejected %d rows", q.wantRejected)
		return nil
	}
}

func unmarshalAll(c *workload.Chunk) (time.Duration, error) {
	fields := 0
	spent, err := harness.CPU("reference", func() error {
		for i := range c.Rows {
			n, err := reference.Unmarshal(c.Message(i))
			if err != nil {
				return err
			}
			fields += n
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return spent, harness.Equal("fields decoded", fields, 9*len(c.Rows))
}

func noteWorkload(r *harness.Run, w standard, c *workload.Chunk, perRow float64) {
	r.Note("%d rows are in the window, %.2f results a row, messages of %.0f bytes", w.stream.Buffered(), perRow, c.MessageSize())
}
