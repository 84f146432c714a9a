package joinnode

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/rulego/streamsql/logger"
	"github.com/rulego/streamsql/schema"
	"github.com/rulego/streamsql/types"

	"github.com/streamjoin/streamjoin/joinnode/internal/delegate"
	"github.com/streamjoin/streamjoin/joinnode/internal/pipeline"
	"github.com/streamjoin/streamjoin/joinnode/internal/plan"
)

// Defaults. Zero given to an option means the default, as in streamsql.
const (
	DefaultJoinMaxKeys  = 10000
	DefaultBufferRows   = 10000
	DefaultBlockTimeout = 10 * time.Second
)

// Option sets one thing about an engine. Options combine in any order and none
// undoes another; of two that set the same thing the later one counts. A value
// out of range is reported by Execute as ErrOption.
type Option func(*options)

// Clock tells the time and calls back; see WithClock.
type Clock = pipeline.Clock

// Timer is a pending call of Clock.AfterFunc.
type Timer = pipeline.Timer

// options is everything that can be set. Its zero value is a working engine.
type options struct {
	log        logger.Logger
	discardLog bool
	logLevel   *logger.Level

	base       *types.PerformanceConfig // a preset or WithCustomPerformance; single options go before it
	buffers    *types.BufferConfig
	overflow   *types.OverflowConfig
	workers    *types.WorkerConfig
	monitoring *types.MonitoringConfig

	schema                *schema.Schema
	analyticMaxPartitions int
	groupMaxPartitions    int
	windowMaxRows         int

	joinMaxKeys  int
	joinMaxRows  int
	joinMaxBytes int64
	clock        Clock
}

// WithLogLevel sets the least severe level that is logged by this engine.
func WithLogLevel(level logger.Level) Option { return func(o *options) { o.logLevel = &level } }

// WithDiscardLog turns logging off for this engine.
func WithDiscardLog() Option { return func(o *options) { o.discardLog = true } }

// WithLogger sets the logger of this engine; nil keeps the process default.
func WithLogger(l logger.Logger) Option {
	return func(o *options) {
		if l != nil {
			o.log = l
		}
	}
}

// WithHighPerformance takes the buffer sizes of streamsql's preset for
// throughput. Its overflow strategy is not taken: an engine blocks unless it is
// told to drop.
func WithHighPerformance() Option { return preset(types.HighPerformanceConfig()) }

// WithLowLatency takes the buffer sizes of streamsql's preset for latency, which
// are smaller. Its overflow strategy is not taken.
func WithLowLatency() Option { return preset(types.LowLatencyConfig()) }

func preset(config types.PerformanceConfig) Option {
	return WithCustomPerformance(types.PerformanceConfig{BufferConfig: config.BufferConfig})
}

// WithCustomPerformance takes the buffer sizes and the overflow strategy of a
// configuration, "block" or "drop"; "expand" leaves the default. Beware that
// streamsql's default configuration drops. WithBufferSizes and
// WithOverflowStrategy go before it in whatever order they stand. Workers and
// monitoring have no effect, see WithWorkerConfig and WithMonitoring.
func WithCustomPerformance(config types.PerformanceConfig) Option {
	return func(o *options) { o.base = &config }
}

// WithBufferSizes sets how many rows may wait at the input and, on a join, how
// many results may wait for the sinks before callers are held back. The third
// size has no effect: window results are handed over one by one.
func WithBufferSizes(dataChannelSize, resultChannelSize, windowOutputSize int) Option {
	return func(o *options) {
		o.buffers = &types.BufferConfig{DataChannelSize: dataChannelSize, ResultChannelSize: resultChannelSize, WindowOutputSize: windowOutputSize}
	}
}

// WithOverflowStrategy says what a full input queue does: "block" (the default;
// a caller waits up to blockTimeout, 0 = 10 s, and then gets ErrOverflow),
// "drop" (the row is dropped, counted, and handed to the late sinks; the caller
// is not told) or "expand" (single-stream queries only; a join logs a warning
// and drops).
func WithOverflowStrategy(strategy string, blockTimeout time.Duration) Option {
	return func(o *options) {
		o.overflow = &types.OverflowConfig{Strategy: strategy, BlockTimeout: blockTimeout, AllowDataLoss: strategy == "drop"}
	}
}

