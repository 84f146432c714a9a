package streamaggregator

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/rulego/streamsql/stream"
	"github.com/streamjoin/streamjoin/joinnode"
	"github.com/tidwall/gjson"
)

// fakeEngine makes queries that send every row on as a result, in order, from one
// goroutine. A row with "hold" is kept until the query stops or is adopted, a row
// with "late" leaves on the late output. The SQL is a list of stream names.
type fakeEngine struct {
	mu   sync.Mutex
	made []*fakeQuery
}

func (e *fakeEngine) compile(s settings, _ logger) (query, error) {
	if strings.Contains(s.SQL, "!") {
		return nil, &FieldError{Field: "sql", Value: s.SQL, Err: fmt.Errorf("bad SQL")}
	}
	q := &fakeQuery{ready: make(chan struct{}), done: make(chan struct{}), queue: make(chan fakeRow, 1024)}
	close(q.ready)
	for _, name := range strings.Fields(s.SQL) {
		if table, ok := strings.CutPrefix(name, "@"); ok {
			q.joined = append(q.joined, table)
		} else {
			q.streams = append(q.streams, name)
		}
	}
	e.mu.Lock()
	e.made = append(e.made, q)
	e.mu.Unlock()
	return q, nil
}

func (e *fakeEngine) adopt(next, old query) (joinnode.Adoption, error) {
	n, o := next.(*fakeQuery), old.(*fakeQuery)
	n.mu.Lock()
	n.ready = o.done
	n.started = true
	go n.run()
	n.mu.Unlock()
	taken := slices.Equal(n.streams, o.streams)
	reason := "reload"
	if taken {
		reason = "handed over"
		n.heir = o
	}
	o.close(reason)
	return joinnode.Adoption{Taken: taken, Differs: "streams"}, nil
}

type fakeRow struct {
	stream string
	data   string
	mark   chan struct{}
}

type fakeQuery struct {
	streams []string
	ready   chan struct{} // closed when the query it takes over from is done
	done    chan struct{}
	queue   chan fakeRow
	heir    *fakeQuery

	mu      sync.Mutex
	started bool
	stopped bool
	reason  string
	held    []fakeRow
	result  func(joinnode.Result)
	late    func(joinnode.LateRow)
	joined  []string // names in the SQL that begin with @
	tables  map[string]int
}

func (q *fakeQuery) IsStreamJoinQuery() bool { return true }
func (q *fakeQuery) IsTableScript() bool     { return false }

func (q *fakeQuery) ScriptTables() []joinnode.TableInfo { return nil }

func (q *fakeQuery) TableJSON(dst []byte, name string, _ joinnode.TableQuery) ([]byte, error) {
	return dst, fmt.Errorf("%w %q", joinnode.ErrUnknownTable, name)
}

func (q *fakeQuery) IsAggregationQuery() bool { return false }
func (q *fakeQuery) IsCEPQuery() bool         { return false }
func (q *fakeQuery) Streams() []string        { return q.streams }
func (q *fakeQuery) Explain() string          { return "fake" }
func (q *fakeQuery) Done() <-chan struct{}    { return q.done }

func (q *fakeQuery) Tables() []string { return q.joined }

func (q *fakeQuery) GetStats() map[string]int64 { return map[string]int64{"rows": 1} }

func (q *fakeQuery) AddResultSink(f func(joinnode.Result)) { q.result = f }
func (q *fakeQuery) AddLateSink(f func(joinnode.LateRow))  { q.late = f }

func (q *fakeQuery) RegisterTable(name string, rows []map[string]any, _ ...string) (*stream.MemoryTableSource, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.tables == nil {
		q.tables = map[string]int{}
	}
	q.tables[name] = len(rows)
	return nil, nil
}

func (q *fakeQuery) EmitJSON(stream string, data []byte) error {
	elements, err := splitRows(data)
	if err != nil {
		return err
	}
	rows := make([]joinnode.JSONRow, 0, len(elements))
	for _, e := range elements {
		rows = append(rows, joinnode.JSONRow{Stream: stream, Data: e})
	}
	return q.EmitRows(rows)
}

func (q *fakeQuery) EmitRows(rows []joinnode.JSONRow) error {
	for i, r := range rows {
		if r.Stream == "" {
			rows[i].Stream = q.streams[0]
		} else if !slices.Contains(q.streams, r.Stream) {
			return fmt.Errorf("%w %q (known: %s)", joinnode.ErrUnknownStream, r.Stream, strings.Join(q.streams, ", "))
		}
		if !json.Valid(r.Data) {
			return joinnode.ErrInvalidJSON
		}
		if gjson.GetBytes(r.Data, "panic").Exists() {
			panic("as told")
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopped {
		return joinnode.ErrStopped
	}
	if !q.started {
		q.started = true
		go q.run()
	}
	for _, r := range rows {
		q.queue <- fakeRow{stream: r.Stream, data: string(r.Data)}
	}
	return nil
}

func (q *fakeQuery) run() {
	<-q.ready
	defer close(q.done)
	if q.heir != nil {
		q.held = q.heir.held
	}
	for r := range q.queue {
		switch {
		case r.mark != nil:
			close(r.mark)
		case gjson.Get(r.data, "hold").Exists():
			q.held = append(q.held, r)
		case gjson.Get(r.data, "late").Exists():
			if q.late != nil {
				q.late(joinnode.LateRow{Stream: r.stream, Reason: "late", TS: 5, Watermark: 9, JSON: []byte(r.data)})
			}
		default:
			q.send(joinnode.Result{Type: joinnode.JoinMatched, JSON: []byte("[" + r.data + "]")})
		}
	}
	if q.reason == "handed over" {
		return
	}
	for _, r := range q.held {
		q.send(joinnode.Result{Type: joinnode.LeftUnmatched, JSON: []byte("[" + r.data + "]"), Unmatched: []string{"b", "c"}, ClosedBy: q.reason})
	}
}

// send clears the bytes afterwards: they are valid until the sink returns.
func (q *fakeQuery) send(r joinnode.Result) {
	q.result(r)
	clear(r.JSON)
}

func (q *fakeQuery) close(reason string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopped {
		return
	}
	q.stopped, q.reason = true, reason
	if !q.started {
		q.started = true
		go q.run()
	}
	close(q.queue)
}

func (q *fakeQuery) Stop() {
	q.close("stop")
	<-q.done
}

func (q *fakeQuery) Drain(ctx context.Context) error {
	mark := make(chan struct{})
	q.mu.Lock()
	if q.stopped || !q.started {
		q.mu.Unlock()
		return nil
	}
	q.queue <- fakeRow{mark: mark}
	q.mu.Unlock()
	select {
	case <-mark:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
