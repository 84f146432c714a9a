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
	changes []listedChange
	rows    row.Row // of the changes, one after another

	own  row.Row   // memory of a row with Go values
	keys [2][]byte // memory of normalised keys
}

// A listedChange is one change with its row in netList.rows.
type listedChange struct {
	rec       Record // without its row
	enc, side int    // where the row begins
}

// add takes one record in.
func (n *netList) add(rec *Record) {
	r := own(n.own, rec.Row)
	if len(r.Side) > 0 {
		n.own = r
	}
	what := Inserted
	if rec.Diff < 0 {
		what = Deleted
	} else if last := len(n.changes) - 1; last >= 0 && n.changes[last].rec.Change == Deleted {
		if old := n.row(last); sameKey(old, r, n.cols, &n.keys) {
			x := &n.changes[last]
			same, ts := equalRow(old, r), x.rec.TS
			n.rows.Enc, n.rows.Side = n.rows.Enc[:x.enc], n.rows.Side[:x.side]
			n.changes = n.changes[:last]
			if same {
				return
			}
			n.append(rec, r, Updated, max(rec.TS, ts))
			return
		}
	}
	n.append(rec, r, what, rec.TS)
}

func (n *netList) append(rec *Record, r row.Row, what Change, ts int64) {
	n.changes = append(n.changes, listedChange{enc: len(n.rows.Enc), side: len(n.rows.Side),
		rec: Record{TS: ts, Diff: rec.Diff, Change: what, Nulls: rec.Nulls, Why: rec.Why}})
	n.rows.Enc, n.rows.Side = append(n.rows.Enc, r.Enc...), append(n.rows.Side, r.Side...)
}

// row returns the row of change i, which is its own (see own).
func (n *netList) row(i int) row.Row {
	enc, side := len(n.rows.Enc), len(n.rows.Side)
	if i+1 < len(n.changes) {
		enc, side = n.changes[i+1].enc, n.changes[i+1].side
	}
	x := &n.changes[i]
	return row.Row{Enc: n.rows.Enc[x.enc:enc:enc], Side: n.rows.Side[x.side:side:side]}
}

// record returns change i as a Table emits it.
func (n *netList) record(i int) Record {
	rec := n.changes[i].rec
	rec.Row = n.row(i)
	return rec
}

// reset empties n for the next step.
func (n *netList) reset() {
	if len(n.changes) == 0 {
		return
	}
	clear(n.rows.Side)
	clear(n.own.Side[:cap(n.own.Side)])
	n.changes = forget(n.changes)
	n.rows.Enc, n.rows.Side = forget(n.rows.Enc), forget(n.rows.Side)
}

func (n *netList) bytes() int64 {
	const changeSize, valueSize = 120, 16
	return int64(cap(n.changes))*changeSize + int64(cap(n.rows.Enc)) + int64(cap(n.rows.Side))*valueSize
}

// sameKey tells whether the first cols columns of a and b are the same key. buf is
// working memory.
func sameKey(a, b row.Row, cols int, buf *[2][]byte) bool {
	i, j := a.Offset(cols), b.Offset(cols)
	if len(a.Side) == 0 && len(b.Side) == 0 && bytes.Equal(a.Enc[:i], b.Enc[:j]) {
		return true
	}
	for n, r := range [2]row.Row{a, b} {
		buf[n] = buf[n][:0]
		for col := range cols {
			buf[n] = value.AppendKey(buf[n], r.Col(col))
		}
	}
	return bytes.Equal(buf[0], buf[1])
}
