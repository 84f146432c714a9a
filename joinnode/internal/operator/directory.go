package operator

import "sort"

// A directory finds places in the list of a hot key without walking it: a sparse
// index, one entry for each run of rows, the runs in list order. Rows stay in the
// list, so the directory costs about a byte a row and only keys with many rows
// have one. The list is the rows of a side, or the versions of a history.
//
// A probe or an insertion searches the runs and then walks at most one of them.
type directory struct {
	runs  []run
	head  int    // runs[:head] are gone
	total *int64 // bytes of all directories of the side
}

// A run is n rows of the list from row on. No row of the run is older than ts,
// and every row of earlier runs is at most as new: ts is the first row's time,
// or less after the rows before it have left.
type run struct {
	ts  int64
	row ref
	n   uint32
}

const (
	hotRows   = 64 // a key with more rows has a directory
	coldRows  = 16 // a key with fewer rows loses it
	runRows   = 16 // rows in a run that grew at its end
	runMax    = 64 // rows in a run that grew inside, before it is split
	runRecord = 16 // bytes of a run
)

// timedList is what a directory indexes: lists by rising time.
type timedList interface {
	// link returns the time of the row at r and the row after it, 0 at the end.
	link(r ref) (ts int64, next ref)
}

func (a *arena) link(r ref) (int64, ref) {
	rec := a.record(r)
	return rec.ts(), rec.next()
}

// newDirectory indexes the list that begins at head. total is kept up to date
// with the bytes of all directories.
func newDirectory(l timedList, head ref, count *counts, total *int64) *directory {
	d := &directory{total: total}
	for r := head; r != 0; {
		ts, next := l.link(r)
		d.append(ts, r)
		count.visited++
		r = next
	}
	return d
}

// append enters a row that became the last one of the list.
func (d *directory) append(ts int64, r ref) {
	if last := len(d.runs) - 1; last >= d.head && d.runs[last].n < runRows {
		d.runs[last].n++
		return
	}
	d.setRuns(append(d.runs, run{ts: ts, row: r, n: 1}))
}

// setRuns puts runs in the place of d.runs.
func (d *directory) setRuns(runs []run) {
	*d.total += int64(cap(runs)-cap(d.runs)) * runRecord
	d.runs = runs
}

// removeHead tells that the first row left and next is now the first.
func (d *directory) removeHead(next ref) {
	first := &d.runs[d.head]
	if first.n--; first.n > 0 {
		first.row = next
		return
	}
	if d.head++; d.head*2 > len(d.runs) {
		n := copy(d.runs, d.runs[d.head:])
		d.setRuns(shrink(d.runs[:n]))
		d.head = 0
	}
}

// before returns the last run that begins before time ts, −1 when there is
// none.
func (d *directory) before(ts int64) int {
	live := d.runs[d.head:]
	return d.head + sort.Search(len(live), func(i int) bool { return live[i].ts >= ts }) - 1
}

// from returns a row of the list such that all rows before it are older than
// ts, and at most one run of such rows follows; 0 says the list's head.
func (d *directory) from(ts int64) ref {
	if i := d.before(ts); i >= d.head {
		return d.runs[i].row
	}
	return 0
}

// upTo returns the last run that begins at or before time ts, −1 when there is
// none.
func (d *directory) upTo(ts int64) int {
	live := d.runs[d.head:]
	i := d.head + sort.Search(len(live), func(i int) bool { return live[i].ts > ts }) - 1
	if i < d.head {
		return -1
	}
	return i
}

// insertHead enters a row that became the first one of the list.
func (d *directory) insertHead(ts int64, r ref, l timedList, count *counts) {
	d.runs[d.head].ts, d.runs[d.head].row = ts, r
	d.grow(d.head, l, count)
}

// move tells that the row of time ts is at r now.
func (d *directory) move(ts int64, from, r ref) {
	if i := d.upTo(ts); i >= 0 && d.runs[i].row == from {
		d.runs[i].row = r
	}
}

// grow notes one more row in run i and splits the run when it is long.
func (d *directory) grow(i int, l timedList, count *counts) {
	d.runs[i].n++
	if d.runs[i].n <= runMax {
		return
	}
	r := d.runs[i].row
	for range runMax / 2 {
		_, r = l.link(r)
	}
	count.visited += runMax / 2
	ts, _ := l.link(r)
	second := run{ts: ts, row: r, n: d.runs[i].n - runMax/2}
	d.runs[i].n = runMax / 2
	d.setRuns(append(d.runs, run{}))
	copy(d.runs[i+2:], d.runs[i+1:])
	d.runs[i+1] = second
	count.moved += int64(len(d.runs) - i - 2)
}

// cool drops the directory of a key, if it has one.
func (s *side) cool(k keyRef) {
	if d := s.hot[k]; d != nil {
		d.setRuns(nil)
		delete(s.hot, k)
	}
}
