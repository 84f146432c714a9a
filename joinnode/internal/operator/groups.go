package operator

import (
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// groups are the groups of an Aggregate or a Window, by key. A group is a cell of
// the key table:
//
//	hash   4 bytes
//	size   4 bytes: of the text, as in every cell
//	rows   8 bytes: how many are in the group
//	mark   4 bytes, for the operator
//	more   4 bytes: the number of its holdings, 0 = none
//	touch  8 bytes, older and newer keyRef of 4 bytes: only with TTL
//	state  of the accumulators
//	text   the key columns as first spelled, or the normalised key
//
// It exists as long as it has rows, or rows that were refused.
type groups struct {
	keys  *keyTable
	key   joinKey
	aggs  *aggregates
	state int // where in a cell the state of the accumulators is

	holdings []*holdings
	spare    []uint32 // numbers of holdings that are free
	held     int64    // bytes of all holdings
	visible  int64    // groups with rows

	g groupState // of the group at hand
	n uint32     // the number of g.more

	ahead  ahead
	cached int64 // prefetch does nothing below this size of the state
}

const (
	groupRows   = 8
	groupMark   = 16
	groupMore   = 20
	groupPlain  = 24 // where the state is without TTL
	groupTouch  = 24
	groupOlder  = 32
	groupNewer  = 36
	groupTimed  = 40 // with TTL
	holdingNone = 0
)

func newGroups(cfg *AggregateConfig) *groups {
	s := &groups{
		keys:     newKeyTable(cfg.Keys, false),
		aggs:     newAggregates(cfg.Aggs, cfg.AppendOnly, cfg.Mismatch),
		state:    groupPlain,
		holdings: []*holdings{holdingNone: nil},
		cached:   cachedState,
	}
	if cfg.TTL > 0 {
		s.state = groupTimed
	}
	s.keys.header = s.state + s.aggs.fixed
	return s
}

func (c cell) groupRows() int64         { return int64(load64(c[groupRows:])) }
func (c cell) mark() uint32             { return get32(c[groupMark:]) }
func (c cell) setMark(m uint32)         { put32(c[groupMark:], m) }
func (c cell) touched() int64           { return int64(load64(c[groupTouch:])) }
func (c cell) setTouched(t int64)       { store64(c[groupTouch:], uint64(t)) }
func (c cell) olderGroup() keyRef       { return keyRef(get32(c[groupOlder:])) }
func (c cell) newerGroup() keyRef       { return keyRef(get32(c[groupNewer:])) }
func (c cell) setOlderGroup(ref keyRef) { put32(c[groupOlder:], uint32(ref)) }
func (c cell) setNewerGroup(ref keyRef) { put32(c[groupNewer:], uint32(ref)) }

// find returns the group of a row, 0 when there is none, and whether the row
// spells its key in the same way.
func (s *groups) find(r row.Row) (ref keyRef, same bool) {
	s.keys.read(&s.key, r)
	return s.keys.find(&s.key)
}

// room tells whether there can be one more group.
func (s *groups) room() bool { return s.keys.cells.room() }

// insert makes a group for the key that find did not find; r is its first row.
func (s *groups) insert(r row.Row) keyRef {
	ref := s.keys.insert(&s.key)
	if s.key.values {
		s.open(ref)
		s.keepKey(r)
		s.close(ref)
	}
	return ref
}

// keepKey holds on to the key columns of r for the group at hand.
func (s *groups) keepKey(r row.Row) {
	if s.g.more == nil {
		s.g.more = &holdings{}
	}
	s.g.more.key = row.AppendRow(row.Row{}, r.Slice(0, s.keys.cols))
	s.g.more.bytes += int64(len(s.g.more.key.Enc)) + 16*int64(len(s.g.more.key.Side))
}

// open makes the group at ref the one at hand, s.g.
func (s *groups) open(ref keyRef) {
	s.at(s.keys.cell(ref))
	if s.g.more != nil {
		s.held -= s.g.more.bytes
	}
}

// at makes s.g what the cell c says.
func (s *groups) at(c cell) {
	s.n = get32(c[groupMore:])
	s.g.rows, s.g.fixed, s.g.more = c.groupRows(), c[s.state:s.state+s.aggs.fixed], s.holdings[s.n]
}

// close puts back what changed of the group at hand, which is at ref.
func (s *groups) close(ref keyRef) {
	c := s.keys.cell(ref)
	before := c.groupRows()
	store64(c[groupRows:], uint64(s.g.rows))
	switch {
	case before == 0 && s.g.rows > 0:
		s.visible++
	case before > 0 && s.g.rows == 0:
		s.visible--
	}
	if s.g.more == nil {
		return
	}
	if s.n == holdingNone {
		if last := len(s.spare) - 1; last >= 0 {
			s.n, s.spare = s.spare[last], s.spare[:last]
		} else {
			s.n = uint32(len(s.holdings))
			s.holdings = append(s.holdings, nil)
		}
		s.holdings[s.n] = s.g.more
		put32(c[groupMore:], s.n)
		s.g.more.bytes += holdingsSize
	}
	s.held += s.g.more.bytes
}

// remove deletes the group at ref.
func (s *groups) remove(ref keyRef) {
	c := s.keys.cell(ref)
	if c.groupRows() > 0 {
		s.visible--
	}
	if n := get32(c[groupMore:]); n != holdingNone {
		s.held -= s.holdings[n].bytes
		s.holdings[n] = nil
		s.spare = append(s.spare, n)
	}
	s.keys.remove(ref)
}

// respell makes the group at ref anew, with the spelling of its key that find
// was asked for: no row has the old one any more. It returns where the group is
// now.
func (s *groups) respell(ref keyRef, r row.Row) keyRef {
	old := s.keys.cell(ref)
	header := append([]byte(nil), old[groupRows:s.keys.header]...)
	s.keys.remove(ref)
	ref = s.keys.insert(&s.key)
	c := s.keys.cell(ref)
	copy(c[groupRows:], header)
	if n := get32(c[groupMore:]); s.key.values || n != holdingNone {
		s.open(ref)
		if s.key.values {
			s.keepKey(r)
		} else if s.g.more != nil {
			s.g.more.key = row.Row{}
		}
		s.close(ref)
	}
	return ref
}

// fold adds a row to the group at ref for diff 1, or takes it away for −1. A row
// that would bring a sum out of its range is refused, which fold reports; so is,
// silently, the retraction of a refused row. counted tells whether the group
// changed.
func (s *groups) fold(ref keyRef, r row.Row, diff int64, remember bool) (counted, overflow bool) {
	s.open(ref)
	counted, overflow = s.take(r, diff, remember)
	s.aggs.done(r)
	s.close(ref)
	return counted, overflow
}

// take is fold for the group at hand.
func (s *groups) take(r row.Row, diff int64, remember bool) (counted, overflow bool) {
	if diff < 0 {
		if s.recall(r) || s.g.rows == 0 {
			return false, false
		}
	}
	s.aggs.read(r, diff)
	if overflow = s.aggs.outgrows(&s.g, diff); overflow && diff > 0 {
		if remember {
			s.refuse(r)
		}
		return false, true
	}
	s.aggs.apply(&s.g, diff)
	if s.g.rows == 0 {
		s.g.forget() // to the last rounding error
	}
	return true, overflow
}

// refuse remembers that r was not counted.
func (s *groups) refuse(r row.Row) {
	if s.g.more == nil {
		s.g.more = &holdings{}
	}
	if s.g.more.refused == nil {
		s.g.more.refused = map[string]int64{}
	}
	text := refusal(r)
	if s.g.more.refused[text] == 0 {
		s.g.more.bytes += refusedSize + int64(len(text))
	}
	s.g.more.refused[text]++
}

// recall tells whether r was refused, and forgets it once.
func (s *groups) recall(r row.Row) bool {
	if s.g.more == nil || len(s.g.more.refused) == 0 {
		return false
	}
	text := refusal(r)
	switch n := s.g.more.refused[text]; n {
	case 0:
		return false
	case 1:
		delete(s.g.more.refused, text)
		s.g.more.bytes -= refusedSize + int64(len(text))
	default:
		s.g.more.refused[text] = n - 1
	}
	return true
}

// refusal returns r as a text that no other row has.
func refusal(r row.Row) string {
	if len(r.Side) == 0 {
		return string(r.Enc)
	}
	r = own(row.Row{}, r)
	text := r.Enc
	for _, x := range r.Side {
		text = value.AppendJSON(text, value.OfAny(x))
	}
	return string(text)
}

// empty forgets all that is known of the group at ref, and leaves its cell.
func (s *groups) empty(ref keyRef) {
	s.open(ref)
	if s.g.more != nil {
		s.g.more.refused = nil
	}
	s.g.forget()
	s.close(ref)
}

// each calls yield with every group until it returns false. No group may be
// inserted or removed meanwhile.
func (s *groups) each(yield func(ref keyRef, c cell) bool) {
	for i := range s.keys.shards {
		for _, slot := range s.keys.shards[i].slots {
			if slot != 0 && !yield(keyRef(slot), s.keys.cell(keyRef(slot))) {
				return
			}
		}
	}
}

// needless tells whether nothing is known of the group at ref.
func (s *groups) needless(ref keyRef) bool {
	c := s.keys.cell(ref)
	more := s.holdings[get32(c[groupMore:])]
	return c.groupRows() == 0 && (more == nil || len(more.refused) == 0)
}

// appendRow appends the row of the group at ref.
func (s *groups) appendRow(dst *row.Row, ref keyRef) {
	c := s.keys.cell(ref)
	s.at(c)
	if text, normal := s.keys.text(c); normal {
		*dst = row.AppendRow(*dst, s.g.more.key)
	} else {
		dst.Enc = append(dst.Enc, text...)
	}
	s.aggs.appendTo(dst, &s.g)
}

func (s *groups) bytes() int64 {
	const place = 8 + 4
	return s.keys.bytes() + s.held + int64(cap(s.holdings))*place
}
