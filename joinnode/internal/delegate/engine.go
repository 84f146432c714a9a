package delegate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/rulego/streamsql/logger"
	"github.com/rulego/streamsql/stream"
	"github.com/rulego/streamsql/types"

	"github.com/streamjoin/streamjoin/joinnode/internal/warning"
)

var (
	// ErrStopped is returned for a row that comes after Stop.
	ErrStopped = errors.New("the query is stopped")
	// ErrOverflow is returned for a row that found the queue full for the whole
	// block timeout.
	ErrOverflow = errors.New("the input queue is full")
	// ErrNotRegistered marks a row of a query that joins a table which nobody
	// registered.
	ErrNotRegistered = errors.New("is not registered")
	// ErrSync is returned by EmitSync for queries whose results belong to no
	// single row.
	ErrSync = errors.New("synchronous mode only supports non-aggregation queries, use Emit")
)

// Config holds what joinnode's options set. The zero Config is valid.
type Config struct {
	Logger       logger.Logger // nil: streamsql's default
	QueueSize    int           // rows; 0 means 1000
	Drop         bool          // full queue: drop and count instead of block
	BlockTimeout time.Duration // 0 means 10 s
	// The caps of streamsql; 0 keeps streamsql's default, except for groups,
	// where the default evicts whole groups from a window above 10,000.
	AnalyticMaxPartitions int
	GroupMaxPartitions    int
	WindowMaxRows         int
}

const (
	defaultQueue        = 1000
	defaultBlockTimeout = 10 * time.Second
)

// Engine runs one Plan. All methods may be called from any goroutine.
//
// Callers append to one bounded queue. One goroutine, the pump, takes rows from
// it and drives streamsql: a direct query through ProcessSync, the others
// through the stream's own goroutine, whose inbox has no buffer, so that the
// pump knows when it is done with a row.
type Engine struct {
	plan     *Plan
	cfg      Config
	log      logger.Logger
	st       *stream.Stream
	gate     *gate // of an aggregation
	counters *counters
	sinks    sinks
	tables   tables
	standIns standIns
	order    []string // the columns that sortRows sorts a result by

	queue   chan work
	stop    chan struct{} // closed by Close
	stopped sync.Once
	mu      sync.RWMutex // read: the queue stays open
	row     sync.Mutex   // held while streamsql processes a direct row
	done    chan struct{}
}

// work is one item of the queue: a row, or something to run between rows.
type work struct {
	row map[string]any
	run func()
}

// Open starts streamsql. On an error nothing is left running.
func Open(p *Plan, cfg Config) (*Engine, error) {
	config, rewritten, err := p.parse()
	if err != nil {
		return nil, err
	}
	if cfg.QueueSize <= 0 {
		cfg.QueueSize = defaultQueue
	}
	if cfg.BlockTimeout <= 0 {
		cfg.BlockTimeout = defaultBlockTimeout
	}
	if cfg.GroupMaxPartitions <= 0 {
		cfg.GroupMaxPartitions = math.MaxInt
	}
	e := &Engine{plan: p, cfg: cfg, log: cfg.Logger, queue: make(chan work, cfg.QueueSize), stop: make(chan struct{}), done: make(chan struct{})}
	if e.log == nil {
		e.log = logger.GetDefault()
	}
	config.Logger = e.log
	config.WindowConfig.CountStateTTL = p.options.stateTTL // of a global window
	config.AnalyticMaxPartitions = cfg.AnalyticMaxPartitions
	config.GroupMaxPartitions = cfg.GroupMaxPartitions
	if p.Kind == Aggregation {
		e.order = orderGroups(config)
	}
	if e.st, err = stream.NewStreamWithCustomPerformance(*config, performance()); err != nil {
		return nil, fmt.Errorf("streamsql: %w", err)
	}
	if err := e.start(rewritten); err != nil {
		e.st.Stop()
		return nil, err
	}
	return e, nil
}

