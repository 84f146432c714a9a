package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rulego/streamsql/functions"
	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// sample has arguments for every scalar function of StreamSQL's registry, by
// its main name.
var sample = map[string][][]any{
	"abs": {{-1.5}, {-3}}, "acos": {{0.5}}, "asin": {{0.5}}, "atan": {{0.5}}, "atan2": {{1.0, 2.0}},
	"bitand": {{6, 3}}, "bitor": {{6, 3}}, "bitxor": {{6, 3}}, "bitnot": {{6}},
	"ceiling": {{1.2}}, "floor": {{1.8}}, "cos": {{1.0}}, "cosh": {{1.0}}, "sin": {{1.0}}, "sinh": {{1.0}}, "tan": {{1.0}}, "tanh": {{1.0}},
	"exp": {{1.0}}, "ln": {{2.0}}, "log": {{2.0}}, "log10": {{100.0}}, "log2": {{8.0}}, "mod": {{7, 3}}, "power": {{2, 10}},
	"round": {{2.567}, {2.567, 1}}, "sign": {{-3}}, "sqrt": {{16.0}}, "trunc": {{2.567, 1}}, "rand": {{}},

	"array_contains": {{[]any{1, 2}, 2}}, "array_distinct": {{[]any{"a", "a", "b"}}}, "array_except": {{[]any{"a", "b"}, []any{"b"}}},
	"array_intersect": {{[]any{"a", "b"}, []any{"b"}}}, "array_length": {{[]any{1, 2}}}, "array_position": {{[]any{"a", "b"}, "b"}},
	"array_remove": {{[]any{"a", "b"}, "a"}}, "array_union": {{[]any{"a"}, []any{"b"}}},

	"case_when": {{false, "a", true, "b"}, {false, "a", "c"}}, "coalesce": {{nil, 2, 3}, {nil}}, "if_null": {{nil, "x"}, {1, 2}},
	"null_if": {{1, 1}, {1, 2}}, "greatest": {{1, 5, 3}}, "least": {{4, 2, 3}},

	"cast": {{"12", "bigint"}, {12.7, "int"}, {3, "string"}, {"true", "bool"}, {"1.5", "float"}},
	"chr":  {{65}}, "hex2dec": {{"ff"}}, "dec2hex": {{255}}, "encode": {{"hi", "base64"}}, "decode": {{"aGk=", "base64"}},
	"url_encode": {{"a b"}}, "url_decode": {{"a+b"}}, "convert_tz": {{"2024-05-01 12:00:00", "UTC"}}, "to_seconds": {{"2024-05-01 12:00:00"}, {17}},

	"concat": {{"a", 1, true}}, "length": {{"abc"}}, "upper": {{"a"}}, "lower": {{"A"}}, "trim": {{" a "}}, "ltrim": {{" a "}}, "rtrim": {{" a "}},
	"endswith": {{"abc", "c"}}, "startswith": {{"abc", "a"}}, "indexof": {{"abc", "c"}}, "substring": {{"abcdef", 1}, {"abcdef", 1, 2}},
	"replace": {{"aXb", "X", "-"}}, "split": {{"a,b", ","}}, "lpad": {{"a", 3, "0"}}, "rpad": {{"a", 3}}, "format": {{1.239, "0.00"}, {7}},
	"regexp_matches": {{"abc", "b."}}, "regexp_replace": {{"abc", "b", "x"}}, "regexp_substring": {{"abc", "b."}},
	"md5": {{"a"}}, "sha1": {{"a"}}, "sha256": {{"a"}}, "sha512": {{"a"}},

	"to_json": {{map[string]any{"a": []any{1, "x"}}}, {"x"}}, "from_json": {{`{"a":[1]}`}}, "json_extract": {{`{"a":{"b":3}}`, "$.a.b"}, {map[string]any{"a": "x"}, "a"}},
	"json_valid": {{`{}`}, {`{`}}, "json_type": {{`[]`}}, "json_length": {{`[1,2]`}},

	"is_null": {{nil}, {1}}, "is_not_null": {{nil}, {1}}, "is_numeric": {{1}, {"1"}}, "is_string": {{"a"}}, "is_bool": {{true}},
	"is_array": {{[]any{1}}}, "is_object": {{map[string]any{}}},

	"now": {{}}, "current_date": {{}}, "current_time": {{}}, "unix_timestamp": {{}, {"2024-05-01"}},
	"date_add": {{"2024-05-01", 3, "days"}}, "date_sub": {{"2024-05-01", 3, "days"}}, "date_diff": {{"2024-05-03", "2024-05-01", "days"}},
	"date_format": {{"2024-05-01 12:00:00", "YYYY-MM-DD"}}, "date_parse": {{"2024-05-01", "yyyy-MM-dd"}}, "extract": {{"year", "2024-05-01"}},
	"from_unixtime": {{1700000000}}, "year": {{"2024-05-01"}}, "month": {{"2024-05-01"}}, "day": {{"2024-05-01"}}, "hour": {{"2024-05-01 12:13:14"}},
	"minute": {{"2024-05-01 12:13:14"}}, "second": {{"2024-05-01 12:13:14"}}, "dayofweek": {{"2024-05-01"}}, "dayofyear": {{"2024-05-01"}}, "weekofyear": {{"2024-05-01"}},

	"expr": {{"1 + 2"}},
}

