package eval

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

func TestPathsIntoAColumn(t *testing.T) {
	for name, o := range map[string]any{
		"JSON": jsonValue(`{"a": {"b": [1, {"c": 80.50}]}, "s": "x"}`),
		"map":  map[string]any{"a": map[string]any{"b": []any{1, map[string]any{"c": json.Number("80.50")}}}, "s": "x"},
		"raw":  map[string]any{"a": json.RawMessage(`{"b": [1, {"c": 80.50}]}`), "s": "x"},
	} {
		f := fields{"o": o, "plain": 5}
		for sql, want := range map[string]any{
			"o.a.b[1].c":              json.Number("80.50"),
			"o.a.b[1].c + 1":          81.5,
			"o.a.b[-1].c > 80":        true,
			"o.s || plain":            "x5",
			"o.a.nosuch.c":            nil,
			"o.s.deeper":              nil,
			"plain.x":                 nil,
			"o.a.b[7] IS NULL":        true,
			"upper(o.s)":              "X",
			"o.a.b[1].c IN (1, 80.5)": true,
		} {
			var ctx Context
			require.Equal(t, want, compute(t, &ctx, sql, f, "UTC"), "%s of a %s", sql, name)
		}
	}
	failure := errors.New("no such column")
	_, err := CompilePredicateIn(parse(t, "x > 1"), Scope{Locate: func(*syntax.Column) (int, row.Path, error) { return 0, nil, failure }})
	require.ErrorIs(t, err, failure)
}

func TestUnitOf(t *testing.T) {
	scope := fields{}.scope(nil)
	for sql, want := range map[string]value.Unit{
		"ms_t": value.Millisecond, "s_t": value.Second, "t": value.AutoUnit, "s_o.at": value.Second,
		"1700000000000": value.AutoUnit, "'2024-01-01'": value.AutoUnit, "now()": value.AutoUnit, "INTERVAL 1 DAY": value.AutoUnit,
		"endOfWeek(s_t)": value.Millisecond, "ENDOFWEEK(t, 2)": value.Millisecond, "timestampToEpoch(t)": value.Second,
		"timestampToEpochMilli(t)": value.Millisecond, "parseTimestamp(t)": value.Millisecond, "timestampToString(s_t)": value.AutoUnit,
		"s_t + INTERVAL 1 DAY": value.Millisecond, "t - INTERVAL 1 DAY": value.Millisecond, "INTERVAL 1 DAY + now()": value.Millisecond,
		"INTERVAL 1 DAY - s_t": value.AutoUnit, "INTERVAL 1 DAY + INTERVAL 1 DAY": value.AutoUnit, "s_t * INTERVAL 1 DAY": value.AutoUnit,
		"s_t + 5": value.Second, "5 + s_t": value.Second, "s_t - 5": value.Second, "s_t - -5": value.Second, "5 - s_t": value.AutoUnit,
		"s_t - s_t": value.AutoUnit, "s_t + t": value.AutoUnit, "2 * s_t": value.AutoUnit, "t + 5": value.AutoUnit,
		"coalesce(s_t, s_u)": value.Second, "COALESCE(s_t, NULL, 0)": value.Second, "if_null(NULL, ms_t)": value.Millisecond,
		"coalesce(s_t, ms_t)": value.AutoUnit, "coalesce(s_t, t)": value.AutoUnit, "coalesce(t, s_t)": value.AutoUnit, "coalesce(1, NULL)": value.AutoUnit,
		"greatest(s_t, s_u)": value.AutoUnit, "s_t > 1": value.AutoUnit,
	} {
		require.Equal(t, want, UnitOf(parse(t, sql), scope), sql)
	}
	require.Equal(t, value.AutoUnit, UnitOf(parse(t, "s_t"), Scope{}))
	require.Equal(t, value.AutoUnit, UnitOf(nil, scope))
}
