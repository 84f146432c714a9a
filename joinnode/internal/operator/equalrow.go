package operator

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// equalRow tells whether a change from a to b is none to whoever reads the table:
// every column has the same bytes, or the same number in another spelling or of
// another type. A sum of decimals that comes back to 3 is 3.
func equalRow(a, b row.Row) bool {
	if len(a.Side) > 0 || len(b.Side) > 0 {
		return equalColumns(a, b)
	}
	for {
		same := sharedPrefix(a.Enc, b.Enc)
		if same == len(a.Enc) && same == len(b.Enc) {
			return true
		}
		// Up to the column with the first difference they are cut alike.
		at, next := 0, 0
		for next <= same && next < len(a.Enc) {
			at = next
			next += row.Row{Enc: a.Enc[at:]}.Offset(1)
		}
		a.Enc, b.Enc = a.Enc[at:], b.Enc[min(at, len(b.Enc)):]
		if len(a.Enc) == 0 || len(b.Enc) == 0 {
			return false
		}
		if !equalNumber(a, b, same-at) {
			return false
		}
		a.Enc, b.Enc = a.Enc[a.Offset(1):], b.Enc[b.Offset(1):]
	}
}

// sharedPrefix returns how many bytes a and b begin with alike.
func sharedPrefix(a, b []byte) int {
	n, i := min(len(a), len(b)), 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// equalNumber tells whether the first columns of a and b, whose bytes differ from
// the given one on, are the same number.
func equalNumber(a, b row.Row, from int) bool {
	kind := a.Kind(0)
	if !numeric(kind) || !numeric(b.Kind(0)) {
		return false
	}
	if from > 0 { // the kinds are the same, and the Go types or lengths
		switch kind {
		case value.Int, value.Uint:
			return false
		case value.Float:
			if from < 8 { // only 0 and −0 are the same, and they differ in the last byte
				return false
			}
		}
	}
	order, ok := value.Compare(a.Col(0), b.Col(0))
	return ok && order == 0
}

// equalColumns is equalRow column by column.
func equalColumns(a, b row.Row) bool {
	for len(a.Enc) > 0 && len(b.Enc) > 0 {
		i, j := a.Offset(1), b.Offset(1)
		x, y := a.Col(0), b.Col(0)
		if x.Kind == value.Any || y.Kind == value.Any || !bytes.Equal(a.Enc[:i], b.Enc[:j]) {
			if !number(x) || !number(y) {
				return sameRow(a, b)
			}
			if order, ok := value.Compare(x, y); !ok || order != 0 {
				return false
			}
		}
		a.Enc, b.Enc = a.Enc[i:], b.Enc[j:]
	}
	return len(a.Enc) == len(b.Enc)
}

func number(v value.Value) bool { return numeric(v.Kind) }

func numeric(k value.Kind) bool {
	switch k {
	case value.Int, value.Uint, value.Float, value.Number:
		return true
	}
	return false
}
