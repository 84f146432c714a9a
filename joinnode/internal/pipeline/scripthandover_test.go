package pipeline

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/script"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// scriptsInto makes next deliver into old's record.
func scriptsInto(next, old *scripted) { sameOut(&next.subject, &old.subject) }

// limited is a script of sums of recent rows, of which those above a limit leave.
func limited(limit int64) *sketch {
	s := &sketch{}
	in := s.input("in", eventTime, idle(5*time.Second))
	sums := s.sums("sums", 0, s.recent("recent", 10*second, in))
	big := s.filter("big", fmt.Sprint("sum > ", limit), func(r row.Row) bool { n, _ := r.Col(2).Int64(); return n > limit }, sums)
	s.output("big", script.Stream, big, "k", "n", "sum")
	return s
}

// TestAdoptOfAScript: the state moves, what has none is new; time goes on, also
// where it is idle already.
func TestAdoptOfAScript(t *testing.T) {
	c := newClock()
	old := limited(5).run(t, c.use)
	old.put(t, old.at("in", 1, 5, 1*second), old.at("in", 1, 7, 4*second))
	old.drain(t)
	before := old.Stats()
	require.EqualValues(t, 2, before["table_big_filtered"], "the sum of 5, and its retraction")
	next := limited(10).run(t, c.use)
	scriptsInto(next, old)
	differs, err := next.Adopt(old.Pipeline)
	require.NoError(t, err)
	require.Empty(t, differs)
	wait(t, old.Done())
	next.drain(t)
	old.take()
	require.ErrorIs(t, old.Read(func(Snapshot) {}), ErrHandedOver)
	after := next.Stats()
	for name, n := range before {
		require.Equal(t, n, after[name], name)
	}
	require.Equal(t, before["input_count"], next.Metrics().Counter("input_count").Value())

	next.put(t, next.at("in", 1, 3, 5*second))
	next.drain(t)
	require.Equal(t, []string{`big {"k":1,"n":2,"sum":12} @5s`, `big {"k":1,"n":3,"sum":15} @5s`}, old.take())
	c.set(5 * second) // idle: the clock is now()
	next.drain(t)
	require.Empty(t, old.take())
	c.set(11 * second)
	next.drain(t)
	require.Equal(t, []string{`big {"k":1,"n":3,"sum":15} @11s`}, old.take(), "10 is not above the limit")
	require.Equal(t, "Filter", next.DescribeVertex(2).Name)
	require.EqualValues(t, 3, next.Stats()["table_big_filtered"])
	next.Stop()
}

// TestAdoptTellsNewOperatorsTheTime: a check for late rows that is new knows how
// far its port had come.
func TestAdoptTellsNewOperatorsTheTime(t *testing.T) {
	build := func() *sketch {
		s := &sketch{}
		in := s.input("in", eventTime)
		check := func(from script.Port) script.Port {
			return s.pass("check", "Lateness", func(_ *eval.Context, out operator.Output) (operator.Operator, error) {
				return operator.NewLateness(second, "", out)
			}, from)
		}
		// One behind an input, one behind an operator with state.
		s.output("a", script.Stream, check(in))
		var calls []string
		s.output("b", script.Stream, check(s.spy("spy", true, &calls, in)))
		s.spy("clock", true, &calls, now)
		return s
	}
	old, next := build().run(t), build().run(t)
	old.put(t, old.at("in", 1, 1, 9*second))
	old.drain(t)
	_, err := next.Adopt(old.Pipeline)
	require.NoError(t, err)
	next.put(t, next.at("in", 1, 1, 2*second))
	next.Stop()
	require.Empty(t, next.take())
	require.EqualValues(t, 2, next.Stats()["table_check_late_dropped"])
}

