package joinnode

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rulego/streamsql/logger"
	"github.com/rulego/streamsql/utils/table"

	"github.com/streamjoin/streamjoin/joinnode/internal/warning"
)

// sinks are where results go. They are called by one goroutine, in the order of
// the results, each with every result that came after it was added.
type sinks struct {
	log      logger.Logger
	patience time.Duration // how long a full channel is waited for
	stopping *atomic.Bool  // the query was stopped

	mu      sync.Mutex // guards changes of the lists, channel and ended
	current atomic.Pointer[sinkLists]
	channel chan []map[string]any
	ended   bool // no result follows

	panics   atomic.Int64
	missed   atomic.Int64 // results that no reader of the channel took
	deserted bool         // the channel's reader was waited for in vain; the emitter's
	jsonBuf  []byte       // the emitter's

	warnings *warning.Log
}

// sinkLists is one immutable set of sinks.
type sinkLists struct {
	rows    []func([]map[string]any)
	json    []func([]byte)
	results []func(Result)
	late    []func(LateRow)
}

func (k *sinks) init(log logger.Logger, patience time.Duration, stopping *atomic.Bool) {
	k.log, k.patience, k.stopping = log, patience, stopping
	k.warnings = warning.New(log, time.Now)
	k.current.Store(&sinkLists{})
}

func (k *sinks) lists() *sinkLists { return k.current.Load() }

// change replaces the set of sinks by an altered copy.
func (k *sinks) change(alter func(*sinkLists)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := *k.lists()
	l.rows = l.rows[:len(l.rows):len(l.rows)]
	l.json = l.json[:len(l.json):len(l.json)]
	l.results = l.results[:len(l.results):len(l.results)]
	l.late = l.late[:len(l.late):len(l.late)]
	alter(&l)
	k.current.Store(&l)
}

// AddSink adds a callback for result rows: one row per call on a join, the rows
// of one window otherwise. Unlike streamsql's, sinks are called in order. The
// rows are shared between all sinks: don't change them. A sink may be added
// before Execute; it sees the results that come after. Of a table script it gets
// new rows, inserted or updated, of every exported table; which table's they are,
// and which rows were deleted, AddResultSink tells.
func (s *Streamsql) AddSink(sink func([]map[string]any)) {
	if sink != nil {
		s.sinks.change(func(l *sinkLists) { l.rows = append(l.rows, sink) })
	}
}

// AddSyncSink does what AddSink does: all sinks are called in order, one result
// at a time.
func (s *Streamsql) AddSyncSink(sink func([]map[string]any)) { s.AddSink(sink) }

// AddJSONSink adds a callback for results as JSON: an array with one object on a
// join, with the rows of one window otherwise. Values that came as JSON leave
// as they were spelled. Deletions of a table script are left out, as AddSink does.
// The bytes are valid until the sink returns.
func (s *Streamsql) AddJSONSink(sink func([]byte)) {
	if sink != nil {
		s.sinks.change(func(l *sinkLists) { l.json = append(l.json, sink) })
	}
}

// AddResultSink adds a callback for results as JSON together with what the
// engine knows of them: matched or unmatched, which aliases are NULL, and why
// the row was given up; of a table script the table, the key and the change. The Result's bytes are valid until the sink returns.
func (s *Streamsql) AddResultSink(sink func(Result)) {
	if sink != nil {
		s.sinks.change(func(l *sinkLists) { l.results = append(l.results, sink) })
	}
}

// AddLateSink adds a callback for rows that were dropped after they were
// accepted. Add it before the first row: rows that wait in the queue keep their
// whole JSON beside them only when somebody listens. Of queries that streamsql
// runs no such rows are known.
func (s *Streamsql) AddLateSink(sink func(LateRow)) {
	if sink != nil {
		s.sinks.change(func(l *sinkLists) { l.late = append(l.late, sink) })
	}
}

// PrintTable prints results as tables to the standard output.
func (s *Streamsql) PrintTable() {
	s.AddSink(func(rows []map[string]any) {
		if q, err := s.running(); err == nil {
			table.FormatTableData(rows, q.fieldOrder())
		}
	})
}

// ToChannel returns a channel of results; it is closed after the last one. Read
// it until it is closed: while it is full results wait, and so do callers of
// Emit; a result that nobody takes for the block timeout (10 s) is counted in
// output_dropped_count and logged. Once the query is stopped and a result was
// given up, those that follow are not waited for, or Stop would take the timeout
// for each. It is nil before Execute, and every call returns the same channel.
func (s *Streamsql) ToChannel() <-chan []map[string]any {
	if _, err := s.running(); err != nil {
		return nil
	}
	k := &s.sinks
	k.mu.Lock()
	first := k.channel == nil
	if first {
		k.channel = make(chan []map[string]any, channelRows)
		if k.ended {
			close(k.channel)
		}
	}
	ch := k.channel
	k.mu.Unlock()
	if first {
		s.AddSink(k.send)
	}
	return ch
}

// channelRows is the buffer of ToChannel.
const channelRows = 1024

func (k *sinks) send(rows []map[string]any) {
	select {
	case k.channel <- rows:
		k.deserted = false
		return
	default:
	}
	if k.deserted && k.stopping.Load() {
		k.missed.Add(1)
		return
	}
	timer := time.NewTimer(k.patience)
	defer timer.Stop()
	select {
	case k.channel <- rows:
		k.deserted = false
	case <-timer.C:
		k.deserted = true
		k.missed.Add(1)
		k.warn("channel", "ToChannel: nobody took a result for %s, it is dropped; read the channel until it is closed", k.patience)
	}
}

// closeChannel follows the last result.
func (k *sinks) closeChannel() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ended = true
	if k.channel != nil {
		close(k.channel)
	}
}

// call runs one sink; a panic in it must not end the query.
func (k *sinks) call(f func()) {
	defer func() {
		if r := recover(); r != nil {
			k.panics.Add(1)
			k.log.Error("a result sink panicked: %v\n%s", r, debug.Stack())
		}
	}()
	f()
}

// pass gives one result to every sink. Each form is made once, and only if
// somebody wants it.
func (k *sinks) pass(r Result, appendJSON func([]byte) []byte, rows func() []map[string]any) {
	l := k.lists()
	if len(l.json)+len(l.results) > 0 {
		buf := k.jsonBuf
		k.jsonBuf = nil // a sink that calls EmitSync gets a result before this one is done with
		r.JSON = appendJSON(buf[:0])
		for _, sink := range l.json {
			if r.Type != RowDeleted {
				k.call(func() { sink(r.JSON) })
			}
		}
		for _, sink := range l.results {
			k.call(func() { sink(r) })
		}
		k.jsonBuf = r.JSON
	}
	if len(l.rows) > 0 && r.Type != RowDeleted {
		m := rows()
		for _, sink := range l.rows {
			k.call(func() { sink(m) })
		}
	}
}

func (k *sinks) passLate(r LateRow) {
	for _, sink := range k.lists().late {
		k.call(func() { sink(r) })
	}
}

// warn logs a line, unless there was one of the kind in the last 10 s.
func (k *sinks) warn(kind, format string, args ...any) {
	if _, due := k.warnings.Due(warning.Kind{What: kind}, 1); due {
		k.warnings.Warn(format, args...)
	}
}

// addStats adds the counters of the sinks.
func (k *sinks) addStats(stats map[string]int64) map[string]int64 {
	stats["sink_panics"] = k.panics.Load()
	stats["output_dropped_count"] += k.missed.Load()
	stats["dropped_count"] += k.missed.Load()
	return stats
}
