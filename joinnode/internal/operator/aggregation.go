package operator

import (
	"fmt"
	"strings"

	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// AggregateKind is one of the aggregate functions that can be kept
// incrementally, with retraction.
type AggregateKind uint8

// The kinds.
//
// All skip NULL, and NaN like NULL. Where nothing else is left, AggCount and
// AggSum are the integer 0 and the others NULL. The numeric ones (Sum, Avg and the
// moments) also skip what is no number, which AggregateConfig.Mismatch is told.
const (
	// AggCount counts values, or rows when Aggregation.Arg is −1.
	AggCount AggregateKind = iota
	// AggSum is an Int while all values are integers (semantics.md §7: JSON
	// numbers without point and exponent), exact, else a Float.
	AggSum
	// AggAvg is a Float.
	AggAvg
	// AggMin and AggMax show a value as it was spelled, of equal ones the one that
	// arrived first. Values of different kinds are in the order of compareTotal:
	// booleans, numbers, text, times, objects and arrays.
	AggMin
	AggMax
	// AggStddev and AggVar are those of the population, AggStddevSamp and
	// AggVarSamp those of a sample, 0 for a single value as in streamsql. They go by
	// the nearest float64 of each number, and are NULL where no float64 holds the
	// squared distances.
	AggStddev
	AggStddevSamp
	AggVar
	AggVarSamp
	// AggCollect is a JSON array of the values in order of arrival.
	AggCollect
	// AggFirstValue and AggLastValue show the value of the row with the least or
	// greatest Aggregation.Time; on a tie the one that arrived first, or last.
	AggFirstValue
	AggLastValue

	aggregateKinds = iota
)

var aggregateNames = [aggregateKinds]string{"count", "sum", "avg", "min", "max",
	"stddev", "stddevs", "var", "vars", "collect", "first_value", "last_value"}

// String returns the function's name in SQL.
func (k AggregateKind) String() string { return aggregateNames[k] }

// byNumber tells whether the aggregate asks of its values only whether they are
// there, and for their number.
func (k AggregateKind) byNumber() bool {
	switch k {
	case AggCount, AggSum, AggAvg, AggStddev, AggStddevSamp, AggVar, AggVarSamp:
		return true
	}
	return false
}

// ParseAggregate returns the kind with a name in SQL, in any case. The names are
// those of streamsql.
func ParseAggregate(name string) (AggregateKind, bool) {
	for k, n := range aggregateNames {
		if strings.EqualFold(name, n) {
			return AggregateKind(k), true
		}
	}
	return 0, false
}

// Retractable reports whether an aggregate function of streamsql can be kept
// with retraction. known is false for a name that is no aggregate function.
func Retractable(name string) (ok, known bool) {
	if _, ok = ParseAggregate(name); ok {
		return true, true
	}
	switch strings.ToLower(name) {
	case "median", "percentile", "deduplicate", "merge_agg":
		return false, true
	}
	return false, false
}

// Aggregation is one aggregate column.
type Aggregation struct {
	Kind AggregateKind
	Arg  int // column of the input row; −1 for COUNT(*)
	// Time is the column with the row's time, an integer, that AggFirstValue and
	// AggLastValue go by; −1: they go by arrival.
	Time     int
	Distinct bool // of equal values (1 = 1.0) only the first counts
}

// AggregateConfig says what an Aggregate keeps. An input row has the group's key
// columns first; the other columns are what the Aggregations take.
type AggregateConfig struct {
	Keys int // key columns; 0 is one global group
	Aggs []Aggregation
	// AppendOnly promises that no −1 comes, so that fewer values have to be kept.
	AppendOnly bool
	// TTL deletes a group not touched for so long, ns; 0: never. It adds port 1,
	// the script's time.
	TTL  int64
	Text string // for Describe
	// Mismatch is told of values that a numeric aggregate skips as they are no
	// numbers, when their row comes; may be nil. v is valid during the call.
	Mismatch func(v value.Value)
}

func (cfg *AggregateConfig) check(what string) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s: "+format, append([]any{ErrConfig, what}, args...)...)
	}
	if cfg.Keys < 0 {
		return bad("Keys must not be negative, is %d", cfg.Keys)
	}
	if cfg.TTL < 0 {
		return bad("TTL must not be negative, is %d", cfg.TTL)
	}
	for i, g := range cfg.Aggs {
		switch {
		case g.Kind >= aggregateKinds:
			return bad("aggregation %d is of no known kind (%d)", i, g.Kind)
		case g.Arg < 0 && (g.Kind != AggCount || g.Distinct):
			return bad("aggregation %d, %s, needs a column", i, g.Kind)
		}
	}
	return nil
}

// WindowConfig says what a Window keeps.
type WindowConfig struct {
	AggregateConfig
	// Bucket is the key column with the last instant of the row's time window, an
	// integer in ms since the epoch.
	Bucket int
}

func (cfg *WindowConfig) check() error {
	if err := cfg.AggregateConfig.check("window"); err != nil {
		return err
	}
	switch {
	case cfg.Bucket < 0 || cfg.Bucket >= cfg.Keys:
		return fmt.Errorf("%w: window: Bucket must be one of the %d key columns, is %d", ErrConfig, cfg.Keys, cfg.Bucket)
	case cfg.TTL != 0:
		return fmt.Errorf("%w: window: its state ends with its time, it has no TTL", ErrConfig)
	}
	return nil
}
