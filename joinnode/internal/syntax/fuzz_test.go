package syntax

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzParse: no text makes the parser panic; every error is an *Error that
// points into the text; what parses prints to a fixpoint with the same tree.
func FuzzParse(f *testing.F) {
	for _, sql := range slices.Concat(specQueries, streamsqlQueries, hostile) {
		if len(sql) < 1000 { // mutating long texts takes the fuzzer's time and finds nothing new
			f.Add(sql)
		}
	}
	for _, e := range []string{"a BETWEEN 1 AND -2 OR NOT b IN ('x', \"y\")", "CASE a WHEN 1 THEN b[-1]['k'].`c` END", "lag(a) OVER (WHEN b)", "- - -+a % .5e1"} {
		f.Add(e)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		if s, err := Parse(sql); err != nil {
			requirePlaced(t, sql, err)
		} else if printed := Print(s); len(printed) <= maxLength {
			again, err := Parse(printed)
			require.NoError(t, err, printed)
			require.Equal(t, withoutPlaces(s), withoutPlaces(again))
			require.Equal(t, printed, Print(again))
		}
		if e, err := ParseExpr(sql); err != nil {
			requirePlaced(t, sql, err)
		} else if printed := PrintExpr(e); len(printed) <= maxLength {
			again, err := ParseExpr(printed)
			require.NoError(t, err, printed)
			require.Equal(t, withoutPlaces(e), withoutPlaces(again))
		}
	})
}

// FuzzParseScript is FuzzParse for scripts. A statement that parses lies in the
// text, behind the one before it.
func FuzzParseScript(f *testing.F) {
	for _, sql := range slices.Concat(tablesPage, specQueries, scriptSeeds) {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		s, err := ParseScript(sql)
		if err != nil {
			requirePlaced(t, sql, err)
			return
		}
		require.Equal(t, sql, s.SQL)
		require.NotEmpty(t, s.Statements)
		before := -1
		for _, st := range s.Statements {
			requireInside(t, sql, st.Position())
			require.Greater(t, st.Position().Offset, before)
			before = st.Position().Offset
			requirePlacesInside(t, sql, reflect.ValueOf(st))
		}
		printed := PrintScript(s)
		if len(printed) > maxLength {
			return
		}
		again, err := ParseScript(printed)
		require.NoError(t, err, printed)
		require.Equal(t, withoutPlaces(s.Statements), withoutPlaces(again.Statements))
		require.Equal(t, printed, PrintScript(again))
	})
}

// requireInside checks that a place is in the text, with the line and column
// that its offset has.
func requireInside(t *testing.T, sql string, at Pos) {
	t.Helper()
	require.GreaterOrEqual(t, at.Offset, 0)
	require.LessOrEqual(t, at.Offset, len(sql))
	before := sql[:at.Offset]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	require.Equal(t, strings.Count(before, "\n")+1, at.Line)
	require.Equal(t, utf8.RuneCountInString(line)+1, at.Col)
}

// requirePlacesInside checks every place in a tree. Expressions, sources and
// statements have one; what is absent has none.
func requirePlacesInside(t *testing.T, sql string, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return
		}
		if node, ok := v.Interface().(Expr); ok {
			requireInside(t, sql, node.Position())
		}
		requirePlacesInside(t, sql, v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			requirePlacesInside(t, sql, v.Index(i))
		}
	case reflect.Struct:
		if at, ok := v.Interface().(Pos); ok && at != (Pos{}) {
			requireInside(t, sql, at)
			return
		}
		for i := range v.NumField() {
			requirePlacesInside(t, sql, v.Field(i))
		}
	}
}

// requirePlaced checks an error of Parse or ParseExpr against the text.
func requirePlaced(t *testing.T, sql string, err error) {
	t.Helper()
	var e *Error
	require.ErrorAs(t, err, &e)
	require.ErrorIs(t, err, ErrSyntax)
	require.NotEmpty(t, e.Msg)
	require.Equal(t, sql, e.SQL)
	requireInside(t, sql, e.Pos)
	require.NotContains(t, e.Msg, "\n")
	require.NotContains(t, e.Hint, "\n")
	require.True(t, utf8.ValidString(e.Error()) || !utf8.ValidString(sql))
}

// FuzzParseDuration: a duration survives being spelled out.
func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"30s", "1m30s", "1.5h", "-2 days", "100 µs", "9223372036854775807ns", "1e99s", "1e-99 d", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDuration(s)
		if err != nil {
			require.True(t, errors.Is(err, errDurationForm) || errors.Is(err, errUnit) || errors.Is(err, errDurationSize), err)
			return
		}
		again, err := ParseDuration(durationText(d))
		require.NoError(t, err)
		require.Equal(t, d, again)
	})
}
