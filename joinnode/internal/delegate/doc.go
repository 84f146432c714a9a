// Package delegate runs every query that is not a WITHIN join on streamsql
// v1.2.0 and keeps streamsql from losing anything silently: what it would lose
// is repaired, or refused with the place in the SQL and the reason, or counted
// and logged.
//
// Compile judges a parsed statement and writes it anew in the part of the
// dialect that streamsql runs as written; Open starts streamsql for it. Compile
// leaves nothing running. Inside streamsql remain the functions, the analytic state,
// the aggregation of a window, HAVING, ORDER BY and LIMIT of its result, and
// pattern matching. The engine does the rest: the input queue, WITH and event
// time, table joins, windows, CASE and conditions in SELECT, delivery.
//
// # What streamsql loses, and what happens here
//
// Of the statement:
//
//   - RIGHT, FULL and CROSS JOIN, FROM a, b, and text behind the end are read past: refused.
//   - DISTINCT, LIMIT, ORDER BY and HAVING without a window have no effect: refused.
//   - GROUP BY without window and aggregate has no effect: refused. With an aggregate it
//     runs in StreamSQL's default TumblingWindow('10s'): kept, with a warning.
//   - A second option in WITH replaces the first, unknown ones and unreadable durations are
//     skipped, unknown units (us among them) mean ms, WITH behind ORDER BY is not seen:
//     WITH is read and applied here.
//   - HAVING that does not compile, as with NOT, IN, BETWEEN or an ORDER BY behind it, is
//     logged once and lets all rows pass: rewritten, and tried before anything starts.
//   - HAVING over a name that the result does not have, nested grouping fields among them,
//     drops every row: nested fields are renamed, unknown names refused.
//   - Comments, <>, %, ||, 1e3, doubled quotes and aliases without AS are unknown to the lexer
//     or change the result: rewritten. A string with both kinds of quotes is refused where
//     streamsql must read it.
//   - The stream's own name before a field (s.a) gives NULL in windows and without alias: removed.
//   - Names that are words of the dialect or in backquotes, and most nested fields, are texts
//     inside functions, and NULL as grouping fields: repeated under a readable name. So is a
//     field that a row lacks: f(n, 1) gets the text "n".
//   - SELECT * or an ungrouped field in a window query is left out: refused.
//   - GROUP BY of an expression groups by NULL: refused unless it is a function of fields.
//   - COUNT(DISTINCT x) is 0: refused.
//   - A GLOBAL WINDOW ignores expressions over and inside its aggregates: refused.
//   - DEFINE and MEASURES never match, or are NULL, for NOT, IN, BETWEEN, quotes, CASE and
//     nested fields: what looks at one row is computed here, the rest rewritten or refused.
//   - An invalid pattern, or two columns of one name, fail when the stream is built: Compile
//     builds it once for nothing.
//   - A function that nobody registered turns the query into an aggregation: refused.
//
// Of values:
//
//   - WHERE: any error rejects the row, so one NULL or one value of another kind takes a whole
//     OR with it; NULL != 5 and 'x' != 5 hold; NOT (…) is taken for a function call: WHERE is
//     brought to negation normal form with guarded comparisons, which is SQL's three-valued logic.
//   - A call that fails takes the row: calls are made here, an error is NULL, counted and logged.
//   - = and != with nil or NULL mean IS [NOT] NULL: kept, IN and CASE compare as SQL does.
//   - LIKE '_' matches a byte: a character here.
//   - CASE is NULL as soon as a condition meets NULL, a boolean or parentheses; conditions as
//     values are NULL: both are computed here, before streamsql sees the row.
//   - Literals in SELECT are NULL, in windows they are missing: added to the results here.
//   - f(x) without alias brings a column x along; beside * a renamed field is lost: repaired.
//   - ORs in HAVING fall with one NULL: guarded.
//   - min, max, sum and avg skip text without a word: not repaired, they are numeric functions.
//   - One row of a table is joined per key; of rows with one key the last stays: logged.
//
// Of rows and results:
//
//   - A numeric TIMESTAMP without TIMEUNIT drops every row: the unit is read off the value's size.
//     Nested TIMESTAMP fields, RFC 3339 text and json.Number work as well.
//   - Missing, bad, future and late rows vanish: counted (late_dropped and its kin).
//   - Rows before the first one's window are lost even within MAXOUTOFORDERNESS: kept.
//   - A gap in event time is walked through window by window, so that a first row of 1970 hangs
//     the query: jumped over.
//   - Session and counting windows take all nested keys for one, and "a|b","c" for "a","b|c";
//     sessions that end between two checks of the clock become one: own windows.
//   - Windows drop results when the aggregation is slower than the input: they wait here.
//   - Above 10,000 groups whole groups are evicted from a window: no cap unless one is set.
//   - Above 10,000 partitions analytic and pattern state is evicted: not repaired, raise
//     AnalyticMaxPartitions.
//   - Stop drops queued rows and open windows: it drains and flushes, see Engine.Stop.
//   - The groups of one window leave at random, and LIMIT picks among them: sorted by the
//     grouping columns, after those of ORDER BY.
//   - AddSink's workers reorder: the synchronous path is used.
//   - The result channel that nobody reads raises false drop counts: emptied.
//   - Emit does not copy the row: copied, json.Number becomes int64 or float64.
//   - A row that panics is logged only, in a window not even that stops the row's loss: counted
//     on direct queries (row_panics).
//   - A failed Execute leaves two goroutines: everything is tried before the stream is built.
//   - A join with a table that nobody registered drops its rows into the log: Emit says so.
//   - ON takes its left side for the stream's: sides are told apart by their names, and joins
//     done here.
//   - Options reset each other: Config has one field for each.
package delegate
