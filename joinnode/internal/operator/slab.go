package operator

import "math/bits"

// A slab hands out cells of bytes of any size and takes them back. Cells of
// about one size lie together on pages, so that a freed cell serves the next
// key of that size: long-lived keys among many short-lived ones cannot make the
// memory grow. A page that has no cell in use is given back.
type slab struct {
	pages   []page   // by number; number 0 is not used
	bufs    [][]byte // their memory, by number: all that finding a cell needs
	vacant  []uint32 // numbers of pages that were given back
	classes [sizeClasses]class
	used    int64 // bytes of all pages
	limit   int   // greatest number of pages
}

// A class is the pages with cells of one size.
type class struct {
	partial uint32 // first page with a free cell; such pages are chained
	bytes   int64  // of its pages
}

type page struct {
	buf        []byte
	class      int // oversize for a page that is one large cell
	cellSize   int
	inUse      int
	free       uint32 // first freed cell, as granule + 1; freed cells are chained through their first 4 bytes
	fresh      int    // buf[fresh:] was never handed out
	prev, next uint32
}

// A keyRef is the address of a cell: the page's number, then the offset in it
// in granules. 0 addresses nothing.
type keyRef uint32

const (
	granule     = 16
	granuleBits = 12
	pageMax     = granule << granuleBits // 64 KiB
	pageMin     = 1 << 10
	pageLimit   = 1<<(32-granuleBits) - 1 // numbers that a keyRef can hold
	cellMax     = 8 << 10                 // a larger cell has a page to itself

	smallCell   = 256 // up to here sizes differ by a granule,
	cellSteps   = 8   // beyond by an eighth of the power of two
	oversize    = -1
	sizeClasses = smallCell/granule + 1 + 5*cellSteps
)

func newSlab() slab { return slab{limit: pageLimit} }

// sizeClass returns the class of cells that hold n bytes, and their size.
func sizeClass(n int) (class, size int) {
	if n <= smallCell {
		class = max((n+granule-1)/granule, 1)
		return class, class * granule
	}
	if n > cellMax {
		return oversize, n
	}
	octave := bits.Len(uint(n-1)) - 1 // n is in (2^octave, 2^(octave+1)]
	step := 1 << octave / cellSteps
	nth := (n - 1<<octave + step - 1) / step // 1 … cellSteps
	const first = smallCell/granule + 1
	return first + (octave-bits.Len(smallCell-1))*cellSteps + nth - 1, 1<<octave + nth*step
}

// room tells whether a cell of any size can be had.
func (s *slab) room() bool { return len(s.vacant) > 0 || len(s.pages) <= s.limit }

// cell returns the memory at k, at least as long as was asked for.
func (s *slab) cell(k keyRef) []byte {
	return s.bufs[k>>granuleBits][int(k&(1<<granuleBits-1))*granule:]
}

// alloc returns a cell of n bytes, whose content is arbitrary.
func (s *slab) alloc(n int) keyRef {
	c, size := sizeClass(n)
	if c == oversize {
		number := s.newPage(c, size, size)
		s.pages[number].inUse = 1
		return keyRef(number << granuleBits)
	}
	number := s.classes[c].partial
	if number == 0 {
		pageSize := pageMin
		for pageSize < pageMax && (int64(pageSize) < s.classes[c].bytes || pageSize < size) {
			pageSize *= 2
		}
		number = s.newPage(c, size, pageSize)
		s.classes[c].bytes += int64(pageSize)
		s.chain(number)
	}
	p := &s.pages[number]
	p.inUse++
	var at uint32
	if p.free != 0 {
		at = p.free - 1
		p.free = get32(p.buf[at*granule:])
	} else {
		at = uint32(p.fresh / granule)
		p.fresh += size
	}
	if p.full() {
		s.unchain(number)
	}
	return keyRef(number<<granuleBits | at)
}

func (p *page) full() bool { return p.free == 0 && p.fresh+p.cellSize > len(p.buf) }

// release takes a cell back.
func (s *slab) release(k keyRef) {
	number := uint32(k >> granuleBits)
	p := &s.pages[number]
	p.inUse--
	if p.class == oversize {
		s.freePage(number)
		return
	}
	if p.full() {
		s.chain(number)
	}
	at := uint32(k & (1<<granuleBits - 1))
	put32(p.buf[at*granule:], p.free)
	p.free = at + 1
	// One page may stay empty, or a single key that comes and goes would
	// allocate each time.
	if alone := s.classes[p.class].partial == number && p.next == 0; p.inUse == 0 && !(alone && len(p.buf) == pageMin) {
		s.unchain(number)
		s.classes[p.class].bytes -= int64(len(p.buf))
		s.freePage(number)
	}
}

func (s *slab) newPage(class, cellSize, pageSize int) uint32 {
	if len(s.pages) == 0 {
		s.pages, s.bufs = append(s.pages, page{}), append(s.bufs, nil)
	}
	var number uint32
	if n := len(s.vacant); n > 0 {
		number, s.vacant = s.vacant[n-1], s.vacant[:n-1]
	} else {
		number = uint32(len(s.pages))
		s.pages, s.bufs = append(s.pages, page{}), append(s.bufs, nil)
	}
	s.pages[number] = page{buf: make([]byte, pageSize), class: class, cellSize: cellSize}
	s.bufs[number] = s.pages[number].buf
	s.used += int64(pageSize)
	return number
}

func (s *slab) freePage(number uint32) {
	s.used -= int64(len(s.pages[number].buf))
	s.pages[number], s.bufs[number] = page{}, nil
	s.vacant = append(s.vacant, number)
}

func (s *slab) chain(number uint32) {
	p := &s.pages[number]
	first := &s.classes[p.class].partial
	p.prev, p.next = 0, *first
	if *first != 0 {
		s.pages[*first].prev = number
	}
	*first = number
}

func (s *slab) unchain(number uint32) {
	p := &s.pages[number]
	if p.prev != 0 {
		s.pages[p.prev].next = p.next
	} else {
		s.classes[p.class].partial = p.next
	}
	if p.next != 0 {
		s.pages[p.next].prev = p.prev
	}
	p.prev, p.next = 0, 0
}

func (s *slab) bytes() int64 {
	const pageSize = 80 + 24
	return s.used + int64(cap(s.pages))*pageSize
}
