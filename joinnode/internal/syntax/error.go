package syntax

import (
	"errors"
	"fmt"
	"strings"
)

// ErrSyntax marks every error of the front end that is about the form of the
// text; errors about its meaning come from package plan and use the same Error.
var ErrSyntax = errors.New("SQL syntax error")

// Error is an SQL error with its place. Error() has several lines: the message
// with line and column, the line of SQL, a caret under the place, and a hint
// when there is one.
type Error struct {
	Pos  Pos
	Msg  string // one sentence, no final full stop
	Hint string // what to write instead; "" when there is nothing to say
	SQL  string // the whole statement
	Kind error  // what errors.Is answers to: ErrSyntax or a sentinel of package plan
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "line %d, column %d: %s", e.Pos.Line, e.Pos.Col, e.Msg)
	if line, before := e.excerpt(); line != "" {
		fmt.Fprintf(&b, "\n  %s\n  %s^", line, strings.Repeat(" ", before))
	}
	if e.Hint != "" {
		b.WriteString("\nhint: " + e.Hint)
	}
	return b.String()
}

// excerpt returns the part of Line around the error, and how many runes of it
// stand before its place. SQL built by programs is often one very long line.
func (e *Error) excerpt() (string, int) {
	const most, context = 160, 60
	line, before := []rune(e.Line()), max(e.Pos.Col-1, 0)
	if len(line) <= most {
		return string(line), before
	}
	from := min(max(before-context, 0), len(line)-context)
	to := min(from+most, len(line))
	shown := string(line[from:to])
	before -= from
	if from > 0 {
		shown, before = "…"+shown, before+1
	}
	if to < len(line) {
		shown += "…"
	}
	return shown, before
}

// Line returns the line of SQL that the error points into, tabs and control
// characters as one space so that the caret stands under its place.
func (e *Error) Line() string {
	if e.Pos.Line < 1 {
		return ""
	}
	lines := strings.Split(e.SQL, "\n")
	if e.Pos.Line > len(lines) {
		return ""
	}
	return strings.Map(printable, strings.TrimRight(lines[e.Pos.Line-1], "\r"))
}

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Kind }
