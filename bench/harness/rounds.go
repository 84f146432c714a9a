package harness

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/pprof"
	"slices"
	"time"
)

// warmup is how many rounds come before those that count: the first touches
// fresh memory.
const warmup = 1

// Contest is two ways to do the same work, measured in turns on the same input.
// Both return the CPU time they took; what they prepare is not in it.
type Contest struct {
	// Prepare makes the next round's input and returns by how many units of work
	// the times are to be divided (rows, matches).
	Prepare func() (units int, err error)
	Own     func() (time.Duration, error)
	Other   func() (time.Duration, error)
	// Per names the unit.
	Per string
	// Judge makes the judged number of a round; nil = own/other.
	Judge func(own, other time.Duration, units int) float64
}

// Contest runs rounds, swapping who begins, and adds the judged number of each.
func (r *Run) Contest(c Contest) error {
	return r.rounds(c, func(own, other time.Duration, units int) {
		if c.Judge != nil {
			r.Add(c.Judge(own, other, units))
		} else {
			r.Add(float64(own) / float64(other))
		}
		r.Figure("streamjoin", "ns/"+c.Per, float64(own)/float64(units))
		r.Figure("reference", "ns/"+c.Per, float64(other)/float64(units))
	})
}

// Beside runs rounds as Contest does, of something that is shown and not judged.
// The reference is named as behind "over".
func (r *Run) Beside(name, reference string, c Contest) error {
	return r.rounds(c, func(own, other time.Duration, units int) {
		r.Figure(name, c.Per+"s/s", float64(units)/own.Seconds())
		r.Figure(name+" takes", "ns/"+c.Per, float64(own)/float64(units))
		r.Figure(name+" over "+reference, string(Times), float64(own)/float64(other))
	})
}

func (r *Run) rounds(c Contest, note func(own, other time.Duration, units int)) error {
	for i := range warmup + r.Rounds {
		units, err := c.Prepare()
		if err != nil {
			return err
		}
		var spent [2]time.Duration
		sides := [2]func() (time.Duration, error){c.Own, c.Other}
		for k := range sides {
			side := (k + i) % 2
			runtime.GC() // whoever comes second must not sweep what the first left
			if spent[side], err = sides[side](); err != nil {
				return err
			}
		}
		if i >= warmup {
			note(spent[0], spent[1], units)
		}
	}
	return nil
}

// CPU returns the CPU time that f takes on all goroutines of the process,
// garbage collection included. Goroutines started by f carry the profiler label
// part=name.
func CPU(name string, f func() error) (time.Duration, error) {
	var err error
	before := cpuTime()
	pprof.Do(context.Background(), pprof.Labels("part", name), func(context.Context) { err = f() })
	return cpuTime() - before, err
}

// Summary is a series in three numbers.
type Summary struct{ Median, Min, Max float64 }

// Summarize returns the summary of values; NaN without any.
func Summarize(values []float64) Summary {
	if len(values) == 0 {
		return Summary{math.NaN(), math.NaN(), math.NaN()}
	}
	v := slices.Sorted(slices.Values(values))
	mid := v[len(v)/2]
	if len(v)%2 == 0 {
		mid = (v[len(v)/2-1] + mid) / 2
	}
	return Summary{Median: mid, Min: v[0], Max: v[len(v)-1]}
}

// Quantile returns the smallest value that at least the share q of the values do
// not exceed. It sorts values.
func Quantile(values []time.Duration, q float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	i := int(math.Ceil(q*float64(len(values)))) - 1
	return values[min(max(i, 0), len(values)-1)]
}

// String writes a summary as "median (min–max)".
func (s Summary) String() string {
	if s.Min == s.Max {
		return number(s.Median)
	}
	return fmt.Sprintf("%s (%s–%s)", number(s.Median), number(s.Min), number(s.Max))
}

// number writes three significant digits without an exponent.
func number(x float64) string {
	switch a := math.Abs(x); {
	case math.IsNaN(x):
		return "—"
	case a >= 100 || x == 0:
		return fmt.Sprintf("%.0f", x)
	case a >= 10:
		return fmt.Sprintf("%.1f", x)
	case a >= 0.1:
		return fmt.Sprintf("%.2f", x)
	default:
		return fmt.Sprintf("%.2g", x)
	}
}
