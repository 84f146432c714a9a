// Package rows has the benchmarks, one for each row of the table.
package rows

import "github.com/streamjoin/streamjoin/joinnode/bench/harness"

// All returns the rows in the order of the table.
func All() []harness.Spec {
	return []harness.Spec{
		{
			Name: "json", What: "EmitJSON → AddJSONSink, validation, WHERE and 3-column SELECT, 60,000 rows a side, CPU time per input row",
			Reference: "json.Unmarshal of the same message into a map", Unit: harness.Times, Target: 0.3, Stretch: 0.2,
			How: "One goroutine calls EmitJSON for every message, then Drain; a sink counts.",
			Run: jsonToJSON(60_000, 6000),
		},
		{
			Name: "json-1m", What: "the same at 1 M rows a side",
			Reference: "json.Unmarshal, likewise", Unit: harness.Times, Target: 0.4, Stretch: 0.25,
			How: "As above.",
			Run: jsonToJSON(1_000_000, 50_000),
		},
		{
			Name: "operator", What: "the operator alone on prepared rows, 60,000 rows a side, per row incl. its match",
			Reference: "the same join as a bare loop over a Go map of slices of structs with ring expiry", Unit: harness.Times, Target: 1, Stretch: 0.6,
			How: "Rows are encoded before; per row Advance, Process and EndStep are called, and Prefetch for each 16 if the operator has it. The maxKeys gate is on, as in every engine. The bare loop keeps numbers as float64.",
			Run: operatorAlone(60_000, 6000),
		},
		{
			Name: "maps", What: "EmitTo of a Go map → result map in a sync sink, per input row",
			Reference: "building the input map plus the output map", Unit: harness.Times, Target: 2.5, Stretch: 1.8,
			How: "Input maps are built before the clock runs, 8,000 at a time; output maps are what the engine makes. The reference builds one input map a row and one output map a result.",
			Run: mapsToMaps,
		},
		{
			Name: "operator-1m", What: "growth: the operator, per row at 1 M rows a side, one match a row",
			Reference: "the bare map loop at 1 M rows a side", Unit: harness.Times, Target: 0.6, Stretch: 0.35,
			How: "As the operator alone.",
			Run: operatorAlone(1_000_000, 50_000),
		},
		{
			Name: "hot-matches", What: "hot key: one key, 1,000 rows a side all matching, per match",
			Reference: "bare loop", Unit: harness.Times, Target: 3, Stretch: 2,
			How: "As the operator alone, with one key.",
			Run: hotMatches,
		},
		{
			Name: "hot-order", What: "hot key, 100,000 rows in the window, 10 match, in order: rows visited plus entries moved, a row",
			Unit: harness.Visits, Target: 30, Stretch: 15,
			How: "From operator.Stats. Every right row lags so far that it meets the 10 oldest left rows; at the end others meet the 10 newest. The worst of left rows and both kinds of right rows counts.",
			Run: hotWork(false),
		},
		{
			Name: "hot-shuffled", What: "the same with times shuffled within W",
			Unit: harness.Visits, Target: 500, Stretch: 100,
			How: "Left rows come up to W late, evenly.",
			Run: hotWork(true),
		},
		{
			Name: "heap", What: "heap per buffered row at 1 M rows, JSON path, 2 value columns besides the key, 10 k keys",
			Unit: harness.Bytes, Target: 48, Stretch: 32,
			How: "Growth of HeapAlloc after collections, over the number of rows; everything that the engine allocates is in it. Messages lie outside the heap.",
			Run: heapPerRow(10_000, false),
		},
		{
			Name: "heap-keys", What: "the same with one key a row (1 M keys), per row",
			Unit: harness.Bytes, Target: 128, Stretch: 96,
			How: "As above.",
			Run: heapPerRow(0, false),
		},
		{
			Name: "heap-maps", What: "10 k keys through EmitTo, per row",
			Unit: harness.Bytes, Target: 64, Stretch: 48,
			How: "As above; values are float64.",
			Run: heapPerRow(10_000, true),
		},
		{
			Name: "gc", What: "GC share of CPU at 1 M buffered rows, steady input",
			Unit: harness.Percent, Target: 2, Stretch: 0.5,
			How: "runtime/metrics: gc/total over total without idle. JSON to JSON, 500,000 rows a side; every message is a fresh slice.",
			Run: collectorShare,
		},
		{
			Name: "longest", What: "longest time one row takes in the loop, 1 M rows a side, steady input, expiry included",
			Reference: "(the known engine: 987 ms, it scans everything)", Unit: harness.Milliseconds, Target: 10, Stretch: 2,
			How: "The clock is read behind each step of the operator; a round is 1 M rows, and its longest step counts.",
			Run: longestRow,
		},
		{
			Name: "jump", What: "a watermark jump that closes 1 M pending LEFT rows, per NULL row emitted",
			Reference: "one matched row", Unit: harness.Times, Target: 1,
			How: "The operator alone: one Advance beyond all pending rows, against rows that each meet a partner on average while as many rows are buffered.",
			Run: watermarkJump,
		},
		{
			Name: "growth", What: "heap after 10 M rows through a 60 k window",
			Reference: "heap after 100 k rows", Unit: harness.Times, Target: 1.2,
			How: "Growth of HeapAlloc since before the engine, JSON to JSON, 60,000 rows a side; devices come and go. The last measurements, 100,000 rows apart, are the rounds.",
			Run: heapGrowth,
		},
		{
			Name: "absence", What: "LEFT absence: delay of the NULL row after its due instant, 10,000 pending, processing time, p99",
			Unit: harness.Milliseconds, Target: 20, Stretch: 5, Free: true,
			How: "The real clock; from the clock reading before EmitJSON plus W to the call of the sink.",
			Run: absenceDelay,
		},
		{
			Name: "latency", What: "from the last part's EmitJSON to the sink, 20,000 rows/s, p99",
			Unit: harness.Microseconds, Target: 1000, Stretch: 200, Free: true,
			How: "Event time; the caller spins for each row's moment and yields.",
			Run: pairLatency,
		},
		{
			Name: "chain-onmsg", What: "in a rule chain: OnMsg through x/streamAggregator, no match, beyond the reference",
			Reference: "the same chain with a node that only passes on", Unit: harness.Microseconds, Target: 2, Stretch: 1,
			How: "OnMsgAndWait, one message after the other; CPU time of the join's goroutines is in it. The difference counts.",
			Run: onMsg,
		},
		{
			Name: "chain-event", What: "in a rule chain: stream_event delivered, per event",
			Reference: "a bare in-order delivery: a fresh context with a collecting pool for each event", Unit: harness.Times, Target: 1.3,
			How: "Messages that each meet 1,000 partners; everything from OnMsg to the node behind the event is in it, the join too.",
			Run: delivery,
		},
		{
			Name: "distinct-on", What: "table script: DISTINCT ON with 1 M keys, its operators on prepared rows, per row",
			Reference: "a Go map of key to struct of time and row, which keeps the row with the greater time, its bytes copied", Unit: harness.Times, Target: 4,
			How: tablesHow + " One row in ten is late, by half a million rows on average, so not each changes the table.",
			Run: tables(distinctCase),
		},
		{
			Name: "grouped-sum", What: "table script: sum and count of 100,000 groups, likewise",
			Reference: "a Go map of key to pointer to struct of sum and count", Unit: harness.Times, Target: 4,
			How: "As above. Readings are decimals in JSON's spelling, which both read; the script adds with compensation, the map does not.",
			Run: tables(sumCase),
		},
		{
			Name: "temporal", What: "table script: temporal join with 100,000 keys, one row in 16 a new version, likewise",
			Reference: "a Go map of key to struct of time and row: versions update it, rows look up and copy both sides' columns", Unit: harness.Times, Target: 4,
			How: "As above. The versions are a DISTINCT ON of the other stream, which is part of it. Rows wait until the next version's time says that no older one comes; the map takes them as they come.",
			Run: tables(temporalCase),
		},
		{
			Name: "distinct-state", What: "table script: heap per key beside its row, DISTINCT ON with 1 M keys",
			Unit: harness.Bytes, Target: 120,
			How: "Growth of HeapAlloc after collections over the number of keys, EmitJSON to result sink, since many rows for 100 keys; less the row itself: the bytes of its encoded columns, which are a tag a column, texts and numbers as spelled, and the whole row as JSON where the script keeps that, as here.",
			Run: stateOf(distinctCase),
		},
		{
			Name: "sum-state", What: "the same, sum and count of 100,000 groups",
			Unit: harness.Bytes, Target: 120,
			How: "As above. The row is key, sum and count.",
			Run: stateOf(sumCase),
		},
		{
			Name: "temporal-state", What: "the same, temporal join with 100,000 keys",
			Unit: harness.Bytes, Target: 120,
			How: "As above. Two vertices keep a row of each key, the table all columns and the join those of its result; both are counted as the row itself.",
			Run: stateOf(temporalCase),
		},
	}
}

const tablesHow = "The vertices are those that the planner makes, with the Table of the exported state, linked and stepped as in the pipeline, and shown their rows ahead as there. Both sides get the same rows, encoded as the parser does it, and read of them what they need; the map is asked with the bytes of the key in the row, is updated under a string that exists already, writes over its rows in place and allocates nothing. It emits no changes; the script emits the old and the new row to the Table, and the Table what has changed. Keys come in random order over all of them, and half as many rows again as keys come before the clock runs. Beside it the map alone with key, number and columns decoded before, and the whole way, against json.Unmarshal and the same update of a map of messages."
