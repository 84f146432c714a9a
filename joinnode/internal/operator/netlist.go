package operator

import (
	"bytes"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// A netList is the changes of a step where they come net: a −1 is a deletion
// unless the +1 behind it has the same key. Nothing has to be looked up, unlike in
// a netChange. It keeps its memory from step to step.
type netList struct {
	cols    int
	changes []Record // as a Table emits them; their rows lie in rows, one after another
	rows    row.Row

	own  row.Row   // memory of a row with Go values
	keys [2][]byte // memory of normalised keys
}

// add takes one record in.
func (n *netList) add(rec *Record) {
	if len(rec.Row.Side) > 0 {
		n.own = own(n.own, rec.Row)
		rec.Row = n.own
	}
	if rec.Diff < 0 {
		n.append(rec, Deleted)
		return
	}
	if last := len(n.changes) - 1; last >= 0 && n.changes[last].Change == Deleted {
		if old := &n.changes[last]; n.sameKey(&old.Row, &rec.Row) {
			same := equalRow(old.Row, rec.Row)
			rec.TS = max(rec.TS, old.TS)
			n.rows.Enc = n.rows.Enc[:len(n.rows.Enc)-len(old.Row.Enc)]
			n.rows.Side = n.rows.Side[:len(n.rows.Side)-len(old.Row.Side)]
			n.changes = n.changes[:last]
			if !same {
				n.append(rec, Updated)
			}
			return
		}
	}
	n.append(rec, Inserted)
}

// append notes a change. Its row stays where it is when rows moves on to larger
// memory.
func (n *netList) append(rec *Record, what Change) {
	enc, side := len(n.rows.Enc), len(n.rows.Side)
	n.rows.Enc, n.rows.Side = append(n.rows.Enc, rec.Row.Enc...), append(n.rows.Side, rec.Row.Side...)
	rec.Change = what
	rec.Row = row.Row{Enc: n.rows.Enc[enc:len(n.rows.Enc):len(n.rows.Enc)], Side: n.rows.Side[side:len(n.rows.Side):len(n.rows.Side)]}
	n.changes = append(n.changes, *rec)
}

// sameKey tells whether a and b, both their own rows, have the same key.
func (n *netList) sameKey(a, b *row.Row) bool {
	if len(a.Side) == 0 && len(b.Side) == 0 && bytes.HasPrefix(a.Enc, b.Enc[:b.Offset(n.cols)]) {
		return true // columns say where they end
	}
	for i, r := range [2]*row.Row{a, b} {
		n.keys[i] = n.keys[i][:0]
		for col := range n.cols {
			n.keys[i] = value.AppendKey(n.keys[i], r.Col(col))
		}
	}
	return bytes.Equal(n.keys[0], n.keys[1])
}

// reset empties n for the next step.
func (n *netList) reset() {
	if len(n.changes) == 0 {
		return
	}
	clear(n.rows.Side)
	clear(n.own.Side[:cap(n.own.Side)])
	clear(n.changes)
	n.changes = forget(n.changes)
	n.rows.Enc, n.rows.Side = forget(n.rows.Enc), forget(n.rows.Side)
}

func (n *netList) bytes() int64 {
	const changeSize, valueSize = 88, 16
	return int64(cap(n.changes))*changeSize + int64(cap(n.rows.Enc)) + int64(cap(n.rows.Side))*valueSize
}
