package row

// What most columns are: text, a number or JSON text of fewer than 15 bytes,
// whose tag byte has the whole length. Finding a column means walking over those
// before it, and so a row is walked each time it is filtered, joined or written.
// Here the usual column takes a few instructions; all others, damaged bytes
// included, are left to columnAt.

// brief has a bit for each tag whose payload is bytes of that many.
const brief = 1<<tagNumber | 1<<tagText | 1<<tagJSON | 1<<tagPlain

// isBrief tells whether a column that begins with b is bytes of a short length,
// which is then b>>4.
func isBrief(b byte) bool { return brief>>(b&15)&1 != 0 && b < longLength<<4 }

// skip returns where the column behind the one at off begins; off must be inside
// enc. It is never behind the end of enc.
func skip(enc []byte, off int) int {
	if b := enc[off]; isBrief(b) {
		if end := off + 1 + int(b>>4); end <= len(enc) {
			return end
		}
	}
	return columnAt(enc, off).end
}
