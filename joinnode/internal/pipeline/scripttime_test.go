package pipeline

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/script"
)

const ms = int64(time.Millisecond)

// sumsOf is a table of count and sum by key.
func (s *sketch) sumsOf(name string, ttl int64, ports ...script.Port) {
	s.output(name, script.State, s.table(name, s.sums(name, ttl, ports...)), "k", "n", "sum")
}

// TestNowOfOneInput is the recency example of the design: now() is the watermark,
// not the clock.
func TestNowOfOneInput(t *testing.T) {
	var s sketch
	in := s.input("in", eventTime)
	s.sumsOf("sums", 0, s.recent("sums", 10*second, in))
	r := s.run(t)
	steps := []struct {
		ts   int64
		v    any
		want []string
	}{
		{1 * second, 5, []string{`sums {"k":1,"n":1,"sum":5} @1s insert`}},
		{4 * second, 7, []string{`sums {"k":1,"n":2,"sum":12} @4s update`}},
		{11*second - 1, nil, nil}, // another key, so that time passes
		{11 * second, nil, []string{`sums {"k":1,"n":1,"sum":7} @11s update`}},
		{14*second - 1, nil, nil},
		{14 * second, nil, []string{`sums {"k":1,"n":1,"sum":7} @14s delete`}},
	}
	for _, step := range steps {
		k := 1
		if step.v == nil {
			k = 2
		}
		r.put(t, r.at("in", k, step.v, step.ts))
		got := slices.DeleteFunc(r.drain(t), func(text string) bool { return k == 2 && containing([]string{text}, `"k":2`) > 0 })
		if len(step.want) == 0 {
			require.Empty(t, got)
		} else {
			require.Equal(t, step.want, got)
		}
	}
	r.Stop()
	require.Empty(t, r.take(), "now() stays, the tables keep their rows")
}

// TestNow: the least watermark of the inputs that are not idle; unknown while one
// of them was never seen; the clock when all are idle; and it never falls.
func TestNow(t *testing.T) {
	var calls []string
	var s sketch
	s.spy("n", false, &calls, now)
	s.input("a", eventTime, disorder(2*time.Second), idle(10*time.Second))
	s.input("b", eventTime, idle(20*time.Second))
	c := newClock()
	r := s.run(t, c.use)
	told := func() []string {
		r.drain(t)
		got := slices.DeleteFunc(calls, func(call string) bool { return call == "n end" })
		calls = nil
		return got
	}
	advance := func(to string) []string { return []string{"n advance 0 to " + to} }

	r.put(t, r.at("a", 1, 1, 100*second))
	require.Empty(t, told(), "b was never seen")
	r.put(t, r.at("b", 1, 1, 50*second))
	require.Equal(t, advance("50s"), told())
	r.put(t, r.at("b", 1, 1, 99*second))
	require.Equal(t, advance("1m38s"), told(), "100 s less a's disorder")
	r.put(t, r.at("b", 1, 1, 60*second))
	require.Empty(t, told(), "a late row")
	c.set(10 * second) // a is idle
	require.Equal(t, advance("1m39s"), told())
	stats := r.Stats()
	require.EqualValues(t, 1, stats["input_a_idle"])
	require.Zero(t, stats["input_b_idle"])
	require.Equal(t, epoch+98*second, stats["input_a_watermark"])
	r.put(t, r.at("a", 1, 1, "no time"))
	require.Empty(t, told(), "back, and now() does not fall")
	require.Zero(t, r.Stats()["input_a_idle"])
	r.put(t, r.at("b", 1, 1, 150*second))
	require.Empty(t, told(), "a holds")
	c.set(20 * second)
	require.Equal(t, advance("2m30s"), told())
	c.set(30 * second) // both idle, but the clock is behind
	require.Empty(t, told())
	require.EqualValues(t, 1, r.Stats()["input_b_idle"])
	c.set(150 * second)
	require.Empty(t, told())
	c.set(200 * second)
	require.Equal(t, advance("3m20s"), told(), "all idle: the clock")
	r.put(t, r.at("b", 1, 1, 160*second))
	require.Empty(t, told())
	c.set(210 * second)
	require.Empty(t, told(), "b is not idle")
	r.put(t, r.at("b", 1, 1, 205*second))
	require.Equal(t, advance("3m25s"), told())
	r.Stop()
}

