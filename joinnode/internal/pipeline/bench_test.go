package pipeline

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/plan"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/script"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// BenchmarkPut is the way into the queue and out of it again.
func BenchmarkPut(b *testing.B) {
	for _, coarse := range []bool{false, true} {
		b.Run(fmt.Sprintf("coarse=%t", coarse), func(b *testing.B) {
			q := newQueue(Config{Clock: SystemClock{}, QueueRows: 1 << 13, BacklogLimit: 1, Block: true, BlockTimeout: time.Minute})
			q.onFirst, q.coarse = func() {}, coarse
			rows := []Row{{Input: 1, TS: epoch, Row: row.Row{Enc: []byte("forty bytes and some, as the rows of a join")}}}
			var spare batch
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if err := q.put(rows); err != nil {
					b.Fatal(err)
				}
				if i++; i%(1<<12) == 0 {
					taken, _, _, _ := q.take(&spare)
					q.settle(len(taken.arrivals), 0)
					taken.reset()
					spare = taken
				}
			}
		})
	}
}

// BenchmarkStep is what the loop and the operators do for a row that meets
// nothing; about a hundred rows are in the window.
func BenchmarkStep(b *testing.B) {
	const sql = `SELECT a.id AS aid, b.id AS bid FROM sa AS a JOIN sb AS b WITHIN 1 SECONDS ON a.k = b.k WHERE a.v >= 1 AND b.v >= 1 WITH (TIMESTAMP='ts', TIMEUNIT='ns')`
	stmt, err := syntax.Parse(sql)
	require.NoError(b, err)
	p, err := plan.Build(stmt, sql)
	require.NoError(b, err)
	pl, err := New(p, Config{Clock: SystemClock{}, Log: &logRecord{}, MaxKeys: 1 << 20, WantLate: func() bool { return false }})
	require.NoError(b, err)
	var bt batch
	for in := range 2 {
		msg := fmt.Appendf(nil, `{"id":"device-00042","k":"device-0004%d","v":57.31,"ts":1700000000000000000}`, in)
		r, err := row.NewExtractor(p.Inputs[in].Layout.Paths()).JSON(row.Row{}, msg, new(row.Scratch))
		require.NoError(b, err)
		from := len(bt.slab)
		bt.slab = append(bt.slab, r.Enc...)
		bt.arrivals = append(bt.arrivals, arrival{input: in, ts: epoch, enc: span{from, len(bt.slab)}})
	}
	for len(bt.arrivals) < publishEvery {
		bt.arrivals = append(bt.arrivals, bt.arrivals[:2]...)
	}
	b.ReportAllocs()
	now := epoch
	for b.Loop() {
		for i := range bt.arrivals {
			now += second / 100
			bt.arrivals[i].ts, bt.arrivals[i].now = now, now
		}
		pl.run(&bt)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/publishEvery, "ns/row")
}

// stepper runs the loop's part for rows of a script that stand ready in a batch.
type stepper struct {
	*scripted
	batch batch
	now   int64
}

func (s *sketch) stepper(t testing.TB, keys int, inputs ...string) *stepper {
	st := &stepper{scripted: s.run(t), now: epoch}
	for i := range publishEvery {
		r := st.at(inputs[i%len(inputs)], i%keys, 1, int64(0))
		from := len(st.batch.slab)
		st.batch.slab = append(st.batch.slab, r.Row.Enc...)
		st.batch.arrivals = append(st.batch.arrivals, arrival{input: r.Input, enc: span{from, len(st.batch.slab)}})
	}
	return st
}

// run moves a batch, 1 ms from row to row.
func (st *stepper) run() {
	for i := range st.batch.arrivals {
		st.now += ms
		st.batch.arrivals[i].ts, st.batch.arrivals[i].now = st.now, st.now
	}
	st.Pipeline.run(&st.batch)
	for _, d := range st.Pipeline.out.waiting {
		st.Pipeline.out.recycle(d)
	}
	clear(st.Pipeline.out.waiting)
	st.Pipeline.out.waiting = st.Pipeline.out.waiting[:0]
}

// busy is a script of a latest row, sums of it, and sums of recent rows.
func busy(options ...inputOption) *sketch {
	s := &sketch{}
	in := s.input("in", options...)
	s.output("latest", script.State, s.table("latest", s.latest("latest", in)))
	s.sumsOf("sums", 0, s.filter("some", "all", func(row.Row) bool { return true }, s.recent("recent", second, in)))
	return s
}

// BenchmarkScriptStep is what the loop and the operators do for a row of a script.
func BenchmarkScriptStep(b *testing.B) {
	for name, options := range map[string][]inputOption{"event": {eventTime, idle(time.Hour)}, "arrival": nil} {
		b.Run(name, func(b *testing.B) {
			st := busy(options...).stepper(b, 10, "in")
			b.ReportAllocs()
			for b.Loop() {
				st.run()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/publishEvery, "ns/row")
		})
	}
}

// TestStepAllocatesNothing of its own; operators are spared here.
func TestStepAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	s := &sketch{}
	a, b := s.input("a", eventTime, idle(time.Hour)), s.input("b")
	all := func(row.Row) bool { return true }
	s.output("a", script.Stream, s.filter("f", "f", all, s.filter("e", "e", all, a)))
	s.output("b", script.Stream, s.filter("g", "g", all, follow(b, second)))
	s.output("pairs", script.Stream, s.within("pairs", ms, false, a, b), "k", "a", "b")
	st := s.stepper(t, 64, "a", "b")
	for range 100 {
		st.run()
	}
	require.Less(t, testing.AllocsPerRun(200, st.run), 1.0)
}
