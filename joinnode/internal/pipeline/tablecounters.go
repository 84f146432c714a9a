package pipeline

import (
	"fmt"

	"github.com/rulego/streamsql/metrics"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
)

// tableMetric is one counter or gauge of a table of a script.
type tableMetric int

// The counters of each table, then its gauges, then the counters of tables that
// are WITHIN joins.
const (
	tableLate tableMetric = iota
	tableLateVersions
	tableBadTimestamp
	tableBadElement
	tableSumOverflow
	tableFallen
	tableMismatch
	tableFunctionErrors
	tableFiltered
	tableRows
	tableKeys
	tableBytes
	withinMatches
	withinTimeouts
	withinRowsDropped
	withinMemoryDropped
	withinKeysEvicted
	numTableMetrics
)

// String returns the name behind the table's.
func (m tableMetric) String() string {
	return [numTableMetrics]string{
		"late_dropped", "late_version", "bad_timestamp", "bad_element", "sum_overflow", "ttl_deleted",
		"type_mismatch", "function_errors", "filtered",
		"rows", "keys", "bytes",
		"matches", "left_timeouts", "rows_dropped", "memory_dropped", "keys_evicted",
	}[m]
}

func (m tableMetric) gauge() bool { return m == tableRows || m == tableKeys || m == tableBytes }

// publishedIn returns the metric in a registry, under a name.
func publishedIn(r *metrics.Registry, name string, gauge bool) published {
	if gauge {
		return published{gauge: r.Gauge(name)}
	}
	return published{counter: r.Counter(name)}
}

// tableCounts is what is counted for one table of a script, its vertices
// together.
type tableCounts struct {
	name     string
	place    string // as the log calls it
	vertices []int
	within   bool // there is a WITHIN join in it
	metrics  [numTableMetrics]published

	drops   [operator.NumReasons]int64
	pending int64      // LEFT rows of WITHIN evicted while they waited
	before  tableSums  // of vertices that an old query had and that were not taken over
	known   tableKnown // to the warnings
	sums    tableSums  // at the moment
}

// tableSums are the sums of what the vertices of a table count themselves.
type tableSums struct {
	stats      operator.Stats
	mismatches int64
	failures   int64
}

// tableKnown is how much of it the log has told.
type tableKnown struct{ lateVersions, mismatches, failures int64 }

// add adds what a vertex counts.
func (s *tableSums) add(v *tableVertex) {
	st := v.op.Stats()
	s.addCounts(&st)
	s.stats.Rows += st.Rows
	s.stats.Keys += st.Keys
	s.stats.Bytes += st.Bytes
	s.mismatches += v.ctx.TypeMismatch
	s.failures += v.ctx.FunctionErrors
}

// addCounts adds what only rises.
func (s *tableSums) addCounts(st *operator.Stats) {
	s.stats.Matches += st.Matches
	s.stats.LeftTimeouts += st.LeftTimeouts
	s.stats.KeysEvicted += st.KeysEvicted
	s.stats.Rejected += st.Rejected
	s.stats.LateVersions += st.LateVersions
	s.stats.Fallen += st.Fallen
}

// countsOf returns the number of a table's counts, which it makes.
func (g *tableGraph) countsOf(name string) int {
	for i, t := range g.tables {
		if t.name == name {
			return i
		}
	}
	t := &tableCounts{name: name, place: "table " + name}
	for m := range withinMatches {
		t.metrics[m] = publishedIn(g.p.counters.registry, t.metric(m), m.gauge())
	}
	g.tables = append(g.tables, t)
	return len(g.tables) - 1
}

func (t *tableCounts) metric(m tableMetric) string { return fmt.Sprintf("table_%s_%s", t.name, m) }

// addWithin adds the counters of a WITHIN join.
func (t *tableCounts) addWithin(r *metrics.Registry) {
	t.within = true
	for m := withinMatches; m < numTableMetrics; m++ {
		t.metrics[m] = publishedIn(r, t.metric(m), false)
	}
}

// drop counts a record that an operator of the table has dropped.
func (t *tableCounts) drop(why operator.Reason, pending bool) {
	t.drops[why]++
	if pending {
		t.pending++
	}
}

