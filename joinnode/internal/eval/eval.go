// Package eval compiles the expressions of a query into closures over a row.
// Meaning is that of semantics.md §7: SQL's three-valued logic, exact
// comparison, and StreamSQL's scalar functions, custom ones included.
package eval

import (
	"time"

	"github.com/rulego/streamsql/functions"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// Expr computes a value from a row. Text and Ref of the result belong to the
// row or to the closure's result; they are valid as long as the row.
type Expr func(*Context, row.Row) value.Value

// Predicate decides a condition about a row.
type Predicate func(*Context, row.Row) value.Tri

// Resolver tells which column of the row a name of the query means. Its error
// becomes the error of Compile as it is.
type Resolver func(*syntax.Column) (col int, err error)

// Context is what evaluation counts and the space it works in. Closures may be
// shared between goroutines, a Context may not.
type Context struct {
	// TypeMismatch counts comparisons, arithmetic and conditions whose operands
	// were of kinds that do not go together (semantics.md §7); each made its
	// result unknown or NULL. One operator counts at most once per row.
	TypeMismatch int64
	// Example is one of them: the first since it was nil.
	Example *Mismatch
	// FunctionErrors counts calls that failed or panicked with arguments that
	// were all present; each made its result NULL.
	FunctionErrors int64
	// LastFunctionError says what went wrong in the last of them.
	LastFunctionError error

	// Now is the clock of now(), current_date(), current_time() and
	// unix_timestamp(); nil means time.Now.
	Now func() time.Time
	// Data gives functions that read the row by themselves (expr and custom
	// functions) a map of it; nil gives them an empty map.
	Data func(row.Row) map[string]any

	args []any // a stack: the arguments of the calls that are being evaluated
	key  []byte
	call functions.FunctionContext
}

// NewContext returns a Context whose clock is now.
func NewContext(now func() time.Time) *Context { return &Context{Now: now} }

func (c *Context) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

// Compile returns the closure that computes e. Errors are *syntax.Error without
// the SQL text, which the caller has, or those of resolve.
func Compile(e syntax.Expr, resolve Resolver) (Expr, error) { return CompileIn(e, resolve.scope()) }

// CompilePredicate returns the closure that decides e. A value that is no
// boolean is Unknown and counted as a mismatch.
func CompilePredicate(e syntax.Expr, resolve Resolver) (Predicate, error) {
	return CompilePredicateIn(e, resolve.scope())
}
