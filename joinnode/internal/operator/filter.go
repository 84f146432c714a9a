package operator

import "github.com/streamjoin/streamjoin/joinnode/internal/row"

// Filter passes on the records whose row a predicate accepts. It has one port
// and no state; progress passes at once.
//
// Of a table's history (Record.Past) it passes everything: a version that it
// rejects was none from its time on, so it goes on as Past with Diff −1.
type Filter struct {
	pass     func(row.Row) bool
	text     string
	input    bool
	history  bool
	out      Output
	rejected int64
}

// NewFilter returns a filter; text is the predicate as EXPLAIN shows it. An
// input filter hands what it rejects to Output.Drop with reason Filtered; any
// other counts it in Stats.Rejected.
func NewFilter(pass func(row.Row) bool, text string, input bool, out Output) *Filter {
	return &Filter{pass: pass, text: text, input: input, out: out}
}

// NewStateFilter returns a filter of a state table whose versions a temporal join
// may ask for: a row that it rejects also ends what its key had before, for an
// older version may still come that it lets in.
func NewStateFilter(pass func(row.Row) bool, text string, out Output) *Filter {
	return &Filter{pass: pass, text: text, history: true, out: out}
}

// Advance implements Operator.
func (f *Filter) Advance(_ int, p Progress) { f.out.Advance(p) }

// Process implements Operator.
func (f *Filter) Process(port int, rec Record) {
	switch {
	case rec.Past:
		if rec.Diff > 0 && !f.pass(rec.Row) {
			rec.Diff = -1
		}
		f.out.Emit(rec)
	case f.pass(rec.Row):
		f.out.Emit(rec)
	case f.input:
		f.out.Drop(port, rec, Filtered, false)
	default:
		f.rejected++
		if f.history && rec.Diff > 0 {
			rec.Past, rec.Diff = true, -1
			f.out.Emit(rec)
		}
	}
}

// EndStep implements Operator.
func (f *Filter) EndStep() {}

// Wake implements Operator: the output reaches what the port reaches.
func (f *Filter) Wake(_ int, need int64) (int64, bool) { return need, need != farthest }

// Flush implements Operator: nothing waits here.
func (f *Filter) Flush(int, CloseReason) {}

// Stats implements Operator.
func (f *Filter) Stats() Stats { return Stats{Rejected: f.rejected} }

// Describe implements Operator.
func (f *Filter) Describe() Description {
	return Description{Name: "Filter", Lines: lines(f.text, "state: none")}
}

// lines leaves empty lines out.
func lines(all ...string) []string {
	var kept []string
	for _, l := range all {
		if l != "" {
			kept = append(kept, l)
		}
	}
	return kept
}
