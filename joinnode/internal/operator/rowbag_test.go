package operator

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// TestRowBagIsAMultiset holds a bag against a Go map, with rows of all sizes and
// with Go values, of which the row that came has more than it refers to.
func TestRowBagIsAMultiset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newRowBag(rapid.SampledFrom([]int{0, 4, 16}).Draw(t, "extra"))
		type kept struct {
			ref   keyRef
			row   row.Row
			count int
		}
		all := map[string]kept{}
		for range rapid.IntRange(1, 150).Draw(t, "operations") {
			n := rapid.SampledFrom([]int{0, 1, 30, 300, 9000, 70000}).Draw(t, "length")
			which := rapid.IntRange(0, 3).Draw(t, "which")
			values := rapid.IntRange(0, 2).Draw(t, "Go values")
			r := row.Row{Side: []any{"of a column that is gone"}}
			r = row.Append(r, value.OfText(strings.Repeat(fmt.Sprint(which), n)))
			for range values {
				r = row.Append(r, value.OfAny(map[string]any{"v": which}))
			}
			r = b.prune(row.Append(r, value.OfInt(7)), 1+values)
			name := fmt.Sprint(n, which, values)
			if n == 0 && values == 0 {
				name = "empty"
			}
			had, ok := all[name]
			hash := b.hash(r)
			ref := b.find(r, hash)
			require.Equal(t, had.ref, ref)
			switch {
			case ok && rapid.Bool().Draw(t, "remove"):
				b.recount(b.entry(ref), 0)
				b.remove(ref)
				delete(all, name)
				require.False(t, b.holds(ref, hash))
			case ok:
				had.count++
				b.recount(b.entry(ref), had.count)
				all[name] = had
			default:
				ref = b.insert(r, hash)
				require.True(t, b.holds(ref, hash))
				require.Zero(t, b.entry(ref).count())
				b.recount(b.entry(ref), 1)
				all[name] = kept{ref: ref, row: row.AppendRow(row.Row{}, r), count: 1}
			}
			b.forget()
			rows := 0
			for _, x := range all {
				require.True(t, sameRow(x.row, b.row(b.entry(x.ref))))
				require.Equal(t, x.count, b.entry(x.ref).count())
				rows += x.count
			}
			require.Equal(t, int64(rows), b.rows)
			require.Equal(t, int64(len(all)), b.entries)
			seen := 0
			b.each(func(entry) bool { seen++; return true })
			require.Equal(t, len(all), seen)
		}
		for _, x := range all {
			b.recount(b.entry(x.ref), 0)
			b.remove(x.ref)
		}
		require.Zero(t, b.rows)
		require.Zero(t, b.side.values)
		require.LessOrEqual(t, b.cells.used, int64(sizeClasses*pageMin))
		require.LessOrEqual(t, b.slots, int64(len(b.shards)*slotsMin))
	})
}

// TestRowBagOfGoValuesHashesThem: rows that differ in nothing but a Go value
// must not all lie on one hash.
func TestRowBagOfGoValuesHashesThem(t *testing.T) {
	b := newRowBag(0)
	hashes := map[uint32]bool{}
	for i := range 1000 {
		hashes[b.hash(row.Append(row.Row{}, value.OfAny(map[string]any{"i": i})))] = true
	}
	require.Greater(t, len(hashes), 990)
}

// TestRelationalJoinAddressesRunOut: a row that cannot be addressed is dropped
// and counted, like one above a gate; what is there stays right.
func TestRelationalJoinAddressesRunOut(t *testing.T) {
	j := newRelationalBench(t, true, 0)
	j.bags[0].cells.limit = 2
	for i := range 10_000 {
		j.order(1, "k", i)
		j.EndStep()
	}
	kept := int(j.Stats().Rows)
	require.Equal(t, 10_000, kept+j.out.dropped)
	require.Equal(t, kept, j.out.emitted)
	require.Positive(t, j.out.dropped)
	for i := range 10_000 {
		j.order(-1, "k", i)
		j.EndStep()
	}
	require.Zero(t, j.Stats().Rows)
	require.Equal(t, 2*kept, j.out.emitted)
}
