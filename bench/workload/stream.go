// Package workload makes the inputs of the benchmarks before they are measured:
// two streams that alternate, in the order of their times.
package workload

import (
	"math/rand/v2"
	"time"
)

// Within is the window of all joins.
const Within = 30 * time.Second

// The query's WHERE passes values from MinReading on, so it rejects one row in a
// hundred of each stream.
const MinReading = 100 // hundredths

// Names of the streams.
const (
	Left  = "temperatures"
	Right = "vibrations"
)

// Base is the time of the first row.
var Base = time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)

// Row is one row before it is spelled in any form.
type Row struct {
	TS      int64 // µs since the epoch: at 1 M rows in 30 s every row has a time of its own
	Key     int32
	Reading int32 // hundredths
	Other   int32 // hundredths
	Port    uint8 // 0 = Left
}

// Passes tells whether WHERE accepts the row.
func (r *Row) Passes() bool { return r.Reading >= MinReading }

// Value returns the reading.
func (r *Row) Value() float64 { return float64(r.Reading) / 100 }

// Nanos returns the row's time in ns since the epoch.
func (r *Row) Nanos() int64 { return r.TS * 1000 }

// Config says what a Stream is like.
type Config struct {
	Window int // rows a side within Within; must divide 15 s in µs
	Keys   int // as many as Window gives about one match a row
	// Key picks the key of row i; nil draws it at random, evenly.
	Key func(i int64) int32
	// Filter says that WHERE is in effect; otherwise all rows count.
	Filter bool
	// Port is the only stream; nil: both, in turns.
	Port *uint8
}

// Stream makes rows without end, and knows how many pairs they form: |Δts| ≤
// Within, equal keys, both accepted by WHERE. It counts them with a counter a
// key, so it shares no code and no idea with what is measured.
type Stream struct {
	cfg  Config
	rnd  *rand.Rand
	step int64 // µs between rows
	n    int64

	counts [2][]int32 // by key: rows within reach that can match
	recent [2][]past  // the rows of the last Within, a ring
	head   [2]int     // the oldest
	size   [2]int
}

type past struct {
	ts  int64
	key int32 // −1: rejected by WHERE
}

// New returns a stream; two of the same configuration are equal.
func New(cfg Config) (*Stream, error) {
	s := &Stream{cfg: cfg, rnd: rand.New(rand.NewPCG(20240501, 42)), step: int64(Within/time.Microsecond) / int64(2*cfg.Window)}
	for port := range s.counts {
		var err error
		if s.counts[port], err = OffHeap[int32](cfg.Keys); err != nil {
			return nil, err
		}
		if s.recent[port], err = OffHeap[past](cfg.Window + 2); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// next makes a row and returns the number of its partners among those before it.
func (s *Stream) next() (r Row, matches int) {
	r = Row{TS: Base.UnixMicro() + s.n*s.step, Port: uint8(s.n & 1),
		Reading: int32(s.rnd.IntN(10000)), Other: int32(s.rnd.IntN(10000))}
	if s.cfg.Port != nil {
		r.Port = *s.cfg.Port
	}
	if s.cfg.Key != nil {
		r.Key = s.cfg.Key(s.n)
	} else {
		r.Key = int32(s.rnd.IntN(s.cfg.Keys))
	}
	s.n++
	for port := range s.recent {
		s.forget(port, r.TS-int64(Within/time.Microsecond))
	}
	counts := !s.cfg.Filter || r.Passes()
	p := past{ts: r.TS, key: -1}
	if counts {
		p.key = r.Key
		matches = int(s.counts[1-r.Port][r.Key])
		s.counts[r.Port][r.Key]++
	}
	ring := s.recent[r.Port]
	ring[(s.head[r.Port]+s.size[r.Port])%len(ring)] = p
	s.size[r.Port]++
	return r, matches
}

func (s *Stream) forget(port int, bound int64) {
	ring := s.recent[port]
	for s.size[port] > 0 && ring[s.head[port]].ts < bound {
		if k := ring[s.head[port]].key; k >= 0 {
			s.counts[port][k]--
		}
		s.head[port] = (s.head[port] + 1) % len(ring)
		s.size[port]--
	}
}

// Buffered returns how many rows that WHERE accepts lie within reach of the last
// row, both sides together. An engine may hold one more a side, since each side
// forgets by its own time.
func (s *Stream) Buffered() int {
	n := 0
	for port, ring := range s.recent {
		for i := range s.size[port] {
			if ring[(s.head[port]+i)%len(ring)].key >= 0 {
				n++
			}
		}
	}
	return n
}
