package operator

import (
	"bytes"
	"reflect"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// A rowStore holds one row for each key: all of it in one cell of a keyTable,
// found by one look-up and without a Go object for a key. Rows of about one size
// overwrite each other in place; a row of another size moves the key to another
// cell.
//
// A cell is
//
//	hash, size  4 bytes each, as in any keyTable
//	length      4 bytes: of the columns behind the text; the top bits say that the row is gone and only its cell is left, and that it has Go values
//	mark        4 bytes for the user
//	touched     8 bytes, and use, 4: only with STATETTL
//	text        the key columns as the row spells them
//	columns     the others
//	side        4 bytes: where the row's Go values are in the side table; only where it has some
//
// Where a key column is a Go value without encoding, the text is the normalised
// key and the columns are all of the row's.
type rowStore struct {
	keys  *keyTable
	side  sideTable
	count int64 // rows
}

const (
	rowLength  = 8
	rowMark    = 12
	rowTouched = 16
	rowUse     = 24
	rowHeader  = 16
	rowTimed   = 28 // header with touched and use
	rowGone    = 1 << 31
	rowSided   = 1 << 30
	rowColumns = rowSided - 1
	noSide     = 0
)

// newRowStore returns an empty store of rows whose first cols columns are their
// key. timed says that cells have room for touched and use.
func newRowStore(cols int, timed bool) rowStore {
	keys := newKeyTable(cols, false)
	keys.header = rowHeader
	if timed {
		keys.header = rowTimed
	}
	return rowStore{keys: keys}
}

// room tells whether one more row can be addressed.
func (s *rowStore) room() bool { return s.keys.cells.room() }

// find returns the cell of k, 0 when it has none.
func (s *rowStore) find(k *joinKey) keyRef {
	ref, _ := s.keys.find(k)
	return ref
}

// put makes r, which has the key k, the row of the cell at ref, or of a new one
// when ref is 0, and returns where the cell is now; its mark and times stay. Of
// r.Side it takes what is there: r must be its own row, see own.
func (s *rowStore) put(k *joinKey, ref keyRef, r row.Row) keyRef {
	text, columns, size := k.spelling, r.Enc[len(k.spelling):], uint32(len(k.spelling))
	if k.values {
		text, columns, size = k.norm, r.Enc, uint32(len(k.norm))|normalised
	}
	header, length, room, side := s.keys.header, uint32(len(columns)), len(columns), uint32(noSide)
	if len(r.Side) > 0 {
		length, room = length|rowSided, room+4
	}
	if ref == 0 {
		ref = s.keys.insertRoom(k, room)
		s.count++
	} else {
		c := s.keys.cell(ref)
		side = s.sideOf(c)
		if get32(c[rowLength:])&rowGone != 0 {
			s.count++
		}
		if class, n := sizeClass(header + len(text) + room); !s.fits(c, class, n) {
			ref = s.move(ref, n)
		}
	}
	c := s.keys.cell(ref)
	put32(c[cellSize:], size)
	put32(c[rowLength:], length)
	copy(c[header:], text)
	end := header + len(text) + copy(c[header+len(text):], columns)
	if side = s.side.put(side, r.Side); side != noSide {
		put32(c[end:], side)
	}
	return ref
}

// end returns where in a cell its columns end.
func (s *rowStore) end(c cell) int {
	return s.keys.header + int(get32(c[cellSize:])&sizeMask) + int(get32(c[rowLength:])&rowColumns)
}

// sideOf returns the number of the Go values of a cell's row, noSide for none.
func (s *rowStore) sideOf(c cell) uint32 {
	if get32(c[rowLength:])&rowSided == 0 {
		return noSide
	}
	return get32(c[s.end(c):])
}

// fits tells whether c is a cell of this class and size.
func (s *rowStore) fits(c cell, class, n int) bool {
	had, size := sizeClass(s.size(c))
	return had == class && size == n
}

// size returns how many bytes of a cell are used. The room for Go values that have
// left with their row is not among them; nobody writes there.
func (s *rowStore) size(c cell) int {
	if get32(c[rowLength:])&rowSided != 0 {
		return s.end(c) + 4
	}
	return s.end(c)
}

// move takes the key at ref to a cell of n bytes, of which only the header is
// filled.
func (s *rowStore) move(ref keyRef, n int) keyRef {
	to := s.keys.cells.alloc(n)
	from, c := s.keys.cell(ref), s.keys.cell(to)
	copy(c[:s.keys.header], from)
	s.keys.move(from.hash(), ref, to)
	s.keys.cells.release(ref)
	return to
}

// row returns the row at ref; false when it is gone. It is valid until the next
// put or remove.
func (s *rowStore) row(ref keyRef) (row.Row, bool) {
	c := s.keys.cell(ref)
	text, norm := s.keys.text(c)
	length := get32(c[rowLength:])
	if length&rowGone != 0 {
		return row.Row{}, false
	}
	start := s.keys.header
	end := start + len(text) + int(length&rowColumns)
	if norm {
		start += len(text)
	}
	r := row.Row{Enc: c[start:end:end]}
	if length&rowSided != 0 {
		r.Side = s.side.at(get32(c[end:]))
	}
	return r, true
}

// clear takes the row at ref away and leaves the cell, which keeps its key, mark
// and times and can have another row.
func (s *rowStore) clear(ref keyRef) {
	if s.gone(ref) {
		return
	}
	s.count--
	c := s.keys.cell(ref)
	s.side.put(s.sideOf(c), nil)
	put32(c[rowLength:], get32(c[rowLength:])&^rowSided|rowGone)
}

// gone tells whether the cell at ref has no row.
func (s *rowStore) gone(ref keyRef) bool { return get32(s.keys.cell(ref)[rowLength:])&rowGone != 0 }

// remove frees the cell at ref.
func (s *rowStore) remove(ref keyRef) {
	s.clear(ref)
	s.keys.remove(ref)
}

// each calls yield with every cell that has a row until yield returns false.
// Nothing may be put or removed meanwhile.
func (s *rowStore) each(yield func(keyRef, row.Row) bool) {
	for i := range s.keys.shards {
		for _, slot := range s.keys.shards[i].slots {
			if slot == 0 {
				continue
			}
			if r, ok := s.row(keyRef(slot)); ok && !yield(keyRef(slot), r) {
				return
			}
		}
	}
}

func (s *rowStore) mark(ref keyRef) uint32          { return get32(s.keys.cell(ref)[rowMark:]) }
func (s *rowStore) setMark(ref keyRef, mark uint32) { put32(s.keys.cell(ref)[rowMark:], mark) }

func (s *rowStore) bytes() int64 { return s.keys.bytes() + s.side.bytes() }

// A sideTable holds the Go values of the rows that have some, by number from 1.
type sideTable struct {
	rows   [][]any
	vacant []uint32
	values int64
}

// put replaces the values of number at, which is 0 for a new row, and returns
// the number they have now: 0 when there are none.
func (t *sideTable) put(at uint32, values []any) uint32 {
	if at == noSide {
		if len(values) == 0 {
			return noSide
		}
		if n := len(t.vacant); n > 0 {
			at, t.vacant = t.vacant[n-1], t.vacant[:n-1]
		} else {
			t.rows = append(t.rows, nil)
			at = uint32(len(t.rows))
		}
	}
	had := &t.rows[at-1]
	t.values += int64(len(values) - len(*had))
	if len(values) == 0 {
		*had = nil
		t.vacant = append(t.vacant, at)
		return noSide
	}
	clear(*had)
	*had = append((*had)[:0], values...)
	return at
}

func (t *sideTable) at(number uint32) []any {
	if number == noSide {
		return nil
	}
	values := t.rows[number-1]
	return values[:len(values):len(values)]
}

func (t *sideTable) bytes() int64 {
	const sliceSize, valueSize = 24, 16
	return int64(cap(t.rows))*sliceSize + int64(cap(t.vacant))*4 + t.values*valueSize
}

// own returns r with no more in Side than its columns refer to, in their order,
// so that equal rows have equal bytes. It uses the memory of dst where r has Go
// values, otherwise it is r.
func own(dst, r row.Row) row.Row {
	if len(r.Side) == 0 {
		return r
	}
	return row.AppendRow(row.Row{Enc: dst.Enc[:0], Side: dst.Side[:0]}, r)
}

// sameRow tells whether a and b, both their own rows, are the same byte for byte,
// and their Go values deeply equal.
func sameRow(a, b row.Row) bool {
	if !bytes.Equal(a.Enc, b.Enc) || len(a.Side) != len(b.Side) {
		return false
	}
	for i := range a.Side {
		if !reflect.DeepEqual(a.Side[i], b.Side[i]) {
			return false
		}
	}
	return true
}
