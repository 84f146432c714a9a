//go:build !linux

package harness

import "errors"

// pin is for Linux only.
func pin() (core int, release func(), err error) {
	return 0, nil, errors.New("no pinning on this system")
}
