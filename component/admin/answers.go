package admin

import (
	"github.com/rulego/rulego/api/types"

	"github.com/streamjoin/streamjoin/streamaggregator"
)

// chainAnswer answers a change of a whole chain.
type chainAnswer struct {
	Chain   string      `json:"chain"`
	Created bool        `json:"created"`
	Nodes   []nodeState `json:"nodes,omitempty"` // of ours, when the chain was reloaded
	// Warnings are allowed but hardly meant, as in the other answers.
	Warnings []string `json:"warnings,omitempty"`
}

// nodeAnswer answers a change of one node.
type nodeAnswer struct {
	Chain string `json:"chain"`
	Node  string `json:"node"`
	stateAnswer
	Warnings []string `json:"warnings,omitempty"` // of this node
}

// statsAnswer answers for a node's counters.
type statsAnswer struct {
	Stats    map[string]int64 `json:"stats"`
	Warnings []string         `json:"warnings,omitempty"`
}

// explainAnswer answers for a node's plan.
type explainAnswer struct {
	Explain  string   `json:"explain"`
	Warnings []string `json:"warnings,omitempty"`
}

type nodeState struct {
	Node string `json:"node"`
	stateAnswer
}

// What a reload did with the state of a node.
const (
	stateKept  = "kept"   // rows, watermarks and counters go on
	stateLetGo = "let go" // unmatched rows left with closedBy=reload
	stateNew   = "new"    // there was none
)

// stateAnswer tells what became of a node's state, and why it was let go.
type stateAnswer struct {
	State   string `json:"state,omitempty"`
	Because string `json:"because,omitempty"`
}

func stateOf(n *streamaggregator.Node) stateAnswer {
	switch h, ok := n.Handover(); {
	case !ok:
		return stateAnswer{State: stateNew}
	case h.Kept:
		return stateAnswer{State: stateKept}
	default:
		return stateAnswer{State: stateLetGo, Because: h.Because}
	}
}

// handovers are the states of all our nodes in a chain.
func handovers(e types.RuleEngine) []nodeState {
	chain := e.RootRuleChainCtx()
	var states []nodeState
	for _, node := range chain.Definition().Metadata.Nodes {
		if n, ok := instanceOf(chain, node.Id); ok {
			states = append(states, nodeState{node.Id, stateOf(n)})
		}
	}
	return states
}
