package plan

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

const (
	two   = "SELECT a.x FROM sa AS a JOIN sb AS b WITHIN 10 SECONDS ON a.k = b.k AND a.j = b.j"
	three = `SELECT a.x, b.y, c.z FROM sa AS a JOIN sb AS b WITHIN 10 SECONDS ON a.k = b.k
		LEFT JOIN sc AS c WITHIN 5 SECONDS ON b.j = c.j`
)

// TestDifferences: what stands in the way of taking state over, in words.
func TestDifferences(t *testing.T) {
	event := two + " WITH (TIMESTAMP='ts', TIMEUNIT='ms', IDLETIMEOUT='1s', MAXFUTURESKEW='1h')"
	for _, c := range []struct{ name, old, new, want string }{
		{"TIMESTAMP", event, two + " WITH (TIMESTAMP='t2', TIMEUNIT='ms', IDLETIMEOUT='1s', MAXFUTURESKEW='1h')", `TIMESTAMP is "t2", was "ts"`},
		{"to processing time", event, two, `TIMESTAMP is "", was "ts"`},
		{"to event time", two, event, `TIMESTAMP is "ts", was ""`},
		{"TIMEUNIT", event, two + " WITH (TIMESTAMP='ts', IDLETIMEOUT='1s', MAXFUTURESKEW='1h')", `TIMEUNIT is "", was "ms"`},
		{"IDLETIMEOUT", event, two + " WITH (TIMESTAMP='ts', TIMEUNIT='ms', IDLETIMEOUT='2s', MAXFUTURESKEW='1h')", "IDLETIMEOUT is 2s, was 1s"},
		{"MAXFUTURESKEW", event, two + " WITH (TIMESTAMP='ts', TIMEUNIT='ms', IDLETIMEOUT='1s')", "MAXFUTURESKEW is 1 day, was 1h0m0s"},
		{"number of streams", two, three, "3 streams, was 2"},
		{"stream", two, "SELECT a.x FROM sa AS a JOIN sz AS b WITHIN 10 SECONDS ON a.k = b.k AND a.j = b.j", "input 2 is sz, was sb"},
		{"order of streams", two, "SELECT a.x FROM sb AS b JOIN sa AS a WITHIN 10 SECONDS ON a.k = b.k AND a.j = b.j", "input 1 is sb, was sa"},
		{"WITHIN", two, "SELECT a.x FROM sa AS a JOIN sb AS b WITHIN 11 SECONDS ON a.k = b.k AND a.j = b.j", "stage 1: WITHIN is 11s, was 10s"},
		{"WITHIN of stage 2", three, "SELECT a.x, b.y, c.z FROM sa AS a JOIN sb AS b WITHIN 10 SECONDS ON a.k = b.k LEFT JOIN sc AS c WITHIN 6 SECONDS ON b.j = c.j", "stage 2: WITHIN is 6s, was 5s"},
		{"kind", two, "SELECT a.x FROM sa AS a LEFT JOIN sb AS b WITHIN 10 SECONDS ON a.k = b.k AND a.j = b.j", "stage 1: LEFT JOIN, was INNER JOIN"},
		{"kind of stage 2", three, "SELECT a.x, b.y, c.z FROM sa AS a JOIN sb AS b WITHIN 10 SECONDS ON a.k = b.k JOIN sc AS c WITHIN 5 SECONDS ON b.j = c.j", "stage 2: INNER JOIN, was LEFT JOIN"},
		{"a key less", two, "SELECT a.x FROM sa AS a JOIN sb AS b WITHIN 10 SECONDS ON a.k = b.k", "stage 1: ON is a.k = b.k, was a.k = b.k AND a.j = b.j"},
		{"another key", two, "SELECT a.x FROM sa AS a JOIN sb AS b WITHIN 10 SECONDS ON a.k = b.k AND a.j = b.l", "ON is"},
		{"keys in another order", two, "SELECT a.x FROM sa AS a JOIN sb AS b WITHIN 10 SECONDS ON a.j = b.j AND a.k = b.k", "ON is"},
		{"key of another input", three, "SELECT a.x, b.y, c.z FROM sa AS a JOIN sb AS b WITHIN 10 SECONDS ON a.k = b.k LEFT JOIN sc AS c WITHIN 5 SECONDS ON a.j = c.j", "stage 2: ON is a.j = c.j, was b.j = c.j"},
		{"a column that was not kept", two, "SELECT a.x, b.new FROM sa AS a JOIN sb AS b WITHIN 10 SECONDS ON a.k = b.k AND a.j = b.j", "stage 1: the new query needs b.new, which the old one did not keep"},
		{"a column of the composite", three, "SELECT a.x, a.new, b.y, c.z FROM sa AS a JOIN sb AS b WITHIN 10 SECONDS ON a.k = b.k LEFT JOIN sc AS c WITHIN 5 SECONDS ON b.j = c.j", "the new query needs a.new"},
		{"WHERE behind the join", two, two + " WHERE a.x < b.new", "the new query needs b.new"},
		{"WHERE on the input", two, two + " WHERE b.new > 1", "stage 1: WHERE now reads b.new, which is not kept with the buffered rows"},
		{"whole rows", two, "SELECT a FROM sa AS a JOIN sb AS b WITHIN 10 SECONDS ON a.k = b.k AND a.j = b.j", "the new query needs a.*"},
	} {
		t.Run(c.name, func(t *testing.T) {
			transfer, differs := Compare(build(t, c.old), build(t, c.new))
			require.Nil(t, transfer)
			require.Contains(t, differs, c.want)
		})
	}
}