// TestAdoptGoesOnNumbering: a row's number may be part of a key.
func TestAdoptGoesOnNumbering(t *testing.T) {
	build := func() *sketch {
		s := &sketch{}
		pass := s.filter("pass", "all", func(row.Row) bool { return true }, s.input("in"))
		s.output("out", script.Stream, s.vertex("stamped", "Stamp", func(_ *eval.Context, out operator.Output) (operator.Operator, error) {
			return operator.NewStamp(operator.StampConfig{Seq: true}, out)
		}, pass), "k", "v", "ts", "seq")
		return s
	}
	c := newClock()
	old := build().run(t, c.use)
	old.put(t, old.at("in", 1, 1, nil), old.at("in", 2, 1, nil))
	last := old
	for range 3 {
		next := build().run(t, c.use)
		scriptsInto(next, old)
		differs, err := next.Adopt(last.Pipeline)
		require.NoError(t, err)
		require.Empty(t, differs)
		last = next
	}
	last.put(t, last.at("in", 3, 1, nil))
	last.Stop()
	require.Equal(t, []string{`out {"k":1,"v":1,"ts":null,"seq":1} @0s`, `out {"k":2,"v":1,"ts":null,"seq":2} @0s`, `out {"k":3,"v":1,"ts":null,"seq":3} @0s`}, old.take())
}

// TestAdoptOfAFollowingPort: it goes on where it was.
func TestAdoptOfAFollowingPort(t *testing.T) {
	var calls []string
	build := func() *sketch {
		s := &sketch{}
		a, b := s.input("a", eventTime), s.input("b", eventTime)
		s.output("out", script.Stream, s.within("out", 10*second, true, follow(a, 3*second), follow(b, 3*second)), "k", "a", "b")
		s.spy("spy", true, &calls, follow(a, 3*second))
		return s
	}
	c := newClock()
	old, next := build().run(t, c.use), build().run(t, c.use)
	scriptsInto(next, old)
	old.put(t, old.at("a", 1, 1, second))
	c.set(5 * second)
	old.drain(t)
	_, err := next.Adopt(old.Pipeline)
	require.NoError(t, err)
	next.drain(t)
	require.Equal(t, "spy advance 0 to 5s low 1s idle", calls[len(calls)-3], "its last two are the old one's end of the step and this")
	c.set(11*second + 1)
	next.drain(t)
	require.Equal(t, []string{`out {"k":1,"a":1,"b":null} @1s idle`}, old.take())
	next.Stop()
}

// TestAdoptOfAnotherScript: all or nothing, and why.
func TestAdoptOfAnotherScript(t *testing.T) {
	build := func(change func(*script.Input), order bool, more bool) *sketch {
		s := &sketch{}
		in := s.input("in", eventTime, idle(time.Second))
		if change != nil {
			change(&s.program.Inputs[0])
		}
		cfg := operator.DedupConfig{Keys: 1, Order: []operator.OrderKey{{Col: colTS, Desc: order}}}
		latest := s.dedup("latest", cfg, in)
		s.sums("sums", 0, latest)
		if more {
			s.sums("more", 0, latest)
		}
		return s
	}
	for want, next := range map[string]*sketch{
		"":                   build(nil, true, false),
		"input other is new": build(func(in *script.Input) { in.Stream = "other" }, true, false),
		"input in: MAXOUTOFORDERNESS is 1s, was 0s":                   build(func(in *script.Input) { in.Disorder = time.Second }, true, false),
		"input in: IDLETIMEOUT is 2s, was 1s":                         build(func(in *script.Input) { in.IdleTimeout = 2 * time.Second }, true, false),
		"input in: MAXFUTURESKEW is 1s, was 0s":                       build(func(in *script.Input) { in.MaxFutureSkew = time.Second }, true, false),
		`input in: TIMESTAMP is "at", was "ts"`:                       build(func(in *script.Input) { in.TimeText = "at" }, true, false),
		"input in: TIMEUNIT differs":                                  build(func(in *script.Input) { in.Unit = value.Millisecond }, true, false),
		"input in: other columns of it are read":                      build(func(in *script.Input) { in.Paths = append(in.Paths, row.Path{syntax.Step{Name: "x"}}) }, true, false),
		"table latest is computed in another way, or from other rows": build(nil, false, false),
		"table more is new":                                           build(nil, true, true),
	} {
		old := build(nil, true, false).run(t)
		old.put(t, old.at("in", 1, 1, second))
		n := next.run(t)
		differs, err := n.Adopt(old.Pipeline)
		require.NoError(t, err)
		require.Equal(t, want, differs)
		n.put(t, n.at(next.program.Inputs[0].Stream, 2, 1, 2*second))
		n.drain(t)
		rows := int64(1)
		if want == "" {
			rows = 2
		}
		require.Equal(t, rows, n.Stats()["table_latest_rows"], want)
		n.Stop()
	}
	// The other way round a table and an input that nobody needs any more are gone.
	old, next := build(nil, true, true).run(t), build(nil, true, false).run(t)
	old.put(t, old.at("in", 1, 1, second))
	differs, err := next.Adopt(old.Pipeline)
	require.NoError(t, err)
	require.Empty(t, differs)
	next.Stop()
	require.EqualValues(t, 1, next.Stats()["table_sums_rows"])

	var two sketch
	two.input("in", eventTime, idle(time.Second))
	two.input("unused")
	old, next = two.run(t), build(nil, true, false).run(t)
	differs, err = next.Adopt(old.Pipeline)
	require.NoError(t, err)
	require.Equal(t, "input unused is gone", differs)
	next.Stop()
}

