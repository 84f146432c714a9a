package soak_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/streamjoin/streamjoin/joinnode"
)

// load is what the streams of a join carry.
type load struct {
	streams int
	keys    int  // alive at a time; they are replaced all the time
	burst   int  // most rows at once
	pad     int  // longest text that rows carry along
	bounded bool // the state in bytes, by MinJoinMaxBytes
	event   bool // with event times: some are late, out of order, missing or wrong
}

// producer writes the rows of one stream.
type producer struct {
	load   load
	rnd    *rand.Rand
	began  time.Time
	buf    []byte
	number int
}

// feed is the life of one source until end: bursts, a trickle, silence.
func (s *subject) feed(stream, round int, end time.Time) {
	p := &producer{load: s.load, rnd: rand.New(rand.NewPCG(uint64(stream), uint64(round))), began: s.began}
	for now := time.Now(); now.Before(end); now = time.Now() {
		switch p.rnd.IntN(4) {
		case 0:
			for range p.rnd.IntN(p.load.burst) + 1 {
				s.offer(stream, p)
			}
			s.checkBound()
		case 1:
			s.offerTogether(stream, p)
		case 2:
			time.Sleep(min(time.Duration(p.rnd.Int64N(int64(within))), time.Until(end)))
		default:
			for range 20 {
				s.offer(stream, p)
				time.Sleep(time.Millisecond)
			}
		}
	}
}

// offer sends one row, now and then in a form that is refused, or as a Go map.
func (s *subject) offer(stream int, p *producer) {
	var err error
	switch p.rnd.IntN(50) {
	case 0:
		if err = s.EmitJSON(streams[stream], []byte(`{"k":"broken`)); errors.Is(err, joinnode.ErrInvalidJSON) {
			return
		}
		s.failed(fmt.Errorf("broken JSON: %w", err))
		return
	case 1:
		err = s.EmitTo(streams[stream], map[string]any{"k": p.key(), "id": 1, "v": 5, "ts": time.Now().UnixMilli()})
	default:
		err = s.EmitJSON(streams[stream], p.row(p.buf[:0]))
	}
	s.offered[stream].Add(1)
	s.answered(err)
}

// offerTogether sends some rows as one array.
func (s *subject) offerTogether(stream int, p *producer) {
	n := p.rnd.IntN(min(p.load.burst, 100)) + 1
	text := []byte("[")
	for i := range n {
		if i > 0 {
			text = append(text, ',')
		}
		text = p.row(text)
	}
	err := s.EmitJSON(streams[stream], append(text, ']'))
	s.offered[stream].Add(int64(n))
	s.answered(err)
}

// answered notes an answer that a row must not get. A full queue is counted by
// the join.
func (s *subject) answered(err error) {
	if err != nil && !errors.Is(err, joinnode.ErrOverflow) {
		s.failed(err)
	}
}

var streams = []string{"sa", "sb", "sc"}

// key draws one of the keys that are alive now: one is replaced every two
// milliseconds.
func (p *producer) key() string {
	first := int(time.Since(p.began) / (2 * time.Millisecond))
	return fmt.Sprintf("device-%06d", first+p.rnd.IntN(p.load.keys))
}

func (p *producer) row(dst []byte) []byte {
	p.number++
	dst = fmt.Appendf(dst, `{"id":%d,"v":%d`, p.number, p.rnd.IntN(10))
	if p.rnd.IntN(100) > 0 { // a row without a key matches those without one
		dst = fmt.Appendf(dst, `,"k":%q`, p.key())
	}
	if p.load.pad > 0 {
		dst = fmt.Appendf(dst, `,"pad":%q`, strings.Repeat("x", p.rnd.IntN(p.load.pad)))
	}
	if p.load.event {
		dst = p.time(dst)
	}
	return append(dst, '}')
}

// time writes a row's event time, most often the right one.
func (p *producer) time(dst []byte) []byte {
	at := time.Now()
	switch p.rnd.IntN(40) {
	case 0:
		return dst // missing
	case 1:
		return append(dst, `,"ts":"yesterday"`...)
	case 2:
		at = at.Add(time.Hour)
	case 3:
		at = at.Add(-3 * within)
	case 4, 5, 6, 7:
		at = at.Add(-time.Duration(p.rnd.Int64N(int64(within))))
	}
	return fmt.Appendf(dst, `,"ts":%d`, at.UnixMilli())
}
