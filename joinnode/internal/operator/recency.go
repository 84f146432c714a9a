package operator

import (
	"fmt"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// RecencyConfig says which rows a Recency lets in. The plan is its only writer.
type RecencyConfig struct {
	Bounds []Bound // all must hold
	Keys   int     // the first Keys columns are the table's key, 0 for a stream
	Text   string  // the comparisons as EXPLAIN shows them
}

// Bound is one comparison of a row with now().
type Bound struct {
	// At returns the instant that now() is compared with, ns; false when the row
	// has none (NULL, out of range): then the comparison never holds.
	At func(row.Row) (ns int64, ok bool)
	// Enter says that the row is in once now() is past At, not until then.
	Enter bool
	// Inclusive says that the row is in at At itself.
	Inclusive bool
}

// Recency lets rows in and out as the script's now() passes.
type Recency struct {
	cfg RecencyConfig
	out Output
}

// NewRecency returns an empty operator that writes to out. Its errors are
// ErrConfig.
func NewRecency(cfg RecencyConfig, out Output) (*Recency, error) {
	if len(cfg.Bounds) == 0 || cfg.Keys < 0 {
		return nil, fmt.Errorf("%w: recency: needs at least one bound and no negative number of keys", ErrConfig)
	}
	return &Recency{cfg: cfg, out: out}, nil
}

// Advance implements Operator.
func (r *Recency) Advance(port int, p Progress) {}

// Process implements Operator.
func (r *Recency) Process(port int, rec Record) {}

// EndStep implements Operator.
func (r *Recency) EndStep() {}

// Wake implements Operator.
func (r *Recency) Wake(port int, need int64) (int64, bool) { return 0, false }

// Flush implements Operator.
func (r *Recency) Flush(int, CloseReason) {}

// Stats implements Operator.
func (r *Recency) Stats() Stats { return Stats{} }

// Read implements Reader.
func (r *Recency) Read(yield func(row.Row) bool) {}

// Describe implements Operator.
func (r *Recency) Describe() Description {
	return Description{Name: "Recency", Lines: lines(r.cfg.Text, "state: the rows until they leave")}
}
