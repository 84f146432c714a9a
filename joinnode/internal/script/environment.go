package script

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/streamjoin/streamjoin/internal/spelling"
	"github.com/streamjoin/streamjoin/joinnode/internal/plan"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// table is what a name stands for.
type table struct {
	name   string
	node   node
	nested map[string]*nested // by its own name
	order  []orderBy          // ORDER BY, for reading
	define bool               // by :=, not an input
}

// nested is what stands behind parent.name: a table of its own, an aggregation
// of each row's own elements, or a relationship.
type nested struct {
	query  syntax.Query // *syntax.Select or *syntax.Relation
	table  *table       // nil for a relationship
	tables []*table     // of a relationship: what its joins named where it was defined, nil for parts of rows
	keys   []string     // the columns of table that hold the parent's key
	fold   bool         // it is computed from each parent row alone
}

// builder makes a Program of a script.
type builder struct {
	sql     string
	program *Program
	gates   plan.Gates
	tables  map[string]*table
	order   []*table // every definition that still stands, in order
	inputs  []*inputNode
	nodes   []node
	table   string                     // the statement at hand
	looked  map[string]bool            // the names that it looks up
	uses    map[string]map[string]bool // by name: the names that its definitions look up
	exports []*syntax.Export
	last    *table
	aliases int // made up so far
}

// add makes a node part of the script.
func add[N node](b *builder, n N) N {
	n.base().table = b.table
	b.nodes = append(b.nodes, n)
	return n
}

// lookup returns the table that a name stands for; one that is not defined is an
// input stream.
func (b *builder) lookup(name string, pos syntax.Pos) (*table, error) {
	t := b.tables[name]
	if parent, own, dotted := strings.Cut(name, "."); t == nil && dotted && b.tables[parent] != nil {
		return nil, b.unknown(pos, "nested table", name, withPrefix(parent+".", nestedNames(b.tables[parent])),
			"define it first: "+parent+"."+own+" := SELECT … FROM @ …; an input stream of that name is declared with IMPORT")
	}
	b.looked[name] = true
	if t == nil {
		if near := spelling.Nearest(name, b.names()); near != "" && misspelt(name, near) {
			return nil, b.errorf(pos, plan.ErrUnknownName, "did you mean "+near+"? An input stream of its own with so similar a name must be declared: IMPORT "+name,
				"unknown table %q", name)
		}
		t = b.input(name, false)
	}
	return t, nil
}

func withPrefix(prefix string, names []string) []string {
	for i := range names {
		names[i] = prefix + names[i]
	}
	return names
}

func (b *builder) names() []string {
	return slices.Sorted(maps.Keys(b.tables))
}

// misspelt tells whether name was meant to be near. Short names differ in one
// letter by intent, and so do temp1 and temp2.
func misspelt(name, near string) bool {
	const short = 4
	return strings.EqualFold(name, near) || len(name) >= short && !onlyNumbersDiffer(name, near)
}

func onlyNumbersDiffer(a, b string) bool {
	digits := func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}
	return a != b && strings.Map(digits, a) == strings.Map(digits, b)
}

// defaultIdle is how long an input of a script may be silent before others no
// longer wait for it (docs/tables.md, "Time").
const defaultIdle = 5 * time.Second

// defaultFutureSkew is how far ahead of the clock an event time may be.
const defaultFutureSkew = 24 * time.Hour

func (b *builder) input(name string, imported bool) *table {
	n := &inputNode{name: name, imported: imported, idle: defaultIdle, skew: defaultFutureSkew}
	b.nodes = append(b.nodes, n)
	n.table = name
	b.inputs = append(b.inputs, n)
	t := &table{name: name, node: n, nested: map[string]*nested{}}
	b.tables[name] = t
	return t
}

// define gives a name to a table from here on.
func (b *builder) define(t *table) {
	if old := b.tables[t.name]; old != nil {
		b.order = slices.DeleteFunc(b.order, func(o *table) bool {
			return o == old || strings.HasPrefix(o.name, t.name+".") && t.nested[o.name[len(t.name)+1:]] == nil
		})
	}
	t.define = true
	b.tables[t.name] = t
	b.order = append(b.order, t)
	b.last = t
}

// checkCycle refuses a definition that feeds on what was computed from an
// undeclared input of its own name.
func (b *builder) checkCycle(name string, pos syntax.Pos) error {
	used := b.uses[name]
	if used == nil {
		used = map[string]bool{}
		b.uses[name] = used
	}
	maps.Copy(used, b.looked)
	old := b.tables[name]
	if old == nil || old.define {
		return nil
	}
	if in, ok := old.node.(*inputNode); !ok || in.imported {
		return nil
	}
	seen := map[string]bool{name: true}
	var back func(at string) bool // finds a way back to name
	back = func(at string) bool {
		for next := range b.uses[at] {
			if next == name && at != name {
				return true
			}
			if !seen[next] {
				seen[next] = true
				if back(next) {
					return true
				}
			}
		}
		return false
	}
	if !back(name) {
		return nil
	}
	return b.errorf(pos, ErrUnsupported,
		"define "+name+" before the tables that read it; if those mean an input stream of that name, declare it first: IMPORT "+name,
		"a cycle: %s is computed from a table that reads %s", name, name)
}

// alias makes up a name that no user can have given.
func (b *builder) alias(hint string) string {
	b.aliases++
	return numbered("\x00"+hint, b.aliases)
}
