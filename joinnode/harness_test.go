package joinnode_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode"
	"github.com/streamjoin/streamjoin/joinnode/internal/model"
)

// testClock is a clock that moves when the test says so.
type testClock struct {
	mu     sync.Mutex
	now    time.Time
	timers []*testTimer
}

type testTimer struct {
	clock *testClock
	at    time.Time
	f     func()
}

func newTestClock(ns int64) *testClock { return &testClock{now: time.Unix(0, ns)} }

// Now implements joinnode.Clock.
func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// AfterFunc implements joinnode.Clock.
func (c *testClock) AfterFunc(d time.Duration, f func()) joinnode.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &testTimer{clock: c, at: c.now.Add(d), f: f}
	if d <= 0 {
		go f()
		return t
	}
	c.timers = append(c.timers, t)
	return t
}

// Stop implements joinnode.Timer.
func (t *testTimer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	n := len(t.clock.timers)
	t.clock.timers = slices.DeleteFunc(t.clock.timers, func(other *testTimer) bool { return other == t })
	return len(t.clock.timers) < n
}

// Set moves the clock, backwards too, and fires the timers that are due by
// then.
func (c *testClock) Set(ns int64) {
	c.mu.Lock()
	c.now = time.Unix(0, ns)
	var due []*testTimer
	c.timers = slices.DeleteFunc(c.timers, func(t *testTimer) bool {
		if t.at.After(c.now) {
			return false
		}
		due = append(due, t)
		return true
	})
	c.mu.Unlock()
	for _, t := range due {
		t.f()
	}
}

// Pending returns the number of timers that wait.
func (c *testClock) Pending() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.timers)
}

// record is what engines delivered, in order.
type record struct {
	mu      sync.Mutex
	results []string // as resultText writes them
	late    []joinnode.LateRow
}

// subject is an engine under test with a record of what it delivers.
type subject struct {
	*joinnode.Streamsql
	*record
}

// start runs sql on a new engine; late rows are recorded when wantLate is set.
func start(t require.TestingT, sql string, wantLate bool, opts ...joinnode.Option) *subject {
	return startInto(t, &record{}, sql, wantLate, opts...)
}

// startInto is start with a record that other engines may share.
func startInto(t require.TestingT, into *record, sql string, wantLate bool, opts ...joinnode.Option) *subject {
	s := &subject{joinnode.New(append([]joinnode.Option{joinnode.WithDiscardLog()}, opts...)...), into}
	require.NoError(t, s.Execute(sql), sql)
	s.AddResultSink(func(r joinnode.Result) {
		text := resultText(r)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.results = append(s.results, text...)
	})
	if wantLate {
		s.AddLateSink(func(l joinnode.LateRow) {
			l.JSON = bytes.Clone(l.JSON)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.late = append(s.late, l)
		})
	}
	return s
}

// drain waits for all that was accepted and returns the results since the last
// call.
func (s *subject) drain(t require.TestingT) []string {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	require.NoError(t, s.Drain(ctx))
	return s.take()
}

func (r *record) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.results
	r.results = nil
	return out
}

func (r *record) takeLate() []joinnode.LateRow {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.late
	r.late = nil
	return out
}

// resultText writes every row of a result as JSON with its members in order of
// name, and what is known of the row behind it.
func resultText(r joinnode.Result) []string {
	var rows []json.RawMessage
	if err := json.Unmarshal(r.JSON, &rows); err != nil {
		return []string{"no JSON array: " + strconv.Quote(string(r.JSON))}
	}
	var texts []string
	for _, row := range rows {
		texts = append(texts, sortedJSON(row)+known(string(r.Type), r.Unmatched, r.ClosedBy))
	}
	return texts
}

// modelText is resultText of what the model returns.
func modelText(results []model.Result) []string {
	var texts []string
	for _, r := range results {
		kind := joinnode.JoinMatched
		if r.Nulls != nil {
			kind = joinnode.LeftUnmatched
		}
		row, err := json.Marshal(r.Columns)
		if err != nil {
			row = []byte(err.Error())
		}
		texts = append(texts, sortedJSON(row)+known(string(kind), r.Nulls, r.Closed))
	}
	return texts
}

func known(kind string, nulls []string, closedBy string) string {
	text := " " + kind
	if len(nulls) > 0 {
		text += " without " + strings.Join(nulls, ",")
	}
	if closedBy != "" {
		text += ", closed by " + closedBy
	}
	return text
}

// sortedJSON spells JSON text one way, numbers as they are.
func sortedJSON(text []byte) string {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "no JSON: " + strconv.Quote(string(text))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(b.String())
}

// emitter is one of the ways in.
type emitter struct {
	name string
	emit func(e *joinnode.Streamsql, stream string, row map[string]any, text []byte) error
}

func emitters() []emitter {
	return []emitter{
		{"EmitTo", func(e *joinnode.Streamsql, stream string, row map[string]any, _ []byte) error {
			return e.EmitTo(stream, row)
		}},
		{"EmitJSON", func(e *joinnode.Streamsql, stream string, _ map[string]any, text []byte) error {
			return e.EmitJSON(stream, text)
		}},
		{"EmitRows", func(e *joinnode.Streamsql, stream string, _ map[string]any, text []byte) error {
			return e.EmitRows([]joinnode.JSONRow{{Stream: stream, Data: text}})
		}},
	}
}

// timeout is how long a test waits for what must not block.
const timeout = 30 * time.Second

// within fails the test when f does not return in time.
func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(timeout):
		t.Fatal("blocked")
	}
}
