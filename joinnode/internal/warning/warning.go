// Package warning logs trouble that may come with every row: each kind of it at
// once when it begins, and then at most every ten seconds with the number of
// cases since.
package warning

import (
	"sync"
	"time"

	"github.com/rulego/streamsql/logger"

	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// Every is how often one kind of trouble at one place may be logged.
const Every = 10 * time.Second

// Advice that does not depend on where the rows are lost.
const (
	BadTimestamp    = "check the field named by TIMESTAMP, and TIMEUNIT"
	FutureTimestamp = "mend the source's clock, or set MAXFUTURESKEW"
	Overflow        = "use overflow=block, raise bufferSize, or speed up the consumer of the results"
)

// Log is a logger of throttled warnings. Its methods may be called from any
// goroutine.
type Log struct {
	log logger.Logger
	now func() time.Time

	mu    sync.Mutex
	kinds map[Kind]*throttle
}

// Kind is one kind of trouble at one place of a query.
type Kind struct {
	Place string // "join stage 1", or "" for the whole query
	What  string
}

// throttle is the state of one kind of trouble.
type throttle struct {
	last  time.Time // of the last line
	cases int64     // since then
}

// New returns a Log that writes to log and tells the time by now.
func New(log logger.Logger, now func() time.Time) *Log {
	return &Log{log: log, now: now, kinds: map[Kind]*throttle{}}
}

// Due counts cases and tells whether it is time for a line, and how many cases
// it stands for.
func (l *Log) Due(k Kind, cases int64) (int64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	th := l.kinds[k]
	if th == nil {
		th = &throttle{}
		l.kinds[k] = th
	}
	th.cases += cases
	now := l.now()
	if !th.last.IsZero() && now.Sub(th.last) < Every {
		return 0, false
	}
	cases, th.cases, th.last = th.cases, 0, now
	return cases, true
}

// Warn writes a line that is due.
func (l *Log) Warn(format string, args ...any) { l.log.Warn(format, args...) }

// Loss is a kind of trouble that costs rows.
type Loss struct {
	Counter string // that counts the rows
	What    string // happened, as a sentence about rows in the past tense
	Todo    string // to end it
}

// Lost logs lost rows when it is time to. last, which may be nil, describes the
// last of them; it is asked for only then.
func (l *Log) Lost(place string, loss *Loss, rows int64, last func() string) {
	n, due := l.Due(Kind{place, loss.Counter}, rows)
	if !due {
		return
	}
	if place != "" {
		place += ": "
	}
	example := ""
	if last != nil {
		example = ", the last one with " + last()
	}
	l.log.Warn("%s%s%s (%d since the last warning, counter %s); %s", place, loss.What, example, n, loss.Counter, loss.Todo)
}

// longest is how many characters of a value are shown.
const longest = 60

// Field shows a field of a row and its value.
func Field(name string, v value.Value) string {
	if v.Resolve().IsNull() {
		return "no " + name
	}
	return name + " = " + Clip(string(value.AppendJSON(nil, v)))
}

// Clip shortens the text of a value to what fits into a line of the log.
func Clip(text string) string {
	if len(text) <= longest {
		return text
	}
	seen := 0
	for i := range text {
		if seen++; seen > longest {
			return text[:i] + "…"
		}
	}
	return text
}
