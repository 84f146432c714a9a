package eval

import (
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

type celsius float64

func TestValues(t *testing.T) {
	f := fields{
		"i": 5, "u8": uint8(3), "n": 80.5, "s": "ab", "none": nil, "up": true, "c": celsius(2),
		"j": jsonNumber("80.50"), "big": jsonNumber("9007199254740993"), "min": int64(math.MinInt64), "umax": uint64(math.MaxUint64),
		"a.b": "nested",
	}
	tests := map[string]struct {
		want     any
		mismatch int64
	}{
		"i":                     {5, 0},
		"j":                     {json.Number("80.50"), 0},
		"c":                     {celsius(2), 0},
		"a.b":                   {"nested", 0},
		"5":                     {int64(5), 0},
		"5.0":                   {5.0, 0},
		".5":                    {0.5, 0},
		"0.1234567890123456789": {json.Number("0.1234567890123456789"), 0},
		"9007199254740993":      {int64(9007199254740993), 0},
		"1e400":                 {json.Number("1e400"), 0},
		"'it''s'":               {"it's", 0},
		"i + 2":                 {int64(7), 0},
		"i / 2":                 {2.5, 0},
		"6 / 2":                 {3.0, 0},
		"i % 3":                 {int64(2), 0},
		"-i % 3":                {int64(-2), 0},
		"i / 0":                 {nil, 0},
		"i % 0":                 {nil, 0},
		"i + 0.5":               {5.5, 0},
		"u8 * i":                {int64(15), 0},
		"c * 2":                 {4.0, 0},
		"big + 1":               {int64(9007199254740994), 0},
		"j * 2":                 {161.0, 0},
		"-j":                    {-80.5, 0},
		"+j":                    {json.Number("80.50"), 0},
		"-min":                  {uint64(1) << 63, 0},
		"min - 1":               {float64(math.MinInt64), 0},
		"umax + 1":              {float64(1 << 64), 0},
		"umax - umax":           {int64(0), 0},
		"umax * 2":              {float64(1 << 65), 0},
		"i + none":              {nil, 0},
		"none * 'x'":            {nil, 1},
		"s + 1":                 {nil, 1},
		"-s":                    {nil, 1},
		"+s":                    {nil, 1},
		"up + 1":                {nil, 1},
		"s + 'c'":               {"abc", 0},
		"s || 'c' || 1 || up":   {"abc1true", 0},
		"s || none":             {nil, 0},
		"j || ''":               {"80.50", 0},
		"i > 3":                 {true, 0},
		"i > none":              {nil, 0},
		"i > 3 AND up":          {true, 0},
		"2 + 3 * 4":             {int64(14), 0},
		"CASE WHEN i > 9 THEN 'high' WHEN i > 3 THEN 'mid' ELSE 'low' END": {"mid", 0},
		"CASE WHEN none THEN 1 END":                                        {nil, 0},
		"CASE i WHEN 4 THEN 'four' WHEN 5.0 THEN 'five' END":               {"five", 0},
		"CASE none WHEN none THEN 1 ELSE 2 END":                            {int64(2), 0},
		"CASE s WHEN 1 THEN 1 WHEN 'ab' THEN 2 END":                        {int64(2), 1},
		"CASE WHEN up THEN j END":                                          {json.Number("80.50"), 0},
	}
	for sql, tt := range tests {
		t.Run(sql, func(t *testing.T) {
			var ctx Context
			require.Equal(t, tt.want, evaluate(t, &ctx, sql, f), sql)
			require.Equal(t, tt.mismatch, ctx.TypeMismatch)
		})
	}
}

func TestConstantsAreFolded(t *testing.T) {
	for sql, want := range map[string]bool{
		"1 + 2 * 3":                         true,
		"upper('a') = 'A' AND TRUE":         true,
		"CASE WHEN 1 = 1 THEN 'x' END":      true,
		"1 IN (1, 2) AND 'a' LIKE '%'":      true,
		"now()":                             false,
		"rand() > 2":                        false,
		"split('a,b', ',')":                 false, // a container
		"'a' > 1":                           false, // counts a mismatch
		"sqrt('x')":                         false, // counts an error
		"x + 1":                             false,
		"CASE WHEN x = 1 THEN 1 ELSE 2 END": false,
	} {
		term, err := (&compiler{Resolver(fields{"x": 1}.resolve).scope()}).compile(parse(t, sql))
		require.NoError(t, err)
		require.Equal(t, want, term.constant, sql)
	}
}

func TestCompileErrors(t *testing.T) {
	f := fields{"x": 1}
	tests := map[string]struct {
		col  int
		msg  string
		hint string
		kind error
	}{
		"1 + uper(x)":            {5, "unknown function uper", "did you mean upper?", ErrFunction},
		"qqqqqqqqqq(x)":          {1, "unknown function qqqqqqqqqq", "", ErrFunction},
		"abs(x, 2)":              {1, "wrong number of arguments of abs: 2 instead of 1", "", ErrFunction},
		"round()":                {1, "wrong number of arguments of round: 0 instead of 1 to 2", "", ErrFunction},
		"coalesce()":             {1, "wrong number of arguments of coalesce: 0 instead of at least 1", "", ErrFunction},
		"x = 1 AND sum(x) > 2":   {11, "function sum works on more than one row and cannot stand here", "", ErrFunction},
		"lag(x)":                 {1, "function lag works on more than one row and cannot stand here", "", ErrFunction},
		"unnest(x)":              {1, "function unnest works on more than one row and cannot stand here", "", ErrFunction},
		"TumblingWindow('1s')":   {1, "function TumblingWindow works on more than one row and cannot stand here", "", ErrFunction},
		"hasPrefix('a','b','c')": {1, "function hasPrefix cannot be called so", "", ErrFunction},
		"abs(DISTINCT x)":        {1, "function abs takes no *, DISTINCT or OVER", "", ErrFunction},
		"coalesce(x, *)":         {13, "no value can be computed here", "", syntax.ErrSyntax},
	}
	for sql, tt := range tests {
		t.Run(sql, func(t *testing.T) {
			_, err := Compile(parse(t, sql), f.resolve)
			var e *syntax.Error
			require.ErrorAs(t, err, &e)
			require.ErrorIs(t, err, tt.kind)
			require.Equal(t, tt.col, e.Pos.Col)
			require.Contains(t, e.Msg, tt.msg)
			require.Equal(t, tt.hint, e.Hint)
			_, err = CompilePredicate(parse(t, sql), f.resolve)
			require.Error(t, err)
		})
	}
	failure := errors.New("no such column")
	_, err := Compile(parse(t, "1 + y"), func(*syntax.Column) (int, error) { return 0, failure })
	require.ErrorIs(t, err, failure)
	_, err = Compile(nil, f.resolve)
	require.Error(t, err)
	_, err = Compile(&syntax.Number{Text: "0x10"}, f.resolve)
	require.ErrorIs(t, err, syntax.ErrSyntax)
	_, err = Compile(&syntax.Binary{Op: "^", X: &syntax.Null{}, Y: &syntax.Null{}}, f.resolve)
	require.ErrorIs(t, err, syntax.ErrSyntax)
}

func TestClockOfTheContext(t *testing.T) {
	at := time.Date(2024, 5, 1, 12, 30, 45, 0, time.UTC)
	ctx := NewContext(func() time.Time { return at })
	for sql, want := range map[string]any{
		"now()":            at,
		"NOW() > x":        true,
		"current_date()":   "2024-05-01",
		"current_time()":   "12:30:45",
		"unix_timestamp()": at.Unix(),
		"year(now())":      2024,
	} {
		require.Equal(t, want, evaluate(t, ctx, sql, fields{"x": at.Add(-time.Second)}), sql)
	}
	require.WithinDuration(t, time.Now(), evaluate(t, &Context{}, "now()", nil).(time.Time), time.Minute)
}

func TestEvaluationAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	f := fields{
		"n": 80.5, "i": 7, "j": jsonNumber("80.50"), "name": "sensor-7", "none": nil,
	}
	r := f.row()
	for _, sql := range []string{
		"n > 75 AND i = 7 OR none = 3",
		"j > 75.5 AND j <= 100",
		"j = 80.5",
		"i + 1 > 3 AND n * 2 - 1 < 1000 AND i / 2 = 3.5 AND i % 2 = 1",
		"name LIKE 'sensor%' AND name LIKE 's%r_7' AND name != 'x'",
		"i IN (1, 2, 7)",
		"name IN ('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'sensor-7')",
		"i BETWEEN 1 AND 10 AND none IS NULL AND NOT i > 9",
		"CASE WHEN i > 3 THEN 'a' ELSE 'b' END = 'a'",
		"coalesce(none, i) = 7",
		"name > 5",
	} {
		pred, err := CompilePredicate(parse(t, sql), f.resolve)
		require.NoError(t, err)
		ctx := NewContext(nil)
		var got value.Tri
		got = pred(ctx, r)
		allocs := testing.AllocsPerRun(100, func() { got = pred(ctx, r) })
		require.Zero(t, allocs, sql)
		if sql != "name > 5" {
			require.Equal(t, value.True, got, sql)
		}
	}
}
