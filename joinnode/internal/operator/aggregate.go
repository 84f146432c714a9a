package operator

import "github.com/streamjoin/streamjoin/joinnode/internal/row"

// Aggregate keeps the aggregates of groups of rows. Port 0 takes the rows, +1 and
// −1; port 1 is the script's time and only there with a TTL. The output is a
// state table: the key columns as first spelled, then a column for each
// Aggregation.
type Aggregate struct {
	cfg AggregateConfig
	out Output
}

// NewAggregate returns an aggregate without groups.
func NewAggregate(cfg AggregateConfig, out Output) (*Aggregate, error) {
	if err := cfg.check("aggregate"); err != nil {
		return nil, err
	}
	return &Aggregate{cfg: cfg, out: out}, nil
}

// Advance implements Operator.
func (a *Aggregate) Advance(port int, p Progress) {}

// Process implements Operator.
func (a *Aggregate) Process(port int, rec Record) {}

// EndStep implements Operator.
func (a *Aggregate) EndStep() {}

// Wake implements Operator.
func (a *Aggregate) Wake(port int, need int64) (int64, bool) { return 0, false }

// Flush implements Operator.
func (a *Aggregate) Flush(port int, why CloseReason) {}

// Stats implements Operator.
func (a *Aggregate) Stats() Stats { return Stats{} }

// Describe implements Operator.
func (a *Aggregate) Describe() Description { return Description{Name: "Aggregate"} }

// Read implements Reader.
func (a *Aggregate) Read(yield func(row.Row) bool) {}
