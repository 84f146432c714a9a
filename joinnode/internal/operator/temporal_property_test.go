package operator_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator/operatortest"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

func drawTemporal(t *rapid.T) operator.TemporalJoinConfig {
	cfg := operator.TemporalJoinConfig{Left: rapid.Bool().Draw(t, "left")}
	keys := rapid.IntRange(1, 2).Draw(t, "keys")
	cfg.Keys = [2]int{keys, keys}
	for port := range cfg.Keep {
		cfg.Keep[port] = keys + rapid.IntRange(0, 2).Draw(t, "more columns")
	}
	for range rapid.IntRange(1, 5).Draw(t, "out") {
		port := rapid.IntRange(0, 1).Draw(t, "out port")
		cfg.Out = append(cfg.Out, operator.OutCol{Port: uint8(port), Col: rapid.IntRange(0, cfg.Keep[port]-1).Draw(t, "out col")})
	}
	if rapid.IntRange(0, 2).Draw(t, "residual") == 0 {
		last := len(cfg.Out) - 1
		cfg.Residual = func(r row.Row) bool { return r.Col(last).Kind != value.Text }
	}
	return cfg
}

func drawTemporalRow(t *rapid.T, cfg *operator.TemporalJoinConfig, port int, key func(*rapid.T) any) row.Row {
	return drawRow(t, &operator.JoinConfig{Keys: cfg.Keys, Keep: cfg.Keep}, port, key)
}

// bothTemporal drives a TemporalJoin and its oracle.
type bothTemporal struct {
	t         *rapid.T
	cfg       operator.TemporalJoinConfig
	join      *operator.TemporalJoin
	oracle    *temporalOracle
	out, want *operatortest.Log
	low       [2]int64
	counted   int64 // LateVersions
	seq       uint64
}

func newBothTemporal(t *rapid.T, cfg operator.TemporalJoinConfig) *bothTemporal {
	b := &bothTemporal{t: t, cfg: cfg, out: operatortest.NewLog(), want: operatortest.NewLog()}
	b.out.Clocked = true // rows below Low are in the game
	var err error
	b.join, err = operator.NewTemporalJoin(cfg, b.out)
	require.NoError(t, err)
	b.join.PrefetchAlways()
	b.oracle = newTemporalOracle(cfg, b.want)
	return b
}

func (b *bothTemporal) do(c operatortest.Call) {
	c.Do(b.join)
	c.Do(b.oracle)
	require.Equal(b.t, b.want.Take(), b.out.Take(), "%v", c)
	require.Empty(b.t, b.out.Broken)
	if c.Method == "advance" || c.Method == "process" {
		return
	}
	got, want := b.join.Stats(), b.oracle.Stats()
	late := got.LateVersions - b.counted
	require.GreaterOrEqual(b.t, late, b.oracle.mustCount, "late versions counted")
	require.LessOrEqual(b.t, late, b.oracle.mayCount, "late versions counted")
	b.counted = got.LateVersions
	b.oracle.mustCount, b.oracle.mayCount = 0, 0
	require.Positive(b.t, got.Bytes)
	got.Bytes, got.Visited, got.Moved, got.LateVersions = 0, 0, 0, 0
	require.Equal(b.t, want, got)
}

func (b *bothTemporal) process(port int, rec operator.Record) {
	b.seq++
	rec.Seq = b.seq
	b.do(operatortest.Call{Method: "process", Port: port, Rec: rec})
}

func (b *bothTemporal) advance(port int, low int64, idle bool) {
	b.low[port] = max(b.low[port], low)
	b.do(operatortest.Call{Method: "advance", Port: port, P: operator.Progress{Seen: low + 3, Low: low, Idle: idle}})
}

// step draws one step with any number of records.
func (b *bothTemporal) step(key func(*rapid.T) any) {
	t := b.t
	for port := range 2 {
		if rapid.Bool().Draw(t, "advance") {
			now := b.low[port]
			if rapid.IntRange(0, 5).Draw(t, "catch up") == 0 {
				now = b.low[1-port]
			}
			b.advance(port, now+rapid.Int64Range(0, 6).Draw(t, "low"), rapid.IntRange(0, 3).Draw(t, "idle") == 0)
		}
	}
	if rapid.Bool().Draw(t, "prefetch") {
		batch := make([]operator.Arrival, rapid.IntRange(0, 20).Draw(t, "batch"))
		for i := range batch {
			batch[i].Port = i % 2
			batch[i].Record.Row = drawTemporalRow(t, &b.cfg, i%2, key)
		}
		before := b.join.Stats()
		b.join.Prefetch(batch)
		require.Equal(t, before, b.join.Stats())
	}
	for range rapid.IntRange(0, 3).Draw(t, "records") {
		port := rapid.IntRange(0, 1).Draw(t, "port")
		rec := operator.Record{TS: max(0, b.low[port]+rapid.Int64Range(-6, 10).Draw(t, "ts")), Diff: 1, Row: drawTemporalRow(t, &b.cfg, port, key)}
		if port == 0 && rapid.IntRange(0, 4).Draw(t, "has nulls") == 0 {
			rec.Nulls, rec.Why = 4, operator.ClosedByWindow
		}
		if rapid.IntRange(0, 2).Draw(t, "retraction") == 0 {
			rec.Diff = -1
		}
		rec.Past = rapid.IntRange(0, 2).Draw(t, "past") == 0
		b.process(port, rec)
		if port == 1 && rec.Diff < 0 && !rec.Past && rapid.Bool().Draw(t, "replacement") {
			rec.Diff = 1
			rec.TS += rapid.Int64Range(-1, 1).Draw(t, "later")
			b.process(port, rec)
		}
	}
	b.do(operatortest.Call{Method: "end"})
}

