package plan

import (
	"errors"
	"fmt"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// The sentinels behind the *syntax.Error values of this package.
var (
	// ErrUnsupported marks a combination of clauses that the engine does not
	// run; the message says what to do instead.
	ErrUnsupported = errors.New("unsupported in a WITHIN join")
	// ErrUnknownName marks an alias, function or option that nothing defines.
	ErrUnknownName = errors.New("unknown name in SQL")
	// ErrDuplicateName marks a stream, alias or output column named twice.
	ErrDuplicateName = errors.New("duplicate name in SQL")
	// ErrOption marks a WITH option with a value it cannot have.
	ErrOption = errors.New("invalid WITH option")
)

func newError(sql string, pos syntax.Pos, kind error, hint, format string, args ...any) *syntax.Error {
	return &syntax.Error{Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint, SQL: sql, Kind: kind}
}

func (b *builder) errorf(pos syntax.Pos, kind error, hint, format string, args ...any) *syntax.Error {
	return newError(b.sql, pos, kind, hint, format, args...)
}
