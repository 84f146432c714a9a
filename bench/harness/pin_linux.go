package harness

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// pin keeps the calling thread, and so every process it starts, on the last of
// the cores it may run on: interrupts mostly go to the first. It returns the
// core.
func pin() (core int, release func(), err error) {
	runtime.LockOSThread()
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		runtime.UnlockOSThread()
		return 0, nil, fmt.Errorf("read the allowed cores: %w", err)
	}
	for i := range 1024 {
		if before.IsSet(i) {
			core = i
		}
	}
	var one unix.CPUSet
	one.Set(core)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		runtime.UnlockOSThread()
		return 0, nil, fmt.Errorf("pin to core %d: %w", core, err)
	}
	return core, func() {
		if err := unix.SchedSetaffinity(0, &before); err != nil {
			return // the thread stays locked, and ends with its goroutine
		}
		runtime.UnlockOSThread()
	}, nil
}
