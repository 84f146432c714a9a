package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

func TestNamesRefused(t *testing.T) {
	checkAll(t, []refusal{
		{"stream twice", "SELECT a.x FROM s AS a JOIN ¦s AS b WITHIN 1 S ON a.k = b.k", ErrDuplicateName, `duplicate input stream name "s"`, "another name"},
		{"third stream is the first", "SELECT a.x FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.k\n  JOIN ¦s AS c WITHIN 1 S ON a.k = c.k", ErrDuplicateName, `duplicate input stream name "s"`, "joined once"},
		{"alias twice", "SELECT a.x FROM s AS a JOIN ¦t AS a WITHIN 1 S ON a.k = a.j", ErrDuplicateName, `duplicate alias "a"`, "own alias"},
		{"alias is another's stream name", "SELECT a.x FROM s AS t JOIN ¦t WITHIN 1 S ON t.k = t.j", ErrDuplicateName, `duplicate alias "t"`, "own alias"},
		{"unknown alias in SELECT", "SELECT ¦z.x FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.k", ErrUnknownName, `unknown alias "z"`, "known aliases: a, b; a nested field of the FROM stream is written a.z.x"},
		{"stream behind an alias", "SELECT ¦s.x FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.k", ErrUnknownName, `unknown alias "s"`, "the stream s goes by its alias here: write a"},
		{"aliases have a case", "SELECT ¦A.x FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.k", ErrUnknownName, `unknown alias "A"`, "a, b"},
		{"unknown alias in a star", "SELECT ¦z.* FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.k", ErrUnknownName, `unknown alias "z"`, "a, b"},
		{"unknown alias in WHERE", "SELECT a.x FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.k WHERE a.x = 1 OR ¦c.x = 1", ErrUnknownName, `unknown alias "c"`, "a, b"},
		{"unknown alias in ORDER BY", "SELECT a.x FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.k ORDER BY ¦c.x", ErrUnknownName, `unknown alias "c"`, "a, b"},
		{"unknown alias in ON", "SELECT a.x FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = ¦z.k", ErrUnknownName, `unknown alias "z"`, "a, b"},
		{"joined later", "SELECT a.x FROM s AS a JOIN t AS b WITHIN 1 S ON ¦c.k = b.k JOIN u AS c WITHIN 1 S ON a.k = c.k", ErrUnknownName, `"c" is joined later`, "before it"},
		{"unknown function", "SELECT ¦uper(a.x) AS u FROM s AS a JOIN t AS b WITHIN 1 S ON a.k = b.k", eval.ErrFunction, "uper", "upper"},
	})
}

func TestMostStreams(t *testing.T) {
	query := func(streams int) string {
		sql := "SELECT s0.x FROM s0"
		for i := 1; i < streams; i++ {
			sql += fmt.Sprintf("\nJOIN s%d WITHIN 1 S ON s0.k = s%d.k", i, i)
		}
		return sql
	}
	stmt, err := syntax.Parse(query(64))
	require.NoError(t, err)
	_, err = Build(stmt, query(64))
	require.NoError(t, err)
	checkAll(t, []refusal{{"one too many", strings.Replace(query(65), "JOIN s64", "JOIN ¦s64", 1), ErrUnsupported, "at most 64 streams, this one has 65", "two queries"}})
}

func TestOn(t *testing.T) {
	checkAll(t, []refusal{
		{"inequality", "SELECT a.x FROM a JOIN b WITHIN 1 S ON a.k ¦> b.k", ErrUnsupported, "only equality conditions", "WHERE"},
		{"OR", "SELECT a.x FROM a JOIN b WITHIN 1 S ON a.k = b.k ¦OR a.j = b.j", ErrUnsupported, "only equality conditions, found a.k = b.k OR a.j = b.j", "AND-ed"},
		{"a condition of one side", "SELECT a.x FROM a JOIN b WITHIN 1 S ON a.k = b.k AND a.x ¦IS NULL", ErrUnsupported, "found a.x IS NULL", "WHERE"},
		{"literal", "SELECT a.x FROM a JOIN b WITHIN 1 S ON a.k = b.k AND b.kind = ¦'x'", ErrUnsupported, "must compare two fields, found 'x'", "WHERE"},
		{"expression", "SELECT a.x FROM a JOIN b WITHIN 1 S ON ¦upper(a.k) = b.k", ErrUnsupported, "found upper(a.k)", "before the join"},
		{"one source only", "SELECT a.x FROM a JOIN b WITHIN 1 S ON a.k ¦= a.j", ErrUnsupported, "one earlier source and the newly joined one", "alias b"},
		{"the new one only", "SELECT a.x FROM a JOIN b WITHIN 1 S ON b.k ¦= b.j", ErrUnsupported, "one earlier source", "alias b"},
		{"not the new one", "SELECT a.x FROM a JOIN b WITHIN 1 S ON a.k = b.k JOIN c WITHIN 1 S ON a.k ¦= b.k", ErrUnsupported, "newly joined one, found a.k = b.k", "alias c"},
	})
}

// TestResolve says what a name means: an alias first, else a field of the FROM
// stream.
func TestResolve(t *testing.T) {
	p := build(t, "SELECT x, a.y, b.y AS by, b AS whole, b.`p.q`[2].r AS deep, n[0] AS first, a.`a` AS own FROM s AS a JOIN t AS b WITHIN 1 S ON k = b.k")
	final := p.Stages[0].Layout
	require.Equal(t, []string{"a.x", "a.y", "b.y", "b.*", "b.`p.q`[2].r", "a.n[0]", "a.a"}, final.Text)
	require.Equal(t, []string{"x", "y", "by", "whole", "deep", "first", "own"}, p.Output.Names)
	require.True(t, p.Output.Fields[3].Whole)
	require.Equal(t, "a.k", p.Stages[0].LeftLayout.Text[0])
}

func TestStreamsAreTheirOwnAliases(t *testing.T) {
	p := build(t, "SELECT s.x FROM s JOIN t AS b WITHIN 1 S ON s.k = b.k")
	require.Equal(t, []string{"s", "t"}, p.Streams())
	require.Equal(t, "s", p.Inputs[0].Alias)
	require.Equal(t, "b", p.Inputs[1].Alias)
}