// TestSameGraph: edits that leave the state usable as it is.
func TestSameGraph(t *testing.T) {
	for _, c := range []struct{ name, old, new string }{
		{"text", two, "select a.x from sa a inner join sb b on (b.k = a.k) and b.j = a.j within 10000 ms -- edited"},
		{"aliases", two, "SELECT l.x AS other FROM sa AS l JOIN sb AS r WITHIN 10 SECONDS ON l.k = r.k AND l.j = r.j"},
		{"fewer columns", "SELECT a.x FROM sa AS a JOIN sb AS b WITHIN 10 SECONDS ON a.k = b.k AND a.j = b.j", "SELECT 1 AS one FROM sa AS a JOIN sb AS b WITHIN 10 SECONDS ON a.k = b.k AND a.j = b.j"},
		{"a condition less", two + " WHERE a.x > 1", two},
		{"options without effect", two, two + " WITH (IDLETIMEOUT='5s', TIMEUNIT='ms')"},
		{"a volatile condition", two, two + " WHERE now() > 1 AND a.x > 1 OR rand() > 2"},
		{"ORDER BY", two, two + " ORDER BY a.x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			transfer, differs := Compare(build(t, c.old), build(t, c.new))
			require.Empty(t, differs)
			require.NotNil(t, transfer)
			for _, st := range transfer.Stages {
				require.Nil(t, st.Left.Filter)
				require.Nil(t, st.Right.Filter)
			}
		})
	}
}

func TestSameGraphOfACascade(t *testing.T) {
	transfer, differs := Compare(build(t, three), build(t, three+" WITH (MAXFUTURESKEW='0')"))
	require.Empty(t, differs)
	require.Equal(t, &Transfer{Stages: []StageTransfer{
		{Left: PortTransfer{Columns: []int{0, 1}}, Right: PortTransfer{Columns: []int{0, 1, 2}}},
		{Left: PortTransfer{Columns: []int{0, 1, 2}}, Right: PortTransfer{Columns: []int{0, 1}}},
	}}, transfer)
}

