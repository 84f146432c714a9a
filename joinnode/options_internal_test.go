package joinnode

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/rulego/streamsql/logger"
	"github.com/rulego/streamsql/schema"
	"github.com/rulego/streamsql/types"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/streamjoin/streamjoin/joinnode/internal/pipeline"
)

// settled is what options come to.
func settled(t require.TestingT, opts ...Option) map[string]any {
	o, err := build(opts)
	require.NoError(t, err)
	cfg := o.pipeline()
	return map[string]any{
		"queue": cfg.QueueRows, "backlog": cfg.BacklogLimit, "block": cfg.Block, "timeout": cfg.BlockTimeout,
		"keys": cfg.MaxKeys, "rows": cfg.MaxRows, "bytes": cfg.MaxBytes, "clock": cfg.Clock, "log": reflect.TypeOf(cfg.Log),
		"delegate": o.delegate(), "schema": o.schema,
	}
}

// TestOptionsCombineInAnyOrder: no option undoes another, and nothing depends
// on the order of options that set different things.
func TestOptionsCombineInAnyOrder(t *testing.T) {
	clock := pipeline.SystemClock{}
	sch := schema.Schema{Name: "s"}
	custom := types.DefaultPerformanceConfig()
	custom.BufferConfig.DataChannelSize = 77
	custom.OverflowConfig.Strategy = "drop"
	all := []Option{
		WithDiscardLog(), WithLogLevel(logger.ERROR), WithLogger(logger.GetDefault()), WithCustomPerformance(custom),
		WithBufferSizes(11, 22, 33), WithOverflowStrategy("block", 5*time.Second), WithWorkerConfig(1, 2, 3),
		WithMonitoring(time.Second, true), WithSchema(sch), WithAnalyticMaxPartitions(44), WithGroupMaxPartitions(55),
		WithWindowMaxRows(66), WithJoinMaxKeys(7), WithJoinMaxRows(8), WithJoinMaxBytes(9 << 20), WithClock(clock),
	}
	want := settled(t, all...)
	require.Equal(t, 11, want["queue"])
	require.Equal(t, 22, want["backlog"])
	require.Equal(t, true, want["block"])
	require.Equal(t, 5*time.Second, want["timeout"])
	require.Equal(t, 7, want["keys"])
	require.Equal(t, 8, want["rows"])
	require.Equal(t, int64(9<<20), want["bytes"])
	require.Equal(t, &sch, want["schema"])
	rapid.Check(t, func(t *rapid.T) {
		require.Equal(t, want, settled(t, rapid.Permutation(all).Draw(t, "order")...))
	})
}

// TestAnOptionChangesItsOwn and nothing else.
func TestAnOptionChangesItsOwn(t *testing.T) {
	custom := func(change func(*types.PerformanceConfig)) Option {
		c := types.PerformanceConfig{}
		change(&c)
		return WithCustomPerformance(c)
	}
	for _, c := range []struct {
		name   string
		option Option
		want   map[string]any
	}{
		{"none", nil, nil},
		{"keys", WithJoinMaxKeys(5), map[string]any{"keys": 5}},
		{"rows", WithJoinMaxRows(5), map[string]any{"rows": 5}},
		{"bytes", WithJoinMaxBytes(MinJoinMaxBytes), map[string]any{"bytes": int64(MinJoinMaxBytes)}},
		{"no bound of bytes", WithJoinMaxBytes(-1), nil},
		{"default keys", WithJoinMaxKeys(-1), nil},
		{"no bound of rows", WithJoinMaxRows(-1), nil},
		{"buffers", WithBufferSizes(5, 6, 7), map[string]any{"queue": 5, "backlog": 6}},
		{"default buffers", WithBufferSizes(0, 0, 0), nil},
		{"drop", WithOverflowStrategy("drop", 0), map[string]any{"block": false}},
		{"expand", WithOverflowStrategy("expand", 0), map[string]any{"block": false}},
		{"block", WithOverflowStrategy("block", time.Second), map[string]any{"timeout": time.Second}},
		{"default timeout", WithOverflowStrategy("", 0), nil},
		{"throughput", WithHighPerformance(), map[string]any{"queue": 5000, "backlog": 500}},
		{"latency", WithLowLatency(), map[string]any{"queue": 100, "backlog": 50}},
		{"custom buffers", custom(func(c *types.PerformanceConfig) { c.BufferConfig.ResultChannelSize = 9 }), map[string]any{"backlog": 9}},
		{"custom drop", custom(func(c *types.PerformanceConfig) { c.OverflowConfig.Strategy = "drop" }), map[string]any{"block": false}},
		{"custom block", custom(func(c *types.PerformanceConfig) {
			c.OverflowConfig = types.OverflowConfig{Strategy: "block", BlockTimeout: time.Minute}
		}), map[string]any{"timeout": time.Minute}},
		{"custom expand", custom(func(c *types.PerformanceConfig) { c.OverflowConfig.Strategy = "expand" }), nil},
		{"workers", WithWorkerConfig(1, 1, 1), nil},
		{"monitoring", WithMonitoring(time.Second, true), nil},
		{"no logger", WithLogger(nil), nil},
		{"no clock", WithClock(nil), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := map[string]any{"queue": 10000, "backlog": 10000, "block": true, "timeout": 10 * time.Second,
				"keys": 10000, "rows": 0, "bytes": int64(0), "clock": pipeline.SystemClock{}, "log": reflect.TypeOf(logger.GetDefault())}
			for name, v := range c.want {
				want[name] = v
			}
			got := settled(t, c.option)
			delete(got, "delegate")
			delete(got, "schema")
			require.Equal(t, want, got)
		})
	}
}

// TestDelegatedOptions reach the guard around streamsql.
func TestDelegatedOptions(t *testing.T) {
	o, err := build([]Option{WithBufferSizes(5, 6, 7), WithOverflowStrategy("drop", 3*time.Second), WithAnalyticMaxPartitions(1),
		WithGroupMaxPartitions(2), WithWindowMaxRows(3)})
	require.NoError(t, err)
	cfg := o.delegate()
	require.Equal(t, []any{5, true, 3 * time.Second, 1, 2, 3},
		[]any{cfg.QueueSize, cfg.Drop, cfg.BlockTimeout, cfg.AnalyticMaxPartitions, cfg.GroupMaxPartitions, cfg.WindowMaxRows})
}

func TestLaterOptionCounts(t *testing.T) {
	require.Equal(t, 2, settled(t, WithJoinMaxKeys(1), WithJoinMaxKeys(2))["keys"])
	require.Equal(t, 100, settled(t, WithHighPerformance(), WithLowLatency())["queue"])
}

func TestPlainNumbers(t *testing.T) {
	m, err := decodeRow([]byte(`{"i":9007199254740993,"neg":-5,"u":18446744073709551615,"f":1.5,"e":1e3,"huge":1e400,"in":[1,{"x":2}],"s":"7"}`))
	require.NoError(t, err)
	require.Equal(t, map[string]any{"i": int64(9007199254740993), "neg": int64(-5), "u": uint64(math.MaxUint64), "f": 1.5, "e": 1000.0,
		"huge": "1e400", "in": []any{int64(1), map[string]any{"x": int64(2)}}, "s": "7"}, plainNumbers(m))
}
