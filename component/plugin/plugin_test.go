package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/streamaggregator"
)

func TestComponents(t *testing.T) {
	require.NoError(t, Plugins.Init())
	require.Len(t, Plugins.Components(), 1)
	require.IsType(t, &streamaggregator.Node{}, Plugins.Components()[0])
}

// TestPluginInAHost builds the plugin and a host with the same flags and lets the
// host load it with RegisterPlugin and run a chain. Both are built here, as Go loads
// a plugin only into a host with the very same build of all packages they share; a
// test binary would not do.
func TestPluginInAHost(t *testing.T) {
	if reason := cannotBuildPlugins(); reason != "" {
		if os.Getenv("CI") == "true" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	dir := t.TempDir()
	so, host := filepath.Join(dir, "streamjoin.so"), filepath.Join(dir, "host")
	goBuild(t, "-buildmode=plugin", "-o", so, "github.com/streamjoin/streamjoin/component/plugin")
	goBuild(t, "-o", host, "./testdata/host")
	out, err := exec.Command(host, so).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), `[{"deviceId":"d1","temp":80.50,"vib":35.2}]`)
}

func cannotBuildPlugins() string {
	cgo, err := exec.Command("go", "env", "CGO_ENABLED").Output()
	if err != nil {
		return "no go command: " + err.Error()
	}
	if string(cgo) != "1\n" {
		return "plugins need cgo, which is off"
	}
	cc, err := exec.Command("go", "env", "CC").Output()
	if err != nil {
		return "no go command: " + err.Error()
	}
	if _, err := exec.LookPath(string(cc[:len(cc)-1])); err != nil {
		return "plugins need cgo and a C compiler: " + err.Error()
	}
	return ""
}

func goBuild(t *testing.T, args ...string) {
	t.Helper()
	out, err := exec.Command("go", append([]string{"build", "-trimpath"}, args...)...).CombinedOutput()
	require.NoError(t, err, "go build %v: %s", args, out)
}
