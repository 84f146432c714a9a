package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"
)

// The streams of the demo's chain.
const (
	temperatureStream = "tempStream"
	vibrationStream   = "vibrationStream"
)

// reading is one simulated message: the stream that it belongs to and a JSON
// object with the instant of measurement in its column ts (ms).
type reading struct {
	stream string
	body   []byte
}

// plant simulates machines that report temperature and vibration in turn, each
// machine about once a second. A machine now and then runs hot for a while, and
// a hot machine shakes. The values depend on the seed and nothing else; the
// instants are the caller's.
type plant struct {
	random   *rand.Rand
	machines []machine
	next     int // readings taken so far
}

// machine is the state of one simulated machine.
type machine struct {
	heat float64 // 0 = cool, 1 = at its hottest
	hot  bool
}

// The chances, at each reading of its temperature, that a cool machine becomes hot
// and that a hot one cools down.
const (
	becomesHot = 0.03
	coolsDown  = 0.2
)

// newPlant returns a plant whose machines together give rate readings a second.
func newPlant(seed uint64, rate int) *plant {
	p := &plant{
		random:   rand.New(rand.NewPCG(seed, seed)),
		machines: make([]machine, max(1, rate/2)),
	}
	for i := range p.machines {
		// As many are hot at the start as in the long run.
		if p.random.Float64() < becomesHot/(becomesHot+coolsDown) {
			p.machines[i] = machine{heat: 1, hot: true}
		}
	}
	return p
}

// read takes the next reading, measured at the given instant: temperature and
// vibration of one machine, then those of the next.
func (p *plant) read(at time.Time) reading {
	id := p.next / 2 % len(p.machines)
	vibration := p.next%2 == 1
	p.next++

	m := &p.machines[id]
	if vibration {
		value := 18 + 30*m.heat + 4*p.random.NormFloat64()
		return newReading(vibrationStream, "vibration", id, value, at)
	}
	p.drift(m)
	value := 62 + 24*m.heat + 3*p.random.NormFloat64()
	return newReading(temperatureStream, "temperature", id, value, at)
}

// drift moves a machine's heat towards where it is bound for.
func (p *plant) drift(m *machine) {
	switch chance := p.random.Float64(); {
	case !m.hot && chance < becomesHot:
		m.hot = true
	case m.hot && chance < coolsDown:
		m.hot = false
	}
	target := 0.0
	if m.hot {
		target = 1
	}
	m.heat += (target - m.heat) / 2
}

func newReading(stream, field string, machine int, value float64, at time.Time) reading {
	tenths := strconv.FormatFloat(math.Max(0, value), 'f', 1, 64)
	return reading{
		stream: stream,
		body: fmt.Appendf(nil, `{"deviceId":"m%d","%s":%s,"ts":%d}`,
			machine+1, field, tenths, at.UnixMilli()),
	}
}
