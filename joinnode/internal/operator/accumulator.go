package operator

import "github.com/streamjoin/streamjoin/joinnode/internal/row"

// accumulators fold rows into one row of aggregates, for operators that hold one
// group at a time.
type accumulators struct{}

// newAccumulators returns accumulators of nothing. appendOnly promises that
// remove is not called.
func newAccumulators(aggs []Aggregation, appendOnly bool) *accumulators { return &accumulators{} }

// another returns accumulators of nothing for the same aggregations, cheaper than
// newAccumulators.
func (a *accumulators) another() *accumulators { return &accumulators{} }

// add takes a row. It returns false, and the row is not counted, when a sum of
// integers would leave the range of 64 bits.
func (a *accumulators) add(r row.Row) bool { return true }

// appendTo appends a column for each aggregation.
func (a *accumulators) appendTo(dst row.Row) row.Row { return dst }

// reset forgets all rows.
func (a *accumulators) reset() {}
