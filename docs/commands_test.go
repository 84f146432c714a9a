package docs_test

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// adminAddress is what the pages say; the tests take a free one instead.
const adminAddress = "localhost:6334"

// TestCommands runs every console block: lines with "$ " are commands, what
// follows is their output. "…" in it stands for anything.
func TestCommands(t *testing.T) {
	bin := t.TempDir()
	program(t, bin, "streamjoin", "-C", root, "./cmd/streamjoin")
	for _, b := range blocksOf(t, "console") {
		t.Run(b.name(), func(t *testing.T) {
			text := b.text
			if strings.Contains(text, "curl ") {
				if _, err := exec.LookPath("curl"); err != nil {
					t.Skip("there is no curl")
				}
				address := host(t, bin, "command-ack", "shop")
				text = strings.ReplaceAll(text, adminAddress, address)
			}
			for _, step := range strings.Split("\n"+text, "\n$ ")[1:] {
				command, want, _ := strings.Cut(step, "\n")
				if strings.HasPrefix(command, "make ") {
					requireTarget(t, command)
					continue
				}
				cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
				cmd.Dir = root
				cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
				out, _ := cmd.CombinedOutput() // what is refused ends with an exit code as well
				pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(want)), "…", "(?s:.*)")
				require.Regexp(t, "^"+pattern+"$", strings.TrimSpace(string(out)), "%s: %s", b, command)
			}
		})
	}
}

// requireTarget checks a make command against the Makefile: to run make test
// from here would never end.
func requireTarget(t *testing.T, command string) {
	t.Helper()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	require.Regexp(t, `(?m)^`+regexp.QuoteMeta(strings.Fields(command)[1])+`:.* ## `, string(makefile))
}

// TestMakeTargets does so for the commands in the text.
func TestMakeTargets(t *testing.T) {
	for _, p := range pages(t) {
		for _, piece := range code(p.prose()) {
			if strings.HasPrefix(piece, "make ") {
				requireTarget(t, piece)
			}
		}
	}
}

// host runs streamjoin run with some of chains/ and returns the address of its API.
func host(t *testing.T, bin string, chains ...string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	args := []string{"run", "--listen", address}
	for _, c := range chains {
		args = append(args, filepath.Join(root, "chains", c, "chain.json"))
	}
	cmd := exec.Command(filepath.Join(bin, "streamjoin"), args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
		require.NoError(t, cmd.Wait(), "%s", &out)
	})
	require.Eventually(t, func() bool {
		response, err := http.Get("http://" + address + "/chains")
		if err != nil {
			return false
		}
		return response.Body.Close() == nil && response.StatusCode == http.StatusOK
	}, time.Minute, 20*time.Millisecond)
	return address
}

// TestRoutes asks for every route that the README lists and looks for an answer
// that only the admin API gives.
func TestRoutes(t *testing.T) {
	bin := t.TempDir()
	program(t, bin, "streamjoin", "-C", root, "./cmd/streamjoin")
	address := host(t, bin, "command-ack", "shop")
	checked := 0
	for _, row := range readPage(t, "README.md").tables("Change it while it runs")[1] {
		for _, route := range code(row[0]) {
			method, path, ok := strings.Cut(route, " ")
			if !ok || !strings.ContainsAny(path, "/") {
				continue
			}
			path = strings.ReplaceAll(path, "…", "/chains/{chain}")
			values := []string{"{chain}", "command-ack", "{node}", "join"}
			if strings.Contains(path, "/tables") {
				values = []string{"{chain}", "shop", "{node}", "shop", "{table}", "Users.total_spend"}
			}
			path = strings.NewReplacer(values...).Replace(path)
			request, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+path, strings.NewReader("no JSON"))
			require.NoError(t, err)
			response, err := http.DefaultClient.Do(request)
			require.NoError(t, err)
			var answer map[string]any
			require.NoError(t, json.NewDecoder(response.Body).Decode(&answer), route)
			require.NoError(t, response.Body.Close())
			if method == http.MethodGet || method == http.MethodDelete {
				require.Equal(t, http.StatusOK, response.StatusCode, route)
			} else {
				require.Equal(t, http.StatusBadRequest, response.StatusCode, route)
			}
			checked++
		}
	}
	require.Equal(t, 12, checked)
}

// TestPrograms runs every Go block, each a whole program, and compares what it
// prints with the comment "// Output:" at its end.
func TestPrograms(t *testing.T) {
	for _, b := range blocksOf(t, "go") {
		t.Run(b.name(), func(t *testing.T) {
			source, want, ok := strings.Cut(b.text, "\n// Output:\n")
			require.True(t, ok, "%s has no output", b)
			// An overlay puts the file into the module, where its imports are known,
			// without writing into it.
			dir := t.TempDir()
			file := filepath.Join(dir, "main.go")
			require.NoError(t, os.WriteFile(file, []byte(source), 0o600))
			here, err := filepath.Abs(root)
			require.NoError(t, err)
			overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(here, "docs", "program", "main.go"): file}})
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600))
			program(t, dir, "program", "-C", root, "-overlay", filepath.Join(dir, "overlay.json"), "./docs/program")

			cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "program"))
			out, err := cmd.Output()
			require.NoError(t, err)
			want = strings.ReplaceAll("\n"+want, "\n// ", "\n")
			require.Equal(t, strings.TrimSpace(want), strings.TrimSpace(strings.ReplaceAll(string(out), " \n", "\n")), b.String())

			formatted := exec.CommandContext(t.Context(), "gofmt", "-l", file)
			listed, err := formatted.Output()
			require.NoError(t, err)
			require.Empty(t, string(listed), "%s is not formatted", b)
		})
	}
}

// program builds a command into dir.
func program(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	first := args[:2] // -C comes first
	args = append(append(append([]string{"build"}, first...), "-o", filepath.Join(dir, name)), args[2:]...)
	out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}
