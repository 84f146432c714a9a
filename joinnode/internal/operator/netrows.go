package operator

import (
	"hash/maphash"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// netRows collects the changes of one step and gives their net: rows that were
// inserted and retracted equally often are not among it.
type netRows struct {
	seed  maphash.Seed
	items []netRow // in the order in which their rows came first
	enc   []byte   // their columns
	side  []any
	slots []uint32 // numbers of items, from 1, by hash; only where there are many
	key   []byte   // of a Go value, for its hash
}

type netRow struct {
	ts                 int64 // the greatest of the changes
	weight             int   // insertions less retractions
	nulls              uint64
	from, to           int // of enc
	sideFrom, sidePast int
	hash               uint32
}

// fewNetRows are found sooner by looking at all of them.
const fewNetRows = 8

func newNetRows() netRows { return netRows{seed: maphash.MakeSeed()} }

// add notes weight insertions of r, or −weight retractions.
func (n *netRows) add(r row.Row, weight int, ts int64, nulls uint64) {
	if weight == 0 {
		return
	}
	hash := n.hash(r)
	it := n.find(r, hash)
	if it == nil {
		it = n.append(r, hash)
		it.ts = ts
	}
	it.weight += weight
	it.ts = max(it.ts, ts)
	it.nulls = nulls
}

func (n *netRows) hash(r row.Row) uint32 {
	if len(r.Side) == 0 {
		return uint32(maphash.Bytes(n.seed, r.Enc))
	}
	n.key = append(n.key[:0], r.Enc...)
	for _, x := range r.Side {
		n.key = value.AppendKey(n.key, value.OfAny(x))
	}
	return uint32(maphash.Bytes(n.seed, n.key))
}

func (n *netRows) row(it *netRow) row.Row {
	return row.Row{Enc: n.enc[it.from:it.to:it.to], Side: n.side[it.sideFrom:it.sidePast:it.sidePast]}
}

func (n *netRows) find(r row.Row, hash uint32) *netRow {
	if len(n.slots) == 0 {
		for i := range n.items {
			if it := &n.items[i]; it.hash == hash && sameRow(n.row(it), r) {
				return it
			}
		}
		return nil
	}
	mask := uint32(len(n.slots) - 1)
	for i := hash & mask; n.slots[i] != 0; i = (i + 1) & mask {
		if it := &n.items[n.slots[i]-1]; it.hash == hash && sameRow(n.row(it), r) {
			return it
		}
	}
	return nil
}

func (n *netRows) append(r row.Row, hash uint32) *netRow {
	it := netRow{hash: hash, from: len(n.enc), sideFrom: len(n.side)}
	n.enc = append(n.enc, r.Enc...)
	n.side = append(n.side, r.Side...)
	it.to, it.sidePast = len(n.enc), len(n.side)
	n.items = append(n.items, it)
	switch {
	case len(n.items) <= fewNetRows:
	case 2*len(n.items) > len(n.slots):
		n.rehash(max(4*fewNetRows, 4*len(n.slots)))
	default:
		n.put(len(n.items))
	}
	return &n.items[len(n.items)-1]
}

func (n *netRows) rehash(size int) {
	if cap(n.slots) >= size {
		n.slots = n.slots[:size]
		clear(n.slots)
	} else {
		n.slots = make([]uint32, size)
	}
	for i := range n.items {
		n.put(i + 1)
	}
}

func (n *netRows) put(number int) {
	mask := uint32(len(n.slots) - 1)
	i := n.items[number-1].hash & mask
	for n.slots[i] != 0 {
		i = (i + 1) & mask
	}
	n.slots[i] = uint32(number)
}

// emit passes the net to out, retractions first: so a key's old row comes before
// its new one, whatever columns are the key. Among themselves both have the
// order in which their rows were added first. n is empty afterwards.
func (n *netRows) emit(out Output) (inserted, unmatched int64) {
	for _, sign := range [...]int{-1, 1} {
		for i := range n.items {
			it := &n.items[i]
			if it.weight*sign <= 0 {
				continue
			}
			rec := Record{TS: it.ts, Diff: int8(sign), Row: n.row(it), Nulls: it.nulls}
			for range it.weight * sign {
				out.Emit(rec)
			}
			switch {
			case sign < 0:
			case it.nulls != 0:
				unmatched += int64(it.weight)
			default:
				inserted += int64(it.weight)
			}
		}
	}
	n.clear()
	return inserted, unmatched
}

// clear empties n. The memory of a step much larger than this one is given back.
func (n *netRows) clear() {
	const keep = 1 << 20
	clear(n.side)
	if cap(n.enc) > keep && len(n.enc) < cap(n.enc)/4 {
		*n = netRows{seed: n.seed}
		return
	}
	n.items, n.enc, n.side, n.slots = n.items[:0], n.enc[:0], n.side[:0], n.slots[:0]
}

func (n *netRows) bytes() int64 {
	const itemSize, valueSize = 72, 16
	return int64(cap(n.items))*itemSize + int64(cap(n.enc)) + int64(cap(n.side))*valueSize + int64(cap(n.slots))*4
}
