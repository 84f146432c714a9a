package operator

import (
	"bytes"
	"math"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// RelationalJoin keeps the join of two changing multisets of rows, ports 0 =
// left and 1 = right, without regard to their times: a change on one side changes
// the pairs that it is part of. Rows match when their keys are equal and
// Residual accepts their composite; a key with a NULL, or a NaN, matches
// nothing. In a LEFT JOIN a left row without a match is there once, with NULLs.
//
// Process only notes changes. EndStep takes their net, row by row: an update that
// changes no kept column is none. It then visits every pair of which a row
// changed once; its weight, that is the product of how many copies there are of
// both rows, may have changed. The net of the composites is emitted (docs of
// netRows): retractions first, then insertions, each in the order of the later
// of the changes that caused the pair, then of the partner's arrival, then the
// rows with NULLs. A composite's TS is that of the record that caused it; the
// greater one if changes on both sides did.
//
// A retraction of a row that is not there, as after its key fell to TTL, is
// ignored. Rows that can be part of no result are not kept.
//
// The state is every row of both sides. A row is one entry of a rowBag, in the
// chain of its key's rows in order of arrival; a key is one cell that both sides
// share.
type RelationalJoin struct {
	cfg     RelationalJoinConfig
	out     Output
	keys    *keyTable
	bags    [2]*rowBag
	present [2]int64 // keys with rows

	changes []joinChange // of the step: first those that records caused, then others
	net     netRows
	now     int64
	base    int64         // the first now: keys that were used before count from it
	touched [2]keyRef     // ends of the list of keys by use; with TTL only
	reached progressPorts // what the output is told
	flushed bool          // of port 2

	stats   Stats
	key     joinKey
	compose composer
}

// A joinChange is what a step did to one entry.
type joinChange struct {
	row       keyRef
	port      int
	before    int   // copies before the step
	after     int   // and now
	matches   int   // of a left row before the step, in a LEFT JOIN
	ts        int64 // the greatest of the records that caused it
	completed int64 // the greatest of the records that concern its row with NULLs
	came      bool  // a record brought it: its key was touched
	changed   bool  // there are more or fewer copies after the step
}

// NewRelationalJoin returns an empty join that writes to out. Its errors are
// ErrConfig.
func NewRelationalJoin(cfg RelationalJoinConfig, out Output) (*RelationalJoin, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	for port := range cfg.Keep {
		cfg.Keep[port] = max(cfg.Keep[port], cfg.Keys[port])
	}
	j := &RelationalJoin{
		cfg: cfg, out: out, now: unseen, base: unseen, net: newNetRows(), reached: newProgressPorts(),
		keys:    newKeyTable(cfg.Keys[0], cfg.TTL > 0),
		bags:    [2]*rowBag{newRowBag(chainSize), newRowBag(chainSize)},
		compose: newComposer(&JoinConfig{Keys: cfg.Keys, Keep: cfg.Keep, Out: cfg.Out}),
	}
	if cfg.Left {
		j.bags[0] = newRowBag(chainLeft)
	}
	return j, nil
}

// Advance implements Operator.
func (j *RelationalJoin) Advance(port int, p Progress) {
	if port < 2 {
		j.reached.advance(port, p)
		return
	}
	if j.flushed || p.Seen <= j.now {
		return
	}
	if j.now = p.Seen; j.base == unseen {
		j.base = j.now
	}
	j.fall()
}

// Process implements Operator: it notes the change.
func (j *RelationalJoin) Process(port int, rec Record) {
	if rec.Past {
		return
	}
	b := j.bags[port]
	r := b.prune(rec.Row, j.cfg.Keep[port])
	defer b.forget()
	if !j.concerns(port, r) {
		return
	}
	hash := b.hash(r)
	at := b.find(r, hash)
	if at == 0 {
		if !b.cells.room() || !j.keys.cells.room() {
			j.out.Drop(port, rec, RowsGate, false)
			return
		}
		at = b.insert(r, hash)
		j.enter(port, at, r)
	}
	c := j.change(port, at)
	c.after = max(0, c.after+int(rec.Diff))
	c.ts, c.came = max(c.ts, rec.TS), true
}

// concerns tells whether a row can be part of a result: one without a key is
// only as a left row of a LEFT JOIN.
func (j *RelationalJoin) concerns(port int, r row.Row) bool {
	if port == 0 && j.cfg.Left || j.cfg.NullsMatch {
		return true
	}
	for i := range j.cfg.Keys[port] {
		if v := r.Col(i); v.IsNull() || v.IsNaN() {
			return false
		}
	}
	return true
}

// change returns the change of an entry in this step.
func (j *RelationalJoin) change(port int, at keyRef) *joinChange {
	e := j.bags[port].entry(at)
	if n := e.change(); n != 0 {
		return &j.changes[n-1]
	}
	c := joinChange{row: at, port: port, before: e.count(), after: e.count(), ts: math.MinInt64, completed: math.MinInt64}
	if port == 0 && j.cfg.Left {
		c.matches = int(get32(e.extra()[chainMatches:]))
	}
	j.changes = append(j.changes, c)
	e.setChange(len(j.changes))
	return &j.changes[len(j.changes)-1]
}

// EndStep implements Operator: it emits what the step's changes did to the
// join, and raises the output's progress.
func (j *RelationalJoin) EndStep() {
	if len(j.changes) > 0 {
		j.touch()
		j.settle()
		for i, n := 0, len(j.changes); i < n; i++ {
			if j.changes[i].changed {
				j.pair(i)
			}
		}
		if j.cfg.Left {
			j.complete()
		}
		matches, unmatched := j.net.emit(j.out)
		j.stats.Matches += matches
		j.stats.LeftTimeouts += unmatched
		j.forget()
	}
	if p, ok := j.reached.raise(); ok {
		j.out.Advance(p)
	}
}

// settle gives entries the number of copies that they have after the step.
func (j *RelationalJoin) settle() {
	for i := range j.changes {
		c := &j.changes[i]
		b := j.bags[c.port]
		b.recount(b.entry(c.row), c.after)
		if c.changed = c.after != c.before; c.changed {
			c.completed = c.ts
		}
	}
}

// pair visits the pairs of which the entry of change i is part, but not those
// whose other row changed too and later: that one's turn comes.
func (j *RelationalJoin) pair(i int) {
	c := j.changes[i]
	other := 1 - c.port
	here, there := j.bags[c.port], j.bags[other]
	e := here.entry(c.row)
	var mine, partner view
	mine.of(here.row(e), j.cfg.Keys[c.port])
	var framed []byte // the key of the partner that the composite was framed with
	cell := j.keys.cell(keyRef(get32(e.extra()[chainCell:])))
	var next keyRef
	for at := keyRef(cell.first(other)); at != 0; at = next {
		q := there.entry(at)
		next = keyRef(get32(q.extra()[chainNext:]))
		j.stats.Visited++
		before, after, ts := q.count(), q.count(), c.ts
		if n := q.change(); n != 0 && j.changes[n-1].changed {
			if n-1 > i {
				continue
			}
			before, ts = j.changes[n-1].before, max(ts, j.changes[n-1].ts)
		}
		if before == 0 && after == 0 {
			continue
		}
		partner.of(there.row(q), j.cfg.Keys[other])
		var composite row.Row
		switch {
		case len(mine.side) > 0 || len(partner.side) > 0:
			composite, framed = j.compose.pair(c.port, &mine, &partner), nil
		case framed != nil && bytes.Equal(framed, partner.key):
			composite.Enc = j.compose.patch(c.port, partner.cols)
		default:
			composite.Enc, framed = j.compose.frame(c.port, &mine, partner.key, partner.cols), partner.key
		}
		if j.cfg.Residual == nil || j.cfg.Residual(composite) {
			j.net.add(composite, c.after*after-c.before*before, ts, 0)
			switch {
			case !j.cfg.Left:
			case c.port == 0:
				j.match(c.row, before, after, ts)
			default:
				j.match(at, c.before, c.after, ts)
			}
		}
		j.compose.forget()
	}
}

// match notes what became of one match of a left entry, a right entry of which
// there were before copies and are after now.
func (j *RelationalJoin) match(left keyRef, before, after int, ts int64) {
	x := j.bags[0].entry(left)
	was := 0
	if n := x.change(); before > 0 && !(n != 0 && j.changes[n-1].before == 0) {
		was = 1
	}
	is := 0
	if after > 0 {
		is = 1
	}
	if was == is {
		return
	}
	c := j.change(0, left)
	c.completed = max(c.completed, ts)
	at := x.extra()[chainMatches:]
	put32(at, uint32(int(get32(at))+is-was))
}

// complete adds the rows with NULLs that left entries gained or lost.
func (j *RelationalJoin) complete() {
	for i := range j.changes {
		c := &j.changes[i]
		if c.port != 0 {
			continue
		}
		b := j.bags[0]
		e := b.entry(c.row)
		before, after := c.before, c.after
		if c.matches > 0 {
			before = 0
		}
		if get32(e.extra()[chainMatches:]) > 0 {
			after = 0
		}
		if before != after {
			var v view
			v.of(b.row(e), j.cfg.Keys[0])
			j.net.add(j.compose.unmatched(&v), after-before, c.completed, 1<<1)
			j.compose.forget()
		}
	}
}

// forget ends the step: entries without copies leave.
func (j *RelationalJoin) forget() {
	for i := range j.changes {
		c := &j.changes[i]
		e := j.bags[c.port].entry(c.row)
		e.setChange(0)
		if e.count() == 0 {
			j.leave(c.port, c.row)
		}
	}
	j.changes = forget(j.changes)
}

// Wake implements Operator: time on port 2 makes keys leave, and the output's
// Seen is the greater one of ports 0 and 1.
func (j *RelationalJoin) Wake(port int, need int64) (int64, bool) {
	if port < 2 {
		return need, need != farthest && need > j.reached.seen()
	}
	if j.flushed || j.touched[least] == 0 {
		return 0, false
	}
	c := j.keys.cell(j.touched[least])
	if j.now == unseen {
		return 0, false // it leaves TTL after whatever the first now() is
	}
	return j.due(c)
}

// Flush implements Operator. It emits nothing: what is joined stays so. now()
// stands still once port 2 is flushed.
func (j *RelationalJoin) Flush(port int, _ CloseReason) { j.flushed = j.flushed || port == 2 }

// Stats implements Operator. Rows counts each copy of a row; a key with rows on
// both sides counts twice.
func (j *RelationalJoin) Stats() Stats {
	st := j.stats
	st.Rows = j.bags[0].rows + j.bags[1].rows
	st.Keys = j.present[0] + j.present[1]
	st.Bytes = j.keys.bytes() + j.bags[0].bytes() + j.bags[1].bytes() + j.net.bytes()
	return st
}

// Read implements Reader.
func (j *RelationalJoin) Read(yield func(row.Row) bool) {
	var left, right view
	defer j.compose.forget()
	times := func(r row.Row, n int) bool {
		for range n {
			if !yield(r) {
				return false
			}
		}
		return true
	}
	j.bags[0].each(func(e entry) bool {
		left.of(j.bags[0].row(e), j.cfg.Keys[0])
		if j.cfg.Left && get32(e.extra()[chainMatches:]) == 0 {
			return times(j.compose.unmatched(&left), e.count())
		}
		c := j.keys.cell(keyRef(get32(e.extra()[chainCell:])))
		for at := keyRef(c.first(1)); at != 0; {
			q := j.bags[1].entry(at)
			at = keyRef(get32(q.extra()[chainNext:]))
			right.of(j.bags[1].row(q), j.cfg.Keys[1])
			composite := j.compose.pair(0, &left, &right)
			if j.cfg.Residual != nil && !j.cfg.Residual(composite) {
				continue
			}
			if !times(composite, e.count()*q.count()) {
				return false
			}
		}
		return true
	})
}

// of makes v the view of a row of a bag with so many key columns.
func (v *view) of(r row.Row, keys int) {
	n := r.Offset(keys)
	v.key, v.cols, v.side = r.Enc[:n:n], r.Enc[n:], r.Side
}
