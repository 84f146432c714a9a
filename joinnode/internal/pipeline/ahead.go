package pipeline

import (
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// aheadRows is how many rows the operators are shown at once. What a row needs of
// a join's state is a chain of loads, each a cache miss in a large state; those of
// different rows do not depend on each other, and so many of them can be under
// way at a time.
const aheadRows = 16

// ahead shows rows to the joins before they are processed, as far as these are
// prefetchers. A row that a filter or its time will keep from the join is shown
// for nothing.
type ahead struct {
	inputs []*showing // by input; nil: its join does not want to know
	joins  []*showing
}

// showing is what one join is shown.
type showing struct {
	join operator.Prefetcher
	rows []operator.Arrival
}

// add lets the join of stage be shown the rows of its inputs.
func (h *ahead) add(join operator.Operator, inputs []int) {
	prefetcher, ok := join.(operator.Prefetcher)
	if !ok {
		return
	}
	s := &showing{join: prefetcher, rows: make([]operator.Arrival, 0, aheadRows)}
	h.joins = append(h.joins, s)
	for _, in := range inputs {
		for in >= len(h.inputs) {
			h.inputs = append(h.inputs, nil)
		}
		h.inputs[in] = s
	}
}

// show shows the arrivals from the given one on. A single row is not worth it.
func (h *ahead) show(b *batch, from int) {
	to := min(from+aheadRows, len(b.arrivals))
	if len(h.joins) == 0 || to-from < 2 {
		return
	}
	for i := from; i < to; i++ {
		a := &b.arrivals[i]
		if a.marker != nil || a.input >= len(h.inputs) || h.inputs[a.input] == nil {
			continue
		}
		s := h.inputs[a.input]
		at := operator.Arrival{Record: operator.Record{TS: a.ts, Diff: 1, Row: row.Row{Enc: b.bytes(a.enc), Side: a.side}}}
		if a.input > 0 {
			at.Port = 1
		}
		s.rows = append(s.rows, at)
	}
	for _, s := range h.joins {
		if len(s.rows) > 0 {
			s.join.Prefetch(s.rows)
			clear(s.rows)
			s.rows = s.rows[:0]
		}
	}
}
