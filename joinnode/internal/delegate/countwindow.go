package delegate

import (
	"time"

	"github.com/rulego/streamsql/types"
	"github.com/rulego/streamsql/window"
)

// countWindow is CountingWindow: per grouping key, every count rows make one
// result. State: fewer than count rows per key, forgotten after STATETTL.
//
// At Stop a partly filled window gives no result: "the last 100 rows" is what
// the query asks for, and a sum over 37 of them could not be told from the real
// one. The rows are counted and logged.
type countWindow struct {
	count    int
	ttl      int64
	key      keyer
	emit     func([]types.Row)
	counters *counters

	groups map[string]*countGroup
	held   int
}

type countGroup struct {
	rows []types.Row
	last int64
}

func newCountWindow(count int, ttl int64, key keyer, emit func([]types.Row), n *counters) *countWindow {
	return &countWindow{count: count, ttl: ttl, key: key, emit: emit, counters: n, groups: map[string]*countGroup{}}
}

func (w *countWindow) add(ts int64, data map[string]any) bool {
	key := w.key.of(data)
	g := w.groups[key]
	if g == nil {
		g = &countGroup{}
		w.groups[key] = g
	}
	g.last = ts
	g.rows = append(g.rows, types.Row{Timestamp: time.Unix(0, ts).UTC(), Data: data})
	w.held++
	if len(g.rows) == w.count {
		delete(w.groups, key)
		w.held -= w.count
		w.emit(slot(g.rows[0].Timestamp.UnixNano(), ts, g.rows))
	}
	return true
}

// advance forgets groups that had no row for the time to live.
func (w *countWindow) advance(now int64) {
	if w.ttl == 0 {
		return
	}
	for key, g := range w.groups {
		if g.last+w.ttl <= now {
			delete(w.groups, key)
			w.held -= len(g.rows)
			w.counters.rowsExpired(len(g.rows))
		}
	}
}

func (w *countWindow) due() (int64, bool) {
	if w.ttl == 0 || len(w.groups) == 0 {
		return 0, false
	}
	first := true
	var least int64
	for _, g := range w.groups {
		if first || g.last < least {
			first, least = false, g.last
		}
	}
	return least + w.ttl, true
}

func (w *countWindow) trigger() {}

func (w *countWindow) flush() int {
	n := w.held
	w.groups, w.held = map[string]*countGroup{}, 0
	return n
}

func (w *countWindow) pending() int { return w.held }

// globalWindow is GLOBAL WINDOW … TRIGGER WHEN. streamsql's own window computes
// the running aggregates; this one makes it synchronous. At Stop the groups
// whose trigger has not fired give no result: a global window has no end.
type globalWindow struct {
	inner window.Window
	key   keyer
	emit  func([]types.Row)
	rows  map[string]int // since the group's last result
	held  int
}

func newGlobalWindow(inner window.Window, key keyer, emit func([]types.Row)) *globalWindow {
	return &globalWindow{inner: inner, key: key, emit: emit, rows: map[string]int{}}
}

func (w *globalWindow) start() { w.inner.Start() }
func (w *globalWindow) stop()  { w.inner.Stop() }

func (w *globalWindow) add(_ int64, data map[string]any) bool {
	key := w.key.of(data)
	w.rows[key]++
	w.held++
	w.inner.Add(data)
	// The inner window's inbox has one place and it ignores what is no map: once
	// the second of two such things is in the inbox, the row is dealt with.
	w.inner.Add(nil)
	w.inner.Add(nil)
	select {
	case rows := <-w.inner.OutputChan():
		w.held -= w.rows[key]
		delete(w.rows, key)
		w.emit(rows)
	default:
	}
	return true
}

func (w *globalWindow) advance(int64)      {}
func (w *globalWindow) due() (int64, bool) { return 0, false }
func (w *globalWindow) trigger()           {}
func (w *globalWindow) flush() int         { n := w.held; w.held = 0; return n }
func (w *globalWindow) pending() int       { return w.held }
