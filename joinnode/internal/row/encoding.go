package row

import (
	"encoding/binary"
	"math"

	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// The low four bits of a tag. The high four bits are, for each kind:
//
//	tagNull     0
//	tagBool     0 or 1
//	tagInt      Go type; a zigzag varint follows
//	tagUint     Go type; 8 bytes little endian follow
//	tagFloat    Go type; 8 bytes little endian follow
//	tagNumber, tagText, tagPlain, tagJSON
//	            length, or 15 and a uvarint length; the bytes follow
//	tagAny      index into Side, or 15 and a uvarint index
const (
	tagNull = iota
	tagBool
	tagInt
	tagUint
	tagFloat
	tagNumber
	tagText
	tagJSON
	tagAny
	tagPlain // Text that needs no escaping inside a JSON string

	tagBad = 15 // never written: what damaged bytes are read as
)

// longLength in the high four bits says that a uvarint follows.
const longLength = 15

// Append returns dst with one more column that holds v. The bytes of v.Text are
// copied; v.Ref is kept as it is, so the caller hands over a copy if someone
// may still write to it.
func Append(dst Row, v value.Value) Row {
	switch v.Kind {
	case value.Bool:
		dst.Enc = append(dst.Enc, tagBool|byte(v.Bits&1)<<4)
	case value.Int:
		dst.Enc = binary.AppendVarint(append(dst.Enc, tagInt|v.Go<<4), int64(v.Bits))
	case value.Uint:
		dst.Enc = binary.LittleEndian.AppendUint64(append(dst.Enc, tagUint|v.Go<<4), v.Bits)
	case value.Float:
		dst.Enc = binary.LittleEndian.AppendUint64(append(dst.Enc, tagFloat|v.Go<<4), v.Bits)
	case value.Number:
		dst.Enc = appendBytes(dst.Enc, tagNumber, v.Text)
	case value.Text:
		if v.Plain {
			dst.Enc = appendBytes(dst.Enc, tagPlain, v.Text)
		} else {
			dst.Enc = appendBytes(dst.Enc, tagText, v.Text)
		}
	case value.JSON:
		dst.Enc = appendBytes(dst.Enc, tagJSON, v.Text)
	case value.Any:
		dst.Enc = appendLength(dst.Enc, tagAny, len(dst.Side))
		dst.Side = append(dst.Side, v.Ref)
	default:
		dst.Enc = append(dst.Enc, tagNull)
	}
	return dst
}

func appendLength(enc []byte, tag byte, n int) []byte {
	if n < longLength {
		return append(enc, tag|byte(n)<<4)
	}
	return binary.AppendUvarint(append(enc, tag|longLength<<4), uint64(n))
}

func appendBytes(enc []byte, tag byte, text []byte) []byte {
	return append(appendLength(enc, tag, len(text)), text...)
}

// column is where one encoded column lies: its payload is enc[start:end], and
// the next column begins at end. For tagAny, start == end and index is set.
type column struct {
	tag        byte // low four bits
	detail     byte // high four bits
	start, end int
	index      int
}

// columnAt reads the tag and length at off, which must be inside enc. Bytes
// that cannot have been written by Append read as tagBad and swallow the rest.
func columnAt(enc []byte, off int) column {
	b := enc[off]
	c := column{tag: b & 15, detail: b >> 4, start: off + 1}
	if w := int(widths[b]); w > 0 && w <= len(enc)-off {
		c.end = off + w
		return c
	}
	switch c.tag {
	case tagNull, tagBool:
		c.end = c.start
	case tagNumber, tagText, tagPlain, tagJSON:
		n, ok := c.length(enc)
		if !ok || n > len(enc)-c.start {
			return column{tag: tagBad, end: len(enc)}
		}
		c.end = c.start + n
	case tagInt:
		i := c.start
		for i < len(enc) && enc[i] >= 0x80 {
			i++
		}
		if i == len(enc) || i-c.start >= binary.MaxVarintLen64 {
			return column{tag: tagBad, end: len(enc)}
		}
		c.end = i + 1
	case tagUint, tagFloat:
		if len(enc)-c.start < 8 {
			return column{tag: tagBad, end: len(enc)}
		}
		c.end = c.start + 8
	case tagAny:
		n, ok := c.length(enc)
		if !ok {
			return column{tag: tagBad, end: len(enc)}
		}
		c.index, c.end = n, c.start
	default:
		return column{tag: tagBad, end: len(enc)}
	}
	return c
}

// length reads the length or index of c and moves c.start behind it.
func (c *column) length(enc []byte) (int, bool) {
	if c.detail < longLength {
		return int(c.detail), true
	}
	n, size := binary.Uvarint(enc[c.start:])
	if size <= 0 || n > math.MaxInt32 {
		return 0, false
	}
	c.start += size
	return int(n), true
}

// value decodes c without copying.
func (c column) value(r Row) value.Value {
	payload := r.Enc[c.start:c.end:c.end]
	switch c.tag {
	case tagBool:
		return value.Value{Kind: value.Bool, Bits: uint64(c.detail & 1)}
	case tagInt:
		n, size := binary.Varint(payload)
		if size <= 0 {
			return value.Value{}
		}
		return value.Value{Kind: value.Int, Go: c.detail, Bits: uint64(n)}
	case tagUint:
		return value.Value{Kind: value.Uint, Go: c.detail, Bits: binary.LittleEndian.Uint64(payload)}
	case tagFloat:
		return value.Value{Kind: value.Float, Go: c.detail, Bits: binary.LittleEndian.Uint64(payload)}
	case tagNumber:
		return value.Value{Kind: value.Number, Text: payload}
	case tagText:
		return value.Value{Kind: value.Text, Text: payload}
	case tagPlain:
		return value.Value{Kind: value.Text, Plain: true, Text: payload}
	case tagJSON:
		return value.Value{Kind: value.JSON, Text: payload}
	case tagAny:
		if c.index < len(r.Side) {
			return value.Value{Kind: value.Any, Ref: r.Side[c.index]}
		}
	}
	return value.Value{}
}

// Offset returns where in Enc column i begins, or len(Enc) when the row has no
// such column.
func (r Row) Offset(i int) int {
	if i < 0 {
		return len(r.Enc)
	}
	off := 0
	for ; i > 0 && off < len(r.Enc); i-- {
		off = skip(r.Enc, off)
	}
	return off
}

// Col returns column i, NULL when the row has no such column or its bytes are
// damaged. Text and Ref belong to the row.
func (r Row) Col(i int) value.Value {
	off := r.Offset(i)
	if off >= len(r.Enc) {
		return value.Value{}
	}
	return columnAt(r.Enc, off).value(r)
}

// column returns where column i lies; false when the row has none.
func (r Row) column(i int) (column, bool) {
	off := r.Offset(i)
	if off >= len(r.Enc) {
		return column{}, false
	}
	return columnAt(r.Enc, off), true
}

// Len returns the number of columns.
func (r Row) Len() int {
	n := 0
	for off := 0; off < len(r.Enc); n++ {
		off = skip(r.Enc, off)
	}
	return n
}

// Walk calls f with every column in order. It costs one pass, where Col in a
// loop costs one pass per column.
func (r Row) Walk(f func(i int, v value.Value)) {
	for i, off := 0, 0; off < len(r.Enc); i++ {
		c := columnAt(r.Enc, off)
		f(i, c.value(r))
		off = c.end
	}
}

// Slice returns columns from (inclusive) to to (exclusive) as a row that shares
// r's memory, including all of Side, which its columns still index.
func (r Row) Slice(from, to int) Row {
	a, b := r.Offset(from), r.Offset(to)
	if b < a {
		b = a
	}
	return Row{Enc: r.Enc[a:b:b], Side: r.Side}
}

// AppendColumns returns dst with the columns cols of src, in that order; a
// column that src does not have becomes NULL. Rising cols cost one pass over
// src. Bytes are copied, values of Side are shared.
func AppendColumns(dst, src Row, cols []int) Row {
	at := cursor{row: src}
	for _, i := range cols {
		off, ok := at.seek(i)
		if !ok {
			dst.Enc = append(dst.Enc, tagNull)
			continue
		}
		dst = appendColumn(dst, src, off, columnAt(src.Enc, off))
	}
	return dst
}

// AppendRow returns dst with all columns of src: one copy of bytes when src has
// no Side values.
func AppendRow(dst, src Row) Row {
	if len(src.Side) == 0 {
		dst.Enc = append(dst.Enc, src.Enc...)
		return dst
	}
	for off := 0; off < len(src.Enc); {
		c := columnAt(src.Enc, off)
		dst = appendColumn(dst, src, off, c)
		off = c.end
	}
	return dst
}

// appendColumn copies the column c of src, which begins at off.
func appendColumn(dst, src Row, off int, c column) Row {
	switch c.tag {
	case tagAny, tagBad:
		return Append(dst, c.value(src))
	default:
		dst.Enc = append(dst.Enc, src.Enc[off:c.end]...)
		return dst
	}
}

// cursor finds columns of one row; it is fast when they are asked for in
// rising order, and right in any order.
type cursor struct {
	row Row
	i   int // the column that begins at off
	off int
}

// seek returns where column i begins; false when there is none.
func (c *cursor) seek(i int) (int, bool) {
	if i < c.i {
		if i < 0 {
			return 0, false
		}
		c.i, c.off = 0, 0
	}
	for c.i < i && c.off < len(c.row.Enc) {
		c.off = skip(c.row.Enc, c.off)
		c.i++
	}
	return c.off, c.i == i && c.off < len(c.row.Enc)
}
