package operator

import (
	"fmt"
	"time"
)

// Lateness stands in front of a port of a WITHIN join. The inputs of a script do
// not drop late rows (docs/tables.md), but a join that forgot what they would
// have matched must not see them: rows more than within behind the greatest time
// of the port are dropped as Late. Beyond that time it has no state; progress
// passes at once.
type Lateness struct {
	within int64
	text   string
	out    Output
	seen   int64
}

// NewLateness returns a lateness check for a join of within ns; text, which may
// be empty, is what EXPLAIN shows of it.
func NewLateness(within int64, text string, out Output) (*Lateness, error) {
	if within < 0 {
		return nil, fmt.Errorf("%w: lateness: within must not be negative, is %d", ErrConfig, within)
	}
	return &Lateness{within: within, text: text, out: out, seen: unseen}, nil
}

// Advance implements Operator.
func (l *Lateness) Advance(_ int, p Progress) {
	l.seen = max(l.seen, p.Seen)
	l.out.Advance(p)
}

// Process implements Operator.
func (l *Lateness) Process(port int, rec Record) {
	switch {
	case rec.Past:
	case rec.TS < subTime(l.seen, l.within):
		l.out.Drop(port, rec, Late, false)
	default:
		l.out.Emit(rec)
	}
}

// EndStep implements Operator.
func (l *Lateness) EndStep() {}

// Wake implements Operator: the output reaches what the port reaches.
func (l *Lateness) Wake(_ int, need int64) (int64, bool) { return need, need != farthest }

// Flush implements Operator: nothing waits here.
func (l *Lateness) Flush(int, CloseReason) {}

// Stats implements Operator.
func (l *Lateness) Stats() Stats { return Stats{} }

// Describe implements Operator.
func (l *Lateness) Describe() Description {
	rule := fmt.Sprintf("rows more than %s behind the newest are late", time.Duration(l.within))
	return Description{Name: "Lateness", Lines: lines(l.text, rule, "state: one time")}
}
