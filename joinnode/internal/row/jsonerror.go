package row

import (
	"errors"
	"fmt"
)

// ErrJSON is what errors.Is finds in every error about the JSON of a message.
var ErrJSON = errors.New("invalid JSON message")

// JSONError says what is wrong with a message and where.
type JSONError struct {
	Offset int // bytes from the start of the message, 0-based
	Msg    string
	Shape  bool // the JSON is valid, but no row
}

// Error returns the fault with its byte offset.
func (e *JSONError) Error() string {
	what := ErrJSON.Error()
	if e.Shape {
		what = "not a row"
	}
	return fmt.Sprintf("%s: %s at byte offset %d", what, e.Msg, e.Offset)
}

// Unwrap returns ErrJSON.
func (e *JSONError) Unwrap() error { return ErrJSON }
