package operator

import "github.com/streamjoin/streamjoin/joinnode/internal/row"

// A keyedState is the rows of a table by key, what the step under way has
// changed of them, and what STATETTL deletes. Readers and the operator's results
// see a step as one change for each key: from its row before the step to its row
// after it.
type keyedState struct {
	rows    rowStore
	ttl     *ttlQueue // nil without STATETTL
	now     int64     // the script's time
	fallen  int64
	changed []keyChange // of this step, in the order of the keys' first change

	key    joinKey // of the last row given to load
	loaded row.Row // that row, its own
	memory row.Row // of loaded, where it has Go values
	before row.Row // memory of the rows before the step
}

// A keyChange is one key that the step has changed, with its row before the
// step in keyedState.before.
type keyChange struct {
	ref       keyRef
	had       bool
	enc, side [2]int // from, to
	ts        int64  // of the last record that changed the key
}

// newKeyedState returns an empty state of rows whose first cols columns are
// their key. ttl is 0 without STATETTL.
func newKeyedState(cols int, ttl int64) *keyedState {
	s := &keyedState{rows: newRowStore(cols, ttl > 0), now: unseen}
	if ttl > 0 {
		s.ttl = &ttlQueue{ttl: ttl, rows: &s.rows, since: unseen}
	}
	return s
}

// advance moves the script's time. What falls by it has changed in this step.
func (s *keyedState) advance(now int64) {
	if s.ttl != nil && s.now == unseen {
		s.ttl.since = now
	}
	s.now = max(s.now, now)
	if s.ttl == nil {
		return
	}
	for {
		ref, falls, ok := s.ttl.first()
		if !ok || falls > s.now {
			return
		}
		s.ttl.pop()
		s.fallen++
		s.delete(ref, s.now)
	}
}

// wake returns the least time of the script at which a key falls.
func (s *keyedState) wake() (int64, bool) {
	if s.ttl == nil || s.now == unseen {
		return 0, false
	}
	_, falls, ok := s.ttl.first()
	return falls, ok
}

// load finds the cell of r's key, 0 when it has none. set stores the row that
// was loaded last.
func (s *keyedState) load(r row.Row) keyRef {
	s.loaded = own(s.memory, r)
	if len(r.Side) > 0 {
		s.memory = s.loaded
	}
	s.rows.keys.read(&s.key, s.loaded)
	return s.rows.find(&s.key)
}

// get returns the row at ref, false when ref is 0 or the key has none now.
func (s *keyedState) get(ref keyRef) (row.Row, bool) {
	if ref == 0 {
		return row.Row{}, false
	}
	return s.rows.row(ref)
}

// touch notes that a record came for the key at ref, which has a row.
func (s *keyedState) touch(ref keyRef) { s.touched(ref, false) }

func (s *keyedState) touched(ref keyRef, isNew bool) {
	if s.ttl == nil {
		return
	}
	s.ttl.touch(ref, s.now, isNew)
}

// set makes the row that was loaded last, whose key has the cell at ref, the
// key's row, and touches it. It returns false when no more rows can be
// addressed.
func (s *keyedState) set(ref keyRef, ts int64) bool {
	current, had := s.get(ref)
	if had && sameRow(current, s.loaded) {
		s.touch(ref)
		return true
	}
	if !s.rows.room() {
		return false
	}
	var mark uint32
	if ref != 0 {
		mark = s.rows.mark(ref)
	}
	if mark == 0 {
		mark = s.remember(current, had)
	}
	at := s.rows.put(&s.key, ref, s.loaded)
	s.rows.setMark(at, mark)
	c := &s.changed[mark-1]
	c.ref, c.ts = at, ts
	s.touched(at, !had)
	if s.ttl != nil && had && at != ref {
		s.ttl.enter(at)
	}
	return true
}

// delete takes the row at ref away.
func (s *keyedState) delete(ref keyRef, ts int64) {
	current, had := s.get(ref)
	if !had {
		return
	}
	mark := s.rows.mark(ref)
	if mark == 0 {
		mark = s.remember(current, true)
		s.rows.setMark(ref, mark)
	}
	s.rows.clear(ref)
	c := &s.changed[mark-1]
	c.ref, c.ts = ref, ts
}

// remember notes the row that a key had before the step, and returns the mark
// for the key's cell.
func (s *keyedState) remember(r row.Row, had bool) uint32 {
	c := keyChange{had: had}
	c.enc[0], c.side[0] = len(s.before.Enc), len(s.before.Side)
	s.before.Enc = append(s.before.Enc, r.Enc...)
	s.before.Side = append(s.before.Side, r.Side...)
	c.enc[1], c.side[1] = len(s.before.Enc), len(s.before.Side)
	s.changed = append(s.changed, c)
	return uint32(len(s.changed))
}

// pending tells whether the key at ref got the row it has in this step, and the
// time of the record that it is.
func (s *keyedState) pending(ref keyRef) (ts int64, ok bool) {
	mark := s.rows.mark(ref)
	if mark == 0 {
		return 0, false
	}
	return s.changed[mark-1].ts, true
}

// net returns what the step has done to the key of changed[i].
func (s *keyedState) net(i int) (before, after row.Row, what Change) {
	c := &s.changed[i]
	before = row.Row{Enc: s.before.Enc[c.enc[0]:c.enc[1]:c.enc[1]], Side: s.before.Side[c.side[0]:c.side[1]:c.side[1]]}
	after, has := s.rows.row(c.ref)
	switch {
	case c.had && !has:
		return before, after, Deleted
	case !c.had && has:
		return before, after, Inserted
	case c.had && !sameRow(before, after):
		return before, after, Updated
	}
	return before, after, NoChange
}

// endStep forgets what the step has changed.
func (s *keyedState) endStep() {
	for i := range s.changed {
		if ref := s.changed[i].ref; s.rows.gone(ref) {
			s.rows.remove(ref)
		} else {
			s.rows.setMark(ref, 0)
		}
	}
	clear(s.before.Side)
	clear(s.memory.Side[:cap(s.memory.Side)])
	s.changed = forget(s.changed)
	s.before.Enc, s.before.Side = forget(s.before.Enc), forget(s.before.Side)
	s.loaded = row.Row{}
}

// forget empties a buffer that a step has filled, and gives it back after a step
// much larger than most.
func forget[S ~[]E, E any](s S) S {
	const most = 1 << 16
	if cap(s) > most && len(s) < cap(s)/4 {
		return nil
	}
	return s[:0]
}

// read calls yield with every row until it returns false.
func (s *keyedState) read(yield func(row.Row) bool) {
	s.rows.each(func(_ keyRef, r row.Row) bool { return yield(r) })
}

// stats are the state's part of an operator's.
func (s *keyedState) stats() Stats {
	const changeSize, valueSize = 56, 16
	st := Stats{Rows: s.rows.count, Keys: s.rows.count, Fallen: s.fallen, Bytes: s.rows.bytes()}
	st.Bytes += int64(cap(s.changed))*changeSize + int64(cap(s.before.Enc)) + int64(cap(s.before.Side))*valueSize
	if s.ttl != nil {
		st.Bytes += s.ttl.bytes()
	}
	return st
}
