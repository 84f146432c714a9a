package rows_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/bench/harness"
	"github.com/streamjoin/streamjoin/joinnode/bench/rows"
)

// TestEveryRowDoesItsWork runs each benchmark once on a small window. What it
// measures is of no interest; each one checks its own counts.
func TestEveryRowDoesItsWork(t *testing.T) {
	names := map[string]bool{}
	for _, spec := range rows.All() {
		require.False(t, names[spec.Name], "two rows are named %s", spec.Name)
		names[spec.Name] = true
		t.Run(spec.Name, func(t *testing.T) {
			require.NoError(t, spec.Run(&harness.Run{Quick: true, Rounds: 1}))
		})
	}
	require.Len(t, names, 25)
}