func (b *bothTemporal) flush() {
	first := rapid.IntRange(0, 1).Draw(b.t, "flushed first")
	for _, port := range []int{first, 1 - first} {
		b.do(operatortest.Call{Method: "flush", Port: port, Why: operator.ClosedByStop})
		b.do(operatortest.Call{Method: "end"})
	}
}

func TestTemporalJoinDoesWhatTheOracleDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBothTemporal(t, drawTemporal(t))
		key := drawKey
		if rapid.Bool().Draw(t, "few keys") {
			key = func(t *rapid.T) any { return rapid.SampledFrom([]any{"a", "b", 1, 1.0}).Draw(t, "key") }
		}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			b.step(key)
		}
		b.flush()
	})
}

// TestTemporalJoinOfLongHistories has keys with so many versions that they are
// found by a directory, and goes on while the history leaves them behind.
func TestTemporalJoinOfLongHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := drawTemporal(t)
		b := newBothTemporal(t, cfg)
		hot := func(t *rapid.T) any { return rapid.SampledFrom([]any{"hot", "hot", "hot", "warm"}).Draw(t, "key") }
		n := rapid.Int64Range(50, 300).Draw(t, "versions")
		const apart = 100
		disorder := rapid.Int64Range(0, n*apart).Draw(t, "disorder")
		start := n * apart
		for i := range n {
			rec := operator.Record{TS: start + i*apart, Diff: 1, Row: drawTemporalRow(t, &cfg, 1, hot)}
			if disorder > 0 && rapid.IntRange(0, 3).Draw(t, "past") > 0 {
				rec.Past = true
				rec.TS -= rapid.Int64Range(0, disorder).Draw(t, "older by")
			}
			b.process(1, rec)
		}
		crowded := rapid.Int64Range(start, start+n*apart).Draw(t, "crowded time")
		for range rapid.IntRange(0, 100).Draw(t, "crowd") {
			ts := crowded + rapid.Int64Range(0, 5*apart).Draw(t, "ts of the crowd")
			b.process(1, operator.Record{TS: ts, Diff: 1, Past: true, Row: drawTemporalRow(t, &cfg, 1, hot)})
		}
		b.do(operatortest.Call{Method: "end"})
		for low := start - disorder; low < start+n*apart+10; low += rapid.Int64Range(1, 2*n*apart/10).Draw(t, "on") {
			b.advance(0, low, false)
			b.advance(1, low, false)
			for range rapid.IntRange(0, 8).Draw(t, "rows") {
				b.process(0, operator.Record{TS: max(0, low+rapid.Int64Range(-3, n*apart).Draw(t, "ts")), Diff: 1, Row: drawTemporalRow(t, &cfg, 0, hot)})
			}
			for range rapid.IntRange(0, 3).Draw(t, "versions of the past") {
				rec := operator.Record{TS: max(0, low+rapid.Int64Range(-3, n*apart).Draw(t, "ts")), Diff: 1, Past: true, Row: drawTemporalRow(t, &cfg, 1, hot)}
				b.process(1, rec)
			}
			b.do(operatortest.Call{Method: "end"})
		}
		b.flush()
	})
}

// TestTemporalJoinKeepsTheContract leaves the table's port idle at times, never
// the stream's: a port that is idle holds nothing back, and one that stops being
// idle does not come to a time by it, so Wake could not answer for it.
func TestTemporalJoinKeepsTheContract(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := drawTemporal(t)
		cfg.Left = true // of an INNER JOIN Wake answers for rows that may have no version
		operatortest.Check(t, operatortest.Subject{
			New: func(out operator.Output) (operator.Operator, error) {
				j, err := operator.NewTemporalJoin(cfg, out)
				return neverIdle{j, 0}, err
			},
			Ports: 2, Lateness: []int64{0, 0}, Script: true, Keys: []int{-1, cfg.Keys[1]},
			Row: func(t *rapid.T, port int) row.Row { return drawTemporalRow(t, &cfg, port, drawKey) },
		})
	})
}

// neverIdle is an operator one port of which is never told that it is idle.
type neverIdle struct {
	operator.Operator
	port int
}

func (o neverIdle) Advance(port int, p operator.Progress) {
	p.Idle = p.Idle && port != o.port
	p.Low = min(p.Low, p.Seen) // the suite asks about the time before 0, where it means no Low
	o.Operator.Advance(port, p)
}

func TestTemporalJoinAtTheEndsOfTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBothTemporal(t, drawTemporal(t))
		times := rapid.SampledFrom([]int64{0, 1, 2, math.MaxInt64 - 2, math.MaxInt64 - 1, math.MaxInt64})
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			port := rapid.IntRange(0, 1).Draw(t, "port")
			ts := times.Draw(t, "ts")
			if rapid.Bool().Draw(t, "advance") {
				b.do(operatortest.Call{Method: "advance", Port: port, P: operator.Progress{Seen: ts, Low: ts}})
			}
			b.process(port, operator.Record{TS: times.Draw(t, "row's ts"), Diff: 1, Past: rapid.Bool().Draw(t, "past"), Row: drawTemporalRow(t, &b.cfg, port, drawKey)})
			b.do(operatortest.Call{Method: "end"})
		}
		b.flush()
	})
}
