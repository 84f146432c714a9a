package operator

import (
	"bytes"
	"hash/maphash"
	"math"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// A netChange collects the changes of a state edge in one step and gives, for
// each key in the order of its first change, what is left of them once equal rows
// that were inserted and retracted have cancelled each other. A key has one row
// at most before a step and one after it, so what is left is at most one row with
// Diff −1, the old one, and one with +1, the new one. Should a defect upstream
// leave more, the last of each counts.
//
// It keeps its memory from step to step.
type netChange struct {
	cols  int
	seed  maphash.Seed
	keys  []netKey
	rows  []netRecord
	index []uint32 // keys by hash, as number + 1; only in a step with many
	ready int      // of so many keys hash and key are known

	enc  []byte // of keys and rows
	side []any  // of rows
	own  row.Row
}

// A netKey is one key. Its rows are chained in the order they came.
type netKey struct {
	spelled     [2]int // the key columns of its first row: from, to in enc; none when they have Go values
	hash        uint32
	key         [2]int // normalised: from, to in enc
	first, last int32  // of rows, as number + 1; 0 = none is left
	ts          int64  // the greatest of its records
}

// A netRecord is one row that was inserted or retracted.
type netRecord struct {
	enc, side [2]int // from, to
	next      int32
	diff      int8
	why       CloseReason
	nulls     uint64
}

// fewKeys are found faster by looking at all of them.
const fewKeys = 8

func newNetChange(cols int) netChange { return netChange{cols: cols, seed: maphash.MakeSeed()} }

// add takes one record in.
func (n *netChange) add(rec *Record) {
	r := own(n.own, rec.Row)
	if len(r.Side) > 0 {
		n.own = r
	}
	k := n.find(r)
	k.ts = max(k.ts, rec.TS)
	for at, before := k.first, int32(0); at != 0; at, before = n.rows[at-1].next, at {
		x := &n.rows[at-1]
		if x.diff == rec.Diff || !sameRow(n.row(x), r) {
			continue
		}
		if before == 0 {
			k.first = x.next
		} else {
			n.rows[before-1].next = x.next
		}
		if k.last == at {
			k.last = before
		}
		return
	}
	x := netRecord{diff: rec.Diff, nulls: rec.Nulls, why: rec.Why}
	x.enc[0], x.side[0] = len(n.enc), len(n.side)
	n.enc, n.side = append(n.enc, r.Enc...), append(n.side, r.Side...)
	x.enc[1], x.side[1] = len(n.enc), len(n.side)
	n.rows = append(n.rows, x)
	at := int32(len(n.rows))
	if k.last == 0 {
		k.first = at
	} else {
		n.rows[k.last-1].next = at
	}
	k.last = at
}

func (n *netChange) row(x *netRecord) row.Row {
	return row.Row{Enc: n.enc[x.enc[0]:x.enc[1]:x.enc[1]], Side: n.side[x.side[0]:x.side[1]:x.side[1]]}
}

// find returns the key of r, a new one if it has not come in this step; r is
// appended to enc then. Most steps are about one key, spelled in one way: nothing is
// normalised before a second one comes.
func (n *netChange) find(r row.Row) *netKey {
	end := r.Offset(n.cols)
	if last := len(n.keys) - 1; last >= 0 && len(r.Side) == 0 {
		if k := &n.keys[last]; k.spelled[1] > 0 && bytes.Equal(n.enc[k.spelled[0]:k.spelled[1]], r.Enc[:end]) {
			return k
		}
	}
	k := netKey{ts: math.MinInt64}
	if len(n.keys) > 0 || len(r.Side) > 0 {
		n.prepare()
		k.hash, k.key = n.normalise(r)
		if same := n.known(&k); same != nil {
			n.enc = n.enc[:k.key[0]]
			return same
		}
		n.ready++
	}
	if len(r.Side) == 0 {
		k.spelled = [2]int{len(n.enc), len(n.enc) + end}
	}
	n.keys = append(n.keys, k)
	switch count := len(n.keys); {
	case count <= fewKeys:
	case count == fewKeys+1 || 2*count > len(n.index):
		n.reindex(count)
	default:
		n.enter(count)
	}
	return &n.keys[len(n.keys)-1]
}

// prepare normalises a first key that was not.
func (n *netChange) prepare() {
	for ; n.ready < len(n.keys); n.ready++ {
		k := &n.keys[n.ready]
		k.hash, k.key = n.normalise(row.Row{Enc: n.enc[k.spelled[0]:k.spelled[1]]})
	}
}

// normalise appends the normalised key of r to enc.
func (n *netChange) normalise(r row.Row) (hash uint32, key [2]int) {
	from := len(n.enc)
	for i, off := 0, 0; i < n.cols && off < len(r.Enc); i++ {
		col := row.Row{Enc: r.Enc[off:], Side: r.Side}
		n.enc = value.AppendKey(n.enc, col.Col(0))
		off += col.Offset(1)
	}
	return uint32(maphash.Bytes(n.seed, n.enc[from:])), [2]int{from, len(n.enc)}
}

// known returns the key that x is, nil when there is none yet.
func (n *netChange) known(x *netKey) *netKey {
	key := n.enc[x.key[0]:x.key[1]]
	if len(n.keys) <= fewKeys {
		for i := range n.keys {
			if k := &n.keys[i]; n.is(k, x.hash, key) {
				return k
			}
		}
		return nil
	}
	mask := uint32(len(n.index) - 1)
	for i := x.hash & mask; n.index[i] != 0; i = (i + 1) & mask {
		if k := &n.keys[n.index[i]-1]; n.is(k, x.hash, key) {
			return k
		}
	}
	return nil
}

func (n *netChange) is(k *netKey, hash uint32, key []byte) bool {
	return k.hash == hash && bytes.Equal(n.enc[k.key[0]:k.key[1]], key)
}

// reindex makes the index anew for count keys, of which it will hold twice as
// many.
func (n *netChange) reindex(count int) {
	size := 4 * fewKeys
	for size < 4*count {
		size *= 2
	}
	if cap(n.index) < size {
		n.index = make([]uint32, size)
	} else {
		n.index = n.index[:size]
		clear(n.index)
	}
	for i := range count {
		n.enter(i + 1)
	}
}

func (n *netChange) enter(number int) {
	mask := uint32(len(n.index) - 1)
	i := n.keys[number-1].hash & mask
	for n.index[i] != 0 {
		i = (i + 1) & mask
	}
	n.index[i] = uint32(number)
}

// A netResult is what a step did to one key. Its rows are valid until reset.
type netResult struct {
	what     Change
	old, new row.Row
	ts       int64 // of the last record of the key
	nulls    uint64
	why      CloseReason // both of the row that what is about
}

// result returns what the step did to the key at i of keys. NoChange says that
// everything has cancelled out.
func (n *netChange) result(i int) (res netResult) {
	k := &n.keys[i]
	res.ts = k.ts
	var old, new *netRecord
	for at := k.first; at != 0; at = n.rows[at-1].next {
		if x := &n.rows[at-1]; x.diff < 0 {
			old = x
		} else {
			new = x
		}
	}
	last := new
	switch {
	case old != nil && new != nil:
		res.what = Updated
	case new != nil:
		res.what = Inserted
	case old != nil:
		res.what, last = Deleted, old
	default:
		return res
	}
	if old != nil {
		res.old = n.row(old)
	}
	if new != nil {
		res.new = n.row(new)
	}
	res.nulls, res.why = last.nulls, last.why
	return res
}

// reset empties n for the next step.
func (n *netChange) reset() {
	clear(n.side)
	clear(n.own.Side[:cap(n.own.Side)])
	n.keys, n.rows, n.index = forget(n.keys), forget(n.rows), forget(n.index)
	n.enc, n.side, n.ready = forget(n.enc), forget(n.side), 0
}

func (n *netChange) bytes() int64 {
	const keySize, recordSize, valueSize = 56, 56, 16
	return int64(cap(n.keys))*keySize + int64(cap(n.rows))*recordSize + int64(cap(n.index))*4 +
		int64(cap(n.enc)) + int64(cap(n.side))*valueSize
}
