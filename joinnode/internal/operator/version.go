package operator

import (
	"encoding/binary"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// A version is what a table had for one key from a time on:
//
//	ts     8 bytes
//	read   8 bytes: the greatest time of a row that was joined with it, unseen if none was
//	newer  4 bytes: the key's next version
//	length 4 bytes: of the columns; the top bits are the flags
//	side   4 bytes: its Go values in the history's side table; only where it has some
//	columns
//
// A version without a row says that the table had none.
type version []byte

const (
	versionRead   = 8
	versionNewer  = 16
	versionLength = 20
	versionHeader = 24 // without side
	versionSide   = versionHeader

	versionNone   = 1 << 31 // the table had no row
	versionOwnKey = 1 << 30 // spells its key differently: columns begin with the key
	versionQueued = 1 << 29 // history.due has its time
	versionSided  = 1 << 28 // it has side
	versionSize   = versionSided - 1
)

func (v version) ts() int64            { return int64(binary.LittleEndian.Uint64(v)) }
func (v version) read() int64          { return int64(binary.LittleEndian.Uint64(v[versionRead:])) }
func (v version) setRead(t int64)      { binary.LittleEndian.PutUint64(v[versionRead:], uint64(t)) }
func (v version) newer() keyRef        { return keyRef(get32(v[versionNewer:])) }
func (v version) setNewer(k keyRef)    { put32(v[versionNewer:], uint32(k)) }
func (v version) has(flag uint32) bool { return get32(v[versionLength:])&flag != 0 }

// cols returns the columns.
func (v version) cols() []byte {
	length, from := get32(v[versionLength:]), versionHeader
	if length&versionSided != 0 {
		from += 4
	}
	to := from + int(length&versionSize)
	return v[from:to:to]
}

// side returns the number of its Go values, noSide when it has none.
func (v version) side() uint32 {
	if !v.has(versionSided) {
		return noSide
	}
	return get32(v[versionSide:])
}

// size returns the bytes of the whole version.
func (v version) size() int {
	length := get32(v[versionLength:])
	return sizeOf(int(length&versionSize), length&versionSided != 0)
}

// sizeOf returns the size of a version with so many bytes of columns.
func sizeOf(columns int, sided bool) int {
	if sided {
		columns += 4
	}
	return versionHeader + columns
}

func (v version) setQueued() { put32(v[versionLength:], get32(v[versionLength:])|versionQueued) }

// state is what a version says of its key: the columns of the row, or none.
type state struct {
	flags uint32 // versionNone, versionOwnKey
	row   row.Row
}

// size returns the size of a version that says x.
func (x *state) size() int { return sizeOf(len(x.row.Enc), len(x.row.Side) > 0) }

// write fills in a version that is not linked yet; v has room for it.
func (v version) write(ts, read int64, x *state, side uint32) {
	binary.LittleEndian.PutUint64(v, uint64(ts))
	v.setRead(read)
	v.setNewer(0)
	v.setState(x, side)
}

// setState puts x in the place of what v said; v has room for it.
func (v version) setState(x *state, side uint32) {
	flags, from := x.flags, versionHeader
	if side != noSide {
		flags |= versionSided
		put32(v[versionSide:], side)
		from += 4
	}
	put32(v[versionLength:], uint32(len(x.row.Enc))|flags)
	copy(v[from:], x.row.Enc)
}
