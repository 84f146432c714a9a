package operator

import (
	"encoding/binary"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// A composer builds composite rows. It owns the memory of the last one it
// built.
//
// The composites of one arriving row differ only in what its partners add, so
// frame writes the first one whole and patch puts the next partner's columns in
// the place of the last one's. Rows with Go values and partners that spell their
// key in their own way go through pair, which writes every composite anew.
type composer struct {
	segments []segment
	keys     [2]int
	keep     [2]int
	out      row.Row

	// By the port a row arrives at: the segments that its partners fill, and the
	// columns beyond the key to which those reach; 0 when there is at most one
	// segment and it is all that a partner keeps.
	gaps    [2][]gap
	columns [2]int
	at      []int // the partner's columns
}

// A segment is neighbouring columns [from, to) of one port that stay
// neighbours in the composite. None reaches across the end of the key.
type segment struct {
	port     int
	from, to int
	whole    bool // the whole key, or all columns beyond it
}

// A gap is where a partner's columns [from, to), counted from the end of the
// key, lie in the composite that was built last.
type gap struct {
	from, to   int
	start, end int
}

func newComposer(cfg *JoinConfig) composer {
	c := composer{keys: cfg.Keys, keep: cfg.Keep}
	for _, o := range cfg.Out {
		port := int(o.Port)
		if n := len(c.segments); n > 0 {
			last := &c.segments[n-1]
			if last.port == port && last.to == o.Col && o.Col != cfg.Keys[port] {
				last.to++
				continue
			}
		}
		c.segments = append(c.segments, segment{port: port, from: o.Col, to: o.Col + 1})
	}
	for i := range c.segments {
		s := &c.segments[i]
		keys := cfg.Keys[s.port]
		s.whole = s.from == 0 && s.to == keys || s.from == keys && s.to == cfg.Keep[s.port]
	}
	for port := range c.gaps {
		c.findGaps(port)
	}
	return c
}

// findGaps notes what the partners of a row that arrives at port fill.
func (c *composer) findGaps(port int) {
	other := 1 - port
	keys, last := c.keys[other], 0
	for _, s := range c.segments {
		if s.port == other && s.from >= keys {
			c.gaps[port] = append(c.gaps[port], gap{from: s.from - keys, to: s.to - keys})
			last = max(last, s.to-keys)
		}
	}
	if g := c.gaps[port]; len(g) > 1 || len(g) == 1 && (g[0].from > 0 || last < c.keep[other]-keys) {
		c.columns[port] = last
	}
}

// frame builds the composite of a row that arrived at port and of a partner
// with these columns beside the key, as key spells it. None of them have Go
// values. The composite is valid until the next one.
func (c *composer) frame(port int, arrived *view, key, cols []byte) []byte {
	dst := c.out.Enc[:0]
	gaps := c.gaps[port]
	c.locate(port, cols)
	for i := range c.segments {
		s := &c.segments[i]
		var from []byte
		keys := c.keys[s.port]
		switch {
		case s.port != port && s.from < keys:
			from = key
		case s.port != port:
			g := &gaps[0]
			gaps = gaps[1:]
			g.start = len(dst)
			dst = appendShort(dst, c.fill(port, g, cols))
			g.end = len(dst)
			continue
		case s.from < keys:
			from = arrived.key
		default:
			from = arrived.cols
		}
		if !s.whole {
			if s.from < keys {
				keys = 0
			}
			from = row.Row{Enc: from}.Slice(s.from-keys, s.to-keys).Enc
		}
		dst = appendShort(dst, from)
	}
	c.out.Enc = dst
	return dst
}

// patch turns the composite that frame built last into that of the same
// arriving row and another partner, whose key is spelled the same.
func (c *composer) patch(port int, cols []byte) []byte {
	gaps := c.gaps[port]
	c.locate(port, cols)
	dst, shift := c.out.Enc, 0
	for i := range gaps {
		g := &gaps[i]
		g.start += shift
		g.end += shift
		in := c.fill(port, g, cols)
		if longer := len(in) - (g.end - g.start); longer != 0 {
			dst = stretch(dst, g.end, longer)
			g.end += longer
			shift += longer
		}
		copy(dst[g.start:g.end], in)
	}
	c.out.Enc = dst
	return dst
}

// locate finds the columns of a partner, where its gaps take parts of them.
func (c *composer) locate(port int, cols []byte) {
	if n := c.columns[port]; n > 0 {
		c.at = row.Row{Enc: cols}.AppendOffsets(c.at[:0], n)
	}
}

// fill returns what a partner puts into g.
func (c *composer) fill(port int, g *gap, cols []byte) []byte {
	if c.columns[port] == 0 {
		return cols
	}
	return cols[c.at[g.from]:c.at[g.to]]
}

// appendShort is append for a few bytes, which are most columns: a call of
// memmove costs more than the copy.
func appendShort(dst, src []byte) []byte {
	at, n := len(dst), len(src)
	if n < 4 || n > 16 || cap(dst)-at < n {
		return append(dst, src...)
	}
	dst = dst[:at+n]
	to, le := dst[at:], binary.LittleEndian
	if n >= 8 {
		first, last := le.Uint64(src), le.Uint64(src[n-8:])
		le.PutUint64(to, first)
		le.PutUint64(to[n-8:], last)
	} else {
		first, last := le.Uint32(src), le.Uint32(src[n-4:])
		le.PutUint32(to, first)
		le.PutUint32(to[n-4:], last)
	}
	return dst
}

// stretch moves b[at:] by n bytes, forward or backward.
func stretch(b []byte, at, n int) []byte {
	end := len(b)
	if n < 0 {
		copy(b[at+n:], b[at:])
		return b[:end+n]
	}
	for range n {
		b = append(b, 0)
	}
	copy(b[at+n:], b[at:end])
	return b
}

// pair builds the composite of the row that arrived at port and a stored
// partner. It is valid until the next composite.
func (c *composer) pair(port int, arrived, partner *view) row.Row {
	dst := c.empty()
	for i := range c.segments {
		s := &c.segments[i]
		if s.port == port {
			dst = row.AppendRow(dst, c.share(s, arrived))
		} else {
			dst = row.AppendRow(dst, c.share(s, partner))
		}
	}
	c.out = dst
	return dst
}

// unmatched returns the composite of a stored left row without partner.
func (c *composer) unmatched(left *view) row.Row {
	dst := c.empty()
	for i := range c.segments {
		s := &c.segments[i]
		if s.port == 0 {
			dst = row.AppendRow(dst, c.share(s, left))
			continue
		}
		for range s.to - s.from {
			dst = row.Append(dst, value.Value{})
		}
	}
	c.out = dst
	return dst
}

// share returns the columns of s in a row.
func (c *composer) share(s *segment, v *view) row.Row {
	keys := c.keys[s.port]
	switch {
	case v.flags&ownKey != 0:
		return cut(row.Row{Enc: v.cols, Side: v.side}, s.from, s.to, c.keep[s.port])
	case s.from < keys:
		return cut(row.Row{Enc: v.key, Side: v.side}, s.from, s.to, keys)
	default:
		return cut(row.Row{Enc: v.cols, Side: v.side}, s.from-keys, s.to-keys, c.keep[s.port]-keys)
	}
}

// cut returns columns [from, to) of the n columns of r.
func cut(r row.Row, from, to, n int) row.Row {
	if from == 0 && to == n {
		return r
	}
	return r.Slice(from, to)
}

// forget lets go of what the last composite refers to.
func (c *composer) forget() { clear(c.out.Side) }

func (c *composer) empty() row.Row {
	return row.Row{Enc: c.out.Enc[:0], Side: c.out.Side[:0]}
}
