package pipeline

import (
	"bytes"
	"runtime"
	"strconv"
	"sync/atomic"
)

// SinkGoroutine knows which goroutine is inside the sinks of a query, or inside
// those of a query whose results come first. Stop asks it: when a sink calls
// Stop, waiting for the sinks would never end.
type SinkGoroutine struct {
	id     atomic.Uint64                 // 0 = none
	before atomic.Pointer[SinkGoroutine] // of the query that is followed, until its last result is out
}

// Enter says that the running goroutine is in the sinks until Leave.
func (s *SinkGoroutine) Enter() { s.id.Store(goroutineID()) }

// Leave says that no goroutine is in the sinks.
func (s *SinkGoroutine) Leave() { s.id.Store(0) }

// Follow says that the sinks of before come first; nil says that they are done.
func (s *SinkGoroutine) Follow(before *SinkGoroutine) { s.before.Store(before) }

// Current reports whether the running goroutine is in the sinks, its own or
// those that come first.
func (s *SinkGoroutine) Current() bool {
	id := goroutineID()
	for ; s != nil; s = s.before.Load() {
		if id != 0 && s.id.Load() == id {
			return true
		}
	}
	return false
}

// goroutineID identifies the running goroutine. Go hides it on purpose; Stop
// alone needs it. 0 means that it could not be read.
func goroutineID() uint64 {
	var buf [64]byte
	fields := bytes.Fields(buf[:runtime.Stack(buf[:], false)])
	if len(fields) < 2 {
		return 0
	}
	id, err := strconv.ParseUint(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return id
}