// TestAdoptOfEqualTables: each gets a state of its own, and there must be enough.
func TestAdoptOfEqualTables(t *testing.T) {
	build := func(tables int) *sketch {
		s := &sketch{}
		in := s.input("in", eventTime)
		for i := range tables {
			s.latest(fmt.Sprint("t", i), in)
		}
		return s
	}
	for next, want := range map[int]string{1: "", 2: "", 3: "table t2 is new"} {
		old, n := build(2).run(t), build(next).run(t)
		old.put(t, old.at("in", 1, 1, second))
		differs, err := n.Adopt(old.Pipeline)
		require.NoError(t, err)
		require.Equal(t, want, differs)
		n.put(t, n.at("in", 1, 2, 2*second), n.at("in", 2, 2, 2*second))
		n.drain(t)
		for i := range next {
			require.EqualValues(t, 2, n.Stats()[fmt.Sprintf("table_t%d_rows", i)])
		}
		n.Stop()
	}
}

// TestAdoptBetweenKinds of queries: there is no state to share.
func TestAdoptBetweenKinds(t *testing.T) {
	join, s := begin(t, left), limited(0).run(t)
	join.put(t, join.row(0, "a1", 1))
	differs, err := s.Adopt(join.Pipeline)
	require.NoError(t, err)
	require.Equal(t, "a script of tables and a stream JOIN share no state", differs)
	s.put(t, s.at("in", 1, 1, second))
	wait(t, join.Done())
	require.Equal(t, []string{`{"aid":"a1","bid":null} reload`}, join.take())
	again := begin(t, left)
	differs, err = again.Adopt(s.Pipeline)
	require.NoError(t, err)
	require.Equal(t, "a stream JOIN and a script of tables share no state", differs)
	again.Stop()
	wait(t, s.Done())
}

// TestReadDuringAdoptions: a reader sees the old query's tables or the new one's,
// or is told that they moved; never half of them.
func TestReadDuringAdoptions(t *testing.T) {
	build := func() (*sketch, script.Port) {
		s := &sketch{}
		return s, s.latest("latest", s.input("in", eventTime))
	}
	s, latest := build()
	last := s.run(t)
	last.put(t, last.at("in", 1, 1, second))
	for range 20 {
		s, _ := build()
		next := s.run(t)
		var wg sync.WaitGroup
		for _, r := range []*scripted{last, next} {
			wg.Go(func() {
				for range 10 {
					err := r.Read(func(s Snapshot) {
						reader, _ := s.Reader(latest.Index)
						rows := 0
						reader.Read(func(row.Row) bool { rows++; return true })
						if r == last && rows != 1 {
							t.Errorf("%d rows", rows)
						}
					})
					if err != nil && r == next {
						t.Error(err)
					}
				}
			})
		}
		_, err := next.Adopt(last.Pipeline)
		require.NoError(t, err)
		wg.Wait()
		last = next
	}
	require.Len(t, readRows(t, last.Pipeline, latest, "k"), 1)
	last.Stop()
}

// TestAdoptedScriptIsForgotten: a reload does not keep the query before alive.
func TestAdoptedScriptIsForgotten(t *testing.T) {
	next := limited(1).run(t)
	before := func() weak.Pointer[Pipeline] {
		old := limited(0).run(t)
		old.put(t, old.at("in", 1, 1, second))
		_, err := next.Adopt(old.Pipeline)
		require.NoError(t, err)
		next.put(t, next.at("in", 1, 1, second))
		next.drain(t)
		return weak.Make(old.Pipeline)
	}()
	for range 100 {
		if before.Value() == nil {
			break
		}
		runtime.GC()
		runtime.Gosched()
	}
	require.Nil(t, before.Value())
	next.put(t, next.at("in", 1, 1, second))
	next.Stop()
}
