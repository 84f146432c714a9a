package delegate

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm/runtime"
	"github.com/rulego/streamsql/functions"
)

// The functions of computed expressions. None of them fails: NULL in an operand
// gives NULL or an unknown comparison, so that one operand cannot take a whole OR
// or CASE with it.

// failuresField is the row's *failures while its expressions are evaluated. It
// is the first argument of every call of a streamsql function.
const failuresField = hiddenPrefix + "f"

// The names of the operators in the text of an expression.
var operatorNames = map[string]string{
	"+": hiddenPrefix + "_add", "-": hiddenPrefix + "_sub", "*": hiddenPrefix + "_mul", "/": hiddenPrefix + "_div",
	"=": hiddenPrefix + "_eq", "!=": hiddenPrefix + "_ne", "<": hiddenPrefix + "_lt", "<=": hiddenPrefix + "_le",
	">": hiddenPrefix + "_gt", ">=": hiddenPrefix + "_ge",
	"LIKE": hiddenPrefix + "_like", "NOT LIKE": hiddenPrefix + "_unlike", "neg": hiddenPrefix + "_neg",
}

func operators() []expr.Option {
	var list []expr.Option
	compare := func(op string, holds func(x, y any) bool) {
		list = append(list, expr.Function(operatorNames[op], func(params ...any) (any, error) {
			return holds(params[0], params[1]), nil
		}, new(func(x, y any) bool)))
	}
	compare("=", func(x, y any) bool { return sameKind(x, y) && runtime.Equal(x, y) })
	compare("!=", func(x, y any) bool { return sameKind(x, y) && !runtime.Equal(x, y) })
	compare("<", func(x, y any) bool { return ordered(x, y) && runtime.Less(x, y) })
	compare("<=", func(x, y any) bool { return ordered(x, y) && runtime.LessOrEqual(x, y) })
	compare(">", func(x, y any) bool { return ordered(x, y) && runtime.More(x, y) })
	compare(">=", func(x, y any) bool { return ordered(x, y) && runtime.MoreOrEqual(x, y) })
	compare("LIKE", func(x, y any) bool { return likes(x, y, true) })
	compare("NOT LIKE", func(x, y any) bool { return likes(x, y, false) })

	arithmetic := func(op string, f func(x, y any) any) {
		list = append(list, expr.Function(operatorNames[op], func(params ...any) (any, error) {
			x, y := params[0], params[1]
			if isNumber(x) && isNumber(y) {
				return f(x, y), nil
			}
			if a, ok := x.(string); ok && op == "+" {
				if b, ok := y.(string); ok {
					return a + b, nil
				}
			}
			return nil, nil
		}))
	}
	arithmetic("+", runtime.Add)
	arithmetic("-", runtime.Subtract)
	arithmetic("*", runtime.Multiply)
	arithmetic("/", func(x, y any) any { return runtime.Divide(x, y) })
	return append(list, expr.Function(operatorNames["neg"], func(params ...any) (any, error) {
		if !isNumber(params[0]) {
			return nil, nil
		}
		return runtime.Negate(params[0]), nil
	}))
}

func isNumber(v any) bool {
	switch v.(type) {
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, float64:
		return true
	}
	return false
}

// sameKind says that both values are there and of one kind.
func sameKind(x, y any) bool {
	if isNumber(x) && isNumber(y) {
		return true
	}
	return x != nil && y != nil && reflect.TypeOf(x) == reflect.TypeOf(y)
}

// ordered says that both values are of one kind that has an order.
func ordered(x, y any) bool {
	switch x.(type) {
	case string, time.Time, time.Duration:
		return sameKind(x, y)
	}
	return isNumber(x) && isNumber(y)
}

func likes(x, y any, want bool) bool {
	text, ok1 := x.(string)
	pattern, ok2 := y.(string)
	return ok1 && ok2 && like([]rune(text), []rune(pattern)) == want
}

// exprName returns the name of a function in the text of an expression.
// expr-lang's own functions, which streamsql has too, are spelled with capitals.
func exprName(name string) string {
	if _, ok := functions.Get(strings.ToLower(name)); ok {
		return strings.ToLower(name)
	}
	return name
}

// calls declares streamsql's functions to an expression.
func calls(names map[string]bool) []expr.Option {
	var list []expr.Option
	for name := range names {
		fn, ok := functions.Get(name)
		if !ok {
			continue
		}
		list = append(list, expr.Function(name, func(params ...any) (any, error) {
			failed, _ := params[0].(*failures)
			v, err := run(fn, params[1:])
			if err != nil {
				v = nil
				// A function of NULL is NULL.
				if failed != nil && !anyNil(params[1:]) {
					failed.add(fmt.Errorf("%s: %w", name, err))
				}
			}
			return v, nil
		}))
	}
	return list
}

// run calls a function, which may be the user's, so that it cannot panic.
func run(fn functions.Function, args []any) (v any, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, fmt.Errorf("panic: %v", r)
		}
	}()
	if err := fn.Validate(args); err != nil {
		return nil, err
	}
	return fn.Execute(&functions.FunctionContext{Data: map[string]any{}}, args)
}

func anyNil(values []any) bool {
	for _, v := range values {
		if v == nil {
			return true
		}
	}
	return false
}

// like matches % against any run of characters and _ against one, going back to
// the last % only, which is enough because an earlier one can take no more.
func like(text, pattern []rune) bool {
	t, p, star, mark := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '%':
			star, mark = p, t
			p++
		case p < len(pattern) && (pattern[p] == '_' || pattern[p] == text[t]):
			t++
			p++
		case star >= 0:
			mark++
			t, p = mark, star+1
		default:
			return false
		}
	}
	return strings.Trim(string(pattern[p:]), "%") == ""
}
