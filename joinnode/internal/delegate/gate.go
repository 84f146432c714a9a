package delegate

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rulego/streamsql/types"
	"github.com/rulego/streamsql/utils/cast"
	"github.com/rulego/streamsql/utils/fieldpath"
	"github.com/rulego/streamsql/window"
)

// windower is a window without clock, goroutine or lock. Watermarks and times
// are ns since the epoch.
type windower interface {
	// add takes a row; false means that it came too late and is dropped.
	add(ts int64, data map[string]any) bool
	// advance gives out every window that ends at or before the watermark.
	advance(watermark int64)
	// due is the least watermark at which advance would do something.
	due() (int64, bool)
	// trigger gives out what is there without closing anything.
	trigger()
	// flush gives out every open window and returns how many rows it had to
	// give up because their window has no end.
	flush() int
	// pending is the number of rows held.
	pending() int
}

// gate takes the place of streamsql's window between its filter and its
// aggregator. streamsql's own windows drop results when their consumer is slow,
// forget open windows at Stop, drop late rows without counting, lose rows that
// are earlier than the first one, and step through every empty window of a gap
// in event time; and their goroutines give no way to wait for them.
//
// Add is called by streamsql's one processing goroutine, the rest by the
// engine and by the gate's timer. Results leave one after the other on an
// unbuffered channel, so whoever hands over the next batch knows that the one
// before has reached the sinks.
type gate struct {
	op          windower
	event       bool
	outOfOrder  int64
	idleTimeout int64
	maxRows     int
	counters    *counters

	mu        sync.Mutex
	watermark int64
	arrival   int64 // clock of the last row
	timer     *time.Timer
	stopped   bool

	out     chan []types.Row
	done    chan struct{}
	dropped atomic.Int64 // rows above WithWindowMaxRows
	held    atomic.Int64 // rows held, for GetStats, which must not wait for mu
	sent    atomic.Int64
}

var _ window.Window = (*gate)(nil)

// newGate builds the window of p. inner is streamsql's window of the same
// query; only a GLOBAL WINDOW goes on using it.
func newGate(p *Plan, inner window.Window, maxRows int, n *counters) (*gate, error) {
	g := &gate{
		event:       p.options.timestamp != "",
		outOfOrder:  int64(p.options.maxOutOfOrder),
		idleTimeout: int64(p.options.idleTimeout),
		maxRows:     maxRows,
		counters:    n,
		watermark:   math.MinInt64,
		out:         make(chan []types.Row),
		done:        make(chan struct{}),
	}
	key := newKeyer(p.window.keys)
	switch w := p.window; w.kind {
	case window.TypeTumbling, window.TypeSliding:
		g.op = newTimeWindow(int64(w.size), int64(w.slide), int64(p.options.allowedLateness), g.emit)
	case window.TypeSession:
		g.op = newSessionWindow(int64(w.size), int64(p.options.allowedLateness), key, g.emit)
	case window.TypeCounting:
		g.op = newCountWindow(w.count, int64(p.options.stateTTL), key, g.emit, n)
	case window.TypeGlobal:
		g.op = newGlobalWindow(inner, key, g.emit)
	default:
		return nil, fmt.Errorf("unknown window %q", w.kind)
	}
	return g, nil
}

// readWindow fills p.window from streamsql's reading of the window call.
func (p *Plan) readWindow(cfg *types.Config) error {
	w := &p.window
	w.kind = cfg.WindowConfig.Type
	params := cfg.WindowConfig.Params
	if w.kind == window.TypeGlobal || w.kind == window.TypeCounting {
		if p.options.timestamp != "" {
			return fmt.Errorf("a %s window counts rows and has no event time: leave TIMESTAMP out", w.kind)
		}
	}
	most := map[string]int{window.TypeTumbling: 1, window.TypeSession: 1, window.TypeCounting: 1, window.TypeSliding: 2}
	if w.kind != window.TypeGlobal && len(params) != most[w.kind] {
		return fmt.Errorf("a %s window takes %d argument(s), not %d", w.kind, most[w.kind], len(params))
	}
	var err error
	switch w.kind {
	case window.TypeCounting:
		w.count = cast.ToInt(params[0])
		if w.count <= 0 {
			err = fmt.Errorf("a counting window needs a positive number of rows")
		}
	case window.TypeTumbling, window.TypeSession, window.TypeSliding:
		if w.size, err = cast.ToDurationE(params[0]); err != nil {
			return err
		}
		w.slide = w.size
		if w.kind == window.TypeSliding {
			w.slide, err = cast.ToDurationE(params[1])
		}
		if err == nil && (w.size <= 0 || w.slide <= 0) {
			err = fmt.Errorf("the length of a window must be positive")
		}
	}
	return err
}

