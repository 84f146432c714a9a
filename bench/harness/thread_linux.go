package harness

import (
	"time"

	"golang.org/x/sys/unix"
)

// ThreadCPU returns the CPU time of the calling thread so far, 0 where it is not
// known. Lock the goroutine to its thread.
func ThreadCPU() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
