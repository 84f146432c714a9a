package eval

import (
	"testing"

	"github.com/rulego/streamsql/functions"
	"github.com/stretchr/testify/require"
)

// ownFunction is a function that a program registers as a type of its own.
type ownFunction struct{ *functions.BaseFunction }

func (f *ownFunction) Execute(*functions.FunctionContext, []any) (any, error) { return 1, nil }

func TestClassify(t *testing.T) {
	register(t, "eval_test_custom", 0, 0, func(*functions.FunctionContext, []any) (any, error) { return 1, nil })
	own := &ownFunction{functions.NewBaseFunctionWithAliases("eval_test_own", functions.TypeMath, "", "", 0, 0, []string{"eval_test_alias"})}
	require.NoError(t, functions.Register(own))
	t.Cleanup(func() { functions.Unregister("eval_test_own") })
	for name, want := range map[string]Class{
		"abs":              {Kind: Scalar},
		"CEIL":             {Kind: Scalar},
		"hasPrefix":        {Kind: Scalar},
		"now":              {Kind: Scalar, Volatile: true},
		"Current_Date":     {Kind: Scalar, Volatile: true},
		"rand":             {Kind: Scalar, Volatile: true},
		"expr":             {Kind: Scalar, Volatile: true},
		"sum":              {Kind: Aggregate},
		"COUNT":            {Kind: Aggregate},
		"max":              {Kind: Aggregate},
		"lag":              {Kind: Analytic},
		"acc_sum":          {Kind: Analytic},
		"window_start":     {Kind: Window},
		"SlidingWindow":    {Kind: Window},
		"unnest":           {Kind: Unnest},
		"nosuch":           {},
		"filter":           {},
		"eval_test_custom": {Kind: Scalar, Volatile: true, Custom: true},
		"eval_test_own":    {Kind: Scalar, Volatile: true, Custom: true},
		"eval_test_alias":  {Kind: Scalar, Volatile: true, Custom: true},
	} {
		require.Equal(t, want, Classify(name), name)
	}
}

func TestVolatile(t *testing.T) {
	register(t, "eval_test_custom", 0, -1, func(*functions.FunctionContext, []any) (any, error) { return 1, nil })
	for sql, want := range map[string]bool{
		"a > 1 AND upper(b) = 'X'":                 false,
		"a > 1 AND b IN (1, now())":                true,
		"CASE WHEN a = 1 THEN rand() END":          true,
		"unix_timestamp() > 5":                     true,
		"unix_timestamp(a) > 5":                    false,
		"abs(eval_test_custom(a)) BETWEEN 1 AND 2": true,
		"a BETWEEN 1 AND length(current_date())":   true,
		"a LIKE concat('x', current_time())":       true,
		"NOT (a IS NULL)":                          false,
	} {
		require.Equal(t, want, Volatile(parse(t, sql)), sql)
	}
	require.False(t, Volatile(nil))
}

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{
		"uper": "upper", "LENGHT": "length", "coalsce": "coalesce", "arraylength": "array_length", "summ": "", "xyzzyxyzzy": "",
	} {
		if want == "" {
			require.NotContains(t, []string{"sum", "avg"}, nearest(name))
			continue
		}
		require.Equal(t, want, nearest(name))
	}
}