// TestUnseenInputIsIdle from the first arrival of the script plus its timeout; one
// without a timeout never is.
func TestUnseenInputIsIdle(t *testing.T) {
	for timeout, want := range map[time.Duration][]string{5 * time.Second: {"n advance 0 to 1s", "n end"}, 0: nil} {
		var calls []string
		var s sketch
		s.spy("a", false, &calls, s.input("a", eventTime))
		s.spy("n", false, &calls, now)
		s.input("b", eventTime, idle(timeout))
		c := newClock()
		r := s.run(t, c.use)
		c.set(3 * second)
		r.put(t, r.at("a", 1, 1, second))
		r.drain(t)
		calls = nil
		c.set(8*second - 1)
		r.drain(t)
		require.Empty(t, calls)
		c.set(8 * second)
		r.drain(t)
		require.Equal(t, want, calls)
		r.Stop()
	}
}

// TestIdleIsTold to the operators at its exact instant, with Seen and Low as they
// were, and taken back by the next arrival, be it a bad one.
func TestIdleIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []string
		var s sketch
		s.spy("a", true, &calls, s.input("in", eventTime, disorder(1e9), idle(5*time.Second)))
		c := newClock()
		r := s.run(t, c.use)
		defer r.Stop()
		expect := func(want ...string) {
			t.Helper()
			synctest.Wait()
			require.Equal(t, want, calls)
			calls = nil
		}
		r.put(t, r.at("in", 1, 1, 7*second))
		expect("a advance 0 to 7s low 6s", "a process 0 seq 1", "a end")
		require.Equal(t, []int64{5 * second}, c.pending())
		c.set(6 * second) // the timer is a second late
		expect("a advance 0 to 7s low 6s idle", "a end")
		require.Empty(t, c.pending(), "nothing is due any more")
		r.put(t, r.at("in", 1, 1, "no time"))
		expect("a advance 0 to 7s low 6s", "a end")
		c.set(11 * second)
		expect("a advance 0 to 7s low 6s idle", "a end")
		r.put(t, r.at("in", 1, 1, 9*second))
		expect("a advance 0 to 9s low 8s", "a process 0 seq 2", "a end")
	})
}

// TestArrivalTime: the clock is the watermark, at every step and every timer.
func TestArrivalTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sketch
		in := s.input("in")
		s.sumsOf("sums", 10*second, in, now)
		c := newClock()
		r := s.run(t, c.use)
		defer r.Stop()
		r.put(t, r.at("in", 1, 5, nil))
		synctest.Wait()
		require.Equal(t, []string{`sums {"k":1,"n":1,"sum":5} @0s insert`}, r.take())
		require.Equal(t, []int64{10 * second}, c.pending(), "STATETTL")
		c.set(4 * second)
		r.put(t, r.at("in", 1, 5, nil), r.at("in", 2, 5, nil))
		synctest.Wait()
		require.Equal(t, []string{`sums {"k":1,"n":2,"sum":10} @4s update`, `sums {"k":2,"n":1,"sum":5} @4s insert`}, r.take())
		require.Equal(t, epoch+4*second, r.Stats()["input_in_watermark"])
		c.set(14*second - 1)
		synctest.Wait()
		require.Empty(t, r.take())
		require.Equal(t, []int64{14 * second}, c.pending())
		c.set(14*second + 5)
		synctest.Wait()
		require.Equal(t, []string{`sums {"k":1,"n":2,"sum":10} @14s delete`, `sums {"k":2,"n":1,"sum":5} @14s delete`}, r.take(), "at the time it was due")
		require.EqualValues(t, 2, r.Stats()["table_sums_ttl_deleted"])
		require.Empty(t, c.pending())
	})
}

// TestNowFollowsTheClockOnlySoFar: beside an input with arrival time a stream
// whose event time is ahead of the clock holds now() when the clock gets there.
func TestNowFollowsTheClockOnlySoFar(t *testing.T) {
	var s sketch
	s.input("ahead", eventTime)
	in := s.input("in")
	s.sumsOf("sums", 10*second, in, now)
	c := newClock()
	r := s.run(t, c.use)
	r.put(t, r.at("ahead", 1, 1, 12*second), r.at("in", 1, 1, nil))
	r.drain(t)
	c.set(5 * second)
	r.put(t, r.at("in", 2, 1, nil))
	require.Equal(t, []string{`sums {"k":2,"n":1,"sum":1} @5s insert`}, r.drain(t))
	c.set(100 * second)
	require.Equal(t, []string{`sums {"k":1,"n":1,"sum":1} @10s delete`}, r.drain(t), "now() stands at 12 s")
	r.put(t, r.at("ahead", 1, 1, 15*second))
	require.Equal(t, []string{`sums {"k":2,"n":1,"sum":1} @15s delete`}, r.drain(t))
	r.Stop()
}

