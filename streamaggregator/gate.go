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

// maxHeld is how many results may be behind the gate, once a reload is over,
// before the query is held back.
const maxHeld = 1024

// gate lets a node's results into the chain while the rule engine does not reload
// it. A reload waits for the messages that are under way in the chain; these may
// wait for room in the query's queue, and the query for its results to be taken.
// So results never wait at the gate while a reload goes on: they are set aside, in
// order, and follow when it is over. Successive instances of a node share one gate,
// because the results of the old one come first. An engine outside any pool cannot
// be found; results then pass at once.
type gate struct {
	mu       sync.Mutex
	room     *sync.Cond
	found    operations
	searched time.Time
	aside    []*emission
	clearing bool // a goroutine sends what was set aside, until nothing is left
	holding  bool // it waits for the end of a reload
}

func newGate() *gate {
	g := &gate{}
	g.room = sync.NewCond(&g.mu)
	return g
}

// pass sends ev into the chain, at once and in this goroutine unless a reload goes
// on or earlier results still wait.
func (g *gate) pass(ev *emission) {
	g.mu.Lock()
	for g.clearing && !g.holding && len(g.aside) >= maxHeld {
		g.room.Wait()
	}
	if !g.clearing {
		if ops, ok := tryEnter(g.engine(ev.node.chain, ev.node.place.owner)); ok {
			g.mu.Unlock()
			ev.send(ops)
			return
		}
		g.clearing, g.holding = true, true
		go g.clear()
	}
	g.aside = append(g.aside, ev)
	g.mu.Unlock()
}

// clear sends what was set aside, and ends with the last of it.
func (g *gate) clear() {
	for {
		g.mu.Lock()
		if len(g.aside) == 0 {
			g.clearing, g.holding = false, false
			g.room.Broadcast()
			g.mu.Unlock()
			return
		}
		ev := g.aside[0]
		g.aside[0] = nil
		g.aside = g.aside[1:]
		ops := g.engine(ev.node.chain, ev.node.place.owner)
		g.mu.Unlock()
		ev.send(g.enter(ops))
	}
}

// enter waits for the end of a reload, no longer than reloadPatience, and counts a
// result among what is under way in the engine. The caller decrements again; nil
// means that nothing was counted.
func (g *gate) enter(ops operations) operations {
	for {
		entered, ok := tryEnter(ops)
		if ok {
			g.hold(false)
			return entered
		}
		g.hold(true)
		if !ops.WaitForReloadComplete(reloadPatience) {
			return nil
		}
	}
}

// hold says whether a reload goes on; while it does nobody waits for room.
func (g *gate) hold(yes bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holding = yes
	g.room.Broadcast()
}

// tryEnter counts a result among what is under way in the engine, unless it reloads.
func tryEnter(ops operations) (operations, bool) {
	if ops == nil {
		return nil, true
	}
	// Count first, then look: a reload sets its mark first, then counts.
	ops.IncrementActiveOperations()
	if !ops.IsReloading() {
		return ops, true
	}
	ops.DecrementActiveOperations()
	return nil, false
}

// engine finds the rule engine of a chain in the chain's pool: not by id, which two
// engines may share or lack, but by what identifies it. The caller holds mu.
func (g *gate) engine(chain *engine.RuleChainCtx, owner any) operations {
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
