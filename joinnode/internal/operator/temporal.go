package operator

import (
	"slices"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// TemporalJoin joins each row of a stream, port 0, with the version that its key
// had in a table at the row's time, port 1: the one with the greatest time at or
// before it. It is append-only: a row leaves once, with its own time, and a
// version that comes after it revises nothing (Stats.LateVersions).
//
// A +1 at port 1 is its key's version from its TS on, a −1 says that there is none
// from then on; where both come for a key in one step, the +1 counts unless the −1
// is of a later time. A TS below that of the key's newest version counts as that
// one's, and the older version is replaced. A record with Past is the version from
// its TS to the next one's. A key with a NULL or a NaN has no versions.
//
// A row waits until each port is idle or has a Low at or above the row's TS, and
// leaves in the EndStep of that step, in (TS, arrival) order, after the step's
// versions. The history goes back to the least Low that both ports ever had, idle
// or not, as of the end of the step before: of each key the newest version at or
// below that one is kept and what came after it. A row older than that version, or
// than the time at which a key without a version lost its last, is Late; it never
// gets NULLs in the place of a version that is gone.
//
// The output's Low is the least Low of the ports that are not idle, and so is its
// Seen: its rows lag behind its inputs' Seen, and a WITHIN behind it must not
// take them for late.
type TemporalJoin struct {
	cfg     TemporalJoinConfig
	out     Output
	table   *history
	waiting *backlog
	keys    int // with rows that wait
	changed []tableChange
	places  map[keyRef]int // in changed, where that is long
	stats   Stats          // what is not counted by table and backlog

	ports   [2]Progress
	told    Progress
	flushed [2]bool

	key     joinKey
	compose composer
	stored  row.Row // columns on their way into the state
	dropped row.Row // a row on its way to Drop
	ahead   ahead
	cached  int64 // Prefetch does nothing below this size of the history
}

// A tableChange is what a step did to a key at port 1, Past records left aside.
type tableChange struct {
	key       keyRef
	put       bool  // a +1 came; it is in the history already
	retracted int64 // the greatest TS of a −1, unseen when none came
}

// NewTemporalJoin returns an empty join that writes to out. Its errors are
// ErrConfig.
func NewTemporalJoin(cfg TemporalJoinConfig, out Output) (*TemporalJoin, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	for port := range cfg.Keep {
		cfg.Keep[port] = max(cfg.Keep[port], cfg.Keys[port])
	}
	none := Progress{Seen: unseen, Low: unseen}
	j := &TemporalJoin{
		cfg: cfg, out: out, told: none, places: map[keyRef]int{}, ports: [2]Progress{none, none}, cached: cachedState,
		compose: newComposer(&JoinConfig{Keys: cfg.Keys, Keep: cfg.Keep, Out: cfg.Out}),
	}
	j.clear()
	return j, nil
}

// clear empties the state.
func (j *TemporalJoin) clear() {
	if j.table != nil {
		j.stats = j.Stats()
		j.stats.Rows, j.stats.Keys, j.stats.Bytes = 0, 0, 0
	}
	j.table, j.waiting = newHistory(j.cfg.Keys[0]), newBacklog()
}

// Advance implements Operator. What it brings about happens in EndStep, after
// the step's versions.
func (j *TemporalJoin) Advance(port int, p Progress) {
	at := &j.ports[port]
	at.Seen, at.Low, at.Idle = max(at.Seen, p.Seen), max(at.Low, p.Low), p.Idle
}

// Process implements Operator. It takes no records of a port that was flushed.
func (j *TemporalJoin) Process(port int, rec Record) {
	if j.flushed[port] {
		return
	}
	j.table.keys.read(&j.key, rec.Row)
	lacksKey := j.lacksKey(rec.Row)
	if port == 1 {
		if !lacksKey {
			j.version(&rec)
		}
		return
	}
	if rec.Past || rec.Diff < 0 || lacksKey && !j.cfg.Left {
		return
	}
	j.wait(&rec, lacksKey)
}

// lacksKey tells whether the row that was read into j.key has a key that equals
// nothing.
func (j *TemporalJoin) lacksKey(r row.Row) bool {
	if j.key.text != nil {
		return false
	}
	for i := range j.cfg.Keys[0] {
		if v := r.Col(i); v.IsNull() || v.IsNaN() {
			return true
		}
	}
	return false
}

// wait stores a row of the stream, whose key is in j.key.
func (j *TemporalJoin) wait(rec *Record, lacksKey bool) {
	if !j.waiting.room(len(rec.Row.Enc)) || !j.table.room() {
		j.out.Drop(0, *rec, RowsGate, false)
		return
	}
	var x view
	x.arrive(rec, &j.key, j.cfg.Keep[0]-j.cfg.Keys[0])
	h := header{ts: x.ts, nulls: x.nulls, why: x.why, cols: x.cols}
	same := false
	if !lacksKey {
		h.key, same = j.table.enter(&j.key)
		if j.table.keys.cell(h.key).wait(1) == 1 {
			j.keys++
		}
	}
	if !same || len(x.side) > 0 {
		j.own(&x, same, &h.flags)
		h.cols, h.side = j.stored.Enc, j.stored.Side
	}
	j.waiting.add(&h)
	clear(j.stored.Side)
}

// own puts what a stored row has itself into j.stored.
func (j *TemporalJoin) own(x *view, same bool, flags *uint8) {
	own, f := x.keep(row.Row{Enc: j.stored.Enc[:0], Side: j.stored.Side[:0]}, same)
	j.stored = own
	*flags |= f
}

// version takes a record of the table, whose key is in j.key.
func (j *TemporalJoin) version(rec *Record) {
	if !j.table.room() {
		j.out.Drop(1, *rec, RowsGate, false)
		return
	}
	k, same := j.table.enter(&j.key)
	if rec.Diff < 0 {
		if rec.Past {
			j.table.past(k, rec.TS, &state{flags: versionNone})
		} else {
			c := j.change(k)
			c.retracted = max(c.retracted, rec.TS)
		}
		return
	}
	var x view
	x.arrive(rec, &j.key, j.cfg.Keep[1]-j.cfg.Keys[1])
	is := state{row: row.Row{Enc: x.cols}}
	if !same || len(x.side) > 0 {
		var flags uint8
		j.own(&x, same, &flags)
		if is.row = j.stored; flags&ownKey != 0 {
			is.flags = versionOwnKey
		}
	}
	if rec.Past {
		j.table.past(k, rec.TS, &is)
	} else {
		j.change(k).put = true
		j.table.current(k, rec.TS, &is)
	}
	clear(j.stored.Side)
}

// change returns what the step has done to k so far.
func (j *TemporalJoin) change(k keyRef) *tableChange {
	c := j.table.keys.cell(k)
	if c.stepped() {
		return &j.changed[j.place(k)]
	}
	c.setStepped(true)
	j.changed = append(j.changed, tableChange{key: k, retracted: unseen})
	last := len(j.changed) - 1
	if last == fewKeys {
		for i := range j.changed {
			j.places[j.changed[i].key] = i
		}
	} else if last > fewKeys {
		j.places[k] = last
	}
	return &j.changed[last]
}

// place returns where in j.changed a key is. Most steps change one, or a few.
func (j *TemporalJoin) place(k keyRef) int {
	if len(j.changed) > fewKeys {
		return j.places[k]
	}
	return slices.IndexFunc(j.changed, func(x tableChange) bool { return x.key == k })
}

// retract ends the versions of the keys that the step took out of the table.
func (j *TemporalJoin) retract() {
	for _, x := range j.changed {
		c := j.table.keys.cell(x.key)
		c.setStepped(false)
		if superseded := x.put && j.table.newest(c) >= x.retracted; x.retracted == unseen || superseded {
			j.table.leave(x.key, c) // a record with Past may have ended the version again
			continue
		}
		j.table.current(x.key, x.retracted, &state{flags: versionNone})
	}
	clear(j.places)
	j.changed = forget(j.changed)
}

// EndStep implements Operator.
func (j *TemporalJoin) EndStep() {
	j.retract()
	low, idle := j.reached()
	j.release(low)
	j.table.raise(min(j.ports[0].Low, j.ports[1].Low))
	now := Progress{Seen: j.told.Low, Low: j.told.Low, Idle: idle}
	if !idle {
		now.Low = max(now.Low, low)
		now.Seen = now.Low
	}
	if now != j.told {
		j.told = now
		j.out.Advance(now)
	}
}

// reached returns up to where rows leave; idle says that both ports are, so that
// nothing waits.
func (j *TemporalJoin) reached() (low int64, idle bool) {
	low, idle = farthest, true
	for i := range j.ports {
		if p := &j.ports[i]; !p.Idle {
			low, idle = min(low, p.Low), false
		}
	}
	return low, idle
}

// release emits the rows that wait up to time low.
func (j *TemporalJoin) release(low int64) {
	for {
		r, rec, ok := j.waiting.first()
		if !ok || rec.ts() > low {
			return
		}
		j.join(r, rec)
		k := rec.key()
		j.waiting.removeFirst(r, rec)
		if k == 0 {
			continue
		}
		c := j.table.keys.cell(k)
		if c.wait(-1) == 0 {
			j.keys--
			j.table.leave(k, c)
		}
	}
}

// join emits the row at r with its version.
func (j *TemporalJoin) join(r ref, rec record) {
	x := viewOf(j.table.keys, &j.waiting.arena, r, rec)
	k := rec.key()
	if k == 0 {
		j.complement(&x)
		return
	}
	c := j.table.keys.cell(k)
	at := j.table.at(k, c, x.ts)
	if at == 0 && j.table.lacks(c, x.ts) {
		j.drop(&x)
		return
	}
	j.table.read(c, at, x.ts)
	if at == 0 {
		j.complement(&x)
		return
	}
	v := j.table.version(at)
	if v.has(versionNone) {
		j.complement(&x)
		return
	}
	out := Record{TS: x.ts, Diff: 1, Nulls: x.nulls, Why: x.why}
	plain := x.flags&special == 0 && !v.has(versionOwnKey) && v.side() == noSide
	if plain {
		out.Row.Enc = j.compose.frame(0, &x, x.key, v.cols())
	} else {
		partner := view{cols: v.cols(), side: j.values(v)}
		if v.has(versionOwnKey) {
			partner.flags = ownKey
		} else {
			partner.key, _ = j.table.keys.text(c)
		}
		out.Row = j.compose.pair(0, &x, &partner)
	}
	if j.cfg.Residual != nil && !j.cfg.Residual(out.Row) {
		j.compose.forget()
		j.complement(&x)
		return
	}
	j.stats.Matches++
	j.out.Emit(out)
	if !plain {
		j.compose.forget()
	}
}

func (j *TemporalJoin) values(v version) []any { return j.table.values.at(v.side()) }

// complement emits a row that no version matches with NULLs, if it is a LEFT
// JOIN.
func (j *TemporalJoin) complement(x *view) {
	if !j.cfg.Left {
		return
	}
	j.stats.LeftTimeouts++
	j.out.Emit(Record{TS: x.ts, Diff: 1, Row: j.compose.unmatched(x), Nulls: x.nulls | 1<<1, Why: x.why})
	j.compose.forget()
}

// drop gives a row up that is older than the history.
func (j *TemporalJoin) drop(x *view) {
	j.dropped = x.whole(row.Row{Enc: j.dropped.Enc[:0], Side: j.dropped.Side[:0]})
	j.out.Drop(0, Record{TS: x.ts, Diff: 1, Row: j.dropped, Nulls: x.nulls, Why: x.why}, Late, false)
	clear(j.dropped.Side)
}

// Wake implements Operator: at the oldest row that waits, if the other port lets
// it go. Whether an INNER JOIN then has a version for it is looked up only then.
// A port's Low is taken to follow its Seen at the distance that it has now.
func (j *TemporalJoin) Wake(port int, need int64) (int64, bool) {
	p, other := &j.ports[port], &j.ports[1-port]
	limit := int64(farthest) // what the output can reach by this port alone
	if !other.Idle {
		limit = other.Low
	}
	at, ok := int64(farthest), false
	if _, rec, found := j.waiting.first(); found && rec.ts() <= limit {
		at, ok = rec.ts(), true
	}
	if need > j.told.Low && need <= limit && need != farthest {
		at, ok = min(at, need), true
	}
	if !ok {
		return 0, false
	}
	if p.Low == unseen {
		return at, true
	}
	return reach(at, p.Seen-p.Low)
}

// Flush implements Operator. Once both ports are flushed, all rows that wait
// leave, and the state is freed.
func (j *TemporalJoin) Flush(port int, _ CloseReason) {
	if j.flushed[port] {
		return
	}
	if j.flushed[port] = true; !j.flushed[1-port] {
		return
	}
	j.retract()
	j.release(farthest)
	j.stats.Expired += int64(j.table.versions)
	j.clear()
}

// Stats implements Operator. Rows are those that wait and the versions, Keys
// those of both together; Expired are the versions that left the history.
func (j *TemporalJoin) Stats() Stats {
	st, h := j.stats, j.table
	st.Rows = int64(j.waiting.rows + h.versions)
	st.Keys = int64(j.keys + h.present)
	st.Bytes = j.waiting.bytes() + h.bytes()
	st.Expired += h.dropped
	st.LateVersions += h.late
	st.Visited += h.count.visited + j.waiting.count.visited
	st.Moved += h.count.moved + j.waiting.count.moved
	return st
}
