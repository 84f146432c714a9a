package harness

import (
	"runtime"
	"runtime/debug"
)

// Heap returns the bytes of live objects, after a collection that leaves no
// garbage behind.
func Heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // finalizers and pools need a second one
	debug.FreeOSMemory()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
