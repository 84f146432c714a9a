package docs_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPackageTable: every package stands in the table of architecture.md, and
// imports only packages that stand below it.
func TestPackageTable(t *testing.T) {
	const module = "github.com/streamjoin/streamjoin/"
	place := map[string]int{}
	for i, row := range readPage(t, "docs/architecture.md").table(t, "Packages") {
		place[code(row[0])[0]] = i
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,GoFiles,Imports", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	require.NoError(t, err)
	found := 0
	for list := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			GoFiles    []string
			Imports    []string
		}
		err := list.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if len(p.GoFiles) == 0 {
			continue // tests only
		}
		found++
		name := strings.TrimPrefix(p.ImportPath, module)
		require.Contains(t, place, name, "a package that the table lacks")
		for _, i := range p.Imports {
			if below, ours := strings.CutPrefix(i, module); ours {
				require.Less(t, place[name], place[below], "%s imports %s", name, below)
			}
		}
	}
	require.Equal(t, len(place), found, "a package that is not there")
}
