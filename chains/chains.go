// Package chains holds rule chains that are ready to run, one folder each: the
// chain (chain.json), messages to send into it (arrivals.jsonl), and every
// message that then leaves its nodes on stream_event (expected.jsonl). The
// folders are run as tests by integration_test.
package chains

import (
	"embed"
	"fmt"
	"path"
)

//go:embed */chain.json
var files embed.FS

// Chain returns the definition of the rule chain in the folder name. The caller
// owns the bytes. An unknown name is an error that wraps fs.ErrNotExist.
func Chain(name string) ([]byte, error) {
	text, err := files.ReadFile(path.Join(name, "chain.json"))
	if err != nil {
		return nil, fmt.Errorf("no chain named %q: %w", name, err)
	}
	return text, nil
}
