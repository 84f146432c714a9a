package streamaggregator

import (
	"sync"
	"time"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/engine"
)

// reloadPatience is how long a result waits for the end of a reload, as long as
// RuleGo lets messages wait.
const reloadPatience = 30 * time.Second

// searchInterval is the shortest time between two searches for a rule engine that
// was not found, which is that of an engine outside its pool.
const searchInterval = time.Second

// operations is the part of *engine.RuleEngine by which it knows what is going on
// in its chain. A reload first waits until nothing is, and then changes the chain
// in part without locks; so what a node emits by itself has to take part in it.
type operations interface {
	IncrementActiveOperations() int64
	DecrementActiveOperations() int64
	IsReloading() bool
	WaitForReloadComplete(timeout time.Duration) bool
	RootRuleContext() types.RuleContext
}

// gate lets a node's results into the chain while the rule engine does not reload
// it. An engine outside any pool cannot be found; results then pass at once.
type gate struct {
	mu       sync.Mutex
	found    operations
	searched time.Time
}

// enter waits for the end of a reload and returns the engine to leave again, or nil.
func (g *gate) enter(chain *engine.RuleChainCtx, owner any) operations {
	ops := g.engine(chain, owner)
	if ops == nil {
		return nil
	}
	for {
		// Count first, then look: a reload sets its mark first, then counts.
		ops.IncrementActiveOperations()
		if !ops.IsReloading() {
			return ops
		}
		ops.DecrementActiveOperations()
		if !ops.WaitForReloadComplete(reloadPatience) {
			return nil
		}
	}
}

// engine finds the rule engine of a chain in the chain's pool: not by id, which two
// engines may share or lack, but by what identifies it.
func (g *gate) engine(chain *engine.RuleChainCtx, owner any) operations {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.found != nil || time.Since(g.searched) < searchInterval {
		return g.found
	}
	g.searched = time.Now()
	chain.GetRuleEnginePool().Range(func(_, value any) bool {
		e, ok := value.(types.RuleEngine)
		if !ok || !e.Initialized() {
			return true
		}
		if root, ok := e.RootRuleChainCtx().(*engine.RuleChainCtx); ok && ownerOf(root) == owner {
			g.found, _ = value.(operations)
			return false
		}
		return true
	})
	return g.found
}

// liveChain returns the chain that the engine's own messages run through. After a
// reload that is another than its root chain, which takes over only a part of the
// new one. It may be asked between enter and leave.
func liveChain(ops operations) *engine.RuleChainCtx {
	root := ops.RootRuleContext()
	if root == nil {
		return nil
	}
	chain, _ := root.RuleChain().(*engine.RuleChainCtx)
	return chain
}