func TestEveryScalarFunction(t *testing.T) {
	names := make([]string, 0, 128)
	for name, fn := range functions.ListAll() {
		if c := classOf(name, fn); c.Kind == Scalar && !c.Custom {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	require.Greater(t, len(names), 90)
	for _, name := range names {
		fn, _ := functions.Get(name)
		tuples := sample[fn.GetName()]
		require.NotEmpty(t, tuples, "no arguments for %s", name)
		for _, args := range tuples {
			t.Run(fmt.Sprint(name, args), func(t *testing.T) {
				direct, err := functions.Execute(name, &functions.FunctionContext{Data: map[string]any{}}, args)
				require.NoError(t, err)
				asGo, asJSON := fields{}, fields{}
				var cols []string
				for i, a := range args {
					col := fmt.Sprintf("c%d", i)
					cols = append(cols, col)
					text, err := json.Marshal(a)
					require.NoError(t, err)
					asGo[col], asJSON[col] = a, jsonValue(string(text))
				}
				sql := strings.ToUpper(name) + "(" + strings.Join(cols, ", ") + ")"
				for _, f := range []fields{asGo, asJSON} {
					var ctx Context
					got := evaluate(t, &ctx, sql, f)
					require.Zero(t, ctx.FunctionErrors, "%v", ctx.LastFunctionError)
					switch name {
					case "rand", "now", "current_time", "current_date":
						require.IsType(t, direct, got)
						continue
					}
					if name == "unix_timestamp" && len(args) == 0 {
						require.InDelta(t, direct, got, 60)
						continue
					}
					integers := conversion{integral: strings.HasPrefix(name, "array_")}
					require.Equal(t, integers.plain(direct, 0), integers.plain(got, 0))
				}
			})
		}
	}
}

func TestFunctionsOfExprLang(t *testing.T) {
	f := fields{"s": "abc", "n": jsonNumber("7"), "m": map[string]any{"k": "v"}, "nested": jsonValue(`[[1],[2,3]]`)}
	for sql, want := range map[string]any{
		"hasPrefix(s, 'a')":  true,
		"HASSUFFIX(s, 'a')":  false,
		"indexOf(s, 'c')":    int64(2),
		"int('12')":          int64(12),
		"float('1.5')":       1.5,
		"string(n)":          "7",
		"type(n)":            "int",
		"toBase64(s)":        "YWJj",
		"fromBase64('YWJj')": "abc",
		"get(m, 'k')":        "v",
		"toJSON(s)":          `"abc"`,
		"duration('2s')":     int64(2 * time.Second),
		"flatten(nested)":    []any{int64(1), int64(2), int64(3)},
	} {
		var ctx Context
		require.Equal(t, want, (conversion{}).plain(evaluate(t, &ctx, sql, f), 0), sql)
		require.NoError(t, ctx.LastFunctionError, sql)
	}
	// The bridge keeps a program per text; arguments of another type must not
	// meet one that was compiled for the first type.
	for _, x := range []any{"12", 12.0, 12, jsonNumber("12")} {
		var ctx Context
		require.EqualValues(t, 12, evaluate(t, &ctx, "int(x)", fields{"x": x}))
		require.Zero(t, ctx.FunctionErrors)
	}
}

func TestArraysFindNumbersOfEverySpelling(t *testing.T) {
	lists := []any{[]any{1, 3}, []int{1, 3}, jsonValue(`[1,3.0]`), []float64{1, 3}, []any{json.Number("3e0")}, []celsius{3}, &[]any{3}}
	for _, list := range lists {
		for _, sql := range []string{"array_contains(l, 3)", "array_contains(l, 3.0)", "array_contains(l, x)"} {
			var ctx Context
			require.Equal(t, true, evaluate(t, &ctx, sql, fields{"l": list, "x": jsonNumber("3.00")}), "%s %T", sql, list)
		}
	}
}

func TestChoosingKeepsTypeAndSpelling(t *testing.T) {
	f := fields{"none": nil, "j": jsonNumber("80.50"), "i8": int8(5), "o": map[string]any{"a": 1}}
	for sql, want := range map[string]any{
		"coalesce(none, j)":       json.Number("80.50"),
		"coalesce(none, i8, j)":   int8(5),
		"if_null(i8, 1)":          int8(5),
		"if_null(none, o)":        map[string]any{"a": 1},
		"null_if(j, 80.5)":        nil,
		"null_if(j, 81)":          json.Number("80.50"),
		"null_if(none, 1)":        nil,
		"coalesce(none, 1 / 0)":   nil,
		"coalesce(i8, sqrt('a'))": int8(5),
	} {
		var ctx Context
		require.Equal(t, want, evaluate(t, &ctx, sql, f), sql)
		require.Zero(t, ctx.FunctionErrors, "%s: what is not needed is not evaluated", sql)
	}
}

// register adds a custom function for the time of the test.
func register(t *testing.T, name string, least, most int, f func(*functions.FunctionContext, []any) (any, error)) {
	t.Helper()
	require.NoError(t, functions.RegisterCustomFunction(name, functions.TypeCustom, "test", "", least, most, f))
	t.Cleanup(func() { functions.Unregister(name) })
}

func TestCustomFunctions(t *testing.T) {
	var kept []any
	register(t, "eval_test_keep", 1, -1, func(_ *functions.FunctionContext, args []any) (any, error) {
		kept = args
		return args[0], nil
	})
	register(t, "eval_test_panic", 1, 1, func(*functions.FunctionContext, []any) (any, error) { panic("oops") })
	failure := errors.New("broken")
	register(t, "eval_test_fail", 0, 1, func(*functions.FunctionContext, []any) (any, error) { return nil, failure })
	register(t, "eval_test_row", 0, 0, func(ctx *functions.FunctionContext, _ []any) (any, error) { return ctx.Data["x"], nil })

	f := fields{"x": 5, "s": "text", "none": nil}
	var ctx Context
	require.Equal(t, "text", evaluate(t, &ctx, "Eval_Test_Keep(s, x, eval_test_keep(x))", f))
	evaluate(t, &ctx, "eval_test_keep(x, upper(concat(s, 'y')))", f)
	require.Equal(t, []any{int64(5), "TEXTY"}, kept, "arguments that a custom function keeps stay as they were")
	evaluate(t, &ctx, "abs(x) + length(s)", f)
	require.Equal(t, []any{int64(5), "TEXTY"}, kept)
	require.Zero(t, ctx.FunctionErrors)

	require.Nil(t, evaluate(t, &ctx, "eval_test_panic(x)", f))
	require.EqualValues(t, 1, ctx.FunctionErrors)
	require.ErrorContains(t, ctx.LastFunctionError, "eval_test_panic: panic: oops")
	require.Equal(t, int64(6), evaluate(t, &ctx, "x + coalesce(eval_test_panic(upper(s)), 1)", f), "the stack of arguments survives")

	require.Nil(t, evaluate(t, &ctx, "eval_test_fail(x)", f))
	require.ErrorIs(t, ctx.LastFunctionError, failure)
	require.EqualValues(t, 3, ctx.FunctionErrors)
	require.Nil(t, evaluate(t, &ctx, "eval_test_fail(none)", f))
	require.EqualValues(t, 3, ctx.FunctionErrors, "a function of NULL is NULL")

	require.Nil(t, evaluate(t, &ctx, "eval_test_row()", f))
	ctx.Data = func(row.Row) map[string]any { return map[string]any{"x": 5} }
	require.Equal(t, 5, evaluate(t, &ctx, "eval_test_row()", f))
	require.EqualValues(t, 6, (conversion{}).plain(evaluate(t, &ctx, "expr('x + 1')", f), 0))

	_, err := Compile(parse(t, "eval_test_panic()"), f.resolve)
	require.ErrorIs(t, err, ErrFunction)
}

func TestFunctionErrorsAreCounted(t *testing.T) {
	f := fields{"s": "x", "none": nil}
	var ctx Context
	require.Nil(t, evaluate(t, &ctx, "sqrt(s)", f))
	require.EqualValues(t, 1, ctx.FunctionErrors)
	require.ErrorContains(t, ctx.LastFunctionError, "sqrt: ")
	require.Equal(t, value.Unknown, decide(t, &ctx, "sqrt(s) > 2", f))
	require.EqualValues(t, 2, ctx.FunctionErrors)
	require.Zero(t, ctx.TypeMismatch)
	require.Nil(t, evaluate(t, &ctx, "sqrt(none)", f))
	require.EqualValues(t, 2, ctx.FunctionErrors)
}

func TestCastTakesTypeNamesInAnyCase(t *testing.T) {
	require.Equal(t, int64(12), evaluate(t, &Context{}, "CAST('12', 'BIGINT')", nil))
}

func TestTextArgumentsAreCopies(t *testing.T) {
	register(t, "eval_test_same", 1, 1, func(_ *functions.FunctionContext, args []any) (any, error) { return args[0], nil })
	f := fields{"s": "text"}
	expr, err := Compile(parse(t, "eval_test_same(s)"), f.resolve)
	require.NoError(t, err)
	r := f.row()
	v := expr(&Context{}, r)
	clear(r.Enc)
	require.Equal(t, "text", v.ToGo())
}
