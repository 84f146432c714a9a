package integration_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/engine"
	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/chains"
)

// chainsDir holds the scenarios, one folder each.
const chainsDir = "../chains"

// scenario is one folder of chains/ with its chain decoded.
type scenario struct {
	chains.Scenario
	def types.RuleChain
}

// event is a message that left on stream_event.
type event = chains.Event

func loadScenario(t *testing.T, dir string) scenario {
	t.Helper()
	loaded, err := chains.Load(dir)
	require.NoError(t, err)
	def, err := (&engine.JsonParser{}).DecodeRuleChain(loaded.Chain)
	require.NoError(t, err)
	return scenario{loaded, def}
}

// withVar returns the chain with one of its variables (the address of a broker
// or of a listener) set for this test.
func (s scenario) withVar(t *testing.T, name, value string) []byte {
	t.Helper()
	vars, ok := s.def.RuleChain.Configuration["vars"].(map[string]any)
	require.True(t, ok, "the chain declares no variables")
	require.Contains(t, vars, name)
	vars[name] = value
	chain, err := json.Marshal(s.def)
	require.NoError(t, err)
	return chain
}

// endpoint is the type of the endpoint that feeds the chain, or "".
func (s scenario) endpoint() string {
	for _, e := range s.def.Metadata.Endpoints {
		return e.Type
	}
	return ""
}

// firstNode is the id of the node that the arrivals reach.
func (s scenario) firstNode() string {
	return s.def.Metadata.Nodes[s.def.Metadata.FirstNodeIndex].Id
}

// jsonLines writes events one a line, so that equal text means equal events.
func jsonLines(t *testing.T, events []event) string {
	t.Helper()
	var out strings.Builder
	for _, ev := range events {
		line, err := ev.Line()
		require.NoError(t, err)
		out.WriteString(line)
	}
	return out.String()
}