// performance sets streamsql up so that it neither buffers nor drops: its inbox
// has no places and blocks for as long as it takes.
func performance() types.PerformanceConfig {
	perf := types.DefaultPerformanceConfig()
	perf.BufferConfig.DataChannelSize = 0
	perf.BufferConfig.ResultChannelSize = 16
	perf.BufferConfig.WindowOutputSize = 1
	perf.OverflowConfig.Strategy = stream.StrategyBlock
	perf.OverflowConfig.BlockTimeout = 0
	perf.OverflowConfig.AllowDataLoss = false
	perf.WorkerConfig.SinkPoolSize = 0 // Stop would drop what waits there
	perf.WorkerConfig.SinkWorkerCount = 1
	return perf
}

func (e *Engine) start(rewritten string) error {
	if err := e.st.RegisterFilter(e.plan.filter(rewritten)); err != nil {
		return fmt.Errorf("streamsql: WHERE: %w", err)
	}
	e.counters = newCounters(e.st.MetricsRegistry(), warning.New(e.log, time.Now))
	e.sinks = sinks{engine: e}
	e.tables = tables{sources: map[string]stream.TableSource{}}
	if e.plan.Kind == Aggregation {
		inner := e.st.Window
		var err error
		if e.gate, err = newGate(e.plan, inner, e.cfg.WindowMaxRows, e.counters); err != nil {
			return err
		}
		e.st.Window = e.gate // before Start: nobody has seen the other
	}
	if e.plan.Kind != Direct {
		e.st.AddSyncSink(e.sinks.deliver)
	}
	e.st.Start()
	go e.pump()
	return nil
}

// Emit takes one row. It copies it, so the caller may go on using the map. A
// row with a bad timestamp is dropped and counted, which is no error.
func (e *Engine) Emit(row map[string]any) error {
	row, err := e.accept(row)
	if row == nil || err != nil {
		return err
	}
	return e.enqueue(work{row: row})
}

