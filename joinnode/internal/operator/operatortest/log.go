// Package operatortest has what tests of operators share: an output that writes
// down and checks what an operator does, and the contract of package operator
// as a test that any operator can run.
package operatortest

import (
	"fmt"
	"hash/crc32"
	"math"
	"strings"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// Log is an operator.Output that keeps one line of text for everything the
// operator does and notes what breaks the contract. It can hand everything on
// to a next operator.
type Log struct {
	// Clocked exempts record times from the promise of Low: the pipeline
	// stamps them anew in processing time.
	Clocked bool
	// Next, when not nil, gets the records and progress at its port Port.
	Next operator.Operator
	Port int

	Lines    []string // since the last Take
	Broken   []string // violations of the contract
	Emitted  int      // records
	Progress operator.Progress

	seq uint64
}

// NewLog returns an empty log.
func NewLog() *Log {
	return &Log{Progress: operator.Progress{Seen: math.MinInt64, Low: math.MinInt64}}
}

// Emit implements operator.Output.
func (l *Log) Emit(rec operator.Record) {
	l.Emitted++
	l.line("emit %s", Record(rec))
	if !l.Clocked && rec.TS < l.Progress.Low {
		l.broken("record at %d below the promised %d", rec.TS, l.Progress.Low)
	}
	if rec.Diff != 1 && rec.Diff != -1 {
		l.broken("record with Diff %d", rec.Diff)
	}
	if l.Next != nil {
		l.seq++
		rec.Seq = l.seq
		l.Next.Process(l.Port, rec)
	}
}

// Advance implements operator.Output.
func (l *Log) Advance(p operator.Progress) {
	idle := ""
	if p.Idle {
		idle = " idle"
	}
	l.line("advance seen=%d low=%d%s", p.Seen, p.Low, idle)
	if p.Seen < l.Progress.Seen || p.Low < l.Progress.Low {
		l.broken("progress fell from %+v to %+v", l.Progress, p)
	}
	if p.Low > p.Seen {
		l.broken("progress promises %d, beyond what was seen, %d", p.Low, p.Seen)
	}
	l.Progress = p
	if l.Next != nil {
		l.Next.Advance(l.Port, p)
	}
}

// Drop implements operator.Output.
func (l *Log) Drop(port int, rec operator.Record, why operator.Reason, pending bool) {
	waiting := ""
	if pending {
		waiting = " pending"
	}
	l.line("drop %s port=%d %s%s", why, port, Record(rec), waiting)
}

// Take returns the lines since the last Take.
func (l *Log) Take() []string {
	lines := l.Lines
	l.Lines = nil
	return lines
}

func (l *Log) line(format string, args ...any) {
	l.Lines = append(l.Lines, fmt.Sprintf(format, args...))
}

func (l *Log) broken(format string, args ...any) {
	l.Broken = append(l.Broken, fmt.Sprintf(format, args...))
}

// Record writes a record as text.
func Record(rec operator.Record) string {
	text := fmt.Sprintf("@%d %s", rec.TS, Row(rec.Row))
	if rec.Nulls != 0 {
		text += fmt.Sprintf(" nulls=%b", rec.Nulls)
	}
	if rec.Why != operator.NotClosed {
		text += " closed=" + rec.Why.String()
	}
	if rec.Diff < 0 {
		text += " retracted"
	}
	if rec.Past {
		text += " past"
	}
	if rec.Change != operator.NoChange {
		text += " " + rec.Change.String()
	}
	return text
}

// Row writes a row as text that tells kinds apart.
func Row(r row.Row) string {
	var cols []string
	r.Walk(func(_ int, v value.Value) { cols = append(cols, Value(v)) })
	return "[" + strings.Join(cols, " ") + "]"
}

// Value writes a value as text that tells kinds apart.
func Value(v value.Value) string {
	switch v.Kind {
	case value.Null:
		return "∅"
	case value.Text:
		if n := len(v.Text); n > 200 {
			return fmt.Sprintf("%q…(%d bytes, crc %x)", v.Text[:8], n, crc32.ChecksumIEEE(v.Text))
		}
		return fmt.Sprintf("%q", v.Text)
	case value.Number, value.JSON:
		return string(v.Text)
	default:
		return fmt.Sprintf("%T(%v)", v.ToGo(), v.ToGo())
	}
}
