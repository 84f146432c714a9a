package streamaggregator

import (
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/builtin/aspect"
	"github.com/rulego/rulego/engine"
)

// instances is the table through which successive instances of one node find
// each other when RuleGo reloads a chain or a node. The prototype in the component
// registry owns it and all its instances share it.
//
// RuleGo makes the new instance first and then destroys the old one, and a reload
// that fails later on forgets the new instance without a word. So entries are
// weak: an instance no chain holds goes away by itself. And a new instance is only
// taken for a successor when its chain was built to the end.
type instances struct {
	mu    sync.Mutex
	nodes map[place][]weak.Pointer[Node]
}

// place is what successive instances of one node have in common.
type place struct {
	owner  any
	nodeID string
}

// chainName stands for the rule engine where nothing better is known.
type chainName struct {
	pool types.RuleEnginePool
	id   string
}

// ownerOf returns a value that identifies the rule engine a chain belongs to,
// whatever its ids are: the engine makes its own metrics aspect and keeps it over
// reloads. An engine without one is known by its pool and chain id.
func ownerOf(chain *engine.RuleChainCtx) any {
	for _, a := range chain.GetAspects() {
		if m, ok := a.(*aspect.MetricsAspect); ok {
			return m
		}
	}
	name := chainName{pool: chain.GetRuleEnginePool()}
	if def := chain.Definition(); def != nil {
		name.id = def.RuleChain.ID
	}
	return name
}

// enter records a new instance and returns the one in whose place it is going to
// step, or nil.
func (t *instances) enter(n *Node) *Node {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.nodes == nil {
		t.nodes = make(map[place][]weak.Pointer[Node])
	}
	var before *Node
	kept := t.nodes[n.place][:0:0]
	for _, w := range t.nodes[n.place] {
		old := w.Value()
		if old == nil || (old.chain != n.chain && !built(old.chain)) {
			continue // left over from a reload that failed
		}
		before = old
		kept = append(kept, w)
	}
	t.nodes[n.place] = append(kept, weak.Make(n))
	runtime.AddCleanup(n, t.sweep, n.place)
	return before
}

// leave takes a destroyed instance out and returns its successor, or nil.
func (t *instances) leave(n *Node) *Node {
	t.mu.Lock()
	defer t.mu.Unlock()
	var next *Node
	kept := t.nodes[n.place][:0:0]
	behind := false
	for _, w := range t.nodes[n.place] {
		other := w.Value()
		switch {
		case other == n:
			behind = true
			continue
		case other == nil:
			continue
		case behind && built(other.chain):
			next = other
		}
		kept = append(kept, w)
	}
	t.put(n.place, kept)
	return next
}

// sweep forgets the instances at p that the garbage collector took.
func (t *instances) sweep(p place) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.put(p, slices.DeleteFunc(t.nodes[p], func(w weak.Pointer[Node]) bool { return w.Value() == nil }))
}

func (t *instances) put(p place, nodes []weak.Pointer[Node]) {
	if len(nodes) == 0 {
		delete(t.nodes, p)
		return
	}
	t.nodes[p] = nodes
}

// built tells whether all nodes of a chain were made. When one's Init fails,
// RuleGo drops the chain with those before it already in place.
func built(chain *engine.RuleChainCtx) bool {
	def := chain.Definition()
	if def == nil {
		return false
	}
	for _, node := range def.Metadata.Nodes {
		if _, ok := chain.GetNodeById(types.RuleNodeId{Id: node.Id, Type: types.NODE}); !ok {
			return false
		}
	}
	return true
}
