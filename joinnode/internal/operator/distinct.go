package operator

import (
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// distinct hands another accumulator the first of equal values only (1 = 1.0).
// When that one leaves, the next takes its place.
type distinct struct {
	l           *aggregates
	arg, object int
	of          accumulator
	one         []operand // what of is shown
}

// distinctValues has the values by key.
type distinctValues map[string]*spellings

func (d *distinct) apply(g *groupState, in []operand, diff int64) {
	x := &in[d.arg]
	if x.null || x.form == noNumber {
		return
	}
	all := held[distinctValues](g, d.object)
	if all == nil {
		if diff < 0 {
			return
		}
		all = &distinctValues{}
		hold(g, d.object, all, 48)
	}
	d.l.scratch = value.AppendKey(d.l.scratch[:0], x.v)
	const entrySize = 64
	equal := (*all)[string(d.l.scratch)]
	if diff > 0 {
		if equal == nil {
			equal = &spellings{}
			(*all)[string(d.l.scratch)] = equal
			g.more.bytes += entrySize + int64(len(d.l.scratch))
			d.show(g, x.col, 1)
		}
		g.more.bytes += equal.add(arrived{col: x.col})
		return
	}
	if equal == nil {
		return
	}
	first := (*equal)[0].col
	g.more.bytes -= equal.remove(arrived{col: x.col})
	switch {
	case len(*equal) == 0:
		delete(*all, string(d.l.scratch))
		g.more.bytes -= entrySize + int64(len(d.l.scratch))
		d.show(g, first, -1)
	case !sameColumn((*equal)[0].col, first):
		d.show(g, first, -1)
		d.show(g, (*equal)[0].col, 1)
	}
}

func (d *distinct) show(g *groupState, col row.Row, diff int64) {
	if d.one == nil {
		d.one = make([]operand, len(d.l.in))
	}
	d.one[d.arg].set(col, true)
	d.of.apply(g, d.one, diff)
	d.one[d.arg] = operand{}
}

func (d *distinct) appendTo(dst *row.Row, g *groupState) { d.of.appendTo(dst, g) }

// limitedDistinct is a distinct of an accumulator with a limit.
type limitedDistinct struct {
	distinct
	limit limited
}

func (d *limitedDistinct) outgrows(g *groupState, in []operand, diff int64) bool {
	x := &in[d.arg]
	if x.null || x.form == noNumber {
		return false
	}
	if all := held[distinctValues](g, d.object); all != nil {
		d.l.scratch = value.AppendKey(d.l.scratch[:0], x.v)
		if equal := (*all)[string(d.l.scratch)]; equal != nil {
			if diff > 0 || (*equal)[0].n > 1 || len(*equal) > 1 {
				return false
			}
		}
	}
	return d.limit.outgrows(g, in, diff)
}
