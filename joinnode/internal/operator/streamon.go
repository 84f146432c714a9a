package operator

import "fmt"

// StreamOnConfig says which changes of a table become rows of a stream.
type StreamOnConfig struct {
	On   Change // Inserted (ON ADD), Updated or Deleted
	Keys int    // the first Keys columns of a row are its key; 0 = the table has one row at most
	Text string // the statement as EXPLAIN shows it
}

// StreamOn is STREAM ON: a row for each key that a step has added to a table, has
// updated in it (both the new row) or deleted from it (the last row), with the
// time of the record that caused it (docs/tables.md). It has one port, which takes
// the changes, and no state beyond the step.
type StreamOn struct {
	cfg   StreamOnConfig
	out   Output
	net   netChange
	relay relay
}

// NewStreamOn returns a StreamOn that writes to out. Its errors are ErrConfig.
func NewStreamOn(cfg StreamOnConfig, out Output) (*StreamOn, error) {
	switch {
	case cfg.On != Inserted && cfg.On != Updated && cfg.On != Deleted:
		return nil, fmt.Errorf("%w: stream on: no change to stream on", ErrConfig)
	case cfg.Keys < 0:
		return nil, fmt.Errorf("%w: stream on: Keys must not be negative, is %d", ErrConfig, cfg.Keys)
	}
	return &StreamOn{cfg: cfg, out: out, net: newNetChange(cfg.Keys), relay: newRelay()}, nil
}

// Advance implements Operator.
func (s *StreamOn) Advance(_ int, p Progress) { s.relay.note(p) }

// Process implements Operator.
func (s *StreamOn) Process(_ int, rec Record) {
	if !rec.Past {
		s.net.add(&rec)
	}
}

// EndStep implements Operator.
func (s *StreamOn) EndStep() {
	s.settle()
	s.relay.pass(s.out)
}

func (s *StreamOn) settle() {
	for i := range s.net.keys {
		res := s.net.result(i)
		if res.what != s.cfg.On || res.what == Updated && equalRow(res.old, res.new) {
			continue
		}
		rec := Record{TS: res.ts, Diff: 1, Row: res.new, Nulls: res.nulls, Why: res.why}
		if res.what == Deleted {
			rec.Row = res.old
		}
		s.out.Emit(rec)
	}
	s.net.reset()
}

// Wake implements Operator.
func (s *StreamOn) Wake(_ int, need int64) (int64, bool) { return s.relay.wake(need) }

// Flush implements Operator: the step's changes leave.
func (s *StreamOn) Flush(int, CloseReason) { s.settle() }

// Stats implements Operator.
func (s *StreamOn) Stats() Stats { return Stats{Bytes: s.net.bytes()} }

// Describe implements Operator.
func (s *StreamOn) Describe() Description {
	name := "StreamOn " + [...]string{Inserted: "ADD", Updated: "UPDATE", Deleted: "DELETE"}[s.cfg.On]
	return Description{Name: name, Lines: lines(s.cfg.Text, "state: none")}
}
