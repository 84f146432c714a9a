package operator

import (
	"bytes"
	"hash/maphash"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// FoldConfig says how the elements of one row are aggregated. The plan is its
// only writer.
type FoldConfig struct {
	Elements Expander
	// Where says which elements count, by the row's columns with the element's
	// behind them; nil: all.
	Where func(row.Row) bool
	// Args appends to dst, which is empty, the key columns and the arguments of
	// Aggs, from the same columns.
	Args func(dst, src row.Row) row.Row
	Keys int
	Aggs []Aggregation
	// Having says which groups are emitted, by their key columns and aggregates;
	// nil: all.
	Having func(row.Row) bool
	// Mismatch is told of values that a numeric aggregate skips as they are no
	// numbers; may be nil.
	Mismatch func(v value.Value)
}

// fold is the Expander of a FoldConfig.
type fold struct {
	cfg  FoldConfig
	seed maphash.Seed

	groups []foldGroup // groups[:used] have elements
	used   int
	byHash map[uint64]int // the last group with a hash, from 1; once there are many
	src    row.Row
	add    func(cols row.Row)
	over   int // elements that a sum refused

	elem row.Row // memory: the row with an element
	args row.Row
	norm []byte
	cols row.Row
}

// A foldGroup is the elements of one key.
type foldGroup struct {
	norm []byte // normalised key
	hash uint64
	next int     // another group with this hash, from 1
	key  row.Row // as its first element spells it
	n    int     // elements that were not refused
	acc  *accumulators
}

// fewGroups are found sooner by looking at all of them.
const fewGroups = 8

// NewFold returns the Expander that aggregates, for each row, the elements that
// another Expander makes of it: one row of key columns and aggregates for each
// key, in order of first appearance. A row without elements that count gives
// nothing, also where there are no key columns.
//
// An element whose addition would bring a sum of integers out of 64 bits is in
// no aggregate of its group; Unnest hands its row to Output.Drop with reason
// SumOverflow.
func NewFold(cfg FoldConfig) Expander {
	f := &fold{cfg: cfg, seed: maphash.MakeSeed(), byHash: map[uint64]int{}}
	f.add = f.element
	return f
}

// Columns implements Expander.
func (f *fold) Columns() int { return f.cfg.Keys + len(f.cfg.Aggs) }

// Expand implements Expander.
func (f *fold) Expand(src row.Row, emit func(cols row.Row)) (bad int) {
	f.src, f.used, f.over = src, 0, 0
	bad = f.cfg.Elements.Expand(src, f.add)
	f.src = row.Row{}
	for i := range f.groups[:f.used] {
		g := &f.groups[i]
		f.cols = row.AppendRow(row.Row{Enc: f.cols.Enc[:0], Side: f.cols.Side[:0]}, g.key)
		g.acc.appendTo(&f.cols)
		if g.n > 0 && (f.cfg.Having == nil || f.cfg.Having(f.cols)) {
			emit(f.cols)
		}
		clear(f.cols.Side)
		clear(g.key.Side)
		g.acc.reset()
	}
	clear(f.byHash)
	return bad
}

// overflowed returns how many elements of the last row were refused by a sum.
func (f *fold) overflowed() int { return f.over }

// element adds an element to its group.
func (f *fold) element(cols row.Row) {
	defer func() { clear(f.elem.Side); clear(f.args.Side) }()
	f.elem = row.AppendRow(row.Row{Enc: f.elem.Enc[:0], Side: f.elem.Side[:0]}, f.src)
	f.elem = row.AppendRow(f.elem, cols)
	if f.cfg.Where != nil && !f.cfg.Where(f.elem) {
		return
	}
	f.args = f.cfg.Args(row.Row{Enc: f.args.Enc[:0], Side: f.args.Side[:0]}, f.elem)
	if g := f.group(); g.acc.add(f.args) {
		g.n++
	} else {
		f.over++
	}
}

// group returns the group of f.args.
func (f *fold) group() *foldGroup {
	f.norm = f.norm[:0]
	key := f.args.Slice(0, f.cfg.Keys)
	key.Walk(func(_ int, v value.Value) { f.norm = value.AppendKey(f.norm, v) })
	hash := maphash.Bytes(f.seed, f.norm)
	if f.used <= fewGroups {
		for i := range f.groups[:f.used] {
			if g := &f.groups[i]; g.hash == hash && bytes.Equal(g.norm, f.norm) {
				return g
			}
		}
	} else {
		for i := f.byHash[hash]; i != 0; i = f.groups[i-1].next {
			if g := &f.groups[i-1]; bytes.Equal(g.norm, f.norm) {
				return g
			}
		}
	}
	if f.used == len(f.groups) {
		f.groups = append(f.groups, foldGroup{acc: f.accumulators()})
	}
	g := &f.groups[f.used]
	f.used++
	g.norm, g.hash, g.n = append(g.norm[:0], f.norm...), hash, 0
	g.key = row.AppendRow(row.Row{Enc: g.key.Enc[:0], Side: g.key.Side[:0]}, key)
	switch {
	case f.used == fewGroups+1:
		for i := range f.groups[:f.used] {
			f.enter(i)
		}
	case f.used > fewGroups:
		f.enter(f.used - 1)
	}
	return g
}

func (f *fold) enter(i int) {
	g := &f.groups[i]
	g.next = f.byHash[g.hash]
	f.byHash[g.hash] = i + 1
}

func (f *fold) accumulators() *accumulators {
	if len(f.groups) > 0 {
		return f.groups[0].acc.another()
	}
	return accumulatorsOf(newAggregates(f.cfg.Aggs, true, f.cfg.Mismatch))
}
