package eval

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rulego/streamsql/functions"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// ErrFunction marks errors about a call that can be seen before a row comes: an
// unknown function, a wrong number of arguments, a function that is not scalar.
var ErrFunction = errors.New("SQL function error")

func functionError(e *syntax.Call, hint, format string, args ...any) *syntax.Error {
	return &syntax.Error{Pos: e.Pos, Msg: fmt.Sprintf(format, args...), Hint: hint, Kind: ErrFunction}
}

// functionErrorAt is functionError about an argument.
func functionErrorAt(pos syntax.Pos, format string, args ...any) *syntax.Error {
	return &syntax.Error{Pos: pos, Msg: fmt.Sprintf(format, args...), Kind: ErrFunction}
}

// invoke runs a function over arguments that it must not keep.
type invoke func(ctx *Context, r row.Row, args []any) (any, error)

func (c *compiler) call(e *syntax.Call) (term, error) {
	class := Classify(e.Name)
	switch class.Kind {
	case Scalar:
	case Unknown:
		hint := ""
		if name := nearest(e.Name); name != "" {
			hint = "did you mean " + name + "?"
		}
		return term{}, functionError(e, hint, "unknown function %s", e.Name)
	default:
		return term{}, functionError(e, "", "function %s works on more than one row and cannot stand here", e.Name)
	}
	if e.Star || e.Distinct || e.Over != nil {
		return term{}, functionError(e, "", "function %s takes no *, DISTINCT or OVER", e.Name)
	}
	if f, ok := timeFunctionOf(e.Name); ok {
		return c.timeCall(e, f)
	}
	args, err := c.compileAll(e.Args)
	if err != nil {
		return term{}, err
	}
	lower := strings.ToLower(e.Name)
	fn, registered := functions.Get(lower)
	if !registered {
		return c.exprLang(e, args)
	}
	if err := checkCount(e, fn.GetMinArgs(), fn.GetMaxArgs()); err != nil {
		return term{}, err
	}
	if !class.Custom {
		if expr := native(lower, args); expr != nil {
			return foldUnless(Volatile(e), term{expr: expr}, args), nil
		}
	}
	if lower == "cast" && args[1].constant && args[1].val.Kind == value.Text {
		// StreamSQL knows the type names in lower case only.
		args[1] = constant(value.OfText(strings.ToLower(string(args[1].val.Text))))
	}
	readsRow := class.Custom || lower == "expr"
	run := func(ctx *Context, r row.Row, args []any) (any, error) {
		if class.Custom {
			args = append([]any(nil), args...) // it may keep them
		}
		if err := fn.Validate(args); err != nil {
			return nil, err
		}
		ctx.call.Data = nil
		if readsRow {
			ctx.call.Data = ctx.data(r)
		}
		return fn.Execute(&ctx.call, args)
	}
	return foldUnless(Volatile(e), term{expr: callExpr(lower, conversion{integral: strings.HasPrefix(lower, "array_")}, run, args)}, args), nil
}

func foldUnless(volatile bool, t term, parts []term) term {
	if volatile {
		return t
	}
	return fold(t, parts...)
}

func checkCount(e *syntax.Call, least, most int) error {
	n := len(e.Args)
	var want string
	switch {
	case n >= least && (most < 0 || n <= most):
		return nil
	case most < 0:
		want = fmt.Sprintf("at least %d", least)
	case least == most:
		want = fmt.Sprint(least)
	default:
		want = fmt.Sprintf("%d to %d", least, most)
	}
	return functionError(e, "", "wrong number of arguments of %s: %d instead of %s", e.Name, n, want)
}

func (c *Context) data(r row.Row) map[string]any {
	if c.Data == nil {
		return map[string]any{}
	}
	return c.Data(r)
}

