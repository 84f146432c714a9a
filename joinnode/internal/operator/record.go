package operator

import "encoding/binary"

// A record is one stored row:
//
//	ts     8 bytes
//	next   4 bytes: the key's next row in (ts, arrival) order
//	key    4 bytes
//	length 2 bytes, header included; 0 = to the end of the chunk
//	flags  1 byte
//	nulls  uvarint, and closing reason, 1 byte: only with hasNulls
//	side   index and count in the chunk's side table, 4 bytes each: only with hasSide
//	columns
//
// The order of arrival is the order of Seq, so Seq itself is not stored.
type record []byte

const (
	recordNext   = 8
	recordKey    = 12
	recordLen    = 16
	recordFlags  = 18
	recordHeader = 19
)

// The flags of a record.
const (
	matched   uint8 = 1 << iota // a LEFT row that has met a partner or was given up
	straggler                   // came after a row with a greater time
	dead                        // has left; its bytes wait for the chunk
	closed                      // was given up by Flush: matches no more
	ownKey                      // spells its key differently: columns begin with the key
	hasNulls
	hasSide

	special = ownKey | hasNulls | hasSide // columns do not follow the header, or are not all beside the key
)

// header is what a record is made of.
type header struct {
	ts     int64
	key    keyRef
	flags  uint8
	nulls  uint64
	why    CloseReason
	cols   []byte
	side   []any // what cols refer to
	sideAt int   // where side is in the chunk's side table
}

func (h *header) size() int {
	n := recordHeader + len(h.cols)
	if h.nulls != 0 {
		n += uvarintLen(h.nulls) + 1
	}
	if len(h.side) > 0 {
		n += 8
	}
	return n
}

func uvarintLen(x uint64) int {
	n := 1
	for ; x >= 0x80; x >>= 7 {
		n++
	}
	return n
}

func (rec record) write(h *header) {
	length := len(rec)
	if length >= chunkMax {
		length = 0
	}
	flags := h.flags
	if h.nulls != 0 {
		flags |= hasNulls
	}
	if len(h.side) > 0 {
		flags |= hasSide
	}
	binary.LittleEndian.PutUint64(rec, uint64(h.ts))
	put32(rec[recordNext:], 0)
	put32(rec[recordKey:], uint32(h.key))
	binary.LittleEndian.PutUint16(rec[recordLen:], uint16(length))
	rec[recordFlags] = flags
	at := recordHeader
	if h.nulls != 0 {
		at += binary.PutUvarint(rec[at:], h.nulls)
		rec[at] = byte(h.why)
		at++
	}
	if len(h.side) > 0 {
		put32(rec[at:], uint32(h.sideAt))
		put32(rec[at+4:], uint32(len(h.side)))
		at += 8
	}
	copy(rec[at:], h.cols)
}

func (rec record) ts() int64       { return int64(binary.LittleEndian.Uint64(rec)) }
func (rec record) next() ref       { return ref(get32(rec[recordNext:])) }
func (rec record) setNext(r ref)   { put32(rec[recordNext:], uint32(r)) }
func (rec record) key() keyRef     { return keyRef(get32(rec[recordKey:])) }
func (rec record) flags() uint8    { return rec[recordFlags] }
func (rec record) set(flags uint8) { rec[recordFlags] |= flags }

// len returns the record's length in bytes; rec may reach to the end of its
// chunk.
func (rec record) len() int {
	if n := int(binary.LittleEndian.Uint16(rec[recordLen:])); n != 0 {
		return n
	}
	return len(rec)
}
