package operator

import (
	"errors"
	"fmt"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// ErrAdopt is behind every error of Adopt.
var ErrAdopt = errors.New("the old operator's state does not fit")

// Adopt takes over the state of old, an operator of the same join in an earlier
// version of the query: watermarks, frontier, counters, rows with what they
// have met, and the order of key use. j must not have been used; old is empty
// afterwards and must not be used again.
//
// mapLeft and mapRight say for each column that j keeps which kept column of old
// it is (−1: it becomes NULL); key columns must stay key columns in their order.
// Where keepLeft or keepRight is given, rows it refuses are left behind without
// a NULL row and without a count; it sees j's kept columns.
//
// When nothing about the rows changes they are not touched; otherwise each is
// encoded anew, in (ts, seq) order. Rows above narrower gates stay.
func (j *IntervalJoin) Adopt(old *IntervalJoin, mapLeft, mapRight []int, keepLeft, keepRight func(row.Row) bool) error {
	maps := [2][]int{mapLeft, mapRight}
	keep := [2]func(row.Row) bool{keepLeft, keepRight}
	if err := j.adoptable(old, maps); err != nil {
		return err
	}
	j.wm, j.idle, j.frontier, j.told, j.stats = old.wm, old.idle, old.frontier, old.told, old.stats
	unchanged := (j.cfg.keyGate() > 0) == (old.cfg.keyGate() > 0)
	for port := range maps {
		unchanged = unchanged && keep[port] == nil && old.cfg.Keep[port] == len(maps[port]) && identity(maps[port])
	}
	if unchanged {
		j.keys, j.sides = old.keys, old.sides
		old.sides = [2]*side{}
		for _, s := range j.sides {
			s.lru.max = j.cfg.keyGate()
		}
	} else {
		for port := range j.sides {
			j.copySide(old.sides[port], maps[port], keep[port])
		}
	}
	old.clear()
	return nil
}

func (j *IntervalJoin) adoptable(old *IntervalJoin, maps [2][]int) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrAdopt}, args...)...)
	}
	a, b := &j.cfg, &old.cfg
	switch {
	case j.sides[0].rows+j.sides[1].rows > 0 || j.wm != [2]int64{unseen, unseen}:
		return bad("the new one has been used")
	case old.flushed[0] || old.flushed[1]:
		return bad("it was flushed")
	case j.partners != old.partners || j.retention != old.retention:
		return bad("WITHIN differs")
	case a.Left != b.Left:
		return bad("the kind of join differs")
	case a.Clocked != b.Clocked:
		return bad("event time on one side, processing time on the other")
	case a.Keys != b.Keys:
		return bad("the number of key columns differs")
	}
	for port, m := range maps {
		if len(m) != a.Keep[port] {
			return bad("port %d keeps %d columns, the mapping has %d", port, a.Keep[port], len(m))
		}
		for i, from := range m {
			if from < -1 || from >= b.Keep[port] {
				return bad("port %d: column %d comes from column %d of %d", port, i, from, b.Keep[port])
			}
			if i < a.Keys[port] && from != i {
				return bad("port %d: key column %d comes from column %d", port, i, from)
			}
		}
	}
	return nil
}

func identity(m []int) bool {
	for i, from := range m {
		if from != i {
			return false
		}
	}
	return true
}

// copySide moves the rows of old into j.
func (j *IntervalJoin) copySide(old *side, mapping []int, keep func(row.Row) bool) {
	s := j.sides[old.port]
	s.count = old.count
	uses := old.lru.order()
	cells := map[keyRef]keyRef{}
	var whole, mapped row.Row
	for old.rows > 0 {
		r, rec, ok := old.order.first()
		if !ok {
			break
		}
		v := old.view(r, rec)
		whole = v.whole(row.Row{Enc: whole.Enc[:0], Side: whole.Side[:0]})
		mapped = row.AppendColumns(row.Row{Enc: mapped.Enc[:0], Side: mapped.Side[:0]}, whole, mapping)
		in := Record{TS: v.ts, Diff: 1, Row: mapped, Nulls: v.nulls, Why: v.why}
		switch waits := s.order.waits && v.flags&matched == 0; {
		case keep != nil && !keep(mapped):
		case !j.addressable(old.port, len(mapped.Enc)):
			j.out.Drop(old.port, in, RowsGate, waits)
		default:
			j.keys.read(&j.key, mapped)
			k, same := j.keys.find(&j.key)
			var x view
			j.arrived(&x, old.port, &in)
			cells[rec.key()] = j.store(old.port, k, same, &x, !waits)
		}
		old.removeFirst(r, rec)
	}
	for _, k := range uses {
		if now := cells[k]; now != 0 {
			s.lru.use(now, s.keys.cell(now), false, s.present)
		}
	}
}
