package model

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const casesFile = "../../../testdata/join_event_time.jsonl"

// TestCases holds the model against results that another model computed.
func TestCases(t *testing.T) {
	cases, err := ReadCases(casesFile)
	require.NoError(t, err)
	require.Len(t, cases, 34)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			m := New(parseCase(t, c.SQL))
			ids := func(results []Result) [][]string {
				rows := [][]string{}
				for _, r := range results {
					var row []string
					for _, col := range c.Cols {
						id, _ := r.Columns[col].(string)
						row = append(row, id)
					}
					rows = append(rows, row)
				}
				return rows
			}
			now := time.Now().UnixNano()
			for i, a := range c.Arrivals {
				require.Equal(t, c.Steps[i], ids(m.Arrive(Arrival{a.Stream, a.Row, now})), "arrival %d: %s %s", i, a.Stream, a.JSON)
			}
			require.Equal(t, c.Stop, ids(m.Stop(now)), "stop")
			counters := m.Counters()
			var late int64
			for name, n := range counters {
				if strings.HasSuffix(name, "_late_dropped") {
					late += n
				}
			}
			require.Equal(t, c.Counts.Late, late, "late")
			require.Equal(t, c.Counts.Matches, counters["join_stage1_matches_emitted"], "matches")
			require.Equal(t, c.Counts.Nulls, counters["join_stage1_left_timeout_emitted"], "nulls")
		})
	}
}

// parseCase reads the one shape of SQL that the cases have, and checks that
// Query.Text writes it back.
func parseCase(t *testing.T, sql string) Query {
	t.Helper()
	q := Query{Timestamp: "ts"}
	for _, c := range regexp.MustCompile(`(\w)\.(\w+) AS (\w+)`).FindAllStringSubmatch(sql[:strings.Index(sql, " FROM")], -1) {
		q.Columns = append(q.Columns, Column{c[1], c[2], c[3]})
	}
	from := regexp.MustCompile(`FROM (\w+) AS (\w+)`).FindStringSubmatch(sql)
	q.Sources = append(q.Sources, Source{from[1], from[2]})
	for _, j := range regexp.MustCompile(`(LEFT )?JOIN (\w+) AS (\w+) WITHIN (\d+) MS ON (\w+)\.(\w+) = \w+\.(\w+)`).FindAllStringSubmatch(sql, -1) {
		within, err := time.ParseDuration(j[4] + "ms")
		require.NoError(t, err)
		q.Sources = append(q.Sources, Source{j[2], j[3]})
		q.Joins = append(q.Joins, Join{Left: j[1] != "", Within: within, On: []Equality{{Alias: j[5], Field: j[6], JoinedField: j[7]}}})
	}
	written := regexp.MustCompile(`WITHIN (\d+) SECONDS`).ReplaceAllString(q.Text(), "WITHIN ${1}000 MS")
	require.Equal(t, sql, written)
	return q
}
