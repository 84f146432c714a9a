package script

import (
	"errors"
	"fmt"

	"github.com/streamjoin/streamjoin/internal/spelling"
	"github.com/streamjoin/streamjoin/joinnode/internal/plan"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// The sentinels behind the *syntax.Error values of this package. Unknown and
// repeated names and options are package plan's.
var (
	// ErrKind marks a table of the wrong kind: a stream where a state table is
	// needed, or the other way round.
	ErrKind = errors.New("wrong kind of table")
	// ErrUnsupported marks what cannot be kept up to date by changes.
	ErrUnsupported = errors.New("unsupported in a table script")
)

func (b *builder) errorf(pos syntax.Pos, kind error, hint, format string, args ...any) error {
	return &syntax.Error{Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint, SQL: b.sql, Kind: kind}
}

// unknown makes the error for a name that nothing defines, with the nearest of
// those that there are.
func (b *builder) unknown(pos syntax.Pos, what, name string, known []string, hint string) error {
	if near := spelling.Nearest(name, known); near != "" {
		hint = "did you mean " + near + "?"
	}
	return b.errorf(pos, plan.ErrUnknownName, hint, "unknown %s %q", what, name)
}

// place gives an error of package eval the text that it belongs to.
func (b *builder) place(err error) error {
	var e *syntax.Error
	if errors.As(err, &e) && e.SQL == "" {
		e.SQL = b.sql
	}
	return err
}
