//go:build !linux

package harness

import "time"

// ThreadCPU returns the CPU time of the calling thread so far, 0 where it is not
// known.
func ThreadCPU() time.Duration { return 0 }
