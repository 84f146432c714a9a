package operator

import (
	"math"

	"fmt"
	"strings"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// Aggregate keeps the aggregates of groups of rows. Port 0 takes the rows, +1 and
// −1; port 1 is the script's time and only there with a TTL. The output is a
// state table: the key columns as first spelled, then a column for each
// Aggregation. A group without rows has no row, the global one neither.
//
// A row that would bring a sum of integers out of 64 bits goes to Output.Drop
// with SumOverflow and is not counted in any aggregate of its group; its later
// retraction is ignored. A retraction that leaves rows whose integers add up to
// more than 64 bits goes there too, but is counted: the sum is NULL then.
type Aggregate struct {
	cfg    AggregateConfig
	out    Output
	relay  relay
	groups *groups

	changed []groupChange // of the step, in the order of the groups' first change
	before  row.Row       // columns of the rows before the step, one row after another
	row     row.Row       // memory of the last row

	// With a TTL the groups are in a list, in the order in which they were
	// touched.
	oldest, newest keyRef
	now            int64
	since          int64 // when now became known: groups that were there count as touched then
	timeOver       bool
	fallen         int64
}

// groupChange is a group that the step has touched.
type groupChange struct {
	ref  keyRef
	ts   int64
	had  bool // a row before the step
	from int  // that row, in Aggregate.before
	to   int
	side []any
}

// NewAggregate returns an aggregate without groups.
func NewAggregate(cfg AggregateConfig, out Output) (*Aggregate, error) {
	if err := cfg.check("aggregate"); err != nil {
		return nil, err
	}
	return &Aggregate{cfg: cfg, out: out, relay: newRelay(), groups: newGroups(&cfg), now: unseen, since: unseen}, nil
}

// Advance implements Operator. Groups fall by their TTL here, so that a record
// of the same step finds them gone.
func (a *Aggregate) Advance(port int, p Progress) {
	if port == 0 {
		a.relay.note(p)
		return
	}
	if a.cfg.TTL == 0 || a.timeOver || p.Seen <= a.now {
		return
	}
	if a.now == unseen {
		a.since = p.Seen
	}
	a.now = p.Seen
	for ref := a.oldest; ref != 0 && a.falls(ref, a.now); ref = a.groups.keys.cell(ref).newerGroup() {
		if c := a.groups.keys.cell(ref); c.groupRows() > 0 {
			a.fallen++
			a.touch(ref).ts = a.now
		} else {
			a.touch(ref)
		}
		a.groups.empty(ref)
	}
}

// falls tells whether the group at ref was not touched for its TTL before now.
func (a *Aggregate) falls(ref keyRef, now int64) bool {
	at, ok := a.end(ref)
	return ok && at <= now
}

// end returns when the group at ref falls if nothing touches it.
func (a *Aggregate) end(ref keyRef) (int64, bool) {
	return reach(max(a.groups.keys.cell(ref).touched(), a.since), a.cfg.TTL)
}

// Process implements Operator.
func (a *Aggregate) Process(port int, rec Record) {
	if port != 0 || rec.Past {
		return
	}
	ref, same := a.groups.find(rec.Row)
	switch {
	case ref == 0 && rec.Diff < 0:
		return // its group fell
	case ref == 0 && !a.groups.room():
		a.out.Drop(port, rec, RowsGate, false)
		return
	case ref == 0:
		ref = a.groups.insert(rec.Row)
		if a.cfg.TTL > 0 {
			a.append(ref)
		}
	}
	change := a.touch(ref)
	if !same && rec.Diff > 0 && a.groups.keys.cell(ref).groupRows() == 0 {
		ref = a.respell(ref, rec.Row)
	}
	counted, overflow := a.groups.fold(ref, rec.Row, int64(rec.Diff), !a.cfg.AppendOnly)
	if overflow {
		a.out.Drop(port, rec, SumOverflow, false)
	}
	if !counted {
		return
	}
	change.ts = max(change.ts, rec.TS)
	if a.cfg.TTL > 0 {
		a.unlink(ref)
		a.append(ref)
	}
}

// touch notes the row that the group at ref had before the step. What it returns
// is valid until the next touch.
func (a *Aggregate) touch(ref keyRef) *groupChange {
	c := a.groups.keys.cell(ref)
	if mark := c.mark(); mark != 0 {
		return &a.changed[mark-1]
	}
	change := groupChange{ref: ref, had: c.groupRows() > 0, from: len(a.before.Enc), ts: math.MinInt64}
	if change.had {
		a.groups.appendRow(&a.before, ref)
		change.side, a.before.Side = a.before.Side, nil
	}
	change.to = len(a.before.Enc)
	a.changed = append(a.changed, change)
	c.setMark(uint32(len(a.changed)))
	return &a.changed[len(a.changed)-1]
}

func (a *Aggregate) respell(ref keyRef, r row.Row) keyRef {
	if a.cfg.TTL > 0 {
		a.unlink(ref)
	}
	ref = a.groups.respell(ref, r)
	if a.cfg.TTL > 0 {
		a.append(ref)
	}
	a.changed[a.groups.keys.cell(ref).mark()-1].ref = ref
	return ref
}

func (a *Aggregate) rowBefore(c *groupChange) row.Row {
	return row.Row{Enc: a.before.Enc[c.from:c.to:c.to], Side: c.side}
}

// EndStep implements Operator.
func (a *Aggregate) EndStep() {
	for i := range a.changed {
		a.emit(&a.changed[i])
	}
	clear(a.changed)
	a.changed, a.before.Enc = forget(a.changed), forget(a.before.Enc)
	a.relay.pass(a.out)
}

// emit sends what the step has changed of a group.
func (a *Aggregate) emit(change *groupChange) {
	c := a.groups.keys.cell(change.ref)
	c.setMark(0)
	if c.groupRows() > 0 {
		a.row.Enc, a.row.Side = a.row.Enc[:0], a.row.Side[:0]
		a.groups.appendRow(&a.row, change.ref)
	}
	switch {
	case c.groupRows() == 0:
		if change.had {
			a.out.Emit(Record{TS: change.ts, Diff: -1, Row: a.rowBefore(change)})
		}
	case !change.had:
		a.out.Emit(Record{TS: change.ts, Diff: 1, Row: a.row})
	default:
		if before := a.rowBefore(change); !sameRow(before, a.row) {
			a.out.Emit(Record{TS: change.ts, Diff: -1, Row: before})
			a.out.Emit(Record{TS: change.ts, Diff: 1, Row: a.row})
		}
	}
	clear(a.row.Side)
	if a.groups.needless(change.ref) {
		if a.cfg.TTL > 0 {
			a.unlink(change.ref)
		}
		a.groups.remove(change.ref)
	}
}

// append puts a group at the end of the list, as touched now.
func (a *Aggregate) append(ref keyRef) {
	c := a.groups.keys.cell(ref)
	c.setTouched(a.now)
	c.setOlderGroup(a.newest)
	c.setNewerGroup(0)
	if a.newest != 0 {
		a.groups.keys.cell(a.newest).setNewerGroup(ref)
	} else {
		a.oldest = ref
	}
	a.newest = ref
}

func (a *Aggregate) unlink(ref keyRef) {
	c := a.groups.keys.cell(ref)
	older, newer := c.olderGroup(), c.newerGroup()
	if older != 0 {
		a.groups.keys.cell(older).setNewerGroup(newer)
	} else {
		a.oldest = newer
	}
	if newer != 0 {
		a.groups.keys.cell(newer).setOlderGroup(older)
	} else {
		a.newest = older
	}
}

// Wake implements Operator.
func (a *Aggregate) Wake(port int, need int64) (int64, bool) {
	if port == 0 {
		return a.relay.wake(need)
	}
	if a.timeOver || a.now == unseen {
		return 0, false
	}
	for ref := a.oldest; ref != 0; ref = a.groups.keys.cell(ref).newerGroup() {
		if a.groups.keys.cell(ref).groupRows() > 0 {
			return a.end(ref)
		}
	}
	return 0, false
}

// Flush implements Operator. A table stays as it is.
func (a *Aggregate) Flush(port int, _ CloseReason) {
	if port == 1 {
		a.timeOver = true
	}
	a.EndStep()
}

// Stats implements Operator.
func (a *Aggregate) Stats() Stats {
	const changeSize = 72
	return Stats{
		Rows: a.groups.visible, Keys: a.groups.visible, Fallen: a.fallen,
		Bytes: a.groups.bytes() + int64(cap(a.changed))*changeSize + int64(cap(a.before.Enc)),
	}
}

// Describe implements Operator.
func (a *Aggregate) Describe() Description {
	ends := ""
	if a.cfg.TTL > 0 {
		ends = fmt.Sprintf("state: a group not touched for %s is deleted (STATETTL)", time.Duration(a.cfg.TTL))
	}
	return Description{Name: "Aggregate", Lines: lines(a.cfg.Text, "state: one row a group"+a.cfg.keeps(), ends)}
}

// keeps says which aggregates need more state than their row.
func (cfg *AggregateConfig) keeps() string {
	var all []string
	for _, g := range cfg.Aggs {
		name := g.Kind.String()
		if g.Distinct {
			name += " distinct"
		}
		switch g.Kind {
		case AggCollect:
		case AggCount, AggSum, AggAvg:
			if !g.Distinct {
				continue
			}
		default:
			if cfg.AppendOnly && !g.Distinct {
				continue
			}
		}
		all = append(all, name)
	}
	if len(all) == 0 {
		return ""
	}
	return ", and the values of " + strings.Join(all, ", ")
}

// Read implements Reader.
func (a *Aggregate) Read(yield func(row.Row) bool) {
	var r row.Row
	a.groups.each(func(ref keyRef, c cell) bool {
		if mark := c.mark(); mark != 0 { // between two steps there is none
			change := &a.changed[mark-1]
			return !change.had || yield(a.rowBefore(change))
		}
		if c.groupRows() == 0 {
			return true
		}
		r.Enc, r.Side = r.Enc[:0], r.Side[:0]
		a.groups.appendRow(&r, ref)
		return yield(r)
	})
}