// callExpr returns the closure that evaluates the arguments, runs the function
// and makes a value of the result.
func callExpr(name string, convert conversion, run invoke, args []term) Expr {
	exprs := make([]Expr, len(args))
	for i, a := range args {
		exprs[i] = a.asExpr()
	}
	return func(ctx *Context, r row.Row) value.Value {
		base, null := len(ctx.args), false
		for _, e := range exprs {
			a := convert.argument(e(ctx, r))
			null = null || a == nil
			ctx.args = append(ctx.args, a)
		}
		result, err := protect(run, ctx, r, ctx.args[base:len(ctx.args):len(ctx.args)])
		clear(ctx.args[base:])
		ctx.args = ctx.args[:base]
		if err != nil {
			// A function of NULL is NULL, so that the NULL rows of a LEFT JOIN do
			// not fill the counter.
			if !null {
				ctx.FunctionErrors++
				ctx.LastFunctionError = fmt.Errorf("%s: %w", name, err)
			}
			return value.Value{}
		}
		return value.FromGo(result)
	}
}

func protect(run invoke, ctx *Context, r row.Row, args []any) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	return run(ctx, r, args)
}

// native returns the functions that this package has itself, nil for others:
// those that choose among their arguments, which keep type and spelling that
// way and evaluate only what is needed, and those of the clock, which follow
// the time of the data.
func native(name string, args []term) Expr {
	exprs := make([]Expr, len(args))
	for i, a := range args {
		exprs[i] = a.asExpr()
	}
	switch name {
	case "coalesce", "if_null":
		return func(ctx *Context, r row.Row) value.Value {
			for _, e := range exprs {
				if v := e(ctx, r); !v.Resolve().IsNull() {
					return v
				}
			}
			return value.Value{}
		}
	case "null_if":
		return func(ctx *Context, r row.Row) value.Value {
			v := exprs[0](ctx, r)
			if order, ok := value.Compare(v, exprs[1](ctx, r)); ok && order == 0 {
				return value.Value{}
			}
			return v
		}
	case "is_null", "is_not_null":
		want := name == "is_null"
		return func(ctx *Context, r row.Row) value.Value {
			return value.OfBool(exprs[0](ctx, r).Resolve().IsNull() == want)
		}
	case "now":
		return func(ctx *Context, _ row.Row) value.Value { return value.OfTime(ctx.now()) }
	case "current_date":
		return func(ctx *Context, _ row.Row) value.Value { return value.OfText(ctx.now().Format("2006-01-02")) }
	case "current_time":
		return func(ctx *Context, _ row.Row) value.Value { return value.OfText(ctx.now().Format("15:04:05")) }
	case "unix_timestamp":
		if len(args) == 0 {
			return func(ctx *Context, _ row.Row) value.Value { return value.OfInt(ctx.now().Unix()) }
		}
	}
	return nil
}

// exprLang calls a function of expr-lang the way StreamSQL does, through its
// bridge: as an expression over a map with the arguments.
func (c *compiler) exprLang(e *syntax.Call, args []term) (term, error) {
	name := exprLangName(e.Name)
	names := make([]string, len(args))
	for i := range args {
		names[i] = fmt.Sprintf("streamjoin_%d", i)
	}
	text := name + "(" + strings.Join(names, ", ") + ")"
	bridge := functions.GetExprBridge()
	// Compiled without values, the arguments have no fixed types; the bridge keeps
	// the program for the calls below.
	if _, err := bridge.CompileExpressionWithStreamSQLFunctions(text, map[string]any{}); err != nil {
		reason, _, _ := strings.Cut(err.Error(), "\n")
		return term{}, functionError(e, "", "function %s cannot be called so: %s", e.Name, reason)
	}
	run := func(_ *Context, _ row.Row, args []any) (any, error) {
		data := make(map[string]any, len(args))
		for i, a := range args {
			data[names[i]] = a
		}
		return bridge.EvaluateExpression(text, data)
	}
	return fold(term{expr: callExpr(name, conversion{}, run, args)}, args...), nil
}
