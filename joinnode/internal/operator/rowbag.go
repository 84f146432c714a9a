package operator

import (
	"hash/maphash"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// A rowBag is a multiset of rows. Equal rows are one entry with a count, found
// by the hash of the whole row: giving a row back costs the same in a key with a
// hundred thousand rows as in a key with one.
//
// Rows are equal when sameRow says so.
//
// Like a keyTable it has entries of bytes in a slab and a hash table with open
// addressing over them. An entry costs its header, what the operator keeps in
// it, and 11 to 21 bytes of hash table.
type rowBag struct {
	seed   maphash.Seed
	shards [1 << bagShardBits]shard
	slots  int64
	cells  slab
	header int // bytes of an entry before its row

	side sideTable

	rows    int64 // with all their copies
	entries int64
	taken   row.Row // memory of a row with Go values on its way in
	key     []byte  // of a Go value, for its hash
}

const (
	bagShardBits = 6
	entryHeader  = 16
)

// An entry is one row of a bag:
//
//	hash   4 bytes
//	size   4 bytes: of the columns; the top bit says that they have Go values
//	count  4 bytes: how many such rows there are
//	change 4 bytes: the number of the entry's change in the current step, 0 = none
//	what the operator keeps
//	number of the Go values, 4 bytes: only with the top bit of size
//	columns
type entry []byte

const entryValues = 1 << 31

// newRowBag returns an empty bag whose entries have extra bytes for the operator.
func newRowBag(extra int) *rowBag {
	return &rowBag{seed: maphash.MakeSeed(), header: entryHeader + extra, cells: newSlab()}
}

func (e entry) hash() uint32         { return get32(e) }
func (e entry) count() int           { return int(get32(e[8:])) }
func (e entry) setCount(n int)       { put32(e[8:], uint32(n)) }
func (e entry) change() int          { return int(get32(e[12:])) }
func (e entry) setChange(number int) { put32(e[12:], uint32(number)) }
func (e entry) extra() []byte        { return e[entryHeader:] }

func (b *rowBag) entry(ref keyRef) entry { return b.cells.cell(ref) }

// row returns the row of an entry. It is valid until the entry is removed.
func (b *rowBag) row(e entry) row.Row {
	size := get32(e[4:])
	n := int(size &^ entryValues)
	at := b.header
	var side []any
	if size&entryValues != 0 {
		side = b.side.at(get32(e[at:]))
		at += 4
	}
	return row.Row{Enc: e[at : at+n : at+n], Side: side}
}

// prune returns the first keep columns of r as the bag keeps them: its own row. It
// is valid until the next one.
func (b *rowBag) prune(r row.Row, keep int) row.Row {
	r.Enc = r.Enc[:r.Offset(keep)]
	return b.own(r)
}

// own returns r as its own row. It is valid until the next one.
func (b *rowBag) own(r row.Row) row.Row {
	if len(r.Side) == 0 {
		return r
	}
	clear(b.taken.Side)
	b.taken = own(b.taken, r)
	return b.taken
}

// hash returns the hash of a pruned row.
func (b *rowBag) hash(r row.Row) uint32 {
	if len(r.Side) == 0 {
		return uint32(maphash.Bytes(b.seed, r.Enc))
	}
	b.key = append(b.key[:0], r.Enc...)
	for _, x := range r.Side {
		b.key = value.AppendKey(b.key, value.OfAny(x))
	}
	return uint32(maphash.Bytes(b.seed, b.key))
}

// find returns the entry of a pruned row with this hash, 0 when there is none.
func (b *rowBag) find(r row.Row, hash uint32) keyRef {
	s := &b.shards[hash>>(32-bagShardBits)]
	if s.n == 0 {
		return 0
	}
	mask := uint32(len(s.slots) - 1)
	for i := hash & mask; s.slots[i] != 0; i = (i + 1) & mask {
		slot := s.slots[i]
		if uint32(slot>>32) == hash && sameRow(b.row(b.entry(keyRef(slot))), r) {
			return keyRef(slot)
		}
	}
	return 0
}

// holds tells whether there is an entry at ref with this hash.
func (b *rowBag) holds(ref keyRef, hash uint32) bool {
	s := &b.shards[hash>>(32-bagShardBits)]
	if s.n == 0 {
		return false
	}
	mask := uint32(len(s.slots) - 1)
	for i := hash & mask; s.slots[i] != 0; i = (i + 1) & mask {
		if s.slots[i] == uint64(hash)<<32|uint64(ref) {
			return true
		}
	}
	return false
}

// insert makes an entry without copies for a pruned row that has none. The
// caller has asked room before.
func (b *rowBag) insert(r row.Row, hash uint32) keyRef {
	size, at := uint32(len(r.Enc)), b.header
	if len(r.Side) > 0 {
		size |= entryValues
		at += 4
	}
	ref := b.cells.alloc(at + len(r.Enc))
	e := b.entry(ref)
	clear(e[:b.header])
	put32(e, hash)
	put32(e[4:], size)
	if len(r.Side) > 0 {
		put32(e[b.header:], b.side.put(noSide, r.Side))
	}
	copy(e[at:], r.Enc)

	s := &b.shards[hash>>(32-bagShardBits)]
	if 4*(s.n+1) > 3*len(s.slots) {
		b.resize(s, max(slotsMin, 2*len(s.slots)))
	}
	s.put(uint64(hash)<<32 | uint64(ref))
	s.n++
	b.entries++
	return ref
}

// remove frees an entry.
func (b *rowBag) remove(ref keyRef) {
	e := b.entry(ref)
	hash := e.hash()
	if get32(e[4:])&entryValues != 0 {
		b.side.put(get32(e[b.header:]), nil)
	}
	b.cells.release(ref)

	s := &b.shards[hash>>(32-bagShardBits)]
	mask := uint32(len(s.slots) - 1)
	i := hash & mask
	for keyRef(s.slots[i]) != ref {
		i = (i + 1) & mask
	}
	// Close the gap, so that no slot lies behind an empty one on its way from
	// home.
	for j := (i + 1) & mask; s.slots[j] != 0; j = (j + 1) & mask {
		home := uint32(s.slots[j]>>32) & mask
		if (j-home)&mask >= (j-i)&mask {
			s.slots[i] = s.slots[j]
			i = j
		}
	}
	s.slots[i] = 0
	s.n--
	b.entries--
	if len(s.slots) > slotsMin && 8*s.n < len(s.slots) {
		b.resize(s, len(s.slots)/2)
	}
}

func (b *rowBag) resize(s *shard, n int) {
	old := s.slots
	b.slots += int64(n - len(old))
	s.slots = make([]uint64, n)
	for _, slot := range old {
		if slot != 0 {
			s.put(slot)
		}
	}
}

// each calls f with every entry, in no particular order, until it returns false.
// f must not change the bag.
func (b *rowBag) each(f func(entry) bool) {
	for i := range b.shards {
		for _, slot := range b.shards[i].slots {
			if slot != 0 && !f(b.entry(keyRef(slot))) {
				return
			}
		}
	}
}

// recount gives an entry another number of copies.
func (b *rowBag) recount(e entry, n int) {
	b.rows += int64(n - e.count())
	e.setCount(n)
}

// forget lets go of the Go values of the row last taken in.
func (b *rowBag) forget() { clear(b.taken.Side) }

func (b *rowBag) bytes() int64 {
	const shardSize = 32
	return b.cells.bytes() + b.slots*8 + int64(len(b.shards))*shardSize + b.side.bytes()
}
