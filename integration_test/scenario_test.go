package integration_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/engine"
	"github.com/stretchr/testify/require"
)

// chainsDir holds the scenarios, one folder each.
const chainsDir = "../chains"

// scenario is one folder of chains/: a rule chain, what is sent into it, and
// every message that must leave its nodes on stream_event.
type scenario struct {
	dir      string
	chain    []byte
	def      types.RuleChain
	arrivals []arrival
}

// arrival is one line of arrivals.jsonl: a message into the chain.
type arrival struct {
	// At is when it comes, counted from the start. Chains that are fed over a
	// network go by event time and have none.
	At       string            `json:"at"`
	Metadata map[string]string `json:"metadata"`
	Topic    string            `json:"topic"` // for a chain with an MQTT endpoint
	Path     string            `json:"path"`  // for a chain with an HTTP endpoint
	// Failure is a part of the error of a message that must be refused.
	Failure string          `json:"failure"`
	Body    json.RawMessage `json:"body"`
}

// offset is At as a duration.
func (a arrival) offset(t *testing.T) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(a.At)
	require.NoError(t, err)
	return d
}

// event is one line of expected.jsonl: a message that left on stream_event.
type event struct {
	After    int               `json:"after,omitempty"` // how many messages had been sent
	At       string            `json:"at,omitempty"`
	Node     string            `json:"node"`
	Metadata map[string]string `json:"metadata"`
	Rows     []json.RawMessage `json:"rows"`
}

func loadScenario(t *testing.T, dir string) scenario {
	t.Helper()
	chain, err := os.ReadFile(filepath.Join(dir, "chain.json"))
	require.NoError(t, err)
	def, err := (&engine.JsonParser{}).DecodeRuleChain(chain)
	require.NoError(t, err)
	return scenario{
		dir:      dir,
		chain:    chain,
		def:      def,
		arrivals: readLines[arrival](t, filepath.Join(dir, "arrivals.jsonl")),
	}
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

// readLines decodes a JSON-lines file.
func readLines[T any](t *testing.T, path string) []T {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var out []T
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		var v T
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.DisallowUnknownFields()
		require.NoError(t, d.Decode(&v), "%s: %s", path, lines.Text())
		out = append(out, v)
	}
	require.NoError(t, lines.Err())
	return out
}

// jsonLines writes events one a line. Rows stay as they are, with their columns in
// order and their numbers as they were spelled, so that equal text means equal
// events. The groups of one window come in no particular order, so they are sorted.
func jsonLines(t *testing.T, events []event) string {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	for _, ev := range events {
		if ev.Metadata["resultType"] == "window_triggered" {
			ev.Rows = slices.Clone(ev.Rows)
			slices.SortFunc(ev.Rows, func(a, b json.RawMessage) int { return bytes.Compare(a, b) })
		}
		require.NoError(t, e.Encode(ev))
	}
	return out.String()
}