// TestFollow: a WITHIN join keeps its own idle rule: its port follows the clock
// once the inputs behind it have been silent for so long, even if they are not
// idle for the script; one that was never seen does not.
func TestFollowOfAWithinJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sketch
		a, b := s.input("a", eventTime), s.input("b", eventTime)
		s.output("out", script.Stream, s.within("out", 10*second, true, follow(a, 3*second), follow(b, 3*second)), "k", "a", "b")
		c := newClock()
		r := s.run(t, c.use)
		defer r.Stop()
		r.put(t, r.at("b", 9, 1, 2*second))
		r.put(t, r.at("a", 1, 1, 1*second), r.at("a", 2, 2, 2*second), r.at("b", 2, 3, 3*second))
		synctest.Wait()
		require.Equal(t, []string{`out {"k":2,"a":2,"b":3} @3s`}, r.take())
		c.set(9 * second)
		r.put(t, r.at("a", 3, 3, 2*second))
		synctest.Wait()
		c.set(11*second + 1) // within a's timeout of 3 s
		synctest.Wait()
		require.Empty(t, r.take())
		require.Equal(t, []int64{12 * second}, c.pending())
		c.set(12 * second)
		synctest.Wait()
		require.Equal(t, []string{`out {"k":1,"a":1,"b":null} @1s idle`}, r.take())
		c.set(13 * second)
		synctest.Wait()
		require.Equal(t, []string{`out {"k":3,"a":3,"b":null} @2s idle`}, r.take())
		stats := r.Stats()
		require.EqualValues(t, 1, stats["table_out_matches"])
		require.EqualValues(t, 2, stats["table_out_left_timeouts"])
	})
}

// TestFollowWaitsForAnArrival of any input behind the port.
func TestFollowWaitsForAnArrival(t *testing.T) {
	var s sketch
	a, b := s.input("a", eventTime), s.input("b", eventTime)
	var calls []string
	s.spy("x", false, &calls, b, follow(s.spy("both", false, &calls, a, b), 3*second))
	c := newClock()
	r := s.run(t, c.use)
	r.put(t, r.at("a", 1, 1, 1*second))
	r.drain(t)
	c.set(2 * second)
	r.put(t, r.at("b", 1, 1, 1*second))
	r.drain(t)
	c.set(5*second - 1)
	r.drain(t)
	require.NotContains(t, calls, "x advance 1 to 4.999999999s low 1s idle")
	calls = nil
	c.set(5 * second)
	r.drain(t)
	require.Equal(t, []string{"x advance 1 to 5s low 1s idle", "x end"}, calls)
	calls = nil
	r.put(t, r.at("a", 1, 1, 2*second))
	r.drain(t)
	require.Contains(t, calls, "x advance 1 to 5s low 2s", "the port's time does not fall")
	r.Stop()
}

// TestClockedJoin: behind inputs with arrival time results take the instant at
// which they leave.
func TestClockedJoin(t *testing.T) {
	var s sketch
	s.output("out", script.Stream, s.within("out", 10*second, true, s.input("a"), s.input("b")), "k", "a", "b")
	c := newClock()
	r := s.run(t, c.use)
	r.put(t, r.at("a", 1, 1, nil), r.at("a", 2, 2, nil))
	r.drain(t)
	c.set(3 * second)
	r.put(t, r.at("b", 1, 3, nil))
	require.Equal(t, []string{`out {"k":1,"a":1,"b":3} @3s`}, r.drain(t))
	c.set(20 * second)
	require.Equal(t, []string{`out {"k":2,"a":2,"b":null} @10.000000001s window`}, r.drain(t))
	r.Stop()
}

// TestSweep frees rows that have nothing to emit, without traffic.
func TestSweepOfAScript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sketch
		s.output("out", script.Stream, s.within("out", second, false, s.input("a"), s.input("b")), "k", "a", "b")
		r := s.run(t)
		defer r.Stop()
		r.put(t, r.at("a", 1, 1, nil))
		synctest.Wait()
		require.EqualValues(t, 1, r.Stats()["table_out_rows"])
		time.Sleep(time.Duration(sweepEvery))
		synctest.Wait()
		require.Zero(t, r.Stats()["table_out_rows"])
	})
}

