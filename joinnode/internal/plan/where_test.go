package plan

import (
	"testing"

	"github.com/rulego/streamsql/functions"
	"github.com/stretchr/testify/require"
)

// TestPlaceOfConjuncts: where each AND-ed part of WHERE runs (semantics.md §7).
func TestPlaceOfConjuncts(t *testing.T) {
	require.NoError(t, functions.RegisterCustomFunction("plan_test_custom", functions.TypeCustom, "", "", 1, 1,
		func(*functions.FunctionContext, []any) (any, error) { return true, nil }))
	t.Cleanup(func() { functions.Unregister("plan_test_custom") })

	const from = `SELECT a.x FROM sa AS a
		JOIN sb AS b WITHIN 1 S ON a.k = b.k
		LEFT JOIN sc AS c WITHIN 1 S ON a.k = c.k
		JOIN sd AS d WITHIN 1 S ON a.k = d.k WHERE `
	for where, place := range map[string]string{
		"a.x > 1":                         "input a",
		"x > 1":                           "input a",
		"b.x > 1":                         "input b",
		"NOT (b.x > 1 OR b.y IS NULL)":    "input b",
		"upper(b.x) = 'Y'":                "input b",
		"c.x > 1":                         "stage 2", // LEFT joined: NULL rows must be judged too
		"c.x IS NULL":                     "stage 2",
		"d.x > 1":                         "input d",
		"a.x > b.x":                       "stage 1",
		"a.x > 1 OR b.x > 1":              "stage 1",
		"a.x > c.x":                       "stage 2",
		"b.x > c.x":                       "stage 2",
		"a.x > d.x":                       "stage 3",
		"c.x IS NULL OR d.x > 1":          "stage 3",
		"CASE WHEN a.x > 1 THEN b.x END":  "stage 1",
		"TRUE":                            "stage 3",
		"1 > 2":                           "stage 3",
		"now() > a.x":                     "stage 3", // volatile
		"a.x > 1 OR rand() > 0.5":         "stage 3",
		"plan_test_custom(a.x)":           "stage 3", // nothing is known of it
		"a IS NOT NULL":                   "input a", // a whole row
		"a.list[0] IN (1, 2) AND a.x > 1": "input a, input a",
		"a.x > 1 AND (b.x > 1 AND c.x IS NULL AND a.x > b.x)": "input a, input b, stage 1, stage 2",
	} {
		p := build(t, from+where)
		require.Equal(t, place, places(p), where)
	}
}

// places lists where conjuncts are, inputs first.
func places(p *Plan) string {
	text := ""
	add := func(place string, n int) {
		for range n {
			if text != "" {
				text += ", "
			}
			text += place
		}
	}
	for i := range p.Inputs {
		add("input "+p.Inputs[i].Alias, len(p.Inputs[i].Filters))
	}
	for i := range p.Stages {
		add("stage "+string(rune('1'+i)), len(p.Stages[i].Filters))
	}
	return text
}

// TestFiltersKeepTheirOrder, because AND stops at the first false one and the
// user may have put the cheap one first.
func TestFiltersKeepTheirOrder(t *testing.T) {
	p := build(t, "SELECT a.x FROM a JOIN b WITHIN 1 S ON a.k = b.k WHERE a.z = 1 AND b.x = 2 AND (a.y = 3 AND a.x = 4)")
	require.Equal(t, "a.z = 1 AND a.y = 3 AND a.x = 4", texts(p.Inputs[0].Filters))
	require.NotNil(t, p.Inputs[0].Filter)
	require.Nil(t, p.Stages[0].Filter)
}

// TestWarnsOfNull: x = NULL is unknown for every row, and nil is a field.
func TestWarnsOfNull(t *testing.T) {
	const from = "SELECT a.x FROM sa AS a JOIN sb AS b WITHIN 1 S ON a.k = b.k WHERE "
	for where, says := range map[string]string{
		"a.x = NULL":                          "column 72: a.x = NULL is never true; write IS NULL",
		"b.x = 1 OR NOT a.x != nil":           "column 87: a.x != nil is never true; write IS NOT NULL",
		"nil = a.x":                           "nil = a.x is never true; write IS NULL",
		"CASE WHEN a.x = NULL THEN 1 END = 1": "a.x = NULL is never true",
	} {
		p := build(t, from+where)
		require.Len(t, p.Warnings, 1, where)
		require.Contains(t, p.Warnings[0], says)
	}
	for _, where := range []string{"a.x IS NULL", "a.x = `nil`", "a.x < 1", "a.x = b.nil"} {
		require.Empty(t, build(t, from+where).Warnings, where)
	}
}
