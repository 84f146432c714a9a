package operator

import (
	"fmt"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// An Expander makes any number of rows of columns from one row. It may keep
// working memory, so it serves one operator.
type Expander interface {
	// Columns returns how many columns each emitted row has.
	Columns() int
	// Expand calls emit with the columns of each row it makes of src, in order.
	// They are valid until emit returns. bad is the number of parts of src that
	// could not be read.
	Expand(src row.Row, emit func(cols row.Row)) (bad int)
}

// UnnestConfig says what an Unnest expands.
type UnnestConfig struct {
	Expander Expander
	// Source are the columns of the row that the rows made of it have in front; nil
	// stands for all. An array is best left out: each element would have a copy.
	Source []int
	Left   bool   // a row of which nothing comes leaves once, with NULLs
	Text   string // as EXPLAIN shows it
}

// Unnest puts rows in the place of each row: its columns with those of each row
// that an Expander makes of it. It has one port and no state; progress passes
// at once. Since equal rows expand equally, what is retracted downstream is what
// was inserted.
//
// What the Expander could not read goes to Output.Drop, once for each part,
// with the whole row; parts of retracted rows were told before.
type Unnest struct {
	cfg  UnnestConfig
	out  Output
	rec  Record  // the one at hand
	src  row.Row // its Source columns
	row  row.Row // memory of the last row
	none row.Row // NULLs
	kept row.Row // memory of src
	emit func(row.Row)
	n    int // rows of the record at hand
}

// NewUnnest returns an operator that writes to out. Its errors are ErrConfig.
func NewUnnest(cfg UnnestConfig, out Output) (*Unnest, error) {
	if cfg.Expander == nil {
		return nil, fmt.Errorf("%w: unnest: no Expander", ErrConfig)
	}
	u := &Unnest{cfg: cfg, out: out}
	u.emit = u.expanded
	for range cfg.Expander.Columns() {
		u.none = row.Append(u.none, value.Value{})
	}
	return u, nil
}

// Advance implements Operator.
func (u *Unnest) Advance(_ int, p Progress) { u.out.Advance(p) }

// Process implements Operator.
func (u *Unnest) Process(port int, rec Record) {
	u.rec, u.n = rec, 0
	u.src = rec.Row
	if u.cfg.Source != nil {
		u.kept = row.AppendColumns(row.Row{Enc: u.kept.Enc[:0], Side: u.kept.Side[:0]}, rec.Row, u.cfg.Source)
		u.src = u.kept
	}
	bad := u.cfg.Expander.Expand(rec.Row, u.emit)
	if u.n == 0 && u.cfg.Left {
		u.expanded(u.none)
	}
	u.rec, u.src = Record{}, row.Row{}
	clear(u.kept.Side)
	if rec.Diff < 0 {
		return
	}
	for range bad {
		u.out.Drop(port, rec, BadElement, false)
	}
	if f, ok := u.cfg.Expander.(*fold); ok {
		for range f.overflowed() {
			u.out.Drop(port, rec, SumOverflow, false)
		}
	}
}

// expanded emits the row at hand with cols behind it.
func (u *Unnest) expanded(cols row.Row) {
	u.n++
	r := row.AppendRow(row.Row{Enc: u.row.Enc[:0], Side: u.row.Side[:0]}, u.src)
	u.row = row.AppendRow(r, cols)
	rec := u.rec
	rec.Row = u.row
	u.out.Emit(rec)
	clear(u.row.Side)
}

// EndStep implements Operator.
func (u *Unnest) EndStep() {}

// Wake implements Operator: the output reaches what the port reaches.
func (u *Unnest) Wake(_ int, need int64) (int64, bool) { return need, need != farthest }

// Flush implements Operator: nothing waits here.
func (u *Unnest) Flush(int, CloseReason) {}

// Stats implements Operator.
func (u *Unnest) Stats() Stats { return Stats{} }

// Describe implements Operator.
func (u *Unnest) Describe() Description {
	d := Description{Name: "Unnest INNER", Lines: lines(u.cfg.Text, "state: none")}
	if u.cfg.Left {
		d.Name = "Unnest LEFT"
	}
	return d
}
