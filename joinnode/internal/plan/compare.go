package plan

import (
	"fmt"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// Transfer says how the state of an old query becomes that of a new one.
type Transfer struct {
	Stages []StageTransfer
}

// StageTransfer is a Transfer of one join's two sides.
type StageTransfer struct {
	Left, Right PortTransfer
}

// PortTransfer is a Transfer of one side of a join.
type PortTransfer struct {
	// Columns[i] is the old kept column that becomes kept column i.
	Columns []int
	// Filter, over the new kept columns, is true for the rows that the new
	// WHERE lets in; nil when it adds nothing to the old one.
	Filter eval.Predicate
}

// Compare tells whether a new query can go on with an old one's state: the join
// graph (streams, keys, WITHIN, kind, time settings) is the same and the old
// query kept every column that the new one needs. Otherwise differs says in
// words what stands in the way, and the Transfer is nil.
func Compare(old, new *Plan) (t *Transfer, differs string) {
	if differs = compareTime(old.Time, new.Time); differs != "" {
		return nil, differs
	}
	if len(old.Inputs) != len(new.Inputs) {
		return nil, fmt.Sprintf("%d streams, was %d", len(new.Inputs), len(old.Inputs))
	}
	for i := range new.Inputs {
		if old.Inputs[i].Stream != new.Inputs[i].Stream {
			return nil, fmt.Sprintf("input %d is %s, was %s", i+1, new.Inputs[i].Stream, old.Inputs[i].Stream)
		}
	}
	for i := range new.Stages {
		if differs = compareStage(old, new, i); differs != "" {
			return nil, fmt.Sprintf("stage %d: %s", i+1, differs)
		}
	}
	t = &Transfer{}
	for i := range new.Stages {
		var st StageTransfer
		if st.Left, differs = comparePort(old.side(i, 0), new.side(i, 0)); differs == "" {
			st.Right, differs = comparePort(old.side(i, 1), new.side(i, 1))
		}
		if differs != "" {
			return nil, fmt.Sprintf("stage %d: %s", i+1, differs)
		}
		t.Stages = append(t.Stages, st)
	}
	return t, ""
}

func compareTime(old, new Time) string {
	switch {
	case old.Text != new.Text:
		return fmt.Sprintf("TIMESTAMP is %q, was %q", new.Text, old.Text)
	case old.Unit != new.Unit:
		return fmt.Sprintf("TIMEUNIT is %q, was %q", new.Unit, old.Unit)
	case old.IdleTimeout != new.IdleTimeout:
		return fmt.Sprintf("IDLETIMEOUT is %s, was %s", syntax.FormatDuration(new.IdleTimeout), syntax.FormatDuration(old.IdleTimeout))
	case old.MaxFutureSkew != new.MaxFutureSkew:
		return fmt.Sprintf("MAXFUTURESKEW is %s, was %s", syntax.FormatDuration(new.MaxFutureSkew), syntax.FormatDuration(old.MaxFutureSkew))
	}
	return ""
}

func compareStage(old, new *Plan, i int) string {
	o, n := &old.Stages[i], &new.Stages[i]
	switch {
	case o.Within != n.Within:
		return fmt.Sprintf("WITHIN is %s, was %s", syntax.FormatDuration(time.Duration(n.Within)), syntax.FormatDuration(time.Duration(o.Within)))
	case o.Left != n.Left:
		return fmt.Sprintf("%s JOIN, was %s JOIN", kindText(n.Left), kindText(o.Left))
	case !sameKeys(o.LeftLayout, o.LeftKeys, n.LeftLayout, n.LeftKeys),
		!sameKeys(old.Inputs[i+1].Layout, old.Inputs[i+1].Keys, new.Inputs[i+1].Layout, new.Inputs[i+1].Keys):
		return fmt.Sprintf("ON is %s, was %s", n.On, o.On)
	}
	return ""
}

func sameKeys(o Layout, oKeys int, n Layout, nKeys int) bool {
	if oKeys != nKeys {
		return false
	}
	for i := range nKeys {
		if o.cols[i].id() != n.cols[i].id() {
			return false
		}
	}
	return true
}

// side is what Compare needs to know of one port of a join.
type side struct {
	names   *names
	kept    Layout
	filters []Conjunct // that every buffered row has passed
}

func (p *Plan) side(stage, port int) side {
	s := side{names: p.names}
	switch {
	case port == 1:
		in := &p.Inputs[stage+1]
		s.kept, s.filters = in.Layout.first(in.Keep), in.Filters
	default:
		st := &p.Stages[stage]
		s.kept = st.LeftLayout.first(st.LeftKeep)
		for i := range stage + 1 {
			s.filters = append(s.filters, p.Inputs[i].Filters...)
		}
		for i := range stage {
			s.filters = append(s.filters, p.Stages[i].Filters...)
		}
	}
	return s
}

func (l Layout) first(n int) Layout { return Layout{cols: l.cols[:n], Text: l.Text[:n]} }

func comparePort(old, new side) (PortTransfer, string) {
	var t PortTransfer
	for i, c := range new.kept.cols {
		at := i
		if i >= len(old.kept.cols) || old.kept.cols[i].id() != c.id() {
			at = old.kept.find(c)
		}
		if at < 0 {
			return t, fmt.Sprintf("the new query needs %s, which the old one did not keep", new.names.text(c))
		}
		t.Columns = append(t.Columns, at)
	}
	added := addedFilters(old, new)
	if len(added) == 0 {
		return t, ""
	}
	filter, err := eval.CompilePredicate(conjunction(added), func(c *syntax.Column) (int, error) {
		col, err := new.names.resolve(c, len(new.names.inputs))
		if err != nil {
			return 0, err
		}
		if at := new.kept.find(col); at >= 0 {
			return at, nil
		}
		return 0, fmt.Errorf("WHERE now reads %s, which is not kept with the buffered rows", new.names.text(col))
	})
	if err != nil {
		return t, err.Error()
	}
	t.Filter = filter
	return t, ""
}

// addedFilters are the conjuncts that the new side's rows must pass and the old
// one's have not.
func addedFilters(old, new side) (added []Conjunct) {
	had := map[string]bool{}
	for _, c := range old.filters {
		had[old.names.meaning(c)] = true
	}
	for _, c := range new.filters {
		if !had[new.names.meaning(c)] {
			added = append(added, c)
		}
	}
	return added
}

// meaning identifies a conjunct across queries: an alias may stand for another
// stream in each.
func (n *names) meaning(c Conjunct) string {
	cols, err := n.columnsOf(c.Expr, nil)
	if err != nil {
		return "" // not of a planned query: never equal to one that is
	}
	id := c.Text
	for _, col := range cols {
		id += "\x00" + col.id()
	}
	return id
}
