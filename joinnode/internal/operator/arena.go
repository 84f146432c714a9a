package operator

// An arena holds the rows of one side of a join as records of bytes in chunks.
// Chunks fill in arrival order and are given back whole once the last of their
// records was released, so the garbage collector sees a few large blocks
// without pointers and nothing is ever moved.
type arena struct {
	chunks  []chunk  // by number; number 0 is not used
	bufs    [][]byte // their memory, by number: all that reading a record needs
	vacant  []uint32 // numbers of chunks that were given back
	spare   [][]byte // buffers of chunkMax bytes kept for reuse
	first   uint32   // the oldest chunk; chunks are chained in arrival order
	last    uint32   // the chunk that is being filled
	buffers int64    // bytes of all buffers, spare ones included
	values  int64    // Go values in side tables
	limit   int      // greatest number of chunks
}

type chunk struct {
	buf        []byte
	side       []any // Go values without an encoding, of the records that have some
	used       int   // buf[:used] holds records
	live       int   // records not released yet
	prev, next uint32
}

// A ref is the address of a record: the chunk's number, then the offset in it in
// units of recordAlign. 0 addresses nothing.
type ref uint32

const (
	recordAlign = 4
	offsetBits  = 14
	chunkMax    = recordAlign << offsetBits // 64 KiB
	chunkMin    = 4 << 10                   // a small join costs kilobytes
	chunkLimit  = 1<<(32-offsetBits) - 1    // numbers that a ref can hold: 16 GiB a side
	spareMax    = 4
)

func newArena() arena { return arena{limit: chunkLimit} }

// record returns the record at r. It is valid until r is released.
func (a *arena) record(r ref) record {
	return a.bufs[r>>offsetBits][int(r&(1<<offsetBits-1))*recordAlign:]
}

// room tells whether a record of size bytes can be added.
func (a *arena) room(size int) bool {
	if len(a.vacant) > 0 || len(a.chunks) <= a.limit {
		return true
	}
	c := &a.chunks[a.last]
	return len(c.buf)-c.used >= size
}

// add copies a row with its header into the arena. The caller has asked room
// before.
func (a *arena) add(h *header) ref {
	size := h.size()
	number, c := a.open(size)
	at := c.used
	rec := record(c.buf[at : at+size])
	if len(h.side) > 0 {
		h.sideAt = len(c.side)
		c.side = append(c.side, h.side...)
		a.values += int64(len(h.side))
	}
	rec.write(h)
	c.used = min(at+align(size), len(c.buf))
	c.live++
	return ref(number<<offsetBits) | ref(at/recordAlign)
}

// sideOf returns the n Go values from index at of the chunk that holds r.
func (a *arena) sideOf(r ref, at, n int) []any {
	return a.chunks[r>>offsetBits].side[at : at+n : at+n]
}

// open returns the chunk being filled, after a new one was begun if size bytes
// do not fit.
func (a *arena) open(size int) (uint32, *chunk) {
	if a.last != 0 {
		if c := &a.chunks[a.last]; len(c.buf)-c.used >= size {
			return a.last, c
		}
	}
	if len(a.chunks) == 0 {
		a.chunks, a.bufs = append(a.chunks, chunk{}), append(a.bufs, nil)
	}
	var number uint32
	if n := len(a.vacant); n > 0 {
		number, a.vacant = a.vacant[n-1], a.vacant[:n-1]
	} else {
		number = uint32(len(a.chunks))
		a.chunks, a.bufs = append(a.chunks, chunk{}), append(a.bufs, nil)
	}
	c := &a.chunks[number]
	*c = chunk{buf: a.buffer(size), side: c.side, prev: a.last}
	a.bufs[number] = c.buf
	if a.last != 0 {
		a.chunks[a.last].next = number
	} else {
		a.first = number
	}
	a.last = number
	return number, c
}

// buffer returns a chunk's memory: as much as there is already, between
// chunkMin and chunkMax; a row larger than that has a chunk to itself.
func (a *arena) buffer(size int) []byte {
	want, reuse := a.buffering(size)
	if n := len(a.spare); reuse {
		buf := a.spare[n-1]
		a.spare = a.spare[:n-1]
		return buf
	}
	a.buffers += int64(want)
	return make([]byte, want)
}

// buffering tells how long the buffer of a new chunk is, and whether it is a
// spare one.
func (a *arena) buffering(size int) (want int, reuse bool) {
	want = chunkMin
	for want < chunkMax && (int64(want) < a.buffers || want < size) {
		want *= 2
	}
	return max(want, size), len(a.spare) > 0 && want == chunkMax && size <= chunkMax
}

// need tells how many bytes of buffers a record of size bytes would add.
func (a *arena) need(size int) int64 {
	if a.last != 0 {
		if c := &a.chunks[a.last]; len(c.buf)-c.used >= size {
			return 0
		}
	}
	want, reuse := a.buffering(size)
	if reuse {
		return 0
	}
	return int64(want)
}

// release gives a record up. When it was the last one of its chunk, the chunk's
// memory is free: gone is its number and cursors in it continue at the start of
// chunk next. gone is 0 when the chunk lives on.
func (a *arena) release(r ref) (gone, next uint32) {
	number := uint32(r >> offsetBits)
	c := &a.chunks[number]
	c.live--
	if c.live > 0 {
		return 0, 0
	}
	a.values -= int64(len(c.side))
	clear(c.side)
	c.side = c.side[:0]
	if cap(c.side) > chunkMin {
		c.side = nil
	}
	if number == a.last {
		c.used = 0
		if len(c.buf) > chunkMax {
			a.buffers -= int64(len(c.buf) - chunkMin)
			c.buf = make([]byte, chunkMin)
			a.bufs[number] = c.buf
		}
		return number, number
	}
	next = c.next
	if c.prev != 0 {
		a.chunks[c.prev].next = next
	} else {
		a.first = next
	}
	a.chunks[next].prev = c.prev
	if len(c.buf) == chunkMax && len(a.spare) < spareMax {
		a.spare = append(a.spare, c.buf)
	} else {
		a.buffers -= int64(len(c.buf))
	}
	*c = chunk{side: c.side}
	a.bufs[number] = nil
	a.vacant = append(a.vacant, number)
	return number, next
}

// bytes estimates the memory that the arena holds.
func (a *arena) bytes() int64 {
	const chunkSize, valueSize = 80 + 24, 16
	return a.buffers + int64(cap(a.chunks))*chunkSize + a.values*valueSize
}

// A cursor is a place in the arrival order of an arena. The zero cursor is the
// beginning.
type cursor struct {
	chunk uint32
	off   int
}

// seek moves c forward to the first record without any of the flags skip and
// returns it; ok is false when there is none yet. visited counts what it looked
// at.
func (a *arena) seek(c *cursor, skip uint8, visited *int64) (r ref, rec record, ok bool) {
	if c.chunk == 0 {
		c.chunk = a.first
		if a.first == 0 {
			return 0, nil, false
		}
	}
	for {
		ch := &a.chunks[c.chunk]
		for c.off < ch.used {
			rec = ch.buf[c.off:]
			*visited++
			if rec.flags()&skip == 0 {
				return ref(c.chunk<<offsetBits) | ref(c.off/recordAlign), rec, true
			}
			c.off += align(rec.len())
		}
		if c.chunk == a.last {
			return 0, nil, false
		}
		c.chunk, c.off = ch.next, 0
	}
}

func align(n int) int { return (n + recordAlign - 1) &^ (recordAlign - 1) }
