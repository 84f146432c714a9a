package main

import (
	"fmt"
	"strings"

	"github.com/rulego/rulego/api/types"

	"github.com/streamjoin/streamjoin/component"
)

// logAccount tells what became of the messages that the nodes of a drained chain
// got.
func logAccount(log types.Logger, e types.RuleEngine) {
	log.Infof("chain %q drained and stopped", e.Id())
	chain := e.RootRuleChainCtx()
	for _, def := range chain.Definition().Metadata.Nodes {
		ctx, ok := chain.GetNodeById(types.RuleNodeId{Id: def.Id, Type: types.NODE})
		if !ok {
			continue
		}
		if node, ok := component.Node(ctx); ok {
			log.Infof("  node %s: %s", def.Id, nodeAccount(node.Stats()))
		}
	}
}

// nodeAccount is an account in one line: messages with their answers, rows, and the
// messages that came of them. Losses are named only where there are any.
func nodeAccount(stats map[string]int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d messages accepted, %d refused; %d rows in", stats["node_accepted"], stats["node_refused"], stats["input_count"])
	if n := stats["dropped_count"]; n > 0 {
		fmt.Fprintf(&b, ", %d dropped", n)
	}
	fmt.Fprintf(&b, "; %d results sent on", stats["node_emitted"])
	if n := stats["node_undelivered"]; n > 0 {
		fmt.Fprintf(&b, ", %d undelivered", n)
	}
	return b.String()
}
