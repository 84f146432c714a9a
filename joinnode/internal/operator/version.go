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
//	side   4 bytes: its Go values in the history's side table
//	length 4 bytes: of the columns; the top bits are the flags
//	columns
//
// A version without a row says that the table had none.
type version []byte

const (
	versionRead   = 8
	versionNewer  = 16
	versionSide   = 20
	versionLength = 24
	versionHeader = 28

	versionNone   = 1 << 31 // the table had no row
	versionOwnKey = 1 << 30 // spells its key differently: columns begin with the key
	versionQueued = 1 << 29 // history.due has its time
	versionSize   = versionQueued - 1
)

func (v version) ts() int64            { return int64(binary.LittleEndian.Uint64(v)) }
func (v version) read() int64          { return int64(binary.LittleEndian.Uint64(v[versionRead:])) }
func (v version) setRead(t int64)      { binary.LittleEndian.PutUint64(v[versionRead:], uint64(t)) }
func (v version) newer() keyRef        { return keyRef(get32(v[versionNewer:])) }
func (v version) setNewer(k keyRef)    { put32(v[versionNewer:], uint32(k)) }
func (v version) side() uint32         { return get32(v[versionSide:]) }
func (v version) has(flag uint32) bool { return get32(v[versionLength:])&flag != 0 }
func (v version) size() int            { return int(get32(v[versionLength:]) & versionSize) }
func (v version) cols() []byte         { n := versionHeader + v.size(); return v[versionHeader:n:n] }

func (v version) setQueued() { put32(v[versionLength:], get32(v[versionLength:])|versionQueued) }

// state is what a version says of its key: the columns of the row, or none.
type state struct {
	flags uint32 // versionNone, versionOwnKey
	row   row.Row
}

// write fills in a version that is not linked yet; v has room for it.
func (v version) write(ts, read int64, x *state, side uint32) {
	binary.LittleEndian.PutUint64(v, uint64(ts))
	v.setRead(read)
	v.setNewer(0)
	v.setState(x, side)
}

// setState puts x in the place of what v said; v has room for it.
func (v version) setState(x *state, side uint32) {
	put32(v[versionSide:], side)
	put32(v[versionLength:], uint32(len(x.row.Enc))|x.flags)
	copy(v[versionHeader:], x.row.Enc)
}