// Add takes a row that passed WHERE.
func (g *gate) Add(data any) {
	row, ok := data.(map[string]any)
	if !ok || row[barrierField] != nil {
		return
	}
	now := time.Now().UnixNano()
	ts := now
	if g.event {
		ts, _ = row[timeField].(int64) // the engine lets no row without it pass
		delete(row, timeField)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return
	}
	g.arrival = now
	if g.maxRows > 0 && g.op.pending() >= g.maxRows {
		g.dropped.Add(1)
		return
	}
	mark := now
	if g.event {
		mark = max(g.watermark, ts-g.outOfOrder)
	}
	// In processing time whatever ended before this row leaves before it.
	if !g.event {
		g.op.advance(mark)
	}
	if !g.op.add(ts, row) {
		g.counters.lateRow()
	}
	g.raise(mark)
}

// raise moves the watermark and arms the timer. The caller holds mu.
func (g *gate) raise(mark int64) {
	g.watermark = max(g.watermark, mark)
	g.op.advance(g.watermark)
	g.held.Store(int64(g.op.pending()))
	due, ok := g.op.due()
	if !ok || g.event && g.idleTimeout == 0 {
		if g.timer != nil {
			g.timer.Stop()
		}
		return
	}
	if g.event {
		due = max(g.arrival+g.idleTimeout, due+g.outOfOrder)
	}
	wait := time.Duration(max(due-time.Now().UnixNano(), 0))
	if g.timer == nil {
		g.timer = time.AfterFunc(wait, g.tick)
	} else {
		g.timer.Reset(wait)
	}
}

// tick lets time pass without a row.
func (g *gate) tick() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return
	}
	now := time.Now().UnixNano()
	if g.event && now < g.arrival+g.idleTimeout {
		g.raise(g.watermark)
		return
	}
	g.raise(now - g.outOfOrder)
}

// emit hands one window over. The caller holds mu.
func (g *gate) emit(rows []types.Row) {
	select {
	case g.out <- rows:
		g.sent.Add(1)
	case <-g.done:
	}
}

// sync returns when every window given out so far has reached the sinks: an
// empty batch has no result, and the next is taken only after the one before.
func (g *gate) sync() {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case g.out <- nil:
	case <-g.done:
	}
}

// flush gives out the open windows, see windower.flush.
func (g *gate) flush() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.op.flush()
	g.held.Store(0)
	return n
}

// Trigger gives out what the windows hold now; they stay open.
func (g *gate) Trigger() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.stopped {
		g.op.trigger()
		g.held.Store(int64(g.op.pending()))
	}
}

// Start implements window.Window; a gate needs no goroutine.
func (g *gate) Start() {
	if s, ok := g.op.(interface{ start() }); ok {
		s.start()
	}
}

// Stop ends the gate; whoever wants the open windows flushes first.
func (g *gate) Stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return
	}
	g.stopped = true
	close(g.done)
	if g.timer != nil {
		g.timer.Stop()
	}
	if s, ok := g.op.(interface{ stop() }); ok {
		s.stop()
	}
}

// Reset implements window.Window; streamsql's stream never calls it.
func (g *gate) Reset() {}

// SetCallback implements window.Window; results leave by OutputChan only.
func (g *gate) SetCallback(func([]types.Row)) {}

// OutputChan returns the channel that streamsql's aggregator reads.
func (g *gate) OutputChan() <-chan []types.Row { return g.out }

// GetStats returns streamsql's names for the window's counters.
func (g *gate) GetStats() map[string]int64 {
	return map[string]int64{
		"sentCount":        g.sent.Load(),
		"droppedCount":     0,
		"rowsDroppedCount": g.dropped.Load(),
		"bufferSize":       0,
		"bufferUsed":       0,
		"rowsHeld":         g.held.Load(),
	}
}

// slot stamps rows with their window.
func slot(start, end int64, rows []types.Row) []types.Row {
	from, to := time.Unix(0, start).UTC(), time.Unix(0, end).UTC()
	s := types.NewTimeSlot(&from, &to)
	out := make([]types.Row, len(rows))
	for i, r := range rows {
		r.Slot = s
		out[i] = r
	}
	return out
}

// keyer encodes the grouping fields of a row. streamsql joins them with "|" and
// does not resolve nested ones, so that ("a|b", "c") meets ("a", "b|c") and
// every nested key is one.
type keyer struct{ fields []string }

func newKeyer(fields []string) keyer { return keyer{fields} }

func (k keyer) of(row map[string]any) string {
	if len(k.fields) == 0 {
		return ""
	}
	var b []byte
	for _, f := range k.fields {
		v, ok := row[f]
		if !ok && fieldpath.IsNestedField(f) {
			v, _ = fieldpath.GetNestedField(row, f)
		}
		text := "n"
		switch v := v.(type) {
		case nil:
		case string:
			text = "s" + v
		default:
			text = "v" + fmt.Sprint(v)
		}
		b = fmt.Appendf(b, "%d:%s", len(text), text)
	}
	return string(b)
}
