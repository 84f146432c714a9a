package pipeline

import "github.com/streamjoin/streamjoin/joinnode/internal/operator"

// graph is the operators of a query and the edges between them, as the loop sees
// them. The loop owns it: nothing here is called by another goroutine while the
// loop runs.
type graph interface {
	// show lets the operators prepare for the arrivals of b from the given one on.
	show(b *batch, from int)
	// arrive takes one row through the operators. Time has come to its instant.
	arrive(a *arrival)
	// lost returns what the late output is told of a row that found no room; its
	// JSON is that of the row.
	lost(a *arrival) Late

	// clocked tells whether the clock can make anything happen.
	clocked() bool
	// nextDue is the least clock reading at which something happens if nothing
	// more arrives.
	nextDue() (int64, bool)
	// tick is one timer event, or the passing of time before an arrival: it brings
	// time to t. Nothing is due before t; due says whether something is at t.
	tick(t int64, due bool)
	// sweep is how long rows that have nothing to emit may stay when nothing
	// arrives, in ns; false when there are none.
	sweep() (int64, bool)

	// flush closes the inputs: what waits leaves, upstream first.
	flush(why operator.CloseReason)
	// heir returns what takes the state of an old query's graph over, or says in
	// words why that cannot be. inherit runs in the loop of the new query once that
	// of the old one has ended; heir itself changes nothing.
	heir(old graph) (inherit func(), differs string)

	// publish brings the graph's own metrics up to date, and returns how many rows
	// it has dropped that were accepted. The counters' lock is held.
	publish() (dropped int64)
}
