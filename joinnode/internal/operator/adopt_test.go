package operator

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

func TestAdoptRefusesWhatDoesNotFit(t *testing.T) {
	same := []int{0, 1, 2}
	base := JoinConfig{Within: 10, RightRetention: 20, Left: true, RightSource: 1, Keys: [2]int{1, 1}, Keep: [2]int{3, 3}}
	join := func(change func(*JoinConfig)) *IntervalJoin {
		cfg := base
		change(&cfg)
		j, err := NewIntervalJoin(cfg, &tally{})
		require.NoError(t, err)
		return j
	}
	unchanged := func(*JoinConfig) {}
	used := join(unchanged)
	used.Advance(0, Progress{Seen: 1})
	flushed := join(unchanged)
	flushed.Flush(1, ClosedByStop)

	for name, test := range map[string]struct {
		next, old *IntervalJoin
		mapLeft   []int
	}{
		"used":            {used, join(unchanged), same},
		"flushed":         {join(unchanged), flushed, same},
		"within":          {join(unchanged), join(func(c *JoinConfig) { c.Within = 11 }), same},
		"bounds":          {join(unchanged), join(func(c *JoinConfig) { c.Lower, c.Upper = -10, 9 }), same},
		"left retention":  {join(unchanged), join(func(c *JoinConfig) { c.LeftRetention = 11 }), same},
		"right retention": {join(unchanged), join(func(c *JoinConfig) { c.RightRetention = 21 }), same},
		"kind":            {join(unchanged), join(func(c *JoinConfig) { c.Left = false }), same},
		"time":            {join(unchanged), join(func(c *JoinConfig) { c.Clocked = true }), same},
		"keys":            {join(unchanged), join(func(c *JoinConfig) { c.Keys = [2]int{2, 2} }), same},
		"too few columns": {join(unchanged), join(unchanged), []int{0, 1}},
		"unknown column":  {join(unchanged), join(unchanged), []int{0, 1, 3}},
		"key column":      {join(unchanged), join(unchanged), []int{1, 1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorIs(t, test.next.Adopt(test.old, test.mapLeft, same, nil, nil), ErrAdopt)
		})
	}
	require.NoError(t, join(unchanged).Adopt(join(unchanged), same, same, nil, nil))
}

// TestAdoptMovesPointersWhenNothingChanges: a reload that keeps the columns
// costs nothing however many rows there are.
func TestAdoptMovesPointersWhenNothingChanges(t *testing.T) {
	old := newBench(t, JoinConfig{Within: 10_000, Left: true, MaxKeys: 10})
	for i := range 5000 {
		old.feed(i%2, int64(i), "k")
	}
	keys, sides, before := old.keys, old.sides, old.Stats()
	next := newBench(t, JoinConfig{Within: 10_000, Left: true, MaxKeys: 20})
	same := []int{0, 1, 2}
	require.NoError(t, next.Adopt(old.IntervalJoin, same, same, nil, nil))
	require.Same(t, keys, next.keys)
	require.Equal(t, sides, next.sides)
	require.Equal(t, before, next.Stats())
	require.NotSame(t, keys, old.keys)
	require.Zero(t, old.Stats().Rows)
}

func TestAdoptDropsWhatItCannotAddress(t *testing.T) {
	old := newBench(t, JoinConfig{Within: 10_000, Left: true})
	for i := range 1000 {
		old.feed(0, int64(i), "k")
	}
	next := newBench(t, JoinConfig{Within: 10_000, Left: true})
	next.sides[0].arena.limit = 1
	require.NoError(t, next.Adopt(old.IntervalJoin, []int{0, 1, -1}, []int{0, 1, 2}, func(row.Row) bool { return true }, nil))
	require.Positive(t, next.out.dropped)
	require.Equal(t, int64(1000), next.Stats().Rows+int64(next.out.dropped))
}
