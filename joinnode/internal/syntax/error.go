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
	if line := e.Line(); line != "" {
		fmt.Fprintf(&b, "\n  %s\n  %s^", line, strings.Repeat(" ", max(e.Pos.Col-1, 0)))
	}
	if e.Hint != "" {
		b.WriteString("\nhint: " + e.Hint)
	}
	return b.String()
}

// Line returns the line of SQL that the error points into, tabs as one space
// so that the caret stands under its place.
func (e *Error) Line() string {
	if e.Pos.Line < 1 {
		return ""
	}
	lines := strings.Split(e.SQL, "\n")
	if e.Pos.Line > len(lines) {
		return ""
	}
	return strings.ReplaceAll(strings.TrimRight(lines[e.Pos.Line-1], "\r"), "\t", " ")
}

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Kind }
