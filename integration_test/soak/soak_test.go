package soak_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/streamjoin/streamjoin/joinnode"
)

var soakFor = flag.Duration("soak", 0, "how long to run; 0: 60s where CI is set to true, otherwise 5s")

// within is WITHIN of every join here.
const within = 300 * time.Millisecond

// rounds is how often load and silence take turns. The first round brings
// buffers to their sizes; after each of the others memory is compared with it.
const rounds = 5

// joins are of both kinds, of two and three streams, driven by the clock and by
// event time, with and without gates. Streams are sa, sb, sc in order.
var joins = []struct {
	name, sql string
	opts      []joinnode.Option
	load      load
	// seen are the counters that the load must have moved, or it shows nothing.
	seen []string
}{
	{
		name: "left, clock",
		sql:  "SELECT a.id, b.v FROM sa AS a LEFT JOIN sb AS b WITHIN 300 MS ON a.k = b.k WHERE a.v < 9",
		load: load{streams: 2, keys: 400, burst: 600},
		seen: []string{"1_matches_emitted", "1_left_timeout_emitted", "1_filtered", "1_expired"},
	},
	{
		name: "inner, event time, maxKeys",
		sql:  "SELECT a.id, b.v, a.ts FROM sa AS a JOIN sb AS b WITHIN 300 MS ON a.k = b.k WHERE a.v <= b.v" + timed,
		opts: []joinnode.Option{joinnode.WithJoinMaxKeys(100)},
		load: load{streams: 2, keys: 400, burst: 600, event: true},
		seen: []string{"1_matches_emitted", "1_composite_filtered", "1_late_dropped", "1_bad_timestamp", "1_future_timestamp", "1_keys_evicted", "1_rows_evicted"},
	},
	{
		name: "left, event time, maxRows, small dropping queue",
		sql:  "SELECT a.id, b.v FROM sa AS a LEFT JOIN sb AS b WITHIN 300 MS ON a.k = b.k" + timed,
		opts: []joinnode.Option{joinnode.WithJoinMaxRows(300), joinnode.WithOverflowStrategy("drop", 0), joinnode.WithBufferSizes(128, 128, 0)},
		load: load{streams: 2, keys: 400, burst: 1000, event: true},
		seen: []string{"1_matches_emitted", "1_left_timeout_emitted", "1_late_dropped", "1_rows_dropped", "1_input_dropped"},
	},
	{
		name: "left, clock, maxBytes",
		sql:  "SELECT a.id, a.pad, b.v FROM sa AS a LEFT JOIN sb AS b WITHIN 300 MS ON a.k = b.k",
		opts: []joinnode.Option{joinnode.WithJoinMaxBytes(joinnode.MinJoinMaxBytes)},
		load: load{streams: 2, keys: 400, burst: 600, pad: 8000, bounded: true},
		seen: []string{"1_matches_emitted", "1_left_timeout_emitted", "1_memory_dropped"},
	},
	{
		name: "left and inner, event time",
		sql:  "SELECT a.id, b.v, c.v AS w FROM sa AS a LEFT JOIN sb AS b WITHIN 300 MS ON a.k = b.k JOIN sc AS c WITHIN 300 MS ON a.k = c.k" + timed,
		load: load{streams: 3, keys: 400, burst: 300, event: true},
		seen: []string{"1_matches_emitted", "1_left_timeout_emitted", "2_matches_emitted", "2_late_dropped"},
	},
	{
		name: "inner and left, clock, all gates",
		sql:  "SELECT a.id, b.v, c.v AS w FROM sa AS a JOIN sb AS b WITHIN 300 MS ON a.k = b.k LEFT JOIN sc AS c WITHIN 300 MS ON b.k = c.k WHERE c.v IS NULL OR c.v < 9",
		opts: []joinnode.Option{joinnode.WithJoinMaxRows(200), joinnode.WithJoinMaxKeys(100), joinnode.WithJoinMaxBytes(joinnode.MinJoinMaxBytes)},
		load: load{streams: 3, keys: 200, burst: 300, bounded: true},
		seen: []string{"1_matches_emitted", "2_left_timeout_emitted", "1_rows_dropped", "1_keys_evicted", "2_composite_filtered"},
	},
}

const timed = " WITH (TIMESTAMP='ts', TIMEUNIT='ms', IDLETIMEOUT='200ms', MAXFUTURESKEW='1s')"

func TestSoak(t *testing.T) {
	total := *soakFor
	if total == 0 {
		total = 5 * time.Second
		if ci, err := strconv.ParseBool(os.Getenv("CI")); err == nil && ci {
			total = time.Minute
		}
	}
	before := level()
	subjects := make([]*subject, len(joins))
	for i := range joins {
		subjects[i] = begin(t, i)
	}
	defer func() {
		for _, s := range subjects {
			s.Stop()
		}
	}()
	var warm usage
	for round := range rounds {
		var wg sync.WaitGroup
		end := time.Now().Add(total / rounds)
		for _, s := range subjects {
			for stream := range s.load.streams {
				wg.Go(func() { s.feed(stream, round, end) })
			}
		}
		wg.Wait()
		for _, s := range subjects {
			s.balance(t) // with rows buffered
			s.settle(t)
			s.balance(t)
		}
		now := level()
		t.Logf("round %d: %s", round, now)
		if round == 0 {
			warm = now
			continue
		}
		require.LessOrEqual(t, now.heap, warm.heap+warm.heap/5+slack, "heap after round %d, in bytes", round)
		require.Equal(t, warm.goroutines, now.goroutines, "goroutines after round %d", round)
	}
	for _, s := range subjects {
		s.end(t)
	}
	goleak.VerifyNone(t)
	subjects = nil
	require.LessOrEqual(t, level().heap, before.heap+1<<20, "heap in the end, in bytes")
}

// slack is for what a query keeps to use again, such as buffers of results: the
// first round need not have brought all of it to its bound. A row that were kept
// would be seen soon: thousands a second come in.
const slack = 12 << 20

// usage is what a program holds when nothing is going on.
type usage struct {
	heap       uint64
	goroutines int
}

func (u usage) String() string {
	return fmt.Sprintf("%d KiB on the heap, %d goroutines", u.heap>>10, u.goroutines)
}

func level() usage {
	var m runtime.MemStats
	for range 3 { // what lies in pools goes with the second
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return usage{m.HeapAlloc, runtime.NumGoroutine()}
}
