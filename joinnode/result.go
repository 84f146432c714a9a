package joinnode

// ResultType says what kind of result a Result is.
type ResultType string

// The result types, spelled as the node writes them into metadata resultType.
const (
	JoinMatched     ResultType = "join_matched"
	LeftUnmatched   ResultType = "left_unmatched"
	WindowTriggered ResultType = "window_triggered"
	PatternMatched  ResultType = "pattern_matched"
	// RowSelected is the result of a query without join, window or pattern.
	RowSelected ResultType = "row_selected"
	// RowInserted, RowUpdated and RowDeleted are the changes of a state table; the
	// rows of a stream table are inserted.
	RowInserted ResultType = "insert"
	RowUpdated  ResultType = "update"
	RowDeleted  ResultType = "delete"
)

// Result is one result of the running query with what the engine knows of it
// (docs/semantics.md, "NULL rows" and "Three and more streams").
type Result struct {
	// JSON is an array of result rows: one row for a join, all rows of one
	// window or pattern otherwise. It is valid until the sink returns.
	JSON []byte
	Type ResultType
	// Unmatched are the aliases that are NULL in a LEFT JOIN's result, in query
	// order; nil otherwise.
	Unmatched []string
	// ClosedBy says why an unmatched row was given up: "window", "idle",
	// "stop", "reload"; "" for a matched row. Where several joins found nothing it is
	// why the last of them gave up, which is what released the row. On the row of a
	// script's time window it says that the end cut the window off: "stop" or "reload".
	ClosedBy string
	// WindowEnd is the end of the window in ns since the epoch, 0 when the
	// result is not a window's.
	WindowEnd int64
	// Table is the table of a script that the row is of; "" for other queries.
	Table string
	// Key is the row's key as a JSON object, nil unless it is a state table's. It is
	// valid until the sink returns.
	Key []byte
	// TS is the time of a script's row or change in ns since the epoch.
	TS int64
	// Seq numbers the results of a script in the order in which they happened, from
	// 1; versions of it that follow each other by Adopt go on counting. 0 for other
	// queries.
	Seq uint64
}

// LateRow is a row that was accepted and then dropped, or evicted by a gate.
type LateRow struct {
	Stream string // the input it came in on; "" for a row made of others
	Table  string // the table of a script that dropped it; "" otherwise
	// Reason is "late", "bad_timestamp", "future_timestamp", "rows_dropped",
	// "memory_dropped", "keys_evicted" or "input_dropped"; in a table script also
	// "bad_element" and "sum_overflow".
	Reason    string
	TS        int64 // row time in ns since the epoch; 0 when it has none
	Watermark int64 // of its side, in ns since the epoch; 0 = unseen
	// JSON is the row as a JSON object: whole as it came, except that an
	// evicted row has only the columns that the query keeps. Valid until return.
	JSON []byte
}

// JSONRow is one row on its way in: the stream that it belongs to and the bytes
// of its JSON object.
type JSONRow struct {
	Stream string
	Data   []byte
}

// Adoption tells how a reload went for the state of the old query.
type Adoption struct {
	// Taken: the new query goes on with the old one's rows, watermarks and
	// counters, and nothing was flushed.
	Taken bool
	// Differs says in words what prevented it: "stage 1: WITHIN is 10s, was 30s".
	Differs string
}
