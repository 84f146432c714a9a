package operator

import (
	"encoding/binary"
	"math"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// rowCount is COUNT(*).
type rowCount struct{}

func (rowCount) apply(*groupState, []operand, int64) {}

func (rowCount) appendTo(dst *row.Row, g *groupState) {
	dst.Enc = row.AppendInt(dst.Enc, g.rows)
}

// count is COUNT(x).
type count struct{ arg, at int }

func (c count) apply(g *groupState, in []operand, diff int64) {
	if !in[c.arg].null {
		b := g.fixed[c.at:]
		store64(b, load64(b)+uint64(diff))
	}
}

func (c count) appendTo(dst *row.Row, g *groupState) {
	dst.Enc = row.AppendInt(dst.Enc, int64(load64(g.fixed[c.at:])))
}

// distinctCount is COUNT(DISTINCT x).
type distinctCount struct {
	l           *aggregates
	arg, object int
}

// valueCounts say how many rows have a value, by the value's key.
type valueCounts map[string]int64

func (c *distinctCount) apply(g *groupState, in []operand, diff int64) {
	x := &in[c.arg]
	if x.null {
		return
	}
	const entrySize = 40
	counts := held[valueCounts](g, c.object)
	if counts == nil {
		counts = &valueCounts{}
		hold(g, c.object, counts, 48)
	}
	c.l.scratch = value.AppendKey(c.l.scratch[:0], x.v)
	n, present := (*counts)[string(c.l.scratch)]
	switch {
	case diff > 0:
		if !present {
			g.more.bytes += entrySize + int64(len(c.l.scratch))
		}
		(*counts)[string(c.l.scratch)] = n + 1
	case n > 1:
		(*counts)[string(c.l.scratch)] = n - 1
	case present:
		delete(*counts, string(c.l.scratch))
		g.more.bytes -= entrySize + int64(len(c.l.scratch))
	}
}

func (c *distinctCount) appendTo(dst *row.Row, g *groupState) {
	n := 0
	if counts := held[valueCounts](g, c.object); counts != nil {
		n = len(*counts)
	}
	dst.Enc = row.AppendInt(dst.Enc, int64(n))
}

func load64(b []byte) uint64     { return binary.LittleEndian.Uint64(b) }
func store64(b []byte, x uint64) { binary.LittleEndian.PutUint64(b, x) }

func loadFloat(b []byte) float64 { return math.Float64frombits(load64(b)) }
