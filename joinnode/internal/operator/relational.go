package operator

import "github.com/streamjoin/streamjoin/joinnode/internal/row"

// RelationalJoin keeps the join of two changing multisets of rows.
type RelationalJoin struct {
	cfg RelationalJoinConfig
	out Output
}

// NewRelationalJoin returns an empty join that writes to out. Its errors are
// ErrConfig.
func NewRelationalJoin(cfg RelationalJoinConfig, out Output) (*RelationalJoin, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	return &RelationalJoin{cfg: cfg, out: out}, nil
}

// Advance implements Operator.
func (j *RelationalJoin) Advance(port int, p Progress) {}

// Process implements Operator.
func (j *RelationalJoin) Process(port int, rec Record) {}

// EndStep implements Operator.
func (j *RelationalJoin) EndStep() {}

// Wake implements Operator.
func (j *RelationalJoin) Wake(port int, need int64) (int64, bool) { return 0, false }

// Flush implements Operator.
func (j *RelationalJoin) Flush(int, CloseReason) {}

// Stats implements Operator.
func (j *RelationalJoin) Stats() Stats { return Stats{} }

// Read implements Reader.
func (j *RelationalJoin) Read(yield func(row.Row) bool) {}
