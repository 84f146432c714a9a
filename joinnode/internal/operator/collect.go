package operator

import (
	"slices"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// collect is COLLECT(x): the values one after another in order of arrival.
// DISTINCT shows the first of equal ones.
type collect struct {
	l                    *aggregates
	arg, object          int
	distinct, appendOnly bool
}

// collected has the values as the columns of a row, and where they may leave
// again the identities of the rows they came in.
type collected struct {
	values row.Row
	rows   []uint64
}

func (c *collected) size() int64 {
	return int64(cap(c.values.Enc)) + 16*int64(cap(c.values.Side)) + 8*int64(cap(c.rows))
}

func (c *collect) apply(g *groupState, in []operand, diff int64) {
	x := &in[c.arg]
	if x.null {
		return
	}
	got := held[collected](g, c.object)
	if got == nil {
		if diff < 0 {
			return
		}
		got = &collected{}
		hold(g, c.object, got, 64)
	}
	before := got.size()
	switch {
	case diff < 0:
		got.remove(x.col, c.l.row)
	case !c.distinct || !c.appendOnly || !c.has(got, x.v):
		got.values = row.AppendRow(got.values, x.col)
		if !c.appendOnly {
			got.rows = append(got.rows, c.l.row)
		}
	}
	g.more.bytes += got.size() - before
}

// has tells whether an equal value is there.
func (c *collect) has(got *collected, v value.Value) bool {
	key := value.AppendKey(c.l.scratch[:0], v)
	n := len(key)
	found := false
	got.values.Walk(func(_ int, other value.Value) {
		if !found {
			key = value.AppendKey(key[:n], other)
			found = string(key[n:]) == string(key[:n])
		}
	})
	c.l.scratch = key
	return found
}

// remove takes away the first value that came in such a row.
func (c *collected) remove(col row.Row, id uint64) {
	all, from := c.values, 0
	for i, other := range c.rows {
		to := from + row.Row{Enc: all.Enc[from:]}.Offset(1)
		if other != id || !sameColumn(row.Row{Enc: all.Enc[from:to:to], Side: all.Side}, col) {
			from = to
			continue
		}
		c.rows = slices.Delete(c.rows, i, i+1)
		if len(all.Side) == 0 {
			c.values.Enc = slices.Delete(all.Enc, from, to)
			return
		}
		c.values = row.AppendRow(row.Row{}, row.Row{Enc: all.Enc[:from:from], Side: all.Side})
		c.values = row.AppendRow(c.values, row.Row{Enc: all.Enc[to:], Side: all.Side})
		return
	}
}

func (c *collect) appendTo(dst *row.Row, g *groupState) {
	got := held[collected](g, c.object)
	if got == nil || len(got.values.Enc) == 0 {
		appendNull(dst)
		return
	}
	var shown map[string]bool
	if c.distinct {
		shown = map[string]bool{}
	}
	text := c.l.scratch[:0]
	text = append(text, '[')
	got.values.Walk(func(i int, v value.Value) {
		if c.distinct {
			key := string(value.AppendKey(nil, v))
			if shown[key] {
				return
			}
			shown[key] = true
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = value.AppendJSON(text, v)
	})
	text = append(text, ']')
	c.l.scratch = text
	*dst = row.Append(*dst, value.OfJSON(c.l.scratch))
}
