package docs_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/engine"
	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/chains"
	"github.com/streamjoin/streamjoin/component"
	"github.com/streamjoin/streamjoin/joinnode"
	"github.com/streamjoin/streamjoin/streamaggregator"
)

// TestSQL compiles every statement. Statements of one block are separated by an
// empty line. One that ends with "-- error: …" must be refused with exactly
// those words. Behind a comment <!-- each line in: SELECT … {} … --> every line
// is a part that takes the place of {}.
func TestSQL(t *testing.T) {
	for _, b := range blocksOf(t, "sql") {
		t.Run(b.name(), func(t *testing.T) {
			frame, lines := strings.CutPrefix(b.note, "each line in: ")
			parts := strings.Split(strings.TrimSpace(b.text), "\n\n")
			if lines {
				parts = strings.Split(strings.TrimSpace(b.text), "\n")
			}
			for _, sql := range parts {
				sql, want, refused := strings.Cut(sql, "-- error: ")
				if lines {
					sql = strings.Replace(frame, "{}", "\n"+sql+"\n", 1)
				}
				err := joinnode.Check(sql)
				if !refused {
					require.NoError(t, err, "%s: %s", b, sql)
					continue
				}
				var located *joinnode.SQLError
				require.True(t, errors.As(err, &located), "%s: %s: %v", b, sql, err)
				require.Equal(t, strings.TrimSpace(want), located.Msg, "%s: %s", b, sql)
			}
		})
	}
}

// TestJSON loads every chain into a real engine; a node alone is loaded in a
// chain of its own.
func TestJSON(t *testing.T) {
	for _, b := range blocksOf(t, "json") {
		t.Run(b.name(), func(t *testing.T) {
			var doc map[string]any
			require.NoError(t, json.Unmarshal([]byte(b.text), &doc), b.String())
			chain := []byte(b.text)
			switch {
			case doc["metadata"] != nil:
			case doc["type"] == streamaggregator.Type:
				chain = []byte(`{"ruleChain":{"id":"docs"},"metadata":{"nodes":[` + b.text + `],"connections":[]}}`)
			default:
				require.Regexp(t, `^not loaded: \w`, b.note, "%s is neither a chain nor a node", b)
				return
			}
			registry := new(engine.RuleComponentRegistry)
			for _, c := range engine.Registry.GetComponents() {
				require.NoError(t, registry.Register(c))
			}
			require.NoError(t, component.Register(registry))
			e, err := engine.NewPool().New("docs", chain, engine.WithConfig(engine.NewConfig(types.WithComponentsRegistry(registry))))
			require.NoError(t, err, b.String())
			e.Stop(t.Context())
		})
	}
}

// TestFirstChain keeps the chain that the README begins with the one that make
// demo runs.
func TestFirstChain(t *testing.T) {
	type chain struct {
		Metadata types.RuleMetadata `json:"metadata"`
	}
	var shown, run chain
	for _, b := range readPage(t, "README.md").blocks {
		if b.lang == "json" {
			require.NoError(t, json.Unmarshal([]byte(b.text), &shown))
			break
		}
	}
	text, err := chains.Chain("two-stage")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &run))
	require.NotEmpty(t, shown.Metadata.Nodes)
	require.Equal(t, run.Metadata.Connections, shown.Metadata.Connections)
	require.Len(t, shown.Metadata.Nodes, len(run.Metadata.Nodes))
	for i, n := range shown.Metadata.Nodes {
		require.Equal(t, run.Metadata.Nodes[i].Id, n.Id)
		require.Equal(t, run.Metadata.Nodes[i].Configuration, n.Configuration)
	}
}

// TestUnregisteredTable checks what sql.md says of a forgotten table, or a
// forgotten WITHIN.
func TestUnregisteredTable(t *testing.T) {
	const sql = "SELECT t.x, d.site FROM temps AS t JOIN devices AS d ON t.k = d.k"
	q := joinnode.New(joinnode.WithDiscardLog())
	require.NoError(t, q.Execute(sql))
	defer q.Stop()
	const words = `join table "devices" is not registered`
	require.Contains(t, code(readPage(t, "docs/sql.md").prose()), words)
	err := q.EmitTo("temps", map[string]any{"k": 1})
	require.ErrorContains(t, err, words)
	require.ErrorContains(t, err, "WITHIN")
	require.ErrorContains(t, streamaggregator.Check(types.Configuration{"sql": sql}), "WITHIN")
}
