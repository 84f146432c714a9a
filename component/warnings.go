package component

import (
	"fmt"

	"github.com/rulego/rulego/api/types"

	"github.com/streamjoin/streamjoin/component/definition"
)

// Warnings are what is allowed in a running chain but hardly meant: connections
// through which nothing comes, and inputs of a join that no message can reach.
func Warnings(e types.RuleEngine) []string {
	if e == nil || !e.Initialized() {
		return nil
	}
	chain := e.RootRuleChainCtx()
	def := chain.Definition()
	found := definition.Warnings(*def)
	for _, node := range def.Metadata.Nodes {
		ctx, ok := chain.GetNodeById(types.RuleNodeId{Id: node.Id, Type: types.NODE})
		if !ok {
			continue
		}
		if n, ok := Node(ctx); ok {
			for _, w := range n.Warnings() {
				found = append(found, fmt.Sprintf("node %s: %s", node.Id, w))
			}
		}
	}
	return found
}
