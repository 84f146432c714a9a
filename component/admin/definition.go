package admin

import (
	"slices"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/engine"
	"github.com/rulego/rulego/utils/str"

	"github.com/streamjoin/streamjoin/streamaggregator"
)

// replaceNode puts a node's new definition into its chain's. Readers may hold the
// old one, so the chain gets a new definition instead of a change in place.
func replaceNode(chain *engine.RuleChainCtx, node *types.RuleNode) {
	chain.Lock()
	defer chain.Unlock()
	def := *chain.SelfDefinition
	def.Metadata.Nodes = slices.Clone(def.Metadata.Nodes)
	for i, old := range def.Metadata.Nodes {
		if old.Id == node.Id {
			def.Metadata.Nodes[i] = node
		}
	}
	chain.SelfDefinition = &def
}

// checkNode finds the errors in the configuration of a node of ours, with ${global…}
// and ${vars…} filled in as RuleGo does before Init. Other nodes pass.
func checkNode(config types.Config, chain *types.RuleChain, node *types.RuleNode) error {
	if node.Type != nodeType {
		return nil
	}
	env := map[string]any{types.Global: map[string]string{}, types.Vars: map[string]string{}}
	if config.Properties != nil {
		env[types.Global] = config.Properties.Values()
	}
	if chain != nil {
		if vars, ok := chain.RuleChain.Configuration[types.Vars]; ok {
			env[types.Vars] = str.ToStringMapString(vars)
		}
		env[types.RuleChainKey] = &chain.RuleChain
	}
	filled := make(types.Configuration, len(node.Configuration))
	for name, v := range node.Configuration {
		filled[name] = fill(env, v)
	}
	return streamaggregator.Check(filled)
}

func fill(env map[string]any, v any) any {
	switch x := v.(type) {
	case string:
		return str.ExecuteTemplate(x, env)
	case map[string]any:
		m := make(map[string]any, len(x))
		for k, e := range x {
			m[k] = fill(env, e)
		}
		return m
	case []any:
		l := make([]any, len(x))
		for i, e := range x {
			l[i] = fill(env, e)
		}
		return l
	}
	return v
}
