package delegate

import (
	"math"
	"sort"
	"time"

	"github.com/rulego/streamsql/types"
)

// timeWindow is TumblingWindow and SlidingWindow: intervals [s, s+size) for
// every s that is a multiple of slide since the epoch, from the interval that
// begins last before the first row on, as StreamSQL has it. Empty intervals
// give no result. State: the rows of open windows, and those of closed ones
// for as long as ALLOWEDLATENESS lets them be corrected.
type timeWindow struct {
	size, slide, lateness int64
	emit                  func([]types.Row)

	started bool
	floor   int64 // no window begins before it
	mark    int64 // windows that end at or before it are closed
	rows    []timedRow
	closed  map[int64][]types.Row // by start; only with lateness
}

type timedRow struct {
	ts  int64
	row types.Row
}

func newTimeWindow(size, slide, lateness int64, emit func([]types.Row)) *timeWindow {
	return &timeWindow{size: size, slide: slide, lateness: lateness, emit: emit, mark: math.MinInt64, closed: map[int64][]types.Row{}}
}

// align rounds ts down to a multiple of step.
func align(ts, step int64) int64 {
	r := ts % step
	if r < 0 {
		r += step
	}
	return ts - r
}

func (w *timeWindow) add(ts int64, data map[string]any) bool {
	row := types.Row{Timestamp: time.Unix(0, ts).UTC(), Data: data}
	last := align(ts, w.slide) // the last window that can hold the row
	open := last+w.size > w.mark
	if !w.started || open && last < w.floor {
		w.started, w.floor = true, last
	}
	if open {
		i := sort.Search(len(w.rows), func(i int) bool { return w.rows[i].ts > ts })
		w.rows = append(w.rows, timedRow{})
		copy(w.rows[i+1:], w.rows[i:])
		w.rows[i] = timedRow{ts, row}
	}
	corrected := false
	if w.lateness > 0 {
		for s := last; s > ts-w.size && s >= w.floor; s -= w.slide {
			if end := s + w.size; end <= w.mark && end+w.lateness > w.mark {
				w.closed[s] = append(w.closed[s], row)
				w.emit(slot(s, end, w.closed[s]))
				corrected = true
			}
		}
	}
	return open || corrected
}

// next returns the start of the first open window that has rows.
func (w *timeWindow) next() (int64, bool) {
	low := w.floor
	if w.mark != math.MinInt64 {
		low = max(low, align(w.mark-w.size, w.slide)+w.slide)
	}
	for i := w.from(low); i < len(w.rows); i++ {
		ts := w.rows[i].ts
		s := max(low, align(ts-w.size, w.slide)+w.slide)
		if s <= ts { // otherwise the row is between two windows
			return s, true
		}
	}
	return 0, false
}

// from returns the index of the first row at or after ts.
func (w *timeWindow) from(ts int64) int {
	return sort.Search(len(w.rows), func(i int) bool { return w.rows[i].ts >= ts })
}

func (w *timeWindow) advance(mark int64) {
	for {
		s, ok := w.next()
		if !ok || s+w.size > mark {
			break
		}
		w.fire(s)
	}
	if mark > w.mark {
		w.mark = mark
	}
	w.prune()
}

// fire gives out the window that begins at s and closes it.
func (w *timeWindow) fire(s int64) {
	rows := w.content(s)
	w.mark = s + w.size
	if w.lateness > 0 {
		w.closed[s] = rows
	}
	w.emit(slot(s, s+w.size, rows))
}

func (w *timeWindow) content(s int64) []types.Row {
	var rows []types.Row
	for _, r := range w.rows[w.from(s):w.from(s+w.size)] {
		rows = append(rows, r.row)
	}
	return rows
}

// prune forgets rows whose last window is closed.
func (w *timeWindow) prune() {
	if w.mark == math.MinInt64 {
		return
	}
	i := w.from(align(w.mark-w.size, w.slide) + w.slide)
	if i > 0 {
		w.rows = append(w.rows[:0:0], w.rows[i:]...)
	}
	for s := range w.closed {
		if s+w.size+w.lateness <= w.mark {
			delete(w.closed, s)
		}
	}
}

func (w *timeWindow) due() (int64, bool) {
	s, ok := w.next()
	return s + w.size, ok
}

// trigger gives out the first open window early. The rows of a tumbling window
// are used up; a sliding window's rows stay for the windows that follow.
func (w *timeWindow) trigger() {
	s, ok := w.next()
	if !ok {
		return
	}
	rows := w.content(s)
	if w.slide >= w.size {
		i, j := w.from(s), w.from(s+w.size)
		w.rows = append(w.rows[:i], w.rows[j:]...)
	}
	w.emit(slot(s, s+w.size, rows))
}

func (w *timeWindow) flush() int {
	for {
		s, ok := w.next()
		if !ok {
			w.rows = nil
			return 0
		}
		w.fire(s)
	}
}

func (w *timeWindow) pending() int { return len(w.rows) }
