package operator

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// lruModel is the keys of one port in the order of their last use.
type lruModel struct {
	lru
	keys  *keyTable
	refs  map[int]keyRef
	order []int
}

func (m *lruModel) use(n int) {
	var k joinKey
	m.keys.read(&k, row.Append(row.Row{}, value.OfInt(int64(n))))
	ref, _ := m.keys.find(&k)
	if ref == 0 {
		ref = m.keys.insert(&k)
	}
	c := m.keys.cell(ref)
	i := slices.Index(m.order, n)
	if i >= 0 {
		m.order = slices.Delete(m.order, i, i+1)
	}
	m.order, m.refs[n] = append(m.order, n), ref
	c.setRows(m.port, 1)
	m.lru.use(ref, c, i < 0, len(m.order))
}

func (m *lruModel) leave(i int) {
	n := m.order[i]
	c := m.keys.cell(m.refs[n])
	c.setRows(m.port, 0)
	m.lru.remove(c)
	if c.rows(1-m.port) == 0 {
		m.keys.remove(m.refs[n])
	}
	m.order = slices.Delete(m.order, i, i+1)
	delete(m.refs, n)
	if len(m.order) == 0 {
		m.lru.empty()
	}
}

func (m *lruModel) evict(t require.TestingT) {
	require.Equal(t, m.refs[m.order[0]], m.least())
	m.leave(0)
}

// TestTheLeastRecentlyUsedKeyLeaves goes back and forth between stamps and
// list, with cells that serve one key after the other and both ports.
func TestTheLeastRecentlyUsedKeyLeaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 60).Draw(t, "max keys")
		keys := newKeyTable(1, true)
		var ports [2]*lruModel
		for p := range ports {
			ports[p] = &lruModel{lru: lru{on: true, keys: keys, port: p, max: limit}, keys: keys, refs: map[int]keyRef{}}
		}
		for range rapid.IntRange(1, 8).Draw(t, "phases") {
			m := ports[rapid.IntRange(0, 1).Draw(t, "port")]
			leaves := rapid.IntRange(0, 3).Draw(t, "leaves of four")
			for range rapid.IntRange(1, 120).Draw(t, "operations") {
				if len(m.order) > 0 && rapid.IntRange(0, 3).Draw(t, "which") < leaves {
					m.leave(rapid.IntRange(0, len(m.order)-1).Draw(t, "leaving"))
					continue
				}
				n := rapid.IntRange(0, 2*limit).Draw(t, "key")
				if slices.Contains(m.order, n) {
					m.use(n)
					continue
				}
				for len(m.order) >= limit {
					m.evict(t)
				}
				m.use(n)
			}
		}
		for _, m := range ports {
			var refs []keyRef
			for _, n := range m.order {
				refs = append(refs, m.refs[n])
			}
			require.Equal(t, refs, m.lru.order())
			for len(m.order) > 0 {
				m.evict(t)
			}
		}
	})
}

// TestTheOrderOfUseCostsNothingFarFromTheCap: no list, no heap, until half of
// the keys are there; and the list goes when they have left.
func TestTheOrderOfUseCostsNothingFarFromTheCap(t *testing.T) {
	const limit = 2000
	b := newBench(t, JoinConfig{Within: limit, MaxKeys: limit})
	keys := names(3 * limit)
	for i := range limit {
		b.feed(0, int64(i), keys[i%(limit/2)])
	}
	l := &b.sides[0].lru
	require.False(t, l.near)
	require.Zero(t, l.newest)
	for i := limit / 2; i < 3*limit; i++ {
		b.feed(0, limit, keys[i])
		if i == limit/2+300 {
			require.Equal(t, len(b.keys.shards), l.collected, "collected long before a key has to go")
		}
	}
	require.True(t, l.near)
	require.Equal(t, 2*limit+limit/2, b.out.dropped, "one row of each evicted key, two of the first thousand")
	require.Empty(t, l.stamped)

	b.Advance(0, Progress{Seen: 2*limit + 1})
	require.False(t, l.near)
}