// WithWorkerConfig is accepted so that programs written for streamsql compile.
// It has no effect: results are delivered in order by one goroutine, without a
// pool of workers and without retries.
func WithWorkerConfig(sinkPoolSize, sinkWorkerCount, maxRetryRoutines int) Option {
	return func(o *options) {
		o.workers = &types.WorkerConfig{SinkPoolSize: sinkPoolSize, SinkWorkerCount: sinkWorkerCount, MaxRetryRoutines: maxRetryRoutines}
	}
}

// WithMonitoring is accepted so that programs written for streamsql compile. It
// has no effect: counters are always on, and read when GetStats or Metrics asks.
func WithMonitoring(updateInterval time.Duration, enableDetailedStats bool) Option {
	return func(o *options) {
		o.monitoring = &types.MonitoringConfig{EnableMonitoring: true, StatsUpdateInterval: updateInterval, EnableDetailedStats: enableDetailedStats}
	}
}

// WithSchema validates every incoming row of every stream; a row that fails is
// dropped and counted (SchemaDropped), and all methods but Emit return the error.
// In an array or a group it is the whole that is refused, and one that is counted.
func WithSchema(s schema.Schema) Option { return func(o *options) { o.schema = &s } }

// WithAnalyticMaxPartitions caps the PARTITION states of analytic functions
// (single-stream queries only). n ≤ 0 means 10000.
func WithAnalyticMaxPartitions(n int) Option {
	return func(o *options) { o.analyticMaxPartitions = n }
}

// WithGroupMaxPartitions caps the groups of GROUP BY (single-stream queries
// only); above it streamsql gives up whole groups of a window. n ≤ 0 means no
// bound, where streamsql's own default is 10000.
func WithGroupMaxPartitions(n int) Option { return func(o *options) { o.groupMaxPartitions = n } }

// WithWindowMaxRows caps the rows that a time window buffers (single-stream
// queries only). n ≤ 0 means no bound.
func WithWindowMaxRows(n int) Option { return func(o *options) { o.windowMaxRows = n } }

// WithJoinMaxKeys caps the keys buffered per side and stage of a join. Above it
// the least recently used key is evicted with its rows; pending LEFT rows among
// them get no NULL row (counters keys_evicted, left_pending_evicted). n ≤ 0
// means 10000 (docs/semantics.md, "Gates").
func WithJoinMaxKeys(n int) Option { return func(o *options) { o.joinMaxKeys = n } }

// WithJoinMaxRows caps the rows buffered per side and stage of a join; above it
// new rows are dropped (counter rows_dropped). n ≤ 0 means no bound.
func WithJoinMaxRows(n int) Option { return func(o *options) { o.joinMaxRows = n } }

// MinJoinMaxBytes is the least bound of WithJoinMaxBytes, 1 MiB: memory is taken
// in blocks, and below it a side could not use what it is allowed.
const MinJoinMaxBytes = 1 << 20

// WithJoinMaxBytes caps the bytes of state per side and stage of a join, as
// state_bytes counts them; the key table that both sides share is divided by
// their keys. A row that would take its side above n is dropped whole (counter
// memory_dropped). n ≤ 0 means no bound; a lesser one than MinJoinMaxBytes is an
// ErrOption.
func WithJoinMaxBytes(n int64) Option { return func(o *options) { o.joinMaxBytes = n } }

// WithClock gives a join a clock of its own, for tests and replays.
func WithClock(c Clock) Option { return func(o *options) { o.clock = c } }

// build applies and validates.
func build(opts []Option) (*options, error) {
	o := &options{}
	for _, opt := range opts {
		if opt != nil {
			opt(o)
		}
	}
	o.settleLog()
	if o.base != nil && o.overflow == nil && o.base.OverflowConfig.Strategy != "expand" {
		o.overflow = &o.base.OverflowConfig
	}
	if o.clock == nil {
		o.clock = pipeline.SystemClock{}
	}
	if o.joinMaxKeys <= 0 {
		o.joinMaxKeys = DefaultJoinMaxKeys
	}
	o.joinMaxRows, o.joinMaxBytes = max(o.joinMaxRows, 0), max(o.joinMaxBytes, 0)
	return o, o.validate()
}

