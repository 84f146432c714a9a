package operator

import (
	"container/heap"
	"encoding/binary"
	"math"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// ordering says which value an extreme shows: the least in this order.
type ordering uint8

const (
	byValue ordering = iota
	byValueDown
	byTime     // of those at one time the first that came
	byTimeDown // of those at one time the last that came
)

// last tells whether of values that are level the last one is shown.
func (o ordering) last() bool { return o == byTimeDown }

// timed tells whether the order is that of times.
func (o ordering) timed() bool { return o >= byTime }

// timeOf returns the time that an operand stands for. A row without one is older
// than all others.
func timeOf(in []operand, i int) int64 {
	if i < 0 {
		return 0
	}
	if t, ok := in[i].v.Int64(); ok {
		return t
	}
	return math.MinInt64
}

// extreme is MIN, MAX, FIRST_VALUE or LAST_VALUE of values that may leave again.
type extreme struct {
	l                 *aggregates
	by                ordering
	arg, time, object int
}

func (e *extreme) apply(g *groupState, in []operand, diff int64) {
	x := &in[e.arg]
	if x.null {
		return
	}
	m := held[multiset](g, e.object)
	if m == nil {
		if diff < 0 {
			return
		}
		m = &multiset{by: e.by, entries: map[string]*level{}}
		hold(g, e.object, m, 96)
	}
	var t int64
	v := arrived{col: x.col}
	if e.by.timed() {
		t, v.row = timeOf(in, e.time), e.l.row
		e.l.scratch = binary.LittleEndian.AppendUint64(e.l.scratch[:0], uint64(t))
	} else {
		e.l.scratch = value.AppendKey(e.l.scratch[:0], x.v)
	}
	if diff > 0 {
		g.more.bytes += m.add(e.l.scratch, t, v)
	} else {
		g.more.bytes -= m.remove(e.l.scratch, v)
	}
}

func (e *extreme) appendTo(dst *row.Row, g *groupState) {
	m := held[multiset](g, e.object)
	if m == nil || len(m.heap) == 0 {
		appendNull(dst)
		return
	}
	top := m.heap[0].values
	shown := 0
	if e.by.last() {
		shown = len(top) - 1
	}
	*dst = row.AppendRow(*dst, top[shown].col)
}

// A multiset has values in an order, from which the least can be told and any
// can be taken. Values that are level in that order, being equal or of one time,
// are one entry of a heap.
type multiset struct {
	by      ordering
	entries map[string]*level
	heap    []*level
}

// level is the values at one place of the order.
type level struct {
	key    string // of the value or time
	time   int64
	values spellings
	at     int // in the heap
}

const levelSize = 160 // estimated bytes, beside key and values

// add returns by how many bytes m grew.
func (m *multiset) add(key []byte, t int64, v arrived) int64 {
	if e := m.entries[string(key)]; e != nil {
		return e.values.add(v)
	}
	e := &level{key: string(key), time: t}
	grown := e.values.add(v)
	m.entries[e.key] = e
	heap.Push(m, e)
	return grown + levelSize + int64(len(key))
}

// remove returns by how many bytes m shrank.
func (m *multiset) remove(key []byte, v arrived) int64 {
	e := m.entries[string(key)]
	if e == nil {
		return 0
	}
	shrunk := e.values.remove(v)
	if len(e.values) == 0 {
		delete(m.entries, e.key)
		heap.Remove(m, e.at)
		shrunk += levelSize + int64(len(key))
	}
	return shrunk
}

// Len implements heap.Interface.
func (m *multiset) Len() int { return len(m.heap) }

// Less implements heap.Interface. No two entries are level.
func (m *multiset) Less(i, j int) bool {
	a, b := m.heap[i], m.heap[j]
	switch m.by {
	case byTime:
		return a.time < b.time
	case byTimeDown:
		return a.time > b.time
	case byValueDown:
		a, b = b, a
	}
	return compareTotal(a.values[0].col.Col(0), b.values[0].col.Col(0)) < 0
}

// Swap implements heap.Interface.
func (m *multiset) Swap(i, j int) {
	m.heap[i], m.heap[j] = m.heap[j], m.heap[i]
	m.heap[i].at, m.heap[j].at = i, j
}

// Push implements heap.Interface.
func (m *multiset) Push(x any) {
	e := x.(*level)
	e.at = len(m.heap)
	m.heap = append(m.heap, e)
}

// Pop implements heap.Interface.
func (m *multiset) Pop() any {
	last := len(m.heap) - 1
	e := m.heap[last]
	m.heap[last] = nil
	m.heap = m.heap[:last]
	return e
}

// arrived is a value and, where values that are level differ in more than their
// spelling, the identity of the row it came in: the one leaves whose row is
// retracted. Equal values need none, the first spelled like it leaves; so however
// many rows have a value, they are one run.
type arrived struct {
	col row.Row
	row uint64
}

func (v arrived) is(w arrived) bool { return v.row == w.row && sameColumn(v.col, w.col) }

// spellings are values that count as level, in order of arrival. Neighbours that
// are the same are one run.
type spellings []spelling

type spelling struct {
	arrived
	n int64
}

const spellingSize = 72 // estimated bytes, beside the column

// add returns by how many bytes s grew.
func (s *spellings) add(v arrived) int64 {
	if last := len(*s) - 1; last >= 0 && (*s)[last].is(v) {
		(*s)[last].n++
		return 0
	}
	*s = append(*s, spelling{arrived{copyColumn(v.col), v.row}, 1})
	return spellingSize + int64(len(v.col.Enc))
}

// remove takes away the first such value, and returns by how many bytes
// s shrank.
func (s *spellings) remove(v arrived) int64 {
	for i := range *s {
		if !(*s)[i].is(v) {
			continue
		}
		if (*s)[i].n--; (*s)[i].n > 0 {
			return 0
		}
		if i == 0 { // as it mostly is: no other has to move
			(*s)[0] = spelling{}
			*s = (*s)[1:]
		} else {
			copy((*s)[i:], (*s)[i+1:])
			(*s)[len(*s)-1] = spelling{}
			*s = (*s)[:len(*s)-1]
		}
		return spellingSize + int64(len(v.col.Enc))
	}
	return 0
}

// best is an extreme of values that stay, so that one is enough.
type best struct {
	by                ordering
	arg, time, object int
}

type kept struct {
	col  row.Row
	time int64
}

func (b *best) apply(g *groupState, in []operand, _ int64) {
	x := &in[b.arg]
	if x.null {
		return
	}
	k := held[kept](g, b.object)
	if k == nil {
		k = &kept{}
		hold(g, b.object, k, spellingSize)
	} else if !b.better(x, in, k) {
		return
	}
	g.more.bytes += int64(len(x.col.Enc) - len(k.col.Enc))
	clear(k.col.Side)
	k.col = row.AppendRow(row.Row{Enc: k.col.Enc[:0], Side: k.col.Side[:0]}, x.col)
	if b.by.timed() {
		k.time = timeOf(in, b.time)
	}
}

// better tells whether a later value takes the place of the one kept.
func (b *best) better(x *operand, in []operand, k *kept) bool {
	switch b.by {
	case byTime:
		return timeOf(in, b.time) < k.time
	case byTimeDown:
		return timeOf(in, b.time) >= k.time
	case byValueDown:
		return compareTotal(x.v, k.col.Col(0)) > 0
	}
	return compareTotal(x.v, k.col.Col(0)) < 0
}

func (b *best) appendTo(dst *row.Row, g *groupState) {
	k := held[kept](g, b.object)
	if k == nil {
		appendNull(dst)
		return
	}
	*dst = row.AppendRow(*dst, k.col)
}
