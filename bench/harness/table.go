package harness

import (
	"fmt"
	"io"
	"strings"
)

// Verdict says what a row has reached.
func (res *Result) Verdict() string {
	m := Summarize(res.Outcome.Values).Median
	switch s := &res.Spec; {
	case res.Err != nil:
		return "failed"
	case s.Stretch > 0 && m <= s.Stretch:
		return "met, stretch too"
	case m <= s.Target:
		return "met"
	default:
		return "**not met**"
	}
}

// Write writes the page: one table and, below it, how each number came about.
func Write(w io.Writer, m Machine, results []Result) error {
	var b strings.Builder
	b.WriteString("# Benchmarks\n\nWritten by `make bench`; do not edit. ")
	b.WriteString("Every row runs in a process of its own")
	if pinned(results) {
		b.WriteString(", comparisons pinned to one core")
	}
	fmt.Fprintf(&b, ". A ratio is the CPU time of all goroutines, garbage collection included, over that of the reference, measured in turns on the same pre-generated input. Numbers are medians of the rounds (%d), with min–max.\n\n", m.Rounds)
	fmt.Fprintf(&b, "Machine: %s, %d cores, %s. %s. Commit %s. %s.\n\n", m.CPU, m.Cores, m.OS, m.Go, m.Commit, m.Date)
	if m.Quick {
		b.WriteString("**A quick run on small windows: it shows that every row works. The numbers mean nothing.**\n\n")
	}
	b.WriteString("| what | reference | target | stretch | measured | verdict | streamjoin | reference took |\n")
	b.WriteString("| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for i := range results {
		res := &results[i]
		s := &res.Spec
		measured := Summarize(res.Outcome.Values).String() + " " + string(s.Unit)
		if res.Err != nil {
			measured = "—"
		}
		fmt.Fprintf(&b, "| %s | %s | ≤ %s %s | %s | %s | %s | %s | %s |\n", s.What, orDash(s.Reference), number(s.Target), s.Unit,
			s.stretch(), measured, res.Verdict(), res.figure("streamjoin"), res.figure("reference"))
	}
	b.WriteString("\n## How each number comes about\n\n")
	for i := range results {
		res := &results[i]
		fmt.Fprintf(&b, "- **%s** (`-only %s`). %s", res.Spec.What, res.Spec.Name, res.Spec.How)
		if res.Err != nil {
			fmt.Fprintf(&b, " Failed: %v.", res.Err)
		}
		for _, f := range res.Outcome.Own {
			if f.Name != "streamjoin" && f.Name != "reference" {
				fmt.Fprintf(&b, " %s: %s.", f.Name, f.text())
			}
		}
		for _, n := range res.Outcome.Notes {
			fmt.Fprintf(&b, " %s.", n)
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func pinned(results []Result) bool {
	for i := range results {
		if results[i].Pinned {
			return true
		}
	}
	return false
}

func (s *Spec) stretch() string {
	if s.Stretch == 0 {
		return "—"
	}
	return fmt.Sprintf("≤ %s %s", number(s.Stretch), s.Unit)
}

func (res *Result) figure(name string) string {
	for _, f := range res.Outcome.Own {
		if f.Name == name {
			return f.text()
		}
	}
	return "—"
}

func (f *Figure) text() string { return strings.TrimSpace(Summarize(f.Values).String() + " " + f.Unit) }

func orDash(s string) string {
	if s == "" {
		return "—"
	}
	return s
}
