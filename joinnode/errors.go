package joinnode

import (
	"errors"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// The sentinels of this package, for errors.Is. Errors that concern SQL are
// also an *SQLError for errors.As.
var (
	ErrStopped         = errors.New("the query is stopped")
	ErrNotExecuted     = errors.New("no query is running: call Execute first")
	ErrAlreadyExecuted = errors.New("Execute was already called: use a new instance for another query")
	ErrUnknownStream   = errors.New("unknown input stream")
	ErrOverflow        = errors.New("the input queue is full")
	ErrInvalidJSON     = row.ErrJSON // also valid JSON that is no row
	ErrOption          = errors.New("invalid option")
	ErrSchema          = errors.New("schema validation failed")
	ErrStreamJoin      = errors.New("not available on a stream JOIN query")
	ErrTableScript     = errors.New("not available on a table script")
	ErrUnknownTable    = errors.New("unknown table")
	ErrStarted         = errors.New("the new query has already begun") // of Adopt
)

// SQLError is an error in the SQL text: message, line, column, hint. Its
// Error() shows the line with a caret.
type SQLError = syntax.Error
