package operator

import "github.com/streamjoin/streamjoin/joinnode/internal/row"

// Project turns every record's row into another one and keeps the rest of the
// record, records of a table's history among them. It has one port and no state; progress passes at once.
type Project struct {
	apply func(dst, src row.Row) row.Row
	cut   int // the first cut columns are the new row; 0: it is what apply makes
	text  string
	out   Output
	row   row.Row // memory of the last row
}

// NewProject returns a projection. apply appends to dst, which is empty, and
// returns it; text is the list of columns as EXPLAIN shows it.
func NewProject(apply func(dst, src row.Row) row.Row, text string, out Output) *Project {
	return &Project{apply: apply, text: text, out: out}
}

// NewCut returns the projection to the first n columns, which copies nothing where
// it need not.
func NewCut(n int, text string, out Output) *Project {
	cols := make([]int, n)
	for i := range cols {
		cols[i] = i
	}
	return &Project{cut: n, text: text, out: out,
		apply: func(dst, src row.Row) row.Row { return row.AppendColumns(dst, src, cols) }}
}

// Advance implements Operator.
func (p *Project) Advance(_ int, progress Progress) { p.out.Advance(progress) }

// Process implements Operator.
func (p *Project) Process(_ int, rec Record) {
	if p.cut > 0 && len(rec.Row.Side) == 0 {
		end := rec.Row.Offset(p.cut)
		rec.Row.Enc = rec.Row.Enc[:end:end]
		p.out.Emit(rec)
		return
	}
	p.row = p.apply(row.Row{Enc: p.row.Enc[:0], Side: p.row.Side[:0]}, rec.Row)
	rec.Row = p.row
	p.out.Emit(rec)
	clear(p.row.Side)
}

// EndStep implements Operator.
func (p *Project) EndStep() {}

// Wake implements Operator: the output reaches what the port reaches.
func (p *Project) Wake(_ int, need int64) (int64, bool) { return need, need != farthest }

// Flush implements Operator: nothing waits here.
func (p *Project) Flush(int, CloseReason) {}

// Stats implements Operator.
func (p *Project) Stats() Stats { return Stats{} }

// Describe implements Operator.
func (p *Project) Describe() Description {
	return Description{Name: "Project", Lines: lines(p.text, "state: none")}
}
