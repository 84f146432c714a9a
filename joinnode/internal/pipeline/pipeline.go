// Package pipeline runs a planned query: one queue in, one loop that moves rows
// through the operators, one emitter that delivers results in order. It owns
// every clock, goroutine, lock and counter of a query, so that operators need
// none.
package pipeline

import (
	"sync"
	"time"

	"github.com/rulego/streamsql/logger"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/plan"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// Config is what a pipeline needs beside its plan.
type Config struct {
	Clock        Clock
	Log          logger.Logger
	QueueRows    int // rows that wait for the loop
	BacklogLimit int // results that wait for delivery before callers are held back
	Block        bool
	BlockTimeout time.Duration
	MaxKeys      int   // per side and stage
	MaxRows      int   // per side and stage; 0 = unbounded
	MaxBytes     int64 // of state, per side and stage; 0 = unbounded
	// OnResult and OnLate are called by the emitter goroutine, in order; OnEnd
	// once behind the last of them, before Done is closed.
	OnResult func(*Result)
	OnLate   func(*Late)
	OnEnd    func()
	// WantLate tells whether anybody wants dropped rows.
	WantLate func() bool
}

// Row is one row at the door: encoded in its input's layout.
type Row struct {
	Input   int
	TS      int64 // event time; unused in processing time
	BadTime bool
	Row     row.Row // Enc is copied by Put; Side passes to the pipeline
	Raw     []byte  // the whole row as JSON, if the late output wants it; copied by Put
}

// Result is one result row, valid until OnResult returns.
type Result struct {
	Output int     // of the script; 0 of a join
	Row    row.Row // in the layout of the output; further columns may follow
	Nulls  uint64  // bit i: input i is NULL-complemented
	Why    operator.CloseReason
	TS     int64           // of a script: the row's time, ns since the epoch
	Change operator.Change // of a script's state table: what happened to the row's key
}

// Late is one row on its way to the late output, valid until OnLate returns.
type Late struct {
	Input     int    // −1 for a row that is not one input's as it came
	Table     string // of a script: the table that dropped it; "" for the input itself
	Reason    operator.Reason
	TS        int64
	Watermark int64
	JSON      []byte
}

// Pipeline is one running query. Its exported methods are safe for concurrent
// use.
type Pipeline struct {
	cfg   Config
	queue *queue
	graph graph
	out   *outbox

	// outside is held by whoever touches the operators before the loop begins, or
	// after it has ended.
	outside  sync.Mutex
	begun    bool          // the loop has; guarded by outside
	loopDone chan struct{} // the loop has ended; its state may be taken over
	done     chan struct{} // the last result was delivered

	sinks *SinkGoroutine // the emitter's

	// Set before the queue is closed; read by the loop behind it.
	mu        sync.Mutex
	closed    bool
	closeWhy  operator.CloseReason
	successor *Pipeline // takes the state over; nil: nobody
	// Set before the loop starts, by Adopt or Follow.
	from  handover
	after <-chan struct{} // closed when the old query's last result is out

	// Owned by the loop.
	now      int64 // the instant of the step at hand
	current  *arrival
	batch    *batch
	timer    Timer
	timerAt  int64
	counters *counters
}

// New makes a pipeline of a stream join. Nothing runs before the first row.
func New(p *plan.Plan, cfg Config) (*Pipeline, error) {
	pl := newPipeline(cfg)
	pl.queue.coarse, pl.queue.skew = !p.ReadsClock, int64(p.Time.MaxFutureSkew)
	g, err := newJoinGraph(pl, p)
	if err != nil {
		return nil, err
	}
	pl.graph = g
	return pl, nil
}

// newPipeline makes everything but the graph.
func newPipeline(cfg Config) *Pipeline {
	p := &Pipeline{cfg: cfg, queue: newQueue(cfg), now: minTime,
		loopDone: make(chan struct{}), done: make(chan struct{}), sinks: &SinkGoroutine{}}
	p.queue.sinks = p.sinks
	p.counters = newCounters(p)
	p.out = newOutbox(p)
	p.queue.onFirst = func() {
		from := p.from
		p.from = handover{} // or every reload would keep the one before alive
		go p.loop(from)
		go p.out.run(p.after)
	}
	return p
}

// Put admits all rows or none, in order. It returns ErrClosed after Stop, and
// ErrOverflow when there was no room in time. Where the strategy is to drop,
// rows without room are taken and lost: counted, and handed to the late output.
func (p *Pipeline) Put(rows []Row) error {
	err := p.queue.put(rows)
	if err != ErrOverflow { //nolint:errorlint // put returns the sentinel itself
		return err
	}
	p.counters.overflow(rows)
	if !p.cfg.Block {
		return nil
	}
	return err
}

// Mark returns a channel that is closed once every row admitted before has been
// processed, everything due by now was emitted, and its results were delivered.
func (p *Pipeline) Mark() <-chan struct{} {
	ch := make(chan struct{})
	admitted, ended := p.queue.mark(ch)
	switch {
	case admitted:
		return ch
	case ended:
		return p.done // the end comes after everything
	}
	close(ch) // there is nothing to wait for
	return ch
}

// Stop closes the inputs, lets the operators flush and waits until the last
// result was delivered, unless it is called by a sink: then it returns at once
// and Done tells the end.
func (p *Pipeline) Stop() {
	p.close(operator.ClosedByStop, nil)
	if !p.sinks.Current() {
		<-p.done
	}
}

// WantsLate tells whether rows should come with their whole JSON beside them.
func (p *Pipeline) WantsLate() bool { return p.cfg.WantLate() }

// Retire closes the inputs for a successor of another kind: pending rows leave
// with closedBy=reload. It returns at once; Done tells the end.
func (p *Pipeline) Retire() { p.close(operator.ClosedByReload, nil) }

// Sinks tells which goroutine is inside the sinks.
func (p *Pipeline) Sinks() *SinkGoroutine { return p.sinks }

// Done is closed when the last result was delivered after the inputs were
// closed by Stop, Retire or a successor's Adopt.
func (p *Pipeline) Done() <-chan struct{} { return p.done }

// close ends admission, once; first says that this call did. The loop then
// flushes with the reason, or leaves its state to the successor. begun says that
// there is a loop, and so perhaps state.
func (p *Pipeline) close(why operator.CloseReason, successor *Pipeline) (first, begun bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false, false
	}
	p.closed, p.closeWhy, p.successor = true, why, successor
	begun = p.queue.close()
	if !begun {
		close(p.loopDone)
		p.out.close()
		go p.out.run(p.after)
	}
	return true, begun
}
