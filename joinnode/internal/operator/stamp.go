package operator

import "github.com/streamjoin/streamjoin/joinnode/internal/row"

// StampConfig says what a Stamp appends, and to what.
type StampConfig struct {
	TS   bool // the record's time, ns since the epoch
	Seq  bool // the record's order of entry on the edge
	Keep int  // of the row the first Keep columns stay; 0 = all
}

// Stamp makes the time and the order of entry of a record columns of its row, so
// that operators behind it can order and key rows by them. It has one port and
// no state; progress passes at once.
type Stamp struct {
	cfg StampConfig
	out Output
	enc []byte // memory of the last row's columns
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
	end := len(rec.Row.Enc)
	if s.cfg.Keep > 0 {
		end = rec.Row.Offset(s.cfg.Keep)
	}
	s.enc = append(s.enc[:0], rec.Row.Enc[:end]...)
	if s.cfg.TS {
		s.enc = row.AppendInt(s.enc, rec.TS)
	}
	if s.cfg.Seq {
		s.enc = row.AppendInt(s.enc, int64(rec.Seq))
	}
	rec.Row.Enc = s.enc
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
