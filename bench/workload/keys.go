package workload

import (
	"fmt"
	"unsafe"
)

// Keys are the names of devices: "device-00042". They lie outside the heap.
type Keys struct {
	text []byte
	at   []uint32 // key i is text[at[i]:at[i+1]]
}

// NewKeys returns n keys.
func NewKeys(n int) (*Keys, error) {
	const longest = len("device-1234567890")
	text, err := OffHeap[byte](n * longest)
	if err != nil {
		return nil, err
	}
	at, err := OffHeap[uint32](n + 1)
	if err != nil {
		return nil, err
	}
	buf := text[:0]
	for i := range n {
		buf = fmt.Appendf(buf, "device-%05d", i)
		at[i+1] = uint32(len(buf))
	}
	return &Keys{text: buf, at: at}, nil
}

// Bytes returns key i.
func (k *Keys) Bytes(i int32) []byte { return k.text[k.at[i]:k.at[i+1]:k.at[i+1]] }

// String returns key i without a copy.
func (k *Keys) String(i int32) string {
	b := k.Bytes(i)
	return unsafe.String(unsafe.SliceData(b), len(b))
}
