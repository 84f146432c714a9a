//go:build unix

package workload

import (
	"fmt"
	"syscall"
	"unsafe"
)

// OffHeap returns n zero elements of a type without pointers into the heap, in memory that the
// garbage collector does not see. Inputs on the heap would make it run less
// often, and so flatter everybody who allocates. The memory is kept to the end
// of the process.
func OffHeap[T any](n int) ([]T, error) {
	var one T
	size := n * int(unsafe.Sizeof(one))
	if size == 0 {
		return nil, nil
	}
	mem, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", size, err)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&mem[0])), n), nil
}
