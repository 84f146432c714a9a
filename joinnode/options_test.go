package joinnode_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/rulego/streamsql/logger"
	"github.com/rulego/streamsql/types"
	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode"
)

const selectOne = "SELECT x FROM s"

// TestInvalidOptions are told by Execute, all at once, by name and value.
func TestInvalidOptions(t *testing.T) {
	custom := types.PerformanceConfig{}
	custom.OverflowConfig.Strategy = "spill"
	negative := types.PerformanceConfig{}
	negative.BufferConfig.ResultChannelSize = -3
	for _, sql := range []string{hourly, selectOne} {
		for _, c := range []struct {
			option joinnode.Option
			says   string
		}{
			{joinnode.WithOverflowStrategy("spill", 0), `overflow strategy "spill", want block, drop or expand`},
			{joinnode.WithOverflowStrategy("block", -time.Second), "block timeout -1s is negative"},
			{joinnode.WithBufferSizes(-1, 2, 3), "buffer sizes -1, 2, 3"},
			{joinnode.WithCustomPerformance(custom), `overflow strategy "spill"`},
			{joinnode.WithCustomPerformance(negative), "buffer sizes 0, -3, 0"},
			{joinnode.WithWorkerConfig(0, -1, 0), "worker numbers 0, -1, 0"},
			{joinnode.WithMonitoring(-1, false), "monitoring interval -1ns"},
			{joinnode.WithJoinMaxBytes(512), "join max bytes 512 are less than 1048576"},
		} {
			e := joinnode.New(c.option, joinnode.WithDiscardLog())
			for range 2 {
				err := e.Execute(sql)
				require.ErrorIs(t, err, joinnode.ErrOption)
				require.ErrorContains(t, err, c.says)
			}
			require.ErrorIs(t, joinnode.Check(sql, c.option), joinnode.ErrOption)
			require.ErrorIs(t, e.EmitTo("", nil), joinnode.ErrNotExecuted)
			e.Stop()
		}
	}
	err := joinnode.New(joinnode.WithWorkerConfig(-1, 0, 0), joinnode.WithBufferSizes(-1, 0, 0)).Execute(hourly)
	require.ErrorContains(t, err, "worker numbers")
	require.ErrorContains(t, err, "buffer sizes")
}

// TestCheckLeavesTheOptionsAlone: the caller's slice is the caller's.
func TestCheckLeavesTheOptionsAlone(t *testing.T) {
	invalid := joinnode.WithBufferSizes(-1, 0, 0)
	opts := []joinnode.Option{joinnode.WithJoinMaxKeys(1), invalid}
	require.NoError(t, joinnode.Check(hourly, opts[:1]...))
	require.ErrorIs(t, joinnode.New(opts...).Execute(hourly), joinnode.ErrOption)
}

// TestExpandIsNotForJoins: it is said once, at build time.
func TestExpandIsNotForJoins(t *testing.T) {
	var out bytes.Buffer
	e := joinnode.New(joinnode.WithOverflowStrategy("expand", 0), joinnode.WithLogger(logger.NewLogger(logger.WARN, &out)))
	require.NoError(t, e.Execute(hourly))
	require.Contains(t, out.String(), "expand does not apply to the inputs of a stream JOIN")
	e.Stop()
}

// TestLogOptions concern this engine alone.
func TestLogOptions(t *testing.T) {
	var out bytes.Buffer
	for _, c := range []struct {
		opts []joinnode.Option
		logs bool
	}{
		{nil, true},
		{[]joinnode.Option{joinnode.WithLogLevel(logger.ERROR)}, false},
		{[]joinnode.Option{joinnode.WithDiscardLog()}, false},
	} {
		out.Reset()
		e := joinnode.New(append(c.opts, joinnode.WithLogger(logger.NewLogger(logger.WARN, &out)))...)
		require.NoError(t, e.Execute(hourly))
		e.Stop()
		e.Emit(row("a", 1))
		require.Equal(t, c.logs, out.Len() > 0)
		if c.logs {
			require.Contains(t, out.String(), "Emit after Stop")
		}
		require.EqualValues(t, 1, e.GetStats()["refused_after_stop"])
	}
}
