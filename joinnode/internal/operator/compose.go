package operator

import (
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// A composer builds composite rows. It owns the memory of the last one it
// built.
type composer struct {
	segments []segment
	keys     [2]int
	keep     [2]int
	out      row.Row

	// The arriving row's share of each segment, valid for one arrival.
	port    int
	arrived []row.Row
	cut     bool
}

// A segment is neighbouring columns [from, to) of one port that stay
// neighbours in the composite. None reaches across the end of the key.
type segment struct {
	port     int
	from, to int
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
	c.arrived = make([]row.Row, len(c.segments))
	return c
}

// begin tells that pairs of a row that arrived at port follow, until end.
func (c *composer) begin(port int) { c.port, c.cut = port, false }

// pair returns the composite of the arriving row and a stored partner. It is
// valid until the next composite.
func (c *composer) pair(arrived, partner view) row.Row {
	if !c.cut {
		for i, s := range c.segments {
			if s.port == c.port {
				c.arrived[i] = c.share(s, arrived)
			}
		}
		c.cut = true
	}
	dst := c.empty()
	for i, s := range c.segments {
		if s.port == c.port {
			dst = row.AppendRow(dst, c.arrived[i])
		} else {
			dst = row.AppendRow(dst, c.share(s, partner))
		}
	}
	c.out = dst
	return dst
}

// unmatched returns the composite of a stored left row without partner.
func (c *composer) unmatched(left view) row.Row {
	dst := c.empty()
	for _, s := range c.segments {
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
func (c *composer) share(s segment, v view) row.Row {
	keys := c.keys[s.port]
	switch {
	case v.flags&ownKey != 0:
		return cut(v.cols, s.from, s.to, c.keep[s.port])
	case s.from < keys:
		return cut(v.key, s.from, s.to, keys)
	default:
		return cut(v.cols, s.from-keys, s.to-keys, c.keep[s.port]-keys)
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

// end lets go of the arriving row.
func (c *composer) end() {
	if c.cut {
		clear(c.arrived)
	}
}

func (c *composer) empty() row.Row {
	return row.Row{Enc: c.out.Enc[:0], Side: c.out.Side[:0]}
}
