package eval

import (
	"reflect"
	"slices"
	"strings"

	"github.com/rulego/streamsql/functions"

	"github.com/streamjoin/streamjoin/internal/spelling"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// FuncKind is what a function does to rows.
type FuncKind uint8

// The kinds of function. Only Scalar functions can be compiled.
const (
	Unknown   FuncKind = iota // no function of that name is registered
	Scalar                    // one value from the values of one row
	Aggregate                 // one value from the rows of a group
	Analytic                  // one value from this row and earlier ones
	Window                    // a window in GROUP BY, or a property of one
	Unnest                    // several rows from one
)

// Class is what is known of a function by its name.
type Class struct {
	Kind FuncKind
	// Volatile functions may give another value for the same arguments, or do
	// something besides: the clock and random ones, those that read the row by
	// themselves, and all custom ones, of which nothing is known. A condition
	// with one is never moved to an input (semantics.md §7).
	Volatile bool
	// Custom functions were registered by the program, not by StreamSQL.
	Custom bool
}

// Classify looks a function up as a call would find it: StreamSQL's registry,
// aliases and custom functions included, regardless of case, then the time
// package, then the functions that StreamSQL takes over from expr-lang.
func Classify(name string) Class {
	lower := strings.ToLower(name)
	if fn, ok := functions.Get(lower); ok {
		return classOf(lower, fn)
	}
	switch lower {
	case "tumblingwindow", "slidingwindow", "countingwindow", "sessionwindow", "globalwindow":
		return Class{Kind: Window}
	}
	if _, ok := timeFunctionOf(name); ok || exprLangName(name) != "" {
		return Class{Kind: Scalar}
	}
	return Class{}
}

func classOf(lower string, fn functions.Function) Class {
	c := Class{Kind: Scalar, Custom: isCustom(fn)}
	switch fn.GetType() {
	case functions.TypeAggregation:
		c.Kind = Aggregate
	case functions.TypeAnalytical:
		c.Kind = Analytic
	case functions.TypeWindow:
		c.Kind = Window
	}
	if c.Custom {
		c.Volatile = true
		return c
	}
	switch lower {
	case "unnest":
		c.Kind = Unnest
	case "expression": // StreamSQL's own stand-in for calculated aggregates
		c.Kind = Aggregate
	case "now", "current_time", "current_date", "unix_timestamp", "rand", "expr":
		c.Volatile = true
	}
	return c
}

// isCustom reports whether fn comes from outside of StreamSQL.
func isCustom(fn functions.Function) bool {
	if _, ok := fn.(*functions.CustomFunction); ok {
		return true
	}
	t := reflect.TypeOf(fn)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath() != reflect.TypeFor[functions.BaseFunction]().PkgPath()
}

// Volatile reports whether e calls a volatile function. unix_timestamp is one
// only without argument.
func Volatile(e syntax.Expr) bool {
	found := false
	syntax.Walk(e, func(e syntax.Expr) bool {
		if call, ok := e.(*syntax.Call); ok {
			ofArgument := strings.EqualFold(call.Name, "unix_timestamp") && len(call.Args) > 0
			c := Classify(call.Name)
			found = found || c.Volatile && (c.Custom || !ofArgument)
		}
		return !found
	})
	return found
}

// exprLangName returns the spelling of an expr-lang function that StreamSQL
// lets through, "" for any other name. Its functions over predicates (all,
// filter, map …) are no SQL expressions and are not among them.
func exprLangName(name string) string {
	for _, known := range [...]string{
		"hasPrefix", "hasSuffix", "flatten", "duration", "date", "int", "float", "string", "type",
		"toJSON", "fromJSON", "toBase64", "fromBase64", "get",
	} {
		if strings.EqualFold(known, name) {
			return known
		}
	}
	return ""
}

// nearest returns the name of the scalar function that is most like name, or ""
// when none is.
func nearest(name string) string {
	var scalar []string
	for known, fn := range functions.ListAll() {
		if classOf(known, fn).Kind == Scalar {
			scalar = append(scalar, known)
		}
	}
	for _, f := range timeFunctions() {
		scalar = append(scalar, f.name)
	}
	slices.Sort(scalar) // of equally near ones the first is taken
	return spelling.Nearest(name, scalar)
}
