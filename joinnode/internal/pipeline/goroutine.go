package pipeline

import (
	"bytes"
	"runtime"
	"strconv"
)

// GoroutineID identifies the running goroutine. Go hides it on purpose; Stop
// alone needs it, to know that a sink calls it and that waiting for the sinks
// would never end. 0 means that it could not be read.
func GoroutineID() uint64 {
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

func (p *Pipeline) setEmitter(id uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.emitterGID = id
}
