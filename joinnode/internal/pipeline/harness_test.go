package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rulego/streamsql/logger"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/streamjoin/streamjoin/joinnode/internal/plan"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	second = int64(time.Second)
	epoch  = 1700000000 * second

	inner   = "SELECT a.id AS aid, b.id AS bid FROM sa AS a JOIN sb AS b WITHIN 10 SECONDS ON a.k = b.k "
	left    = "SELECT a.id AS aid, b.id AS bid FROM sa AS a LEFT JOIN sb AS b WITHIN 10 SECONDS ON a.k = b.k "
	cascade = `SELECT a.id AS aid, b.id AS bid, c.id AS cid FROM sa AS a LEFT JOIN sb AS b WITHIN 10 SECONDS ON a.k = b.k
		LEFT JOIN sc AS c WITHIN 3 SECONDS ON a.k = c.k `
	event = "WITH (TIMESTAMP='ts')"
)

// subject is a pipeline with a record of what it delivered.
type subject struct {
	*Pipeline
	plan       *plan.Plan
	extractors []*row.Extractor

	mu    sync.Mutex
	out   []string // results and, where wanted, late rows, in order
	onOut func(string)
	log   *logRecord
	ended int
}

// begin plans sql and makes a pipeline of it that has not begun.
func begin(t *testing.T, sql string, changes ...func(*Config)) *subject {
	t.Helper()
	stmt, err := syntax.Parse(sql)
	require.NoError(t, err)
	s := &subject{log: &logRecord{}}
	s.plan, err = plan.Build(stmt, sql)
	require.NoError(t, err)
	for i := range s.plan.Inputs {
		s.extractors = append(s.extractors, row.NewExtractor(s.plan.Inputs[i].Layout.Paths()))
	}
	shape := row.NewShape(s.plan.Output.Fields)
	cfg := Config{
		Clock: SystemClock{}, Log: s.log, QueueRows: 100, BacklogLimit: 100, Block: true, BlockTimeout: 10 * time.Second,
		MaxKeys: 1000,
		OnResult: func(r *Result) {
			text := string(shape.AppendJSON(nil, r.Row))
			if r.Nulls != 0 {
				text += " " + r.Why.String()
			}
			s.deliver(text)
		},
		OnLate: func(l *Late) {
			s.deliver(fmt.Sprintf("late %d %s ts=%s wm=%s %s", l.Input, l.Reason, sinceEpoch(l.TS), sinceEpoch(l.Watermark), l.JSON))
		},
		OnEnd:    func() { s.mu.Lock(); defer s.mu.Unlock(); s.ended++ },
		WantLate: func() bool { return false },
	}
	for _, change := range changes {
		change(&cfg)
	}
	s.Pipeline, err = New(s.plan, cfg)
	require.NoError(t, err)
	return s
}

func wantLate(c *Config) { c.WantLate = func() bool { return true } }

func sinceEpoch(ns int64) string {
	if ns == 0 {
		return "none"
	}
	return time.Duration(ns - epoch).String()
}

func (s *subject) deliver(text string) {
	s.mu.Lock()
	s.out = append(s.out, text)
	onOut := s.onOut
	s.mu.Unlock()
	if onOut != nil {
		onOut(text)
	}
}

// take returns what was delivered since the last call.
func (s *subject) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.out
	s.out = nil
	return out
}

// row encodes a row of an input: id, k, then ts if it has one, in ns behind
// the epoch or as anything else, then further fields in pairs.
func (s *subject) row(input int, id string, k any, more ...any) Row {
	m := map[string]any{"id": id, "k": k}
	if len(more) > 0 {
		m["ts"] = more[0]
		if ns, ok := more[0].(int64); ok {
			m["ts"] = epoch + ns
		}
	}
	for i := 1; i+1 < len(more); i += 2 {
		m[more[i].(string)] = more[i+1]
	}
	r, err := s.extractors[input].Map(row.Row{}, m)
	if err != nil {
		panic(err)
	}
	out := Row{Input: input, Row: r}
	if s.WantsLate() {
		out.Raw = value.AppendJSON(nil, value.FromGo(m))
	}
	if col := s.plan.Inputs[input].TimeCol; col >= 0 {
		ts, ok := value.Timestamp(r.Col(col), 0)
		out.TS, out.BadTime = ts, !ok
	}
	return out
}

func (s *subject) put(t *testing.T, rows ...Row) {
	t.Helper()
	require.NoError(t, s.Put(rows))
}

// drain waits for everything accepted and returns what was delivered.
func (s *subject) drain(t *testing.T) []string {
	t.Helper()
	wait(t, s.Mark())
	return s.take()
}

// wait fails the test when ch is not closed in time.
func wait[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(30 * time.Second):
		t.Fatal("blocked")
		panic("not reached")
	}
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// logRecord is a logger that remembers warnings and errors.
type logRecord struct {
	mu    sync.Mutex
	lines []string
}

func (l *logRecord) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

func (l *logRecord) Debug(string, ...any)             {}
func (l *logRecord) Info(string, ...any)              {}
func (l *logRecord) Warn(format string, args ...any)  { l.add(format, args...) }
func (l *logRecord) Error(format string, args ...any) { l.add("ERROR "+format, args...) }
func (l *logRecord) SetLevel(logger.Level)            {}

// take returns the lines since the last call.
func (l *logRecord) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

// clock is a Clock that moves when the test says so.
type clock struct {
	mu     sync.Mutex
	now    int64
	timers []*timer
	armed  []time.Duration // what AfterFunc was asked for
}

type timer struct {
	c  *clock
	at int64
	f  func()
}

func newClock() *clock { return &clock{now: epoch} }

func (c *clock) use(cfg *Config) { cfg.Clock = c }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Unix(0, c.now)
}

func (c *clock) AfterFunc(d time.Duration, f func()) Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{c, c.now + int64(d), f}
	c.armed = append(c.armed, d)
	if d <= 0 {
		go f()
	} else {
		c.timers = append(c.timers, t)
	}
	return t
}

func (t *timer) Stop() bool {
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	n := len(t.c.timers)
	t.c.timers = slices.DeleteFunc(t.c.timers, func(other *timer) bool { return other == t })
	return len(t.c.timers) < n
}

// set moves the clock to ns behind the epoch and fires what is due.
func (c *clock) set(ns int64) {
	c.mu.Lock()
	c.now = epoch + ns
	c.mu.Unlock()
	c.fire(func(t *timer) bool { return t.at <= epoch+ns })
}

// fire fires timers, due or not.
func (c *clock) fire(which func(*timer) bool) {
	c.mu.Lock()
	var due []*timer
	c.timers = slices.DeleteFunc(c.timers, func(t *timer) bool {
		if which(t) {
			due = append(due, t)
			return true
		}
		return false
	})
	c.mu.Unlock()
	for _, t := range due {
		t.f()
	}
}

// pending returns when timers are due, in ns behind the epoch.
func (c *clock) pending() []int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := []int64{}
	for _, t := range c.timers {
		at = append(at, t.at-epoch)
	}
	slices.Sort(at)
	return at
}

func containing(lines []string, text string) (n int) {
	for _, l := range lines {
		if strings.Contains(l, text) {
			n++
		}
	}
	return n
}
