package operator

import "github.com/streamjoin/streamjoin/joinnode/internal/row"

// StreamOnConfig says which changes of a table become rows of a stream.
type StreamOnConfig struct {
	On   Change // Inserted (ON ADD), Updated or Deleted
	Keys int    // the first Keys columns of a row are its key
	Text string // the statement as EXPLAIN shows it
}

// StreamOn is STREAM ON.
type StreamOn struct {
	cfg StreamOnConfig
	out Output
}

// NewStreamOn returns a StreamOn.
func NewStreamOn(cfg StreamOnConfig, out Output) (*StreamOn, error) {
	return &StreamOn{cfg: cfg, out: out}, nil
}

// Advance implements Operator.
func (s *StreamOn) Advance(int, Progress) {}

// Process implements Operator.
func (s *StreamOn) Process(int, Record) {}

// EndStep implements Operator.
func (s *StreamOn) EndStep() {}

// Wake implements Operator.
func (s *StreamOn) Wake(int, int64) (int64, bool) { return 0, false }

// Flush implements Operator.
func (s *StreamOn) Flush(int, CloseReason) {}

// Stats implements Operator.
func (s *StreamOn) Stats() Stats { return Stats{} }

// Describe implements Operator.
func (s *StreamOn) Describe() Description { return Description{Name: "StreamOn"} }

var _ = row.Row{}
