package pipeline

import (
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// aheadRows is how many rows the operators are shown at once. What a row needs of
// an operator's state is a chain of loads, each a cache miss in a large state;
// those of different rows do not depend on each other, and so many of them can be
// under way at a time.
const aheadRows = 16

// ahead shows rows to the operators that their inputs feed before they are
// processed, as far as these are prefetchers. A row that a filter or its time will
// keep from the operator is shown for nothing.
type ahead struct {
	inputs   [][]sight // by input
	showings []*showing
}

// sight is a port at which an input's rows are looked out for.
type sight struct {
	to   *showing
	port int
}

// showing is what one operator is shown.
type showing struct {
	op   operator.Prefetcher
	rows []operator.Arrival
}

// add lets op be shown the rows of an input that feeds its port.
func (h *ahead) add(op operator.Operator, input, port int) {
	prefetcher, ok := op.(operator.Prefetcher)
	if !ok {
		return
	}
	var s *showing
	for _, other := range h.showings {
		if other.op == prefetcher {
			s = other
		}
	}
	if s == nil {
		s = &showing{op: prefetcher, rows: make([]operator.Arrival, 0, aheadRows)}
		h.showings = append(h.showings, s)
	}
	for input >= len(h.inputs) {
		h.inputs = append(h.inputs, nil)
	}
	h.inputs[input] = append(h.inputs[input], sight{s, port})
}

// show shows the arrivals from the given one on. A single row is not worth it.
func (h *ahead) show(b *batch, from int) {
	to := min(from+aheadRows, len(b.arrivals))
	if len(h.showings) == 0 || to-from < 2 {
		return
	}
	for i := from; i < to; i++ {
		a := &b.arrivals[i]
		if a.marker != nil || a.input >= len(h.inputs) {
			continue
		}
		for _, at := range h.inputs[a.input] {
			at.to.rows = append(at.to.rows, operator.Arrival{Port: at.port,
				Record: operator.Record{TS: a.ts, Diff: 1, Row: row.Row{Enc: b.bytes(a.enc), Side: a.side}}})
		}
	}
	for _, s := range h.showings {
		if len(s.rows) > 0 {
			s.op.Prefetch(s.rows)
			clear(s.rows)
			s.rows = s.rows[:0]
		}
	}
}
