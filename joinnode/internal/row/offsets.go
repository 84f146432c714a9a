package row

import "encoding/binary"

// AppendOffsets appends to dst where in Enc columns 0 to n begin, in one pass;
// of those that r does not have it says len(Enc). Column i is
// Enc[at[i]:at[i+1]].
func (r Row) AppendOffsets(dst []int, n int) []int {
	off := 0
	for range n {
		dst = append(dst, off)
		if off < len(r.Enc) {
			off = skip(r.Enc, off)
		}
	}
	return append(dst, off)
}

// FirstText returns the first column of enc if that is text, and where the
// second one begins: what most joins need of a row to look its key up.
func FirstText(enc []byte) (text []byte, end int, ok bool) {
	if len(enc) == 0 {
		return nil, 0, false
	}
	if tag := enc[0] & 15; tag != tagPlain && tag != tagText {
		return nil, 0, false
	}
	start, n := 1, int(enc[0]>>4)
	if n == longLength {
		long, size := binary.Uvarint(enc[1:])
		if size <= 0 || long > uint64(len(enc)) {
			return nil, 0, false
		}
		start, n = 1+size, int(long)
	}
	if end = start + n; end > len(enc) {
		return nil, 0, false
	}
	return enc[start:end:end], end, true
}
