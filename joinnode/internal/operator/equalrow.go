package operator

import (
	"bytes"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// equalRow tells whether a change from a to b is none to whoever reads the table:
// every column has the same bytes, or the same number in another spelling or of
// another type. A sum of decimals that comes back to 3 is 3.
func equalRow(a, b row.Row) bool {
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

func number(v value.Value) bool {
	switch v.Kind {
	case value.Int, value.Uint, value.Float, value.Number:
		return true
	}
	return false
}