// inputCounts is what is counted for one input of a script.
type inputCounts struct {
	door  *door
	drops [operator.NumReasons]int64

	badTimestamp, futureTimestamp, inputDropped, watermark, idle published
}

func newInputCounts(c *counters, stream string) inputCounts {
	name := func(metric string) string { return fmt.Sprintf("input_%s_%s", stream, metric) }
	d := c.addDoor("input "+stream, name("input_dropped"))
	c.door = append(c.door, d)
	return inputCounts{door: d, inputDropped: publishedIn(c.registry, d.metric, false),
		badTimestamp:    publishedIn(c.registry, name("bad_timestamp"), false),
		futureTimestamp: publishedIn(c.registry, name("future_timestamp"), false),
		watermark:       publishedIn(c.registry, name("watermark"), true),
		idle:            publishedIn(c.registry, name("idle"), true)}
}

// publish implements graph.
func (g *tableGraph) publish() (dropped int64) {
	g.nowGauge.set(seenOrZero(g.now))
	for i := range g.inputs {
		dropped += g.inputs[i].publish()
	}
	for _, t := range g.tables {
		t.sums = t.before
	}
	for i := range g.vertices {
		g.tables[g.vertices[i].table].sums.add(&g.vertices[i])
	}
	for _, t := range g.tables {
		dropped += t.publish()
		g.warn(t)
	}
	return dropped
}

func (in *tableInput) publish() (dropped int64) {
	in.inputDropped.set(in.door.lost.Load())
	in.badTimestamp.set(in.drops[operator.BadTimestamp])
	in.futureTimestamp.set(in.drops[operator.FutureTimestamp])
	in.watermark.set(seenOrZero(in.progress.Low))
	idle := int64(0)
	if in.progress.Idle {
		idle = 1
	}
	in.idle.set(idle)
	return in.drops[operator.BadTimestamp] + in.drops[operator.FutureTimestamp]
}

// publish returns how many records the table has lost.
func (t *tableCounts) publish() (dropped int64) {
	m, d, st := &t.metrics, &t.drops, &t.sums.stats
	m[tableLate].set(d[operator.Late])
	m[tableLateVersions].set(st.LateVersions)
	m[tableBadTimestamp].set(d[operator.BadTimestamp])
	m[tableBadElement].set(d[operator.BadElement])
	m[tableSumOverflow].set(d[operator.SumOverflow])
	m[tableFallen].set(st.Fallen)
	m[tableMismatch].set(t.sums.mismatches)
	m[tableFunctionErrors].set(t.sums.failures)
	m[tableFiltered].set(st.Rejected + d[operator.Filtered])
	m[tableRows].set(st.Rows)
	m[tableKeys].set(st.Keys)
	m[tableBytes].set(st.Bytes)
	if t.within {
		m[withinMatches].set(st.Matches)
		m[withinTimeouts].set(st.LeftTimeouts)
		m[withinRowsDropped].set(d[operator.RowsGate])
		m[withinMemoryDropped].set(d[operator.BytesGate])
		m[withinKeysEvicted].set(st.KeysEvicted)
	}
	for why, n := range d {
		if operator.Reason(why) != operator.Filtered {
			dropped += n
		}
	}
	return dropped
}

// warn writes what is new of a table's troubles that its operators only count.
func (g *tableGraph) warn(t *tableCounts) {
	w := g.p.counters.warnings
	if n := t.sums.stats.LateVersions; n > t.known.lateVersions {
		w.loss(t.place, &lateVersions, n-t.known.lateVersions, nil)
		t.known.lateVersions = n
	}
	if n := t.sums.failures; n > t.known.failures {
		var last error
		for _, i := range t.vertices {
			if err := g.vertices[i].ctx.LastFunctionError; err != nil {
				last = err
			}
		}
		w.functionErrors(t.place, n-t.known.failures, last)
		t.known.failures = n
	}
	if n := t.sums.mismatches; n > t.known.mismatches {
		var example *eval.Mismatch
		for _, i := range t.vertices {
			if e := g.vertices[i].ctx.Example; e != nil {
				example = e
			}
		}
		if w.mismatches(t.place, n-t.known.mismatches, example) {
			for _, i := range t.vertices {
				g.vertices[i].ctx.Example = nil
			}
		}
		t.known.mismatches = n
	}
}
