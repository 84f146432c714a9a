package component

import (
	"context"
	"errors"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/engine"

	"github.com/streamjoin/streamjoin/streamaggregator"
)

// Drain ends the queries of a rule chain from the sources on, so that what one
// node still holds passes through the nodes behind it: the joined rows that a join
// gives out at its end are counted in the windows of the aggregation it feeds. Call
// it before Stop, as the engine itself destroys nodes in no particular order. Stop
// the chain's endpoints first: the nodes refuse messages from now on.
//
// When ctx ends first, its error is returned and what is left is up to Stop.
func Drain(ctx context.Context, e types.RuleEngine) error {
	if e == nil || !e.Initialized() {
		return nil
	}
	chain, ok := e.RootRuleChainCtx().(*engine.RuleChainCtx)
	if !ok || chain == nil {
		return nil
	}
	var errs []error
	for _, id := range upstreamFirst(chain.Definition().Metadata) {
		node, ok := chain.GetNodeById(types.RuleNodeId{Id: id, Type: types.NODE})
		if !ok {
			continue
		}
		if n, ok := Node(node); ok {
			errs = append(errs, n.Drain(ctx))
		}
	}
	return errors.Join(errs...)
}

// CloseEndpoints ends the endpoints that a chain declares; requests under way are
// answered. The engine's own Stop does so only after it has refused messages for a
// while.
func CloseEndpoints(e types.RuleEngine) {
	if e == nil || !e.Initialized() {
		return
	}
	chain := e.RootRuleChainCtx()
	for _, def := range e.Definition().Metadata.Endpoints {
		if resource, ok := chain.Resources().Lookup(def.Id); ok {
			if endpoint, ok := resource.(interface{ Destroy() }); ok {
				endpoint.Destroy()
			}
		}
	}
}

// Node returns the present instance of x/streamAggregator behind a node of a rule
// chain; false when the node is of another type.
func Node(ctx types.NodeCtx) (*streamaggregator.Node, bool) {
	rn, ok := ctx.(*engine.RuleNodeCtx)
	if !ok || rn == nil {
		return nil, false
	}
	rn.RLock()
	defer rn.RUnlock()
	n, ok := rn.Node.(*streamaggregator.Node)
	return n, ok
}

// upstreamFirst orders the nodes of a chain so that each stands before those its
// messages reach. All connections count, as a result may pass other nodes before it
// reaches the next query. Within a cycle the order is that of the definition.
func upstreamFirst(m types.RuleMetadata) []string {
	next := make(map[string][]string)
	for _, c := range m.Connections {
		next[c.FromId] = append(next[c.FromId], c.ToId)
	}
	seen := make(map[string]bool)
	var order []string // downstream first
	var visit func(id string)
	visit = func(id string) {
		if seen[id] {
			return
		}
		seen[id] = true
		for _, to := range next[id] {
			visit(to)
		}
		order = append(order, id)
	}
	for _, node := range m.Nodes {
		visit(node.Id)
	}
	upstream := make([]string, 0, len(order))
	for i := len(order) - 1; i >= 0; i-- {
		upstream = append(upstream, order[i])
	}
	return upstream
}
