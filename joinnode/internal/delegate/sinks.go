package delegate

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rulego/streamsql/window"
)

// Sink takes the rows of one result: one row, or those of one window, one match
// or one unnest(). windowEnd is the end of the window in ns since the epoch, 0
// where there is no window. Sinks are called one after the other, in order, and
// beside that by callers of EmitSync; they share the rows and must not change
// them.
type Sink func(rows []map[string]any, windowEnd int64)

// sinks delivers results.
type sinks struct {
	engine *Engine
	mu     sync.RWMutex
	list   []Sink
	ch     chan []map[string]any
}

const (
	resultPlaces = 1000
	// resultGrace is how long Stop waits for a reader of ToChannel.
	resultGrace = 5 * time.Second
)

// AddSink adds a sink for all results from now on.
func (e *Engine) AddSink(s Sink) {
	e.sinks.mu.Lock()
	defer e.sinks.mu.Unlock()
	e.sinks.list = append(e.sinks.list, s)
}

// ToChannel returns a channel of results. Once it was asked for, it must be
// read: nothing is dropped from it while the engine runs. At Stop a reader has
// 5 s for each result before it is dropped and counted in output_dropped_count.
// The channel is never closed, as in StreamSQL; Done tells the end.
func (e *Engine) ToChannel() <-chan []map[string]any {
	e.sinks.mu.Lock()
	defer e.sinks.mu.Unlock()
	if e.sinks.ch == nil {
		e.sinks.ch = make(chan []map[string]any, resultPlaces)
	}
	return e.sinks.ch
}

func (s *sinks) deliver(rows []map[string]any) {
	e := s.engine
	select {
	case <-e.st.GetResultsChan(): // streamsql fills it whether or not it is read
	default:
	}
	end := e.windowEnd(rows)
	sortRows(rows, e.order)
	for _, row := range rows {
		e.plan.columns.finish(row)
	}
	s.mu.RLock()
	list, ch := s.list, s.ch
	s.mu.RUnlock()
	for _, sink := range list {
		s.call(sink, rows, end)
	}
	if ch != nil {
		s.send(ch, rows)
	}
}

func (s *sinks) call(sink Sink, rows []map[string]any, end int64) {
	defer func() {
		if r := recover(); r != nil {
			s.engine.counters.sinkPanics.Inc()
			s.engine.log.Error("a sink panicked: %v", r)
		}
	}()
	sink(rows, end)
}

func (s *sinks) send(ch chan []map[string]any, rows []map[string]any) {
	select {
	case ch <- rows:
		return
	default:
	}
	for {
		timer := time.NewTimer(resultGrace)
		select {
		case ch <- rows:
			timer.Stop()
			return
		case <-timer.C:
			if s.engine.stopping() {
				s.engine.counters.outputDropped.Inc()
				return
			}
		}
	}
}

// windowEnd reads the end of a result's window: streamsql stamps window_id
// "start_end" on the rows, and a global window's rows have window_end.
func (e *Engine) windowEnd(rows []map[string]any) int64 {
	if e.plan.Kind != Aggregation || len(rows) == 0 {
		return 0
	}
	if e.plan.window.kind == window.TypeGlobal {
		end, _ := rows[0]["window_end"].(time.Time)
		if end.IsZero() {
			return 0
		}
		return end.UnixNano()
	}
	id, _ := rows[0]["window_id"].(string)
	_, text, _ := strings.Cut(id, "_")
	end, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return end
}

// finish turns a row of streamsql into a result row.
func (c *columns) finish(row map[string]any) {
	for as, name := range c.rename {
		if as == name {
			continue
		}
		if v, ok := row[as]; ok {
			delete(row, as)
			row[name] = v
		}
	}
	if c.only || c.hidden {
		for name := range row {
			if c.only && !c.names[name] || c.hidden && strings.Contains(name, hiddenPrefix) { // changed_cols puts a prefix before it
				delete(row, name)
			}
		}
	}
	for name, v := range c.constants {
		row[name] = v
	}
}
