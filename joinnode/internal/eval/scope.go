package eval

import (
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// Scope is what an expression is compiled in: what its names and its times mean.
type Scope struct {
	// Locate tells where a name of the query is found: in column col of the row,
	// or, when rest is not empty, where rest leads from the object or array in
	// that column; NULL when it leads nowhere. Its error becomes the error of
	// CompileIn as it is.
	Locate func(*syntax.Column) (col int, rest row.Path, err error)
	// Unit tells the unit in which a column has times as numbers, AutoUnit when
	// nobody said. Nil is AutoUnit for all.
	Unit func(*syntax.Column) value.Unit
	// Zone is where days begin and where text without an offset was written. Nil
	// is UTC.
	Zone *time.Location
}

func (s Scope) zone() *time.Location {
	if s.Zone == nil {
		return time.UTC
	}
	return s.Zone
}

// scope is the Scope of a query that has no units and paths.
func (resolve Resolver) scope() Scope {
	return Scope{Locate: func(c *syntax.Column) (int, row.Path, error) {
		col, err := resolve(c)
		return col, nil, err
	}}
}

// CompileIn returns the closure that computes e. Errors are *syntax.Error without
// the SQL text, which the caller has, or those of s.Locate.
func CompileIn(e syntax.Expr, s Scope) (Expr, error) {
	t, err := (&compiler{s}).compile(e)
	if err != nil {
		return nil, err
	}
	return t.asExpr(), nil
}

// CompilePredicateIn returns the closure that decides e. A value that is no
// boolean is Unknown and counted as a mismatch.
func CompilePredicateIn(e syntax.Expr, s Scope) (Predicate, error) {
	t, err := (&compiler{s}).compile(e)
	if err != nil {
		return nil, err
	}
	return t.asPredicate(), nil
}
