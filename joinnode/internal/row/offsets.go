package row

// AppendOffsets appends to dst where in Enc columns 0 to n begin, in one pass;
// of those that r does not have it says len(Enc). Column i is
// Enc[at[i]:at[i+1]].
func (r Row) AppendOffsets(dst []int, n int) []int {
	off := 0
	for range n {
		dst = append(dst, off)
		if off < len(r.Enc) {
			off = columnAt(r.Enc, off).end
		}
	}
	return append(dst, off)
}
