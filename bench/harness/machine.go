package harness

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Machine is where and with what a table was made.
type Machine struct {
	CPU    string
	Cores  int
	OS     string
	Go     string
	Commit string
	Date   string
	Rounds int
	Quick  bool
}

// Here describes this machine and the commit of the working directory.
func Here() Machine {
	return Machine{CPU: cpuModel(), Cores: runtime.NumCPU(), OS: runtime.GOOS + "/" + runtime.GOARCH,
		Go: runtime.Version(), Commit: commit(), Date: time.Now().UTC().Format(time.DateOnly)}
}

func cpuModel() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown CPU"
	}
	for line := range strings.Lines(string(info)) {
		if name, model, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(model)
		}
	}
	return "unknown CPU"
}

// commit is the short hash, marked when there are changes to what Go compiles.
func commit() string {
	hash, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	name := strings.TrimSpace(string(hash))
	changed, err := exec.Command("git", "status", "--porcelain", "--", ":/*.go", ":/**/go.mod").Output()
	if err != nil || len(changed) > 0 {
		name += " with changes"
	}
	return name
}
