package delegate

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/rulego/streamsql/logger"
	"github.com/rulego/streamsql/metrics"
	"github.com/rulego/streamsql/types"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/warning"
)

// fired is one window as a test compares it.
type fired struct {
	start, end int64
	ids        []int
}

func recorder(out *[]fired) func([]types.Row) {
	return func(rows []types.Row) {
		f := fired{start: rows[0].Slot.Start.UnixNano(), end: rows[0].Slot.End.UnixNano()}
		for _, r := range rows {
			f.ids = append(f.ids, r.Data.(map[string]any)["id"].(int))
		}
		sort.Ints(f.ids)
		*out = append(*out, f)
	}
}

func data(id int, key any) map[string]any { return map[string]any{"id": id, "k": key} }

// Every row that is not late is in each of its windows from the first row's on,
// exactly once, in order of the windows, whatever the order of the rows.
func TestTimeWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slide := rapid.Int64Range(1, 6).Draw(t, "slide")
		size := rapid.Int64Range(1, 12).Draw(t, "size")
		disorder := rapid.Int64Range(0, 8).Draw(t, "disorder")
		times := rapid.SliceOfN(rapid.Int64Range(0, 60), 1, 30).Draw(t, "times")

		var got []fired
		w := newTimeWindow(size, slide, 0, recorder(&got))
		mark, floor := int64(math.MinInt64), int64(math.MaxInt64)
		want := map[int64][]int{}
		kept := map[int]int64{}
		for id, ts := range times {
			last := ts / slide * slide
			late := last+size <= mark
			require.Equal(t, !late, w.add(ts, data(id, nil)))
			if !late {
				if id == 0 || last < floor {
					floor = last
				}
				kept[id] = ts
				// The windows that are still open now and begin no earlier than
				// the first one of all hold the row.
				for s := last; s > ts-size; s -= slide {
					if s+size > mark && s >= floor {
						want[s] = append(want[s], id)
					}
				}
			}
			mark = max(mark, ts-disorder)
			w.advance(mark)
			if due, ok := w.due(); ok {
				require.Greater(t, due, mark, "what is due has been given out")
			}
		}
		require.Zero(t, w.flush())
		require.Zero(t, w.pending())
		require.True(t, slices.IsSortedFunc(got, func(a, b fired) int { return int(a.start - b.start) }))
		seen := map[int]bool{}
		for _, f := range got {
			require.Equal(t, f.start+size, f.end)
			for _, id := range f.ids {
				require.True(t, kept[id] >= f.start && kept[id] < f.end)
				seen[id] = true
			}
			// A row before the first one's window opens earlier windows, and rows
			// that came before it are in those as well.
			require.Subset(t, f.ids, want[f.start])
		}
		for s := range want {
			require.True(t, slices.ContainsFunc(got, func(f fired) bool { return f.start == s }), "window %d", s)
		}
		if slide <= size {
			require.Len(t, seen, len(kept), "no accepted row is lost")
		}
	})
}

func TestTimeWindowJumpsOverGaps(t *testing.T) {
	var got []fired
	w := newTimeWindow(1, 1, 0, recorder(&got))
	require.True(t, w.add(0, data(0, nil)))
	w.advance(0)
	far := int64(1.7e18)
	require.True(t, w.add(far, data(1, nil))) // streamsql would count 1.7e18 windows off
	w.advance(far)
	w.flush()
	require.Equal(t, []fired{{0, 1, []int{0}}, {far, far + 1, []int{1}}}, got)
}

func TestTimeWindowCorrectsLateRows(t *testing.T) {
	var got []fired
	w := newTimeWindow(10, 10, 5, recorder(&got))
	for id, ts := range []int64{1, 11, 2, 16, 3} { // 3 comes when [0,10) is past its lateness
		ok := w.add(ts, data(id, nil))
		require.Equal(t, id != 4, ok)
		w.advance(ts)
	}
	w.flush()
	require.Equal(t, []fired{{0, 10, []int{0}}, {0, 10, []int{0, 2}}, {10, 20, []int{1, 3}}}, got)
}