// EmitSync runs one row through a direct query in the caller's goroutine, after
// the rows that are being processed but not after those that wait. It returns
// nil for a row that WHERE or an inner join rejects.
func (e *Engine) EmitSync(row map[string]any) (map[string]any, error) {
	if e.plan.Kind != Direct || e.plan.unnest {
		return nil, ErrSync
	}
	if e.stopping() {
		return nil, ErrStopped
	}
	row, err := e.accept(row)
	if row == nil || err != nil {
		return nil, err
	}
	rows, err := e.direct(row)
	if len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// accept checks, copies and times a row. It returns nil for a row that is
// dropped and counted.
func (e *Engine) accept(row map[string]any) (map[string]any, error) {
	if names := e.Unregistered(); len(names) > 0 {
		err := &unregisteredError{names[0]}
		e.counters.rowError(err)
		return nil, err
	}
	out := copyRow(row)
	if e.plan.Kind != Aggregation || e.plan.options.timestamp == "" {
		return out, nil
	}
	o := e.plan.options
	field := lookup(out, o.path)
	ts, ok := eventTime(field, o.unit)
	switch {
	case !ok:
		e.counters.input.Inc()
		e.counters.badTimestamp(o.timestamp, field)
		return nil, nil
	case o.maxFutureSkew > 0 && ts > time.Now().Add(o.maxFutureSkew).UnixNano():
		e.counters.input.Inc()
		e.counters.futureTimestamp(o.timestamp, field)
		return nil, nil
	}
	out[timeField] = ts
	return out, nil
}

// enqueue puts w into the queue. The read lock keeps the queue open while it
// waits; the pump needs no lock, so whoever closes it gets through.
func (e *Engine) enqueue(w work) error {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.stopping() {
		return ErrStopped
	}
	select {
	case e.queue <- w:
		return nil
	default:
	}
	if e.cfg.Drop && w.run == nil {
		e.counters.overflow()
		return nil
	}
	timer := time.NewTimer(e.cfg.BlockTimeout)
	defer timer.Stop()
	select {
	case e.queue <- w:
		return nil
	case <-e.stop:
		return ErrStopped
	case <-timer.C:
		e.counters.overflow()
		return ErrOverflow
	}
}

// stopping reports whether Close was called.
func (e *Engine) stopping() bool {
	select {
	case <-e.stop:
		return true
	default:
		return false
	}
}

// pump is the engine's goroutine: it lives from Open until everything accepted
// before Stop has reached the sinks.
func (e *Engine) pump() {
	defer close(e.done)
	for w := range e.queue {
		if w.run != nil {
			w.run()
			continue
		}
		e.process(w.row)
	}
	e.settle()
	if e.gate != nil {
		if n := e.gate.flush(); n > 0 {
			e.counters.unfinished.IncBy(int64(n))
			e.log.Warn("stop: %d row(s) in unfinished %s windows give no result", n, e.plan.window.kind)
		}
		e.gate.sync()
	}
	e.st.Stop() // flushes pattern matches into the sinks
	e.closeStandIn()
}

func (e *Engine) process(row map[string]any) {
	if e.plan.Kind == Direct {
		_, _ = e.direct(row) // an error is counted and logged there
	} else if ok, _ := e.prepare(row); ok {
		e.st.Emit(row)
	} else {
		e.counters.input.Inc()
	}
}

// prepare joins the tables to the row and fills its computed fields. It returns
// false for a row that an inner join drops, and with an error, which is counted
// and logged, for one that a failing table does.
func (e *Engine) prepare(row map[string]any) (ok bool, err error) {
	if ok, err = e.join(row); err != nil {
		e.counters.rowError(err)
	}
	if !ok {
		return false, err
	}
	if f := e.plan.evaluate(row); f.n > 0 {
		e.counters.expressionErrors(f)
	}
	return true, nil
}

// settle returns when the rows that the pump has handed over are processed and
// their results delivered. Only the pump calls it.
func (e *Engine) settle() {
	if e.plan.Kind == Direct {
		return // nothing is under way
	}
	// The filter rejects this row. That it was taken says that the one before
	// it is through.
	e.st.Emit(map[string]any{barrierField: true})
	e.counters.input.IncBy(-1)
	if e.gate != nil {
		e.gate.sync()
	}
}

// between runs f in the pump between two rows and waits for it.
func (e *Engine) between(ctx context.Context, f func()) error {
	ran := make(chan struct{})
	if err := e.enqueue(work{run: func() { f(); close(ran) }}); err != nil {
		return err
	}
	select {
	case <-ran:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Drain waits until every row accepted so far is processed and its results are
// delivered. Open windows stay open. It must not be called from a sink.
func (e *Engine) Drain(ctx context.Context) error {
	err := e.between(ctx, e.settle)
	if errors.Is(err, ErrStopped) {
		select {
		case <-e.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// TriggerWindow gives out what the windows hold after the rows accepted so far.
// The windows stay open: rows that follow give a further result. It returns at
// once; counting and global windows ignore it.
func (e *Engine) TriggerWindow() {
	if e.gate == nil {
		return
	}
	if err := e.enqueue(work{run: func() { e.settle(); e.gate.Trigger() }}); err != nil {
		e.log.Warn("TriggerWindow: %v", err)
	}
}

// Close takes no more rows and returns at once; Done tells when everything
// accepted has been processed. It may be called from a sink, Stop may not.
func (e *Engine) Close() {
	e.stopped.Do(func() {
		close(e.stop) // whoever waits for a place in the queue gives up
		e.mu.Lock()
		defer e.mu.Unlock()
		close(e.queue)
	})
}

// Stop is Close, and waits for Done. Everything accepted before is processed
// and open time and session windows give their results as if time had run out;
// counting and global windows, which have no end in time, give none for rows
// that do not fill them: those are counted and logged.
func (e *Engine) Stop() {
	e.settleStandIn()
	e.Close()
	<-e.done
}

// Done is closed when the last result has been delivered after Close.
func (e *Engine) Done() <-chan struct{} { return e.done }
