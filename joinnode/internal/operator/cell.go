package operator

import "encoding/binary"

// A cell is one key with what both sides of the join keep for it:
//
//	hash   4 bytes
//	size   4 bytes: of the text; the top bits say that the text is the normalised key, and whether the key is listed at port 1, at port 0
//	rows of port 0, then of port 1: first and last ref, number of rows, 4 bytes each
//	use at port 0, then at port 1: a stamp of 8 bytes, or when listed older and newer keyRef of 4; only where a maxKeys gate can bind
//	text   the key columns as the first row spelled them
//
// Where a key column is a Go value without encoding, the text is the
// normalised key instead and every row keeps its own key columns.
type cell []byte

const (
	cellSize   = 4
	cellRows   = 8
	cellLRU    = 32
	cellPlain  = 32 // header without use
	cellLinked = 48 // header with them

	normalised = 1 << 31
	listed0    = 1 << 29 // shifted by the port
	sizeMask   = listed0 - 1
)

func (c cell) hash() uint32 { return get32(c) }

func (c cell) rowsAt(port int) cell { return c[cellRows+12*port:] }

func (c cell) first(port int) ref { return ref(get32(c.rowsAt(port))) }
func (c cell) last(port int) ref  { return ref(get32(c.rowsAt(port)[4:])) }
func (c cell) rows(port int) int  { return int(get32(c.rowsAt(port)[8:])) }

func (c cell) setFirst(port int, r ref) { put32(c.rowsAt(port), uint32(r)) }
func (c cell) setLast(port int, r ref)  { put32(c.rowsAt(port)[4:], uint32(r)) }
func (c cell) setRows(port int, n int)  { put32(c.rowsAt(port)[8:], uint32(n)) }

func (c cell) linkAt(port int) cell { return c[cellLRU+8*port:] }

func (c cell) stamp(port int) int64 {
	return int64(binary.LittleEndian.Uint64(c.linkAt(port)))
}

func (c cell) setStamp(port int, stamp int64) {
	binary.LittleEndian.PutUint64(c.linkAt(port), uint64(stamp))
}

func (c cell) listed(port int) bool { return get32(c[cellSize:])&(listed0<<port) != 0 }

func (c cell) setListed(port int, listed bool) {
	flags := get32(c[cellSize:]) &^ (listed0 << port)
	if listed {
		flags |= listed0 << port
	}
	put32(c[cellSize:], flags)
}

func (c cell) older(port int) keyRef { return keyRef(get32(c.linkAt(port))) }
func (c cell) newer(port int) keyRef { return keyRef(get32(c.linkAt(port)[4:])) }

func (c cell) setOlder(port int, k keyRef) { put32(c.linkAt(port), uint32(k)) }
func (c cell) setNewer(port int, k keyRef) { put32(c.linkAt(port)[4:], uint32(k)) }

func get32(b []byte) uint32    { return binary.LittleEndian.Uint32(b) }
func put32(b []byte, x uint32) { binary.LittleEndian.PutUint32(b, x) }
