// The benchmark program: it measures every row of the table and writes
// docs/benchmarks.md.
//
//	make bench
//	cd bench && go run ./cmd -quick            # prove that every row works
//	cd bench && go run ./cmd -only json -profiles /tmp
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/bench/harness"
	"github.com/streamjoin/streamjoin/joinnode/bench/rows"
)

// leastRounds is what a published number needs.
const leastRounds = 5

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	var o harness.Options
	flag.BoolVar(&o.Quick, "quick", false, "small windows and one round: prove that every row works")
	flag.IntVar(&o.Rounds, "rounds", 7, "rounds of every row, at least 5 unless quick")
	flag.StringVar(&o.Profiles, "profiles", "", "directory for profiles of every row, CPU and allocations (go tool pprof -tagfocus part=engine)")
	only := flag.String("only", "", "names of the rows to run, comma between; all if empty")
	path := flag.String("o", "", "file to write; standard output if empty")
	list := flag.Bool("list", false, "list the names of the rows")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("unknown argument %q", flag.Arg(0))
	}
	all := rows.All()
	if ran, err := harness.Child(all, o); ran {
		return err
	}
	if *list {
		for i := range all {
			fmt.Printf("%-14s %s\n", all[i].Name, all[i].What)
		}
		return nil
	}
	switch {
	case o.Quick && !given("rounds"):
		o.Rounds = 1
	case o.Rounds < leastRounds && !o.Quick:
		return fmt.Errorf("%d rounds are too few, take %d or more", o.Rounds, leastRounds)
	case o.Rounds < 1:
		return errors.New("a round is the least")
	}
	chosen, err := choose(all, *only)
	if err != nil {
		return err
	}
	return measure(chosen, o, *path)
}

func given(name string) (set bool) {
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

func choose(all []harness.Spec, only string) ([]harness.Spec, error) {
	if only == "" {
		return all, nil
	}
	var chosen []harness.Spec
	for name := range strings.SplitSeq(only, ",") {
		found := false
		for i := range all {
			if all[i].Name == name {
				chosen, found = append(chosen, all[i]), true
			}
		}
		if !found {
			return nil, fmt.Errorf("no row is named %q; -list shows the names", name)
		}
	}
	return chosen, nil
}

// measure runs the rows one after the other. A row that fails is shown as failed
// and makes the program fail in the end.
func measure(specs []harness.Spec, o harness.Options, path string) error {
	m := harness.Here()
	m.Rounds, m.Quick = o.Rounds, o.Quick
	var results []harness.Result
	var errs []error
	for _, s := range specs {
		res := harness.Execute(s, o)
		results = append(results, res)
		if res.Err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.Name, res.Err))
		}
		fmt.Fprintf(os.Stderr, "%-14s %-40s %-18s %6.1fs\n", s.Name,
			harness.Summarize(res.Outcome.Values).String()+" "+string(s.Unit), res.Verdict(), res.Took.Round(100*time.Millisecond).Seconds())
	}
	errs = append(errs, write(path, m, results))
	return errors.Join(errs...)
}

func write(path string, m harness.Machine, results []harness.Result) (err error) {
	var to io.Writer = os.Stdout
	if path != "" {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		to = f
	}
	return harness.Write(to, m, results)
}
