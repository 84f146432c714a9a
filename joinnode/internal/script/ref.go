package script

import (
	"slices"
	"strconv"
	"strings"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// A ref names a column that a node provides: a path into the node's rows. A
// query's rows are seen as objects with one member for each alias, so that
// o.items[0].price is the ref (o, items, [0], price). Columns that no user can
// name have a first or second step that begins with a zero byte.
type ref = row.Path

// Hidden columns.
const (
	hiddenTime  = "\x00ts"    // the time of a stream's row, ns
	hiddenSeq   = "\x00seq"   // its number in the stream
	hiddenIndex = "\x00index" // an element's place in its array
	hiddenGroup = "\x00g"     // + number: a grouping of an aggregation
	hiddenAgg   = "\x00a"     // + number: an aggregate
)

func step(name string) syntax.Step { return syntax.Step{Name: name} }

func refOf(names ...string) ref {
	r := make(ref, len(names))
	for i, n := range names {
		r[i] = step(n)
	}
	return r
}

func numbered(prefix string, i int) string { return prefix + strconv.Itoa(i) }

// under returns r as seen from outside of alias.
func under(alias string, r ref) ref { return append(refOf(alias), r...) }

func sameStep(a, b syntax.Step) bool {
	return a.IsIndex == b.IsIndex && a.Index == b.Index && a.Name == b.Name
}

func equal(a, b ref) bool { return slices.EqualFunc(a, b, sameStep) }

// layout is the columns of an encoded row, in order.
type layout []ref

func (l layout) find(r ref) int {
	return slices.IndexFunc(l, func(x ref) bool { return equal(x, r) })
}

// locate returns the column that holds r or the nearest value around it, and the
// way from there; −1 when there is none.
func (l layout) locate(r ref) (col int, rest row.Path) {
	for n := len(r); n >= 0; n-- {
		if i := l.find(r[:n]); i >= 0 {
			return i, r[n:]
		}
	}
	return -1, nil
}

func (l layout) texts() []string {
	all := make([]string, len(l))
	for i, r := range l {
		if all[i] = visible(r.String()); len(r) == 0 {
			all[i] = "*"
		}
	}
	return all
}

// visible spells hidden columns for EXPLAIN.
func visible(s string) string { return strings.ReplaceAll(s, "\x00", "_") }

// refs is a list of refs, each once.
type refs struct {
	list []ref
	seen map[string]bool
}

func (s *refs) add(r ref) bool {
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	k := r.String()
	if s.seen[k] {
		return false
	}
	s.seen[k] = true
	s.list = append(s.list, r)
	return true
}
