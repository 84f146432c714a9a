// Package operator has the one contract that every vertex of the query graph
// keeps, and the operators.
package operator

import "github.com/streamjoin/streamjoin/joinnode/internal/row"

// Progress is how far the time of one port has come, in ns since the epoch;
// math.MinInt64 means nothing was seen. Seen and Low never fall.
type Progress struct {
	// Seen is the greatest row time, or the clock where the clock drives the
	// port. Lateness and retention of WITHIN are measured from it.
	Seen int64
	// Low promises that no later record of the port has a TS below it. Inside a
	// table script it is the input's watermark, which late rows do not keep: every
	// operator that uses it says what becomes of them (docs/tables.md).
	Low int64
	// Idle ports are left out of minima over ports.
	Idle bool
}

// Record is one change that flows along an edge.
type Record struct {
	TS   int64  // event time or arrival instant, ns since the epoch
	Seq  uint64 // order of entry on this edge, rising
	Diff int8   // +1 insert, −1 retract; interval joins only ever send +1
	// Past marks a record that changes no row of today, only a table's history: with
	// Diff +1 Row was the version of its key from TS to the next version, with −1
	// the key had none. Only temporal joins keep histories; others ignore it.
	Past bool
	// Change is set on the records of a Table: what happened to the row's key.
	Change Change
	Row    row.Row // valid until Process or Emit returns; the receiver copies what it keeps
	// Nulls has bit i set when source i of the query (0 = FROM) is
	// NULL-complemented in this record, and Why says what closed its row.
	Nulls uint64
	Why   CloseReason
}

// Change says what one step did to one key of a table.
type Change uint8

// The changes; records that are no table's have the zero Change.
const (
	NoChange Change = iota
	Inserted        // Row is the new row
	Updated         // Row is the new row
	Deleted         // Row is the last row
)

// String returns the change as metadata resultType spells it.
func (c Change) String() string { return [...]string{"", "insert", "update", "delete"}[c] }

// CloseReason says why an unmatched row was given up.
type CloseReason uint8

// The reasons; the zero value means that nothing was closed.
const (
	NotClosed      CloseReason = iota
	ClosedByWindow             // its time window passed
	ClosedByIdle               // an idle input's watermark followed the clock past it
	ClosedByStop
	ClosedByReload
)

// String returns the reason as metadata closedBy spells it.
func (c CloseReason) String() string {
	return [...]string{"", "window", "idle", "stop", "reload"}[c]
}

// Reason says why a record was dropped after it was accepted.
type Reason uint8

// The reasons of a drop. Each has one counter and one advice (package
// pipeline).
const (
	Late            Reason = iota // older than the watermark allows
	BadTimestamp                  // missing, negative, unparseable, out of range
	FutureTimestamp               // further ahead of the clock than MAXFUTURESKEW
	Filtered                      // a WHERE conjunct that was moved to the input rejected it
	RowsGate                      // maxRows was full
	BytesGate                     // maxBytes was full
	KeyEvicted                    // its key was the least recently used above maxKeys
	Overflow                      // the input queue was full
	BadElement                    // an element of an array that JOIN row.items reads is no object
	SumOverflow                   // a sum of integers would leave the range of 64 bits
	NumReasons      = iota
)

// String returns the reason as the late output spells it.
func (r Reason) String() string {
	return [...]string{"late", "bad_timestamp", "future_timestamp", "filtered",
		"rows_dropped", "memory_dropped", "keys_evicted", "input_dropped", "bad_element", "sum_overflow"}[r]
}

// Operator is one vertex of the graph. It owns its state and has no clock,
// goroutine, lock or channel, so that it can be tested by calling it, replayed,
// snapshotted, or run once per shard. Calls never overlap.
type Operator interface {
	// Advance tells how far a port's time has come, before the record that
	// moved it: the operator expires state and emits what is due.
	Advance(port int, p Progress)
	// Process takes one record. It moves no time.
	Process(port int, rec Record)
	// EndStep closes one arrival or timer event; the pipeline calls it upstream
	// first, and may leave operators out to which nothing came. The operator raises
	// its output's progress here.
	EndStep()
	// Wake returns the least Seen of port at which the operator would emit
	// something, or at which its output would reach need; false when no Seen of
	// this port does either. The pipeline sets its timers by it.
	Wake(port int, need int64) (int64, bool)
	// Flush says that nothing more comes on port: the operator emits what waits.
	// Once all ports are flushed it has emitted everything.
	Flush(port int, why CloseReason)
	// Stats returns the operator's counters and state sizes as of now.
	Stats() Stats
	// Describe returns the operator as EXPLAIN shows it: its name and one line
	// per property, its state bound among them.
	Describe() Description
}

// Prefetcher is for operators whose state outgrows the cache: before a batch is
// processed in order, the pipeline shows it the records and it touches what
// they will need. It changes nothing.
type Prefetcher interface {
	Prefetch(batch []Arrival)
}

// Reader is for operators that hold the rows of a table.
type Reader interface {
	// Read calls yield with every row of the table as of the last EndStep, in no
	// particular order, until yield returns false. A row is valid until yield
	// returns.
	Read(yield func(row.Row) bool)
}

// Arrival is a record on its way to a port.
type Arrival struct {
	Port   int
	Record Record
}

// Output is where an operator's results go; the pipeline implements it.
type Output interface {
	// Emit passes a record downstream. Its TS is at or above the last
	// Advance.Low; in processing time the pipeline re-stamps it, and it sets Seq.
	Emit(rec Record)
	// Advance tells the downstream port's progress.
	Advance(p Progress)
	// Drop is the one place for counter, warning and late output. port is the
	// operator's port the record came in on; pending says that it was a LEFT
	// row still waiting for a match.
	Drop(port int, rec Record, why Reason, pending bool)
}

// Stats are the counters of one operator.
type Stats struct {
	Matches      int64 // pairs emitted
	LeftTimeouts int64 // NULL-complemented rows emitted
	KeysEvicted  int64 // keys that left by the maxKeys gate
	Expired      int64 // rows that left because their time, or the query, was over
	Rows         int64 // buffered now, both sides
	Keys         int64 // distinct keys now, both sides
	Bytes        int64 // state now, estimated
	Visited      int64 // rows looked at by probes, insertions and expiry
	Moved        int64 // entries moved to keep rows in time order
	Rejected     int64 // records a filter did not pass
	LateVersions int64 // versions and retractions that came after results they would have changed
	Fallen       int64 // keys that STATETTL deleted
}

// Description is one node of EXPLAIN.
type Description struct {
	Name  string   // e.g. "IntervalJoin LEFT"
	Lines []string // e.g. "on a.k = b.k", "state: ≤ rate × 30s rows a side"
}
