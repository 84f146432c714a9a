package row

import (
	"strconv"
	"strings"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// A path is followed as streamsql's nested field access does it:
//
//   - A name step finds the member of an object, whole and case-sensitive. It
//     never splits: a.b is member b of member a, and the member that is called
//     "a.b" is found by the single (backquoted) step `a.b`.
//   - An index step finds an element of an array, a negative one from the end,
//     and in an object the member whose name is the index in decimal.
//   - Where a step finds nothing, or meets a value of another shape, the column
//     is NULL.

// String spells a path without ambiguity, e.g. payload.items[0].`a.b`.
func (p Path) String() string {
	var b strings.Builder
	for i, s := range p {
		switch {
		case s.IsIndex:
			b.WriteString("[" + strconv.Itoa(s.Index) + "]")
			continue
		case i > 0:
			b.WriteByte('.')
		}
		if strings.ContainsAny(s.Name, ".[]` ") || s.Name == "" {
			b.WriteString("`" + strings.ReplaceAll(s.Name, "`", "``") + "`")
		} else {
			b.WriteString(s.Name)
		}
	}
	return b.String()
}

// stepName is the member that a step finds in an object.
func stepName(s syntax.Step) string {
	if s.IsIndex {
		return strconv.Itoa(s.Index)
	}
	return s.Name
}

// node is one place in a message that columns lead to or through: a tree made
// from the paths of an Extractor. It is not changed after NewExtractor.
type node struct {
	cols     []int  // columns that end here
	below    []int  // columns that end further down
	members  []edge // by member name, for objects
	elements []edge // by index, for arrays; a subset of members
	negative bool   // whether elements has an index < 0
	lookup   map[string]int
}

// edge is one step down from a node.
type edge struct {
	name  string
	index int // of elements
	node  *node
	// twin is another member edge of the same name, as [0] and `0` are in an
	// object; −1 when there is none.
	twin int
}

// manyMembers is the number of members from which a map finds one sooner than
// comparing all names.
const manyMembers = 12

// insert adds the path of column col to the tree.
func (n *node) insert(path Path, col int) {
	for _, step := range path {
		n.below = append(n.below, col)
		n = n.child(step)
	}
	n.cols = append(n.cols, col)
}

// child returns the node that step leads to, made if need be.
func (n *node) child(step syntax.Step) *node {
	if step.IsIndex {
		for _, e := range n.elements {
			if e.index == step.Index {
				return e.node
			}
		}
	} else {
		for _, e := range n.members {
			if e.name == step.Name && !n.isElement(e.node) {
				return e.node
			}
		}
	}
	next := &node{}
	e := edge{name: stepName(step), index: step.Index, node: next, twin: -1}
	if step.IsIndex {
		n.elements = append(n.elements, e)
		n.negative = n.negative || step.Index < 0
	}
	for i := range n.members {
		if n.members[i].name == e.name {
			n.members[i].twin = len(n.members)
		}
	}
	n.members = append(n.members, e)
	return next
}

func (n *node) isElement(child *node) bool {
	for _, e := range n.elements {
		if e.node == child {
			return true
		}
	}
	return false
}

// index prepares the tree below n for match.
func (n *node) index() {
	if len(n.members) >= manyMembers {
		n.lookup = make(map[string]int, len(n.members))
		for i, e := range n.members {
			if _, taken := n.lookup[e.name]; !taken {
				n.lookup[e.name] = i
			}
		}
	}
	for _, e := range n.members {
		e.node.index()
	}
}

// match returns the first member edge called name, −1 when there is none.
func (n *node) match(name []byte) int {
	if n.lookup != nil {
		if i, ok := n.lookup[string(name)]; ok {
			return i
		}
		return -1
	}
	for i := range n.members {
		if e := &n.members[i]; len(e.name) == len(name) && e.name == string(name) {
			return i
		}
	}
	return -1
}
