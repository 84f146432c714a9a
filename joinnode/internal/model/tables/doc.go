// Package tables is a slow and obvious implementation of table scripts, to be
// compared with the engine in tests: the reference, a generator of scripts and
// events, and the comparison. It shares the parser with the engine and nothing
// else. Rules are those of the page "State tables and stream tables, made exact".
//
// After each event every state table is computed anew, from all rows that its
// inputs have at that moment; what the event changed is the difference to the
// table before. A stream table is a list that only grows; what an event appends
// is computed from what its inputs are and were.
//
// The rules, each with the section it is from:
//
//   - A state table by DISTINCT ON has per key the row with the best order, of
//     equal ones the later arrival, NULLs behind everything (Rules, DISTINCT ON).
//     Its history is all its rows by their time, whenever they came.
//   - Any other state's history is the log of its changes. A change has the
//     greatest time of the records that caused it, now() where time alone did, and
//     as a version at least the time of the key's newest version.
//   - SELECT DISTINCT is the set of its rows; an aggregate is computed from all
//     rows of its group in the order in which they came; a group without rows is
//     not there, neither is the global one (Aggregates; Stop).
//   - A state that is filtered or projected keeps its keys; unnesting adds the
//     element's index. A join's key is both keys, that of a state with a state on
//     the whole key of the latter the former's alone; the key of a stream's row is
//     its number (Stop).
//   - A state is joined with a state, a stream by INNER JOIN with a state, and
//     anything with the parent row @, as the rows are now (INNER JOIN of a stream
//     and a state; Temporal join).
//   - A temporal join takes the version with the greatest time ≤ the row's, once
//     each input is idle or has a watermark ≥ that time, in the order of times. A
//     row older than its key's newest version that both watermarks have passed is
//     late (Temporal join).
//   - An interval join is one stage of the page "Join semantics, made exact", with
//     the greater of the two bounds, and the MAXOUTOFORDERNESS of the inputs, in
//     place of WITHIN for lateness and retention and both bounds for the match
//     (Interval join).
//   - STREAM ON sends the differences of successive states (STREAM ON).
//   - A bucket of endOf… is closed when the input's watermark has reached the
//     next bucket's start; its groups leave then, with its end as time, and what
//     comes for it later is late (endOf…).
//   - now() is the least watermark of the inputs that are not idle, the clock
//     where all are, and never falls (now(); Watermarks). A row is in a recency
//     table while its comparisons with now() hold.
//   - An input's watermark is its greatest time − MAXOUTOFORDERNESS. It is idle
//     once silent for IDLETIMEOUT; one that was never heard, from the first
//     arrival on (Watermarks).
//   - What keeps rows to the end of an event (aggregates, joins, windows …)
//     tells its watermark only after them: its own rows of the event are not late
//     behind it.
//   - Before an event the clock passes every instant at which it alone changes
//     something, one after the other.
//   - Stop is the end of time for every watermark, and none for now() (Stop).
package tables
