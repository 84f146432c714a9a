package operator

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

func TestSizeClasses(t *testing.T) {
	last, lastSize := 0, 0
	for n := 1; n <= cellMax; n++ {
		class, size := sizeClass(n)
		require.GreaterOrEqual(t, size, n)
		require.Zero(t, size%granule)
		require.Less(t, class, sizeClasses)
		require.True(t, class == last && size == lastSize || class == last+1 && size > lastSize, "size %d", n)
		require.LessOrEqual(t, size, n+max(granule-1, n/cellSteps), "waste for %d", n)
		last, lastSize = class, size
	}
	class, size := sizeClass(cellMax + 1)
	require.Equal(t, oversize, class)
	require.Equal(t, cellMax+1, size)
}

// TestKeyTableIsAMap holds the table against a Go map, through growth and
// shrinking, with hashes that collide.
func TestKeyTableIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := newKeyTable(1, false)
		narrow := rapid.Bool().Draw(t, "few hashes")
		refs := map[int]keyRef{}
		read := func(n int) *joinKey {
			var k joinKey
			table.read(&k, row.Append(row.Row{}, value.OfInt(int64(n))))
			if narrow {
				k.hash &= 0xff000007
			}
			return &k
		}
		for range rapid.IntRange(1, 400).Draw(t, "operations") {
			n := rapid.IntRange(0, 60).Draw(t, "key")
			k := read(n)
			ref, same := table.find(k)
			require.Equal(t, refs[n], ref)
			require.Equal(t, ref != 0, same)
			switch {
			case ref == 0:
				refs[n] = table.insert(k)
			case rapid.Bool().Draw(t, "remove"):
				table.remove(ref)
				delete(refs, n)
			}
		}
		for n, ref := range refs {
			found, _ := table.find(read(n))
			require.Equal(t, ref, found)
			table.remove(ref)
		}
		require.LessOrEqual(t, table.slots, int64(len(table.shards)*slotsMin))
	})
}
