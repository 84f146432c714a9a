package rows

import (
	"time"

	"github.com/streamjoin/streamjoin/joinnode/bench/harness"
	"github.com/streamjoin/streamjoin/joinnode/bench/workload"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
)

// watermarkJump measures the closing of a million pending LEFT rows at once, per
// NULL row, against a row that meets its partner while as many rows are buffered.
func watermarkJump(r *harness.Run) error {
	pending := r.Scaled(1_000_000, 50_000)
	w, err := newStandard(pending/2, false)
	if err != nil {
		return err
	}
	d, err := newDuel(w, r.Scaled(500_000, 25_000), pending+pending/4)
	if err != nil {
		return err
	}
	keys, err := workload.NewKeys(pending)
	if err != nil {
		return err
	}
	left, err := workload.NewEncoded(pending, keys)
	if err != nil {
		return err
	}
	s, err := workload.New(workload.Config{Window: pending / 2, Keys: pending})
	if err != nil {
		return err
	}
	if err := left.Fill(s); err != nil {
		return err
	}
	for i := range left.Rows {
		left.Rows[i].Port = 0
	}
	var op *bareOperator
	return r.Contest(harness.Contest{
		Per: "row",
		Prepare: func() (int, error) {
			if op, err = newBareOperator(true, within); err != nil {
				return 0, err
			}
			op.feed(left)
			if err := harness.Equal("rows pending", op.join.Stats().Rows, int64(pending)); err != nil {
				return 0, err
			}
			_, err := d.prepare()
			return len(left.Rows), err
		},
		Own: func() (time.Duration, error) {
			jump := left.Rows[pending-1].Nanos() + within + 1
			spent, _ := harness.CPU("engine", func() error {
				op.join.Advance(0, operator.Progress{Seen: jump, Low: jump - within})
				op.join.EndStep()
				return nil
			})
			if err := harness.Equal("rows left behind", op.join.Stats().Rows, 0); err != nil {
				return 0, err
			}
			return spent, harness.Equal("NULL rows", op.out.nulls, int64(pending))
		},
		Other: func() (time.Duration, error) {
			spent, _ := harness.CPU("reference", func() error { d.own.feed(d.chunk); return nil })
			// As if the chunk were as long as the pending rows are many.
			spent = time.Duration(float64(spent) * float64(pending) / float64(len(d.chunk.Rows)))
			return spent, d.checkOwn()
		},
	})
}
