//go:build !unix

package workload

// OffHeap falls back to the heap.
func OffHeap[T any](n int) ([]T, error) { return make([]T, n), nil }
