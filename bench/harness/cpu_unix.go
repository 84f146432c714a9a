//go:build unix

package harness

import (
	"fmt"
	"syscall"
	"time"
)

// cpuTime returns the user and system time of all threads so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(fmt.Sprintf("getrusage of the own process: %v", err)) // it has no reason to fail
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
