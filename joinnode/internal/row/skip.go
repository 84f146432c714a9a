package row

// widths has, for a first byte that tells it, how many bytes the column takes with
// it: short text, numbers and JSON, floats, NULL and booleans, which is most of
// what rows hold. 0 means that columnAt must look further.
//
// Finding a column means walking over those before it, and so a row is walked each
// time it is filtered, joined or written; one load a column makes that cheap.
var widths = func() (w [256]uint8) {
	for b := range w {
		detail := byte(b) >> 4
		switch b & 15 {
		case tagNull, tagBool:
			w[b] = 1
		case tagUint, tagFloat:
			w[b] = 1 + 8
		case tagNumber, tagText, tagPlain, tagJSON:
			if detail < longLength {
				w[b] = 1 + detail
			}
		}
	}
	return w
}()

// skip returns where the column behind the one at off begins; off must be inside
// enc. It is never behind the end of enc.
func skip(enc []byte, off int) int {
	if w := int(widths[enc[off]]); w > 0 && w <= len(enc)-off {
		return off + w
	}
	return columnAt(enc, off).end
}
