// Package harness runs benchmarks in rounds and writes their table. It knows
// nothing of what is measured.
package harness

import (
	"errors"
	"fmt"
)

// Spec is one row of the table: what is measured, against which reference, and
// what the number shall be.
type Spec struct {
	Name      string // for -only
	What      string // first column
	Reference string // second column; "" = none
	Unit      Unit   // of the judged number
	Target    float64
	Stretch   float64 // 0 = none
	// How says how the number comes about; it stands below the table.
	How string
	// Free leaves the process on all cores. Comparisons are pinned to one, since
	// cores of a virtual machine differ; what is about latency needs them all.
	Free bool
	Run  func(*Run) error
}

// Unit is how a judged number is written.
type Unit string

// The units.
const (
	Times        Unit = "×"  // as a multiple of the reference
	Bytes        Unit = "B"  // a row
	Percent      Unit = "%"  // of the CPU time used
	Microseconds Unit = "µs" // a row, a message
	Milliseconds Unit = "ms"
	Visits       Unit = "visits" // rows looked at and entries moved, a row
)

// Run is one execution of a Spec: what it asks for, and what it found.
type Run struct {
	Quick  bool // prove that it works, the numbers mean nothing
	Rounds int

	outcome Outcome
}

// Outcome is what a run found. It travels from the child process as JSON.
type Outcome struct {
	Values []float64 // the judged number of each round
	Own    []Figure  // absolute numbers behind it, one series each
	Notes  []string  // what was checked, and what else was seen
}

// Figure is a series of absolute numbers, one for each round.
type Figure struct {
	Name   string // "streamjoin", "reference"
	Unit   string // "ns/row"
	Values []float64
}

// Scaled returns full, or what a quick run takes instead.
func (r *Run) Scaled(full, quick int) int {
	if r.Quick {
		return quick
	}
	return full
}

// Add notes the judged number of a round.
func (r *Run) Add(value float64) { r.outcome.Values = append(r.outcome.Values, value) }

// Figure notes an absolute number of a round.
func (r *Run) Figure(name, unit string, value float64) {
	for i := range r.outcome.Own {
		if f := &r.outcome.Own[i]; f.Name == name {
			f.Values = append(f.Values, value)
			return
		}
	}
	r.outcome.Own = append(r.outcome.Own, Figure{Name: name, Unit: unit, Values: []float64{value}})
}

// Note adds a sentence to what is shown below the table.
func (r *Run) Note(format string, args ...any) {
	r.outcome.Notes = append(r.outcome.Notes, fmt.Sprintf(format, args...))
}

// ErrCheck means that a run did not do the work whose cost it claims to measure.
var ErrCheck = errors.New("the benchmark did not do its work")

// Equal checks a count: a benchmark whose results are wrong has no speed.
func Equal[T comparable](what string, got, want T) error {
	if got != want {
		return fmt.Errorf("%w: %s is %v, want %v", ErrCheck, what, got, want)
	}
	return nil
}

// AtLeast checks a count from below.
func AtLeast(what string, got, want float64) error {
	if got < want {
		return fmt.Errorf("%w: %s is %g, want at least %g", ErrCheck, what, got, want)
	}
	return nil
}
