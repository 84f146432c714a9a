package operator

import "encoding/binary"

// A probe is the hot loop of a hot key: one turn for each pair. Its parts are
// kept apart from the rest so that a turn touches the partner's record, the
// bytes of the composite that change, and nothing else.

// probe emits the pairs of an arriving row in (partner.ts, partner.seq) order
// and returns their number. k is the cell of its key.
func (j *IntervalJoin) probe(port int, k keyRef, c cell, x *view) (pairs int) {
	other := j.sides[1-port]
	lo, hi := subTime(x.ts, j.cfg.Within), addTime(x.ts, j.cfg.Within)
	r := other.seek(k, c, lo)
	if r == 0 {
		return 0
	}
	key, norm := j.keys.text(c)
	plain := !norm && len(x.cols.Side) == 0 && !j.key.values
	framed := false
	visited := int64(0)
	out := Record{Diff: 1}
	var chunk []byte
	number := ^ref(0)
	for r != 0 {
		if n := r >> offsetBits; n != number {
			number, chunk = n, other.arena.bufs[n]
		}
		partner := record(chunk[int(r&(1<<offsetBits-1))*recordAlign:])
		ts, flags, at := partner.ts(), partner.flags(), r
		visited++
		if ts > hi {
			break
		}
		r = partner.next()
		if ts < lo || flags&closed != 0 {
			continue
		}
		other.markMatched(partner)
		pairs++
		if !plain || flags&(ownKey|hasNulls|hasSide) != 0 {
			v := other.view(at, partner)
			j.emitPair(port, x, &v)
			framed = false
			continue
		}
		cols := partner[recordHeader:partner.len()]
		if framed {
			out.Row.Enc = j.compose.patch(port, cols)
		} else {
			out.Row.Enc, framed = j.compose.frame(port, x, key, cols), true
			out.Nulls, out.Why = x.nulls, x.why
		}
		out.TS = max(x.ts, ts)
		j.out.Emit(out)
	}
	other.count.visited += visited
	if pairs > 0 {
		other.lru.use(k, c, false)
		j.stats.Matches += int64(pairs)
	}
	return pairs
}

// emitPair emits any pair.
func (j *IntervalJoin) emitPair(port int, x, partner *view) {
	why := x.why
	if why == NotClosed {
		why = partner.why
	}
	j.out.Emit(Record{
		TS: max(x.ts, partner.ts), Diff: 1, Row: j.compose.pair(port, x, partner),
		Nulls: x.nulls | partner.nulls, Why: why,
	})
	j.compose.forget()
}

// copyShort copies src to dst, which is as long. What a partner adds is mostly a
// number or two, for which a call of memmove costs more than the copy.
func copyShort(dst, src []byte) {
	le := binary.LittleEndian
	switch n := len(src); {
	case n > 16:
		copy(dst, src)
	case n >= 8:
		a, b := le.Uint64(src), le.Uint64(src[n-8:])
		le.PutUint64(dst, a)
		le.PutUint64(dst[n-8:], b)
	case n >= 4:
		a, b := le.Uint32(src), le.Uint32(src[n-4:])
		le.PutUint32(dst, a)
		le.PutUint32(dst[n-4:], b)
	default:
		for i, b := range src {
			dst[i] = b
		}
	}
}
