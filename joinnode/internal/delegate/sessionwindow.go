package delegate

import (
	"container/heap"
	"math"
	"slices"
	"time"

	"github.com/rulego/streamsql/types"
)

// sessionWindow is SessionWindow: per grouping key, rows less than gap apart
// form a session, which ends gap after its last row. State: the rows of open
// sessions, and of closed ones during ALLOWEDLATENESS.
type sessionWindow struct {
	gap, lateness int64
	key           keyer
	emit          func([]types.Row)

	mark   int64
	open   map[string][]*session // in time order, no two touch
	closed map[string][]*session
	ends   sessionHeap // every open session once, with an end at most its own
	held   int
	seq    int64
}

type session struct {
	key        string
	start, end int64 // end is gap behind the last row
	seq        int64
	rows       []types.Row
	merged     bool
}

func newSessionWindow(gap, lateness int64, key keyer, emit func([]types.Row)) *sessionWindow {
	return &sessionWindow{gap: gap, lateness: lateness, key: key, emit: emit, mark: math.MinInt64,
		open: map[string][]*session{}, closed: map[string][]*session{}}
}

func (w *sessionWindow) add(ts int64, data map[string]any) bool {
	key := w.key.of(data)
	row := types.Row{Timestamp: time.Unix(0, ts).UTC(), Data: data}
	list := w.open[key]
	i := 0 // list[i:j] are the sessions that the row joins
	for i < len(list) && list[i].end <= ts {
		i++
	}
	j := i
	for j < len(list) && list[j].start < ts+w.gap {
		j++
	}
	if i == j {
		if ts+w.gap <= w.mark {
			return w.correct(key, ts, row)
		}
		s := &session{key: key, start: ts, end: ts + w.gap, seq: w.seq, rows: []types.Row{row}}
		w.seq++
		w.open[key] = slices.Insert(list, i, s)
		heap.Push(&w.ends, sessionEnd{s.end, s})
	} else {
		s := list[i]
		for _, o := range list[i+1 : j] {
			o.merged = true
			s.rows, s.end, s.seq = append(s.rows, o.rows...), o.end, min(s.seq, o.seq)
		}
		s.rows, s.start, s.end = append(s.rows, row), min(s.start, ts), max(s.end, ts+w.gap)
		w.open[key] = slices.Delete(list, i+1, j)
	}
	w.held++
	return true
}

// correct adds a late row to the closed session that it belongs to.
func (w *sessionWindow) correct(key string, ts int64, row types.Row) bool {
	for _, s := range w.closed[key] {
		if ts >= s.start && ts < s.end {
			s.rows = append(s.rows, row)
			w.emit(slot(s.start, s.end, s.rows))
			return true
		}
	}
	return false
}

func (w *sessionWindow) advance(mark int64) {
	w.mark = max(w.mark, mark)
	for {
		s := w.first()
		if s == nil || s.end > w.mark {
			break
		}
		w.close(s)
	}
	for key, list := range w.closed {
		kept := list[:0]
		for _, s := range list {
			if s.end+w.lateness > w.mark {
				kept = append(kept, s)
			}
		}
		if w.closed[key] = kept; len(kept) == 0 {
			delete(w.closed, key)
		}
	}
}

// close gives out s, the first of ends.
func (w *sessionWindow) close(s *session) {
	heap.Pop(&w.ends) // s is first there
	list := slices.DeleteFunc(w.open[s.key], func(o *session) bool { return o == s })
	if w.open[s.key] = list; len(list) == 0 {
		delete(w.open, s.key)
	}
	w.held -= len(s.rows)
	if w.lateness > 0 {
		w.closed[s.key] = append(w.closed[s.key], s)
	}
	w.emit(slot(s.start, s.end, s.rows))
}

// first returns the open session that ends first, nil when there is none.
func (w *sessionWindow) first() *session {
	for len(w.ends) > 0 {
		top := w.ends[0]
		switch {
		case top.s.merged:
			heap.Pop(&w.ends)
		case top.s.end > top.end: // it grew
			w.ends[0].end = top.s.end
			heap.Fix(&w.ends, 0)
		default:
			return top.s
		}
	}
	return nil
}

func (w *sessionWindow) due() (int64, bool) {
	s := w.first()
	if s == nil {
		return 0, false
	}
	return s.end, true
}

// trigger gives out and ends every session, as StreamSQL has it.
func (w *sessionWindow) trigger() { w.flush() }

func (w *sessionWindow) flush() int {
	for s := w.first(); s != nil; s = w.first() {
		w.close(s)
	}
	return 0
}

func (w *sessionWindow) pending() int { return w.held }

type sessionEnd struct {
	end int64
	s   *session
}

// sessionHeap orders sessions by end, then by their first row's arrival.
type sessionHeap []sessionEnd

func (h sessionHeap) Len() int { return len(h) }
func (h sessionHeap) Less(i, j int) bool {
	if h[i].end != h[j].end {
		return h[i].end < h[j].end
	}
	return h[i].s.seq < h[j].s.seq
}
func (h sessionHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *sessionHeap) Push(x any)   { *h = append(*h, x.(sessionEnd)) }
func (h *sessionHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
