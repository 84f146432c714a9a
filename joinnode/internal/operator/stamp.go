package operator

import (
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// StampConfig says what a Stamp appends.
type StampConfig struct {
	TS  bool // the record's time, ns since the epoch
	Seq bool // the record's order of entry on the edge
}

// Stamp makes the time and the order of entry of a record columns of its row, so
// that operators behind it can order and key rows by them. It has one port and
// no state; progress passes at once.
type Stamp struct {
	cfg StampConfig
	out Output
	row row.Row // memory of the last row
}

// NewStamp returns a stamp. It appends one Int column for each choice of cfg, TS
// before Seq.
func NewStamp(cfg StampConfig, out Output) (*Stamp, error) {
	return &Stamp{cfg: cfg, out: out}, nil
}

// Advance implements Operator.
func (s *Stamp) Advance(_ int, p Progress) { s.out.Advance(p) }

// Process implements Operator.
func (s *Stamp) Process(_ int, rec Record) {
	// The new columns have no Go values, so the row's own Side serves on.
	s.row.Enc = append(s.row.Enc[:0], rec.Row.Enc...)
	s.row.Side = rec.Row.Side
	if s.cfg.TS {
		s.row = row.Append(s.row, value.OfInt(rec.TS))
	}
	if s.cfg.Seq {
		s.row = row.Append(s.row, value.OfInt(int64(rec.Seq)))
	}
	rec.Row = s.row
	s.row.Side = nil
	s.out.Emit(rec)
}

// EndStep implements Operator.
func (s *Stamp) EndStep() {}

// Wake implements Operator: the output reaches what the port reaches.
func (s *Stamp) Wake(_ int, need int64) (int64, bool) { return need, need != farthest }

// Flush implements Operator: nothing waits here.
func (s *Stamp) Flush(int, CloseReason) {}

// Stats implements Operator.
func (s *Stamp) Stats() Stats { return Stats{} }

// Describe implements Operator.
func (s *Stamp) Describe() Description {
	var what string
	switch {
	case s.cfg.TS && s.cfg.Seq:
		what = "the row's time and order of entry become columns"
	case s.cfg.TS:
		what = "the row's time becomes a column"
	case s.cfg.Seq:
		what = "the row's order of entry becomes a column"
	}
	return Description{Name: "Stamp", Lines: lines(what, "state: none")}
}
