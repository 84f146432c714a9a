package operator

import (
	"encoding/binary"
	"math"
)

// probe emits the pairs of an arriving row in (partner.ts, partner.seq) order
// and returns their number. k is the key of its cell c.
func (j *IntervalJoin) probe(port int, k keyRef, c cell, x *view) (pairs int) {
	other := j.sides[1-port]
	within := &j.partners[port]
	if within.lower > 0 && x.ts > math.MaxInt64-within.lower {
		return 0 // all partners would be after the end of time
	}
	lo, hi := addTime(x.ts, within.lower), addTime(x.ts, within.upper)
	r := other.seek(k, c, lo)
	if r == 0 {
		return 0
	}
	key, norm := j.keys.text(c)
	plain := !norm && len(x.side) == 0
	framed := false // the composer's last row can be patched
	out := Record{TS: x.ts, Diff: 1, Nulls: x.nulls, Why: x.why}
	for r != 0 {
		partner := other.arena.record(r)
		ts, flags, at := partner.ts(), partner.flags(), r
		other.count.visited++
		if ts > hi {
			break
		}
		r = partner.next()
		if ts < lo || flags&closed != 0 {
			continue
		}
		other.markMatched(partner)
		pairs++
		if !plain || flags&special != 0 {
			v := other.view(at, partner)
			j.emitPair(port, x, &v)
			framed = false
			continue
		}
		cols := partner[recordHeader:partner.len()]
		if out.TS = max(x.ts, ts); !framed {
			out.Row.Enc, framed = j.compose.frame(port, x, key, cols), true
			j.out.Emit(out)
			continue
		}
		out.Row.Enc = j.compose.patch(port, cols)
		j.out.Emit(out)
		if r == 0 || len(cols) > spliceMax || hi < x.ts {
			continue
		}
		if s, ok := j.compose.splice(port); ok {
			var n int
			out.Row.Enc = s.buf[:len(out.Row.Enc)]
			r, n = j.probeOn(&s, other, r, hi, &out)
			pairs += n
			framed = n == 0
		}
	}
	if pairs > 0 {
		other.lru.use(k, c, false, other.present)
		j.stats.Matches += int64(pairs)
	}
	return pairs
}

// probeOn is the hot loop of a hot key: it goes on with probe at the row r,
// while partners fit s and are not special, and returns where it stopped and how
// many pairs it emitted. last is the pair before. A turn touches the partner's
// record, the bytes of the composite that change, and little else: with fewer
// variables than probe the compiler can keep them in registers.
func (j *IntervalJoin) probeOn(s *splice, other *side, r ref, hi int64, last *Record) (ref, int) {
	pairs := 0
	out := *last // copied for each call from the stack, a third faster than from elsewhere
	var chunk []byte
	number := ^ref(0)
	for r != 0 {
		if n := r >> offsetBits; n != number {
			number, chunk = n, other.arena.bufs[n]
		}
		at := int(r&(1<<offsetBits-1)) * recordAlign
		if at+recordHeader+spliceMax > len(chunk) {
			break
		}
		// One check of bounds for the header and columns that fit a splice.
		partner := (*[recordHeader + spliceMax]byte)(chunk[at:])
		rec := record(partner[:])
		if ts := rec.ts(); ts > out.TS {
			if ts > hi {
				break
			}
			out.TS = ts // times rise along the list
		}
		n := int(binary.LittleEndian.Uint16(partner[recordLen:])) - recordHeader
		if uint(n) > spliceMax || rec.flags()&(special|closed) != 0 {
			break
		}
		other.markMatched(rec)
		// A call copies out 16 bytes at a time, and a copy of what was just
		// written in halves waits for the writes: so write only what changes.
		if enc := s.put((*[spliceMax]byte)(partner[recordHeader:]), n); len(enc) != len(out.Row.Enc) {
			out.Row.Enc = enc
		}
		pairs++
		j.out.Emit(out)
		r = rec.next()
	}
	other.count.visited += int64(pairs)
	return r, pairs
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
