package definition_test

import (
	"fmt"
	"testing"

	"github.com/rulego/rulego/engine"
	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/component"
	"github.com/streamjoin/streamjoin/component/definition"
)

func TestParse(t *testing.T) {
	def, err := definition.Parse([]byte(`{"ruleChain":{"id":"c","editor":{"x":1}},"metadata":{"nodes":[{"id":"a","type":"log","color":"red"}]}}`))
	require.NoError(t, err)
	require.Equal(t, "c", def.RuleChain.ID)
	require.Equal(t, "log", def.Metadata.Nodes[0].Type)
}

func TestParseRefuses(t *testing.T) {
	for text, says := range map[string]string{
		``:                                       "end of JSON input",
		`null`:                                   "this is null",
		`[]`:                                     "this is a JSON array",
		`"x"`:                                    "this is a JSON string",
		"{\n\"a\":,\n}":                          "line 2",
		`{} {}`:                                  "after top-level value",
		`{}`:                                     "it has no nodes",
		`{"ruleChain":{"id":"c"},"metadata":{}}`: "it has no nodes",
		`{"ruleChain":{"id":"c"},"metadata":{"nodes":[]}}`:                           "it has no nodes",
		`{"ruleChain":{"id":"c"},"metadata":{"node":[{"id":"a"}]}}`:                  `unknown field "metadata.node" (known: firstNodeIndex, endpoints, nodes, connections, ruleChainConnections): did you mean "nodes"?`,
		`{"ruleChain":{"id":"c"},"metadata":{"nodes":[{"id":"a"}],"conections":[]}}`: `did you mean "connections"?`,
		`{"rulechain":{"id":"c"},"metadata":{"nodes":[{"id":"a"}]}}`:                 `unknown field "rulechain" (known: ruleChain, metadata): did you mean "ruleChain"?`,
		`{"ruleChain":{"id":"c"},"nodes":[]}`:                                        `unknown field "nodes" (known: ruleChain, metadata)`,
		`{"ruleChain":{"id":"c"},"metadata":{"nodes":[null]}}`:                       "metadata.nodes[0] is null",
		`{"ruleChain":{"id":"c"},"metadata":{"nodes":[{"id":5}]}}`:                   "cannot unmarshal number",
		`{"ruleChain":{"id":"c"},"metadata":{"nodes":[{"id":"a"},{"id":"a"}]}}`:      `two nodes have the id "a"`,
	} {
		_, err := definition.Parse([]byte(text))
		require.ErrorIs(t, err, definition.ErrDefinition, text)
		require.ErrorContains(t, err, says, text)
	}
}

func TestCheckTypes(t *testing.T) {
	registry := &engine.RuleComponentRegistry{}
	require.NoError(t, component.Register(registry))
	for typ, says := range map[string]string{
		"x/streamAggregator":  "",
		"x/streamAgregator":   `node "a" has the unknown type "x/streamAgregator": did you mean "x/streamAggregator"?`,
		"X/StreamAggregator":  `did you mean "x/streamAggregator"?`,
		"streamAggregator":    `did you mean "x/streamAggregator"?`,
		"something/different": `unknown type "something/different"`,
	} {
		def, err := definition.Parse(fmt.Appendf(nil, `{"metadata":{"nodes":[{"id":"a","type":%q}]}}`, typ))
		require.NoError(t, err)
		err = definition.CheckTypes(def, registry)
		if says == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, definition.ErrDefinition)
		require.ErrorContains(t, err, says)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"ruleChain":{"id":"c"},"metadata":{"nodes":[{"id":"a","type":"log"}]}}`))
	f.Add([]byte(`{"metadata":{"nodes":[null]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		def, err := definition.Parse(text)
		if err != nil {
			require.ErrorIs(t, err, definition.ErrDefinition)
			return
		}
		require.NotEmpty(t, def.Metadata.Nodes)
		require.NotContains(t, def.Metadata.Nodes, nil)
	})
}

func ExampleParse() {
	_, err := definition.Parse([]byte(`{"rulechain": {"id": "acks"}, "metadata": {"nodes": []}}`))
	fmt.Println(err)
	// Output: not a rule chain: unknown field "rulechain" (known: ruleChain, metadata): did you mean "ruleChain"?
}
