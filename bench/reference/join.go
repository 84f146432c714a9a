// Package reference has what the engine is compared with: the least code that
// does the same work in plain Go.
package reference

// Row is one row as a program of its own would keep it.
type Row struct {
	TS      int64 // ns
	Key     string
	Reading float64
	Other   float64
	Port    uint8
}

// Pair is a result: the three columns of SELECT.
type Pair struct {
	Key         string
	Left, Right float64
}

// Sink takes results. It is an interface so that no compiler can see that they
// are only counted.
type Sink interface{ Take(p *Pair) }

// Join is the interval join as a bare loop over a Go map of slices of structs;
// a ring of keys a side, in order of arrival, tells what expires. It takes rows
// in order of time only, one query only, and has no NULL rows, no gates, no
// counters.
type Join struct {
	Within int64
	sides  [2]side
	sink   Sink
	pair   Pair
}

type side struct {
	rows map[string][]kept
	ring []expiry
	head int
	size int
}

type kept struct {
	ts             int64
	reading, other float64
}

type expiry struct {
	ts  int64
	key string
}

// NewJoin returns an empty join.
func NewJoin(within int64, sink Sink) *Join {
	j := &Join{Within: within, sink: sink}
	for port := range j.sides {
		j.sides[port] = side{rows: map[string][]kept{}, ring: make([]expiry, 1024)}
	}
	return j
}

// Process expires, probes and stores.
func (j *Join) Process(r *Row) {
	own, other := &j.sides[r.Port], &j.sides[1-r.Port]
	own.expire(r.TS - j.Within)
	partners := other.rows[r.Key]
	for i := range partners {
		p := &partners[i]
		if p.ts < r.TS-j.Within || p.ts > r.TS+j.Within {
			continue
		}
		j.pair = Pair{Key: r.Key, Left: p.reading, Right: r.Reading}
		if r.Port == 0 {
			j.pair.Left, j.pair.Right = r.Reading, p.reading
		}
		j.sink.Take(&j.pair)
	}
	own.rows[r.Key] = append(own.rows[r.Key], kept{r.TS, r.Reading, r.Other})
	own.push(expiry{r.TS, r.Key})
}

func (s *side) expire(bound int64) {
	for s.size > 0 && s.ring[s.head].ts < bound {
		key := s.ring[s.head].key
		s.head = (s.head + 1) & (len(s.ring) - 1)
		s.size--
		if rows := s.rows[key]; len(rows) > 1 {
			s.rows[key] = rows[1:]
		} else {
			delete(s.rows, key)
		}
	}
}

func (s *side) push(e expiry) {
	if s.size == len(s.ring) {
		grown := make([]expiry, 2*len(s.ring))
		n := copy(grown, s.ring[s.head:])
		copy(grown[n:], s.ring[:s.head])
		s.ring, s.head = grown, 0
	}
	s.ring[(s.head+s.size)&(len(s.ring)-1)] = e
	s.size++
}

// Buffered returns the number of rows kept, both sides together.
func (j *Join) Buffered() int { return j.sides[0].size + j.sides[1].size }
