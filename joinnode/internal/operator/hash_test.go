package operator

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// TestEqualKeysHaveOneCell: text keys take a short cut to their hash, and meet
// those that do not.
func TestEqualKeysHaveOneCell(t *testing.T) {
	type name string
	pointer := "a key"
	long := "a key that is longer than fifteen bytes"
	for _, same := range [][]value.Value{
		{value.OfText("a key"), value.OfBytes([]byte("a key"), true), value.FromGo("a key"), value.FromGo(name("a key")), value.FromGo(&pointer)},
		{value.OfText(long), value.OfBytes([]byte(long), true), value.FromGo(name(long))},
		{value.OfText(""), value.OfBytes(nil, true), value.FromGo(name(""))},
		{value.OfText("1")},
		{value.OfInt(1), value.OfFloat(1), value.FromGo(json.Number("1.0"))},
		{{}, value.FromGo(nil)},
	} {
		for _, cols := range []int{1, 2} {
			table := newKeyTable(cols, false)
			var first keyRef
			for i, v := range same {
				r := row.Append(row.Row{}, v)
				if cols == 2 {
					r = row.Append(r, value.OfText("b"))
				}
				var k joinKey
				table.read(&k, row.Append(r, value.OfText("another column")))
				ref, _ := table.find(&k)
				if i == 0 {
					require.Zero(t, ref)
					first = table.insert(&k)
				} else {
					require.Equal(t, first, ref, "%d columns, spelling %d of %q", cols, i, v.Text)
				}
			}
		}
	}
}