// lateTimers is a script in which everything that the clock can do happens.
func lateTimers(g *rapid.T) *sketch {
	s := &sketch{}
	option := func(name string) []inputOption {
		if rapid.Bool().Draw(g, name+" arrival time") {
			return nil
		}
		return []inputOption{eventTime, disorder(time.Duration(rapid.SampledFrom([]int64{0, 2 * ms}).Draw(g, name+" disorder"))),
			idle(time.Duration(rapid.SampledFrom([]int64{0, 3 * ms, 10 * ms}).Draw(g, name+" idle")))}
	}
	a, b := s.input("a", option("a")...), s.input("b", option("b")...)
	latest := s.dedup("latest", operator.DedupConfig{Keys: 1, TTL: 7 * ms}, a, now)
	s.output("latest", script.State, s.table("latest", latest))
	s.sumsOf("recent", 0, s.recent("recent", 6*ms, b))
	s.sumsOf("sums", 5*ms, latest, now)
	join := s.within("within", 4*ms, true, follow(a, rapid.SampledFrom([]int64{0, 2 * ms, 3 * ms}).Draw(g, "follow a")), follow(b, 3*ms))
	s.output("within", script.Stream, join, "k", "a", "b")
	// What the first join gives up meets rows here that wait no longer than the clock lets them.
	again := s.within("again", 8*ms, false, join, follow(b, ms))
	s.output("again", script.Stream, again, "k", "a", "b")
	// Windows and versions see what comes of each input's watermark and idleness.
	s.output("windows", script.Stream, s.windows("windows", 4, a), "k", "end", "n")
	s.output("asOf", script.Stream, s.asOf("asOf", b, s.versions("versions", a)), "k", "b", "a")
	s.sumsOf("counts", 0, s.windows("windows2", 6, b))
	return s
}

// TestLateTimers: results do not depend on how late a timer is, nor on when
// somebody else looks at the clock.
func TestLateTimers(t *testing.T) {
	rapid.Check(t, func(g *rapid.T) {
		type event struct {
			at  int64
			row func(*scripted) Row
		}
		s := lateTimers(g)
		var events []event
		now := int64(0)
		for i := range rapid.IntRange(1, 25).Draw(g, "rows") {
			now += rapid.SampledFrom([]int64{0, 1, ms - 1, ms, 10 * ms, 20 * ms}).Draw(g, "later by")
			input := rapid.SampledFrom([]string{"a", "b"}).Draw(g, "input")
			var ts any = now - rapid.SampledFrom([]int64{-2 * ms, 0, 1, ms, 5 * ms}).Draw(g, "older by")
			if rapid.IntRange(0, 9).Draw(g, "bad") == 0 {
				ts = "no time"
			}
			k := rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(g, "k")
			events = append(events, event{now, func(r *scripted) Row { return r.at(input, k, i, ts) }})
		}
		end := now + 50*ms

		c := newClock()
		lazy := s.run(t, c.use)
		for _, e := range events {
			c.pass(e.at)
			lazy.put(t, e.row(lazy))
		}
		c.pass(end)
		want := lazy.drain(t)
		lazy.Stop()
		want = append(want, lazy.take()...)

		c = newClock()
		eager := s.run(t, c.use)
		var got []string
		wakeUntil := func(to int64) {
			for {
				pending := c.pending()
				if len(pending) == 0 || pending[0] > to {
					return
				}
				c.set(max(pending[0], c.at()))
				got = append(got, eager.drain(t)...)
			}
		}
		for _, e := range events {
			for range rapid.IntRange(0, 3).Draw(g, "looks in between") {
				look := min(e.at, c.at()+rapid.SampledFrom([]int64{1, ms / 2, ms, 3 * ms}).Draw(g, "after"))
				wakeUntil(look)
				c.set(look)
				got = append(got, eager.drain(t)...)
			}
			wakeUntil(e.at)
			c.set(e.at)
			eager.put(t, e.row(eager))
			got = append(got, eager.drain(t)...)
		}
		wakeUntil(end)
		c.set(end)
		got = append(got, eager.drain(t)...)
		eager.Stop()
		got = append(got, eager.take()...)
		if !slices.Equal(want, got) {
			g.Fatalf("late timers:\n%s\ntimers in time:\n%s", lines(want), lines(got))
		}
	})
}

func lines(all []string) (text string) {
	for _, l := range all {
		text += fmt.Sprintln(l)
	}
	return text
}

// pass moves the clock and fires no timer.
func (c *clock) pass(ns int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = epoch + ns
}

// at returns the clock in ns behind the epoch.
func (c *clock) at() int64 { return c.Now().UnixNano() - epoch }