// Rows of one key form sessions as a sort and a scan finds them.
func TestSessionWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gap := rapid.Int64Range(1, 10).Draw(t, "gap")
		disorder := rapid.SampledFrom([]int64{0, 3, 10, 100}).Draw(t, "disorder")
		times := rapid.SliceOfN(rapid.Int64Range(0, 80), 1, 40).Draw(t, "times")
		var got []fired
		w := newSessionWindow(gap, 0, newKeyer([]string{"k"}), recorder(&got))
		mark := int64(math.MinInt64)
		lost := map[int]bool{}
		for id, ts := range times {
			if !w.add(ts, data(id, id%2)) {
				lost[id] = true
				require.LessOrEqual(t, ts+gap, mark, "only a late row is refused")
			}
			mark = max(mark, ts-disorder)
			w.advance(mark)
		}
		w.flush()
		require.Zero(t, w.pending())
		count := 0
		for _, f := range got {
			count += len(f.ids)
			ts := make([]int64, len(f.ids))
			for i, id := range f.ids {
				require.Equal(t, f.ids[0]%2, id%2, "one key")
				ts[i] = times[id]
			}
			slices.Sort(ts)
			require.Equal(t, f.start, ts[0])
			require.Equal(t, f.end, ts[len(ts)-1]+gap)
			for i := 1; i < len(ts); i++ {
				require.Less(t, ts[i]-ts[i-1], gap)
			}
		}
		require.Equal(t, len(times), count+len(lost), "each row once")
		if disorder < 100 {
			return // a session that is closed cannot grow
		}
		ends := map[int]int64{}
		for _, f := range got {
			end, again := ends[f.ids[0]%2]
			require.True(t, !again || f.start >= end, "sessions of one key are apart")
			ends[f.ids[0]%2] = f.end
		}
	})
}

func TestSessionWindowMergesAndSplits(t *testing.T) {
	var got []fired
	w := newSessionWindow(10, 0, newKeyer(nil), recorder(&got))
	// 0 and 30 are apart, though both arrive before time has moved; 15 joins 6 to 20.
	for id, ts := range []int64{0, 30, 6, 20, 15, 60} {
		require.True(t, w.add(ts, data(id, nil)))
	}
	w.advance(60)
	require.Equal(t, []fired{{0, 30, []int{0, 2, 3, 4}}, {30, 40, []int{1}}}, got)
	w.flush()
	require.Equal(t, fired{60, 70, []int{5}}, got[2])
}

func TestCountWindow(t *testing.T) {
	n := newCounters(metrics.NewRegistry(), warning.New(logger.NewDiscardLogger(), time.Now))
	var got []fired
	w := newCountWindow(2, 10, newKeyer([]string{"o.x"}), recorder(&got), n)
	for id := range 5 {
		row := map[string]any{"id": id, "o": map[string]any{"x": id % 2}}
		require.True(t, w.add(int64(id), row))
	}
	require.Equal(t, []fired{{0, 2, []int{0, 2}}, {1, 3, []int{1, 3}}}, got)
	due, ok := w.due()
	require.True(t, ok)
	require.EqualValues(t, 14, due)
	w.advance(13)
	require.Equal(t, 1, w.pending())
	w.advance(14) // STATETTL
	require.EqualValues(t, 1, n.expired.Value())
	require.True(t, w.add(20, map[string]any{"id": 9}))
	require.Equal(t, 1, w.flush(), "unfinished rows are told, not given out")
	require.Len(t, got, 2)
}

func TestKeysDoNotCollide(t *testing.T) {
	k := newKeyer([]string{"a", "b"})
	keys := map[string]bool{}
	rows := []map[string]any{
		{"a": "x|y", "b": "z"}, {"a": "x", "b": "y|z"}, {"a": "x"}, {"b": "x"}, {"a": "", "b": "x"}, {"a": "1", "b": "x"}, {"a": 1, "b": "x"},
	}
	for _, r := range rows {
		keys[k.of(r)] = true
	}
	require.Len(t, keys, len(rows))
	require.Equal(t, k.of(map[string]any{"a": nil, "b": "x"}), k.of(map[string]any{"b": "x"}), "missing is NULL")
}

func TestEventTime(t *testing.T) {
	const second = int64(1e9)
	for _, c := range []struct {
		in   any
		want int64
		ok   bool
	}{
		{1_700_000_000, 1_700_000_000 * second, true},
		{1.7e12, 1_700_000_000 * second, true},
		{int64(1_700_000_000_000_000), 1_700_000_000 * second, true},
		{uint64(1_700_000_000_000_000_000), 1_700_000_000 * second, true},
		{"1700000000", 1_700_000_000 * second, true},
		{"2023-11-14T22:13:20Z", 1_700_000_000 * second, true},
		{1_700_000_000.5, 1_700_000_000*second + second/2, true},
		{-1, 0, false}, {nil, 0, false}, {"soon", 0, false}, {math.NaN(), 0, false}, {1e300, 0, false}, {true, 0, false},
		{map[string]any{}, 0, false},
	} {
		t.Run(fmt.Sprint(c.in), func(t *testing.T) {
			ns, ok := eventTime(c.in, 0)
			require.Equal(t, c.ok, ok)
			require.Equal(t, c.want, ns)
		})
	}
	ns, ok := eventTime(5, 60*1e9)
	require.True(t, ok)
	require.Equal(t, 300*second, ns)
	_, ok = eventTime(int64(math.MaxInt64), 60*1e9)
	require.False(t, ok, "overflow is a bad timestamp")
}
