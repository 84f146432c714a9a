package row

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"reflect"

	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// The scalars that rows are full of go in and out here without a value.Value
// between: it has nine words, which is more than most of them take. What is not
// among them goes the way of all values; the outcome is the same.

// Number returns the text of column i if it is a JSON number, as Col would. The
// bytes belong to the row.
func (r Row) Number(i int) ([]byte, bool) {
	off := r.Offset(i)
	if off >= len(r.Enc) {
		return nil, false
	}
	c := columnAt(r.Enc, off)
	return r.Enc[c.start:c.end:c.end], c.tag == tagNumber
}

// Float returns the float64 that compares with float64s, and with integers up to
// 2⁵³, as column i does: that of a float64 from Go, a calculated one, or that of a
// short JSON number. It is false for all else, NaN included.
func (r Row) Float(i int) (float64, bool) {
	off := r.Offset(i)
	if off >= len(r.Enc) {
		return 0, false
	}
	switch c := columnAt(r.Enc, off); c.tag {
	case tagNumber:
		return value.ShortFloat(r.Enc[c.start:c.end])
	case tagFloat:
		f := math.Float64frombits(binary.LittleEndian.Uint64(r.Enc[c.start:c.end]))
		return f, c.detail != byte(reflect.Float32) && !math.IsNaN(f)
	}
	return 0, false
}

// Int returns column i if it is a value.Int, as Col would.
func (r Row) Int(i int) (int64, bool) {
	off := r.Offset(i)
	if off >= len(r.Enc) || r.Enc[off]&15 != tagInt {
		return 0, false
	}
	x, size := binary.Varint(r.Enc[off+1:])
	return x, size > 0
}

// kinds are the kinds of the tags.
var kinds = [16]value.Kind{tagBool: value.Bool, tagInt: value.Int, tagUint: value.Uint, tagFloat: value.Float,
	tagNumber: value.Number, tagText: value.Text, tagPlain: value.Text, tagJSON: value.JSON, tagAny: value.Any}

// Kind returns the kind of column i, value.Null when the row has no such column.
func (r Row) Kind(i int) value.Kind {
	off := r.Offset(i)
	if off >= len(r.Enc) {
		return value.Null
	}
	return kinds[r.Enc[off]&15]
}

// AppendInt appends the column of value.OfInt(i) to the encoding of a row.
func AppendInt(enc []byte, i int64) []byte { return binary.AppendVarint(append(enc, tagInt), i) }

// AppendFloat appends the column of value.OfFloat(f) to the encoding of a row.
func AppendFloat(enc []byte, f float64) []byte {
	return binary.LittleEndian.AppendUint64(append(enc, tagFloat), math.Float64bits(f))
}

// appendScalar appends a string, float64, int or int64; false for other types.
func appendScalar(enc []byte, x any) ([]byte, bool) {
	switch x := x.(type) {
	case string:
		return append(appendLength(enc, tagText, len(x)), x...), true
	case float64:
		enc = append(enc, tagFloat|byte(reflect.Float64)<<4)
		return binary.LittleEndian.AppendUint64(enc, math.Float64bits(x)), true
	case int:
		return binary.AppendVarint(append(enc, tagInt|byte(reflect.Int)<<4), int64(x)), true
	case int64:
		return binary.AppendVarint(append(enc, tagInt|byte(reflect.Int64)<<4), x), true
	}
	return enc, false
}

// toGo returns the column as a Go value of its own.
func (c column) toGo(r Row) any {
	payload := r.Enc[c.start:c.end]
	switch {
	case c.tag == tagText || c.tag == tagPlain:
		return string(payload)
	case c.tag == tagNumber:
		return json.Number(payload)
	case c.tag == tagFloat && c.detail == byte(reflect.Float64):
		return math.Float64frombits(binary.LittleEndian.Uint64(payload))
	}
	return toGo(c.value(r))
}
