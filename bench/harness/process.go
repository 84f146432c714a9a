package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"
)

// Every row is measured in a process of its own: none inherits the heap, the
// collector's state or the goroutines of another. The process is this program
// again, told by an environment variable which row it is to run.
const childVar = "STREAMJOIN_BENCH_ROW"

// Options are how rows are run.
type Options struct {
	Quick    bool
	Rounds   int
	Profiles string // directory for profiles; "" = none
}

// Result is a row with what came out.
type Result struct {
	Spec    Spec
	Outcome Outcome
	Err     error
	Pinned  bool
	Took    time.Duration
}

// Child runs the row that this process was started for, and reports whether it
// was started for one.
func Child(specs []Spec, o Options) (bool, error) {
	name := os.Getenv(childVar)
	if name == "" {
		return false, nil
	}
	for i := range specs {
		if specs[i].Name == name {
			return true, specs[i].report(o, os.Stdout)
		}
	}
	return true, fmt.Errorf("no row is named %q", name)
}

func (s *Spec) report(o Options, to io.Writer) error {
	r := &Run{Quick: o.Quick, Rounds: o.Rounds}
	if err := s.profiled(o.Profiles, func() error { return s.Run(r) }); err != nil {
		return err
	}
	if len(r.outcome.Values) == 0 {
		return fmt.Errorf("%w: no value", ErrCheck)
	}
	return json.NewEncoder(to).Encode(r.outcome)
}

// profiled runs f and writes a CPU profile and one of all allocations into dir, if
// there is one.
func (s *Spec) profiled(dir string, f func() error) (err error) {
	if dir == "" {
		return f()
	}
	cpu, err := os.Create(filepath.Join(dir, s.Name+".cpu.pprof"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cpu.Close()) }()
	allocs, err := os.Create(filepath.Join(dir, s.Name+".allocs.pprof"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, allocs.Close()) }()
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return err
	}
	err = f()
	pprof.StopCPUProfile()
	return errors.Join(err, pprof.Lookup("allocs").WriteTo(allocs, 0))
}

// Execute runs one row in a process of its own and waits for it.
func Execute(s Spec, o Options) Result {
	res := Result{Spec: s}
	start := time.Now()
	res.Err = res.execute(o)
	res.Took = time.Since(start)
	return res
}

func (res *Result) execute(o Options) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"-rounds", strconv.Itoa(o.Rounds)}
	if o.Quick {
		args = append(args, "-quick")
	}
	if o.Profiles != "" {
		args = append(args, "-profiles", o.Profiles)
	}
	var out, complaint strings.Builder
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), childVar+"="+res.Spec.Name)
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := res.start(cmd); err != nil {
		return err
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(complaint.String()))
	}
	return json.Unmarshal([]byte(out.String()), &res.Outcome)
}

// start starts cmd on one core, unless the row wants them all. A child inherits
// the cores of the thread that starts it.
func (res *Result) start(cmd *exec.Cmd) error {
	if !res.Spec.Free {
		if _, release, err := pin(); err == nil {
			res.Pinned = true
			defer release()
		}
	}
	return cmd.Start()
}
