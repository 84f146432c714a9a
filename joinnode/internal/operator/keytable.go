package operator

import (
	"bytes"
	"hash/maphash"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// A keyTable finds the cell of a key. Both sides of a join share it: one look-up
// serves storing a row on one side and probing the other, and a key's text lives
// once. It is a hash table with open addressing, in shards, so that growing
// never rehashes more than one of them.
type keyTable struct {
	seed   maphash.Seed
	shards [1 << shardBits]shard
	cells  slab
	header int // bytes of a cell before its text
	cols   int // key columns
	slots  int64

	scratch []byte // a stored key, normalised
}

// A shard is a power of two of slots, each 0 or a hash above a keyRef. The home
// of a slot is given by the low bits of its hash.
type shard struct {
	slots []uint64
	n     int
}

const (
	shardBits = 8
	slotsMin  = 8
)

func newKeyTable(cols int, lru bool) *keyTable {
	t := &keyTable{seed: maphash.MakeSeed(), header: cellPlain, cols: cols, cells: newSlab()}
	if lru {
		t.header = cellLinked
	}
	return t
}

// A joinKey is the key of a row on its way in.
type joinKey struct {
	norm     []byte // normalised, semantics.md §3; empty as long as text says all
	text     []byte // of a key that is one column of text
	spelling []byte // the encoded key columns
	values   bool   // the columns have Go values in Side, so spelling says nothing
	hash     uint32
}

// read sets k to the key of r. k.spelling is r's memory.
//
// Most keys are one column of text. Their hash is that of the text, and most
// often they are spelled as they were before, so that nothing else is needed.
func (t *keyTable) read(k *joinKey, r row.Row) {
	k.norm, k.text, k.values = k.norm[:0], nil, false
	if t.cols == 1 {
		if text, end, ok := row.FirstText(r.Enc); ok {
			k.text, k.spelling = text, r.Enc[:end]
			k.hash = uint32(maphash.Bytes(t.seed, text))
			return
		}
	}
	t.normalise(k, r)
}

func (t *keyTable) normalise(k *joinKey, r row.Row) {
	for i := range t.cols {
		v := r.Col(i)
		k.values = k.values || v.Kind == value.Any
		k.norm = value.AppendKey(k.norm, v)
	}
	k.spelling = r.Enc[:r.Offset(t.cols)]
	k.hash = uint32(maphash.Bytes(t.seed, k.norm))
	if t.cols == 1 {
		if v := r.Col(0); v.Kind == value.Any {
			if v = v.Resolve(); v.Kind == value.Text { // a Go type that is text
				k.hash = uint32(maphash.Bytes(t.seed, v.Text))
			}
		}
	}
}

// normal returns the normalised key.
func (k *joinKey) normal() []byte {
	if len(k.norm) == 0 {
		k.norm = value.AppendKey(k.norm, value.OfBytes(k.text, true))
	}
	return k.norm
}

func (t *keyTable) cell(ref keyRef) cell { return t.cells.cell(ref) }

// text returns the key columns of a cell as they were spelled first, or the
// normalised key.
func (t *keyTable) text(c cell) (text []byte, norm bool) {
	size := get32(c[cellSize:])
	n := int(size & sizeMask)
	return c[t.header : t.header+n : t.header+n], size&normalised != 0
}

// find returns the cell of k, 0 when it has none. same says that k is spelled as
// the cell's text.
func (t *keyTable) find(k *joinKey) (ref keyRef, same bool) {
	s := t.shard(k.hash)
	if s.n == 0 {
		return 0, false
	}
	mask := uint32(len(s.slots) - 1)
	for i := k.hash & mask; s.slots[i] != 0; i = (i + 1) & mask {
		slot := s.slots[i]
		if uint32(slot>>32) != k.hash {
			continue
		}
		if ok, same := t.is(t.cell(keyRef(slot)), k); ok {
			return keyRef(slot), same
		}
	}
	return 0, false
}

func (t *keyTable) shard(hash uint32) *shard { return &t.shards[hash>>(32-shardBits)] }

// is tells whether c is the cell of k, and whether in the same spelling.
func (t *keyTable) is(c cell, k *joinKey) (equal, same bool) {
	text, norm := t.text(c)
	if norm {
		return bytes.Equal(text, k.normal()), false
	}
	if !k.values && bytes.Equal(text, k.spelling) {
		return true, true
	}
	t.scratch = t.scratch[:0]
	row.Row{Enc: text}.Walk(func(_ int, v value.Value) { t.scratch = value.AppendKey(t.scratch, v) })
	return bytes.Equal(t.scratch, k.normal()), false
}

// holds tells whether there is a cell at ref with this hash.
func (t *keyTable) holds(ref keyRef, hash uint32) bool {
	s := t.shard(hash)
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

// insert makes a cell without rows for k, which must have none.
func (t *keyTable) insert(k *joinKey) keyRef { return t.insertRoom(k, 0) }

// insertRoom is insert with room for so many bytes behind the text.
func (t *keyTable) insertRoom(k *joinKey, room int) keyRef {
	text, size := k.spelling, uint32(len(k.spelling))
	if k.values {
		text, size = k.norm, uint32(len(k.norm))|normalised
	}
	ref := t.cells.alloc(t.header + len(text) + room)
	c := t.cell(ref)
	clear(c[:t.header])
	put32(c, k.hash)
	put32(c[cellSize:], size)
	copy(c[t.header:], text)

	s := t.shard(k.hash)
	if 16*(s.n+1) > 13*len(s.slots) { // a search looks at 15 slots at most on average, on two cache lines
		t.resize(s, max(slotsMin, 2*len(s.slots)))
	}
	s.put(uint64(k.hash)<<32 | uint64(ref))
	s.n++
	return ref
}

// move makes the key of the cell at from, which keeps its hash, be found at to.
func (t *keyTable) move(hash uint32, from, to keyRef) {
	s := t.shard(hash)
	mask := uint32(len(s.slots) - 1)
	i := hash & mask
	for keyRef(s.slots[i]) != from {
		i = (i + 1) & mask
	}
	s.slots[i] = uint64(hash)<<32 | uint64(to)
}

// remove frees the cell at ref.
func (t *keyTable) remove(ref keyRef) {
	hash := t.cell(ref).hash()
	t.cells.release(ref)
	s := t.shard(hash)
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
	if len(s.slots) > slotsMin && 8*s.n < len(s.slots) {
		t.resize(s, len(s.slots)/2)
	}
}

func (s *shard) put(slot uint64) {
	mask := uint32(len(s.slots) - 1)
	i := uint32(slot>>32) & mask
	for s.slots[i] != 0 {
		i = (i + 1) & mask
	}
	s.slots[i] = slot
}

func (t *keyTable) resize(s *shard, n int) {
	old := s.slots
	t.slots += int64(n - len(old))
	s.slots = make([]uint64, n)
	for _, slot := range old {
		if slot != 0 {
			s.put(slot)
		}
	}
}

func (t *keyTable) bytes() int64 {
	const shardSize = 32
	return t.cells.bytes() + t.slots*8 + int64(len(t.shards))*shardSize
}
