package operator

import (
	"bytes"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// A netPair holds a retraction until it is known whether another row of its key
// takes the row's place, which comes next where changes are net.
type netPair struct {
	waits bool
	rec   Record    // the retraction
	row   row.Row   // memory of its row
	other row.Row   // and of one with Go values that is compared with it
	keys  [2][]byte // memory of normalised keys
}

// retract makes rec the retraction that waits.
func (p *netPair) retract(rec *Record) {
	p.row = row.AppendRow(row.Row{Enc: p.row.Enc[:0], Side: p.row.Side[:0]}, rec.Row)
	p.waits, p.rec = true, *rec
	p.rec.Row = p.row
}

// is tells whether a retraction waits whose row has the key of r: the same first
// cols columns.
func (p *netPair) is(r row.Row, cols int) bool {
	if !p.waits {
		return false
	}
	old := p.row
	from, to := old.Offset(cols), r.Offset(cols)
	if len(old.Side) == 0 && len(r.Side) == 0 && bytes.Equal(old.Enc[:from], r.Enc[:to]) {
		return true
	}
	for i, of := range [2]row.Row{old, r} {
		p.keys[i] = p.keys[i][:0]
		for col := range cols {
			p.keys[i] = value.AppendKey(p.keys[i], of.Col(col))
		}
	}
	return bytes.Equal(p.keys[0], p.keys[1])
}

// same tells whether r is no change to whoever reads the table.
func (p *netPair) same(r row.Row) bool {
	if len(r.Side) == 0 {
		return equalRow(p.row, r)
	}
	p.other = own(p.other, r)
	same := equalRow(p.row, p.other)
	clear(p.other.Side)
	return same
}

// reset forgets the retraction.
func (p *netPair) reset() {
	p.waits = false
	clear(p.row.Side)
}
