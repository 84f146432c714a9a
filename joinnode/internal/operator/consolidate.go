package operator

import (
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// Consolidate lets equal rows of a state edge that were inserted and retracted in
// one step cancel each other, whatever their keys. It stands behind a projection
// that drops columns, in front of operators to which it matters that a row was not
// touched: a change of a dropped column must neither come late to a time window
// that has left, nor move a row to the end of its group. It has one port, and state
// within a step only.
type Consolidate struct {
	out   Output
	rows  []consolidated
	index map[string]int // by the bytes of rows without Go values, as number + 1
	enc   []byte
	side  []any
	own   row.Row
	relay relay
}

// consolidated is a row with what is left of its changes.
type consolidated struct {
	enc, side [2]int // from, to
	diff      int
	rec       Record // of the last change, without its row
}

// NewConsolidate returns a Consolidate that writes to out.
func NewConsolidate(out Output) *Consolidate {
	return &Consolidate{out: out, index: map[string]int{}, relay: newRelay()}
}

// Advance implements Operator.
func (c *Consolidate) Advance(_ int, p Progress) { c.relay.note(p) }

// Process implements Operator.
func (c *Consolidate) Process(_ int, rec Record) {
	if rec.Past {
		return
	}
	r := own(c.own, rec.Row)
	if len(r.Side) > 0 {
		c.own = r
	}
	x := c.find(r)
	x.diff += int(rec.Diff)
	ts := rec.TS
	if x.rec.Diff != 0 {
		ts = max(ts, x.rec.TS)
	}
	x.rec = rec
	x.rec.TS, x.rec.Row = ts, row.Row{}
}

// find returns the entry of a row, a new one if it has not come in this step.
func (c *Consolidate) find(r row.Row) *consolidated {
	if len(r.Side) == 0 {
		if at := c.index[string(r.Enc)]; at > 0 {
			return &c.rows[at-1]
		}
	} else {
		for i := range c.rows {
			if sameRow(c.row(&c.rows[i]), r) {
				return &c.rows[i]
			}
		}
	}
	x := consolidated{enc: [2]int{len(c.enc), len(c.enc) + len(r.Enc)}, side: [2]int{len(c.side), len(c.side) + len(r.Side)}}
	c.enc, c.side = append(c.enc, r.Enc...), append(c.side, r.Side...)
	c.rows = append(c.rows, x)
	if len(r.Side) == 0 {
		c.index[string(r.Enc)] = len(c.rows)
	}
	return &c.rows[len(c.rows)-1]
}

func (c *Consolidate) row(x *consolidated) row.Row {
	return row.Row{Enc: c.enc[x.enc[0]:x.enc[1]:x.enc[1]], Side: c.side[x.side[0]:x.side[1]:x.side[1]]}
}

// EndStep implements Operator: what is left goes on, retractions first.
func (c *Consolidate) EndStep() {
	c.settle()
	c.relay.pass(c.out)
}

func (c *Consolidate) settle() {
	for _, sign := range [...]int{-1, 1} {
		for i := range c.rows {
			x := &c.rows[i]
			rec := x.rec
			rec.Row, rec.Diff = c.row(x), int8(sign)
			for n := x.diff * sign; n > 0; n-- {
				c.out.Emit(rec)
			}
		}
	}
	clear(c.rows)
	clear(c.side)
	clear(c.index)
	clear(c.own.Side)
	c.rows, c.enc, c.side = c.rows[:0], c.enc[:0], c.side[:0]
}

// Wake implements Operator.
func (c *Consolidate) Wake(_ int, need int64) (int64, bool) { return c.relay.wake(need) }

// Flush implements Operator: the step's changes leave.
func (c *Consolidate) Flush(int, CloseReason) { c.settle() }

// Stats implements Operator.
func (c *Consolidate) Stats() Stats { return Stats{} }

// Describe implements Operator.
func (c *Consolidate) Describe() Description {
	return Description{Name: "Consolidate", Lines: []string{"rows that are the same before and after a step are no change", "state: none"}}
}
