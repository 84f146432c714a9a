package pipeline

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLateOutput: what is told of a dropped row, for every reason.
func TestLateOutput(t *testing.T) {
	c := newClock()
	s := begin(t, left+"WITH (TIMESTAMP='ts', MAXFUTURESKEW='1h')", wantLate, c.use, func(c *Config) { c.MaxKeys, c.MaxRows = 2, 3 })
	ts := func(at int64) string { return fmt.Sprint(epoch + at) }
	for _, step := range []struct {
		row  Row
		want string
	}{
		{s.row(0, "a0", 1, "no time"), `late 0 bad_timestamp ts=none wm=none {"id":"a0","k":1,"ts":"no time"}`},
		{s.row(0, "a1", 1, 20*second, "more", []any{"kept", 1}), ""},
		{s.row(0, "a2", 1, 10*second-1, "more", "whole"), `late 0 late ts=9.999999999s wm=20s {"id":"a2","k":1,"more":"whole","ts":` + ts(10*second-1) + `}`},
		{s.row(1, "b1", 1, 3601*second), `late 1 future_timestamp ts=1h0m1s wm=none {"id":"b1","k":1,"ts":` + ts(3601*second) + `}`},
		{s.row(0, "a3", nil, 20*second), ""},
		{s.row(0, "a4", 3, 20*second), `late 0 keys_evicted ts=20s wm=20s {"k":1,"id":"a1"}`},
		{s.row(0, "a5", 3, 20*second), ""},
		{s.row(0, "a6", 3, 20*second), `late 0 rows_dropped ts=20s wm=20s {"id":"a6","k":3,"ts":` + ts(20*second) + `}`},
	} {
		s.put(t, step.row)
		want := []string(nil)
		if step.want != "" {
			want = []string{step.want}
		}
		require.Equal(t, want, s.drain(t))
	}
	stats := s.Stats()
	for name, n := range map[string]int64{"late_dropped": 3, "bad_timestamp": 1, "future_timestamp": 1, "keys_evicted": 1,
		"rows_evicted": 1, "left_pending_evicted": 1, "rows_dropped": 1, "filtered": 0, "input_dropped": 0} {
		require.Equal(t, n, stats["join_stage1_"+name], name)
	}
	require.EqualValues(t, 5, stats["dropped_count"])
	require.EqualValues(t, 8, stats["input_count"])
	s.Stop()
}

// TestLateOutputOfTheBytesGate: the row that is too much comes out whole and is
// warned of.
func TestLateOutputOfTheBytesGate(t *testing.T) {
	s := begin(t, left, wantLate, newClock().use, func(c *Config) { c.MaxBytes = 1 })
	s.put(t, s.row(0, "a1", 1, nil, "more", "whole"))
	require.Equal(t, []string{`late 0 memory_dropped ts=0s wm=0s {"id":"a1","k":1,"more":"whole","ts":null}`}, s.drain(t))
	require.Equal(t, []string{"join stage 1: rows were dropped because joinMaxBytes is reached (1 since the last warning, counter memory_dropped); raise joinMaxBytes, shorten WITHIN, select fewer columns, or filter earlier in WHERE"}, s.log.take())
	stats := s.Stats()
	require.EqualValues(t, 1, stats["join_stage1_memory_dropped"])
	require.Zero(t, stats["join_stage1_rows_dropped"])
	require.EqualValues(t, 1, stats["dropped_count"])
	s.Stop()
}

// TestLateOutputOfACompositeRow that a gate of a later stage evicts: it has the
// kept columns under their aliases, no stream, and the watermark of its side is
// stage 1's frontier.
func TestLateOutputOfACompositeRow(t *testing.T) {
	s := begin(t, cascade+event, wantLate, func(c *Config) { c.MaxKeys = 1 })
	s.put(t, s.row(0, "a1", 1, second), s.row(1, "b1", 1, 2*second))
	require.Empty(t, s.drain(t))
	// In stage 1 a2 puts a1 and b1 out, in stage 2 a2b2 puts a1b1 out.
	s.put(t, s.row(0, "a2", 2, 3*second))
	require.Equal(t, []string{`late 0 keys_evicted ts=1s wm=3s {"k":1,"id":"a1"}`}, s.drain(t))
	s.put(t, s.row(1, "b2", 2, 4*second))
	require.Equal(t, []string{
		`late 1 keys_evicted ts=2s wm=4s {"k":1,"id":"b1"}`,
		`late -1 keys_evicted ts=2s wm=-7s {"a.k":1,"a.id":"a1","b.id":"b1"}`,
	}, s.drain(t))
	stats := s.Stats()
	require.EqualValues(t, 1, stats["join_stage2_left_pending_evicted"])
	require.Zero(t, stats["join_stage1_left_pending_evicted"], "a1 had met b1")
	s.Stop()
	require.Equal(t, []string{`{"aid":"a2","bid":"b2","cid":null} stop`}, s.take())
}

// TestLateOutputUnwanted costs nothing and delivers nothing.
func TestLateOutputUnwanted(t *testing.T) {
	s := begin(t, left+event)
	s.put(t, s.row(0, "a1", 1, "no time"))
	require.Empty(t, s.drain(t))
	require.EqualValues(t, 1, s.Stats()["join_stage1_bad_timestamp"])
	s.Stop()
}

// TestFilteredIsNoLoss: WHERE's no is a result; it is counted, not handed out,
// not warned of.
func TestFilteredIsNoLoss(t *testing.T) {
	s := begin(t, left+"WHERE a.k > 5 AND b.id IS NULL", wantLate)
	s.put(t, s.row(0, "a1", 1), s.row(0, "a6", 6), s.row(1, "b6", 6))
	require.Empty(t, s.drain(t))
	stats := s.Stats()
	require.EqualValues(t, 1, stats["join_stage1_filtered"])
	require.EqualValues(t, 1, stats["join_stage1_composite_filtered"])
	require.Zero(t, stats["dropped_count"])
	require.Empty(t, s.log.take())
	s.Stop()
}