// TestColumnMapping: kept columns are found by what they are, wherever the new
// query wants them.
func TestColumnMapping(t *testing.T) {
	old := "SELECT a.p, a.q, a.r, b.s FROM sa AS a JOIN sb AS b WITHIN 10 SECONDS ON a.k = b.k AND a.k = b.l"
	transfer, differs := Compare(build(t, old), build(t, "SELECT b.s, x.r, x.p AS k FROM sa AS x JOIN sb AS b WITHIN 10 SECONDS ON x.k = b.k AND x.k = b.l"))
	require.Empty(t, differs)
	require.Equal(t, []int{0, 1, 4, 2}, transfer.Stages[0].Left.Columns, "k, k again, r, p out of k, k, p, q, r")
	require.Equal(t, []int{0, 1, 2}, transfer.Stages[0].Right.Columns)
}

// TestAddedFilters: rows that the new WHERE would not have let in leave; the
// predicate reads the new kept columns.
func TestAddedFilters(t *testing.T) {
	base := "SELECT a.x, b.y, c.z FROM sa AS a JOIN sb AS b WITHIN 10 SECONDS ON a.k = b.k JOIN sc AS c WITHIN 5 SECONDS ON b.j = c.j"
	transfer, differs := Compare(build(t, base+" WHERE a.x > 1"), build(t, base+" WHERE a.x > 1 AND a.x < 5 AND b.y = 7 AND c.z IS NOT NULL AND a.x < b.y"))
	require.Empty(t, differs)
	one, two := transfer.Stages[0], transfer.Stages[1]
	for _, c := range []struct {
		name   string
		filter eval.Predicate
		row    row.Row
		want   value.Tri
	}{
		{"a.x < 5", one.Left.Filter, ints(0, 4), value.True},
		{"a.x < 5", one.Left.Filter, ints(0, 5), value.False},
		{"a.x < 5", one.Left.Filter, ints(0, 0), value.True}, // a.x > 1 was there before
		{"b.y = 7", one.Right.Filter, ints(0, 0, 7), value.True},
		{"b.y = 7", one.Right.Filter, ints(0, 7, 0), value.False},
		{"c.z IS NOT NULL", two.Right.Filter, ints(0, 1), value.True},
		{"c.z IS NOT NULL", two.Right.Filter, emptyRow(2), value.False},
		{"all of the composite", two.Left.Filter, ints(0, 4, 7), value.True},
		{"a.x < 5 of the composite", two.Left.Filter, ints(0, 6, 7), value.False},
		{"b.y = 7 of the composite", two.Left.Filter, ints(0, 4, 8), value.False},
	} {
		require.NotNil(t, c.filter, c.name)
		require.Equal(t, c.want, c.filter(eval.NewContext(nil), c.row), fmt.Sprint(c.name, " ", c.row))
	}
}

// TestFiltersAreComparedByMeaning: one text over aliases that changed places is
// another condition.
func TestFiltersAreComparedByMeaning(t *testing.T) {
	transfer, differs := Compare(
		build(t, "SELECT a.x, b.x AS y, c.x AS z FROM sa AS a JOIN sb AS b WITHIN 1 S ON a.k = b.k JOIN sc AS c WITHIN 1 S ON a.k = c.k WHERE a.x > 1"),
		build(t, "SELECT b.x, a.x AS y, c.x AS z FROM sa AS b JOIN sb AS a WITHIN 1 S ON a.k = b.k JOIN sc AS c WITHIN 1 S ON b.k = c.k WHERE a.x > 1"))
	require.Empty(t, differs)
	require.Nil(t, transfer.Stages[0].Left.Filter)
	require.NotNil(t, transfer.Stages[0].Right.Filter)
	composite := transfer.Stages[1].Left.Filter
	require.NotNil(t, composite, "the rows of sb in the composite have not passed it")
	require.Equal(t, value.False, composite(eval.NewContext(nil), ints(0, 9, 0)))
	require.Equal(t, value.True, composite(eval.NewContext(nil), ints(0, 0, 9)))
}

func ints(all ...int64) row.Row {
	var r row.Row
	for _, i := range all {
		r = row.Append(r, value.OfInt(i))
	}
	return r
}