func (o *options) settleLog() {
	switch {
	case o.discardLog:
		o.log = logger.NewDiscardLogger()
	case o.log == nil && o.logLevel != nil:
		o.log = logger.NewLogger(*o.logLevel, os.Stdout)
	case o.log == nil:
		o.log = logger.GetDefault()
	case o.logLevel != nil:
		o.log.SetLevel(*o.logLevel)
	}
}

func (o *options) validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: "+format, append([]any{ErrOption}, args...)...))
	}
	if o.overflow != nil {
		switch o.overflow.Strategy {
		case "block", "drop", "expand", "":
		default:
			bad("overflow strategy %q, want block, drop or expand", o.overflow.Strategy)
		}
		if o.overflow.BlockTimeout < 0 {
			bad("block timeout %s is negative", o.overflow.BlockTimeout)
		}
	}
	buffers := []*types.BufferConfig{o.buffers}
	if o.base != nil {
		buffers = append(buffers, &o.base.BufferConfig)
	}
	for _, b := range buffers {
		if b != nil && (b.DataChannelSize < 0 || b.ResultChannelSize < 0 || b.WindowOutputSize < 0) {
			bad("buffer sizes %d, %d, %d must not be negative", b.DataChannelSize, b.ResultChannelSize, b.WindowOutputSize)
		}
	}
	if w := o.workers; w != nil && (w.SinkPoolSize < 0 || w.SinkWorkerCount < 0 || w.MaxRetryRoutines < 0) {
		bad("worker numbers %d, %d, %d must not be negative", w.SinkPoolSize, w.SinkWorkerCount, w.MaxRetryRoutines)
	}
	if o.joinMaxBytes > 0 && o.joinMaxBytes < MinJoinMaxBytes {
		bad("join max bytes %d are less than %d", o.joinMaxBytes, int64(MinJoinMaxBytes))
	}
	if o.monitoring != nil && o.monitoring.StatsUpdateInterval < 0 {
		bad("monitoring interval %s is negative", o.monitoring.StatsUpdateInterval)
	}
	return errors.Join(errs...)
}

// pipeline translates the options for a join.
func (o *options) pipeline() pipeline.Config {
	cfg := pipeline.Config{Clock: o.clock, Log: o.log, QueueRows: DefaultBufferRows, BacklogLimit: DefaultBufferRows,
		Block: true, BlockTimeout: DefaultBlockTimeout, MaxKeys: o.joinMaxKeys, MaxRows: o.joinMaxRows, MaxBytes: o.joinMaxBytes}
	if o.base != nil {
		cfg.QueueRows = positive(o.base.BufferConfig.DataChannelSize, cfg.QueueRows)
		cfg.BacklogLimit = positive(o.base.BufferConfig.ResultChannelSize, cfg.BacklogLimit)
	}
	if o.buffers != nil {
		cfg.QueueRows = positive(o.buffers.DataChannelSize, cfg.QueueRows)
		cfg.BacklogLimit = positive(o.buffers.ResultChannelSize, cfg.BacklogLimit)
	}
	if o.overflow != nil {
		cfg.Block = o.overflow.Strategy == "block" || o.overflow.Strategy == ""
		if o.overflow.BlockTimeout > 0 {
			cfg.BlockTimeout = o.overflow.BlockTimeout
		}
	}
	return cfg
}

// gates are the bounds of a join as EXPLAIN shows them.
func (o *options) gates() plan.Gates {
	return plan.Gates{Keys: o.joinMaxKeys, Rows: o.joinMaxRows, Bytes: o.joinMaxBytes}
}

func positive(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

// delegate translates the options for a query that streamsql runs. Package
// delegate sets streamsql's own channels up so that nothing is lost between
// them; what is left to choose is its input queue.
func (o *options) delegate() delegate.Config {
	p := o.pipeline()
	return delegate.Config{Logger: o.log, QueueSize: p.QueueRows, Drop: o.overflow != nil && o.overflow.Strategy == "drop",
		BlockTimeout: p.BlockTimeout, AnalyticMaxPartitions: o.analyticMaxPartitions,
		GroupMaxPartitions: o.groupMaxPartitions, WindowMaxRows: o.windowMaxRows}
}
