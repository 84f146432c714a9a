package plan

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// build plans a statement that must be good.
func build(t *testing.T, sql string) *Plan {
	t.Helper()
	stmt, err := syntax.Parse(sql)
	require.NoError(t, err, sql)
	p, err := Build(stmt, sql)
	require.NoError(t, err, sql)
	return p
}

// refusal is what a statement with one mistake should be told. The mark ¦ in
// sql stands in front of the place that the error must name.
type refusal struct {
	name string
	sql  string
	kind error
	msg  string // part of the message
	hint string // part of the hint
}

func (r refusal) check(t *testing.T) {
	t.Helper()
	before, after, marked := strings.Cut(r.sql, "¦")
	require.True(t, marked, "the statement has no mark")
	sql := before + after
	stmt, err := syntax.Parse(sql)
	require.NoError(t, err)
	p, err := Build(stmt, sql)
	require.Nil(t, p)
	require.Error(t, err)
	var e *syntax.Error
	require.True(t, errors.As(err, &e), "%T", err)
	require.ErrorIs(t, err, r.kind)
	require.Contains(t, e.Msg, r.msg)
	require.Contains(t, e.Hint, r.hint)
	require.NotContains(t, err.Error(), "%!", "a format went wrong")

	line := 1 + strings.Count(before, "\n")
	col := 1 + len([]rune(before[strings.LastIndex(before, "\n")+1:]))
	require.Equal(t, syntax.Pos{Offset: len(before), Line: line, Col: col}, e.Pos, err.Error())
	lines := strings.Split(err.Error(), "\n")
	require.GreaterOrEqual(t, len(lines), 3, "message, line and caret")
	require.Equal(t, "  "+strings.Split(sql, "\n")[line-1], lines[1])
	require.Equal(t, "  "+strings.Repeat(" ", col-1)+"^", lines[2])
}

func checkAll(t *testing.T, all []refusal) {
	t.Helper()
	for _, r := range all {
		t.Run(r.name, r.check)
	}
}

// emptyRow has n columns that are NULL.
func emptyRow(n int) row.Row {
	var r row.Row
	for range n {
		r = row.Append(r, value.Value{})
	}
	return r
}
