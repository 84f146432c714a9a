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
}

// Error returns the fault with its byte offset.
func (e *JSONError) Error() string {
	return fmt.Sprintf("%v: %s at byte offset %d", ErrJSON, e.Msg, e.Offset)
}

// Unwrap returns ErrJSON.
func (e *JSONError) Unwrap() error { return ErrJSON }
