package plan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExplain is the one whole text here; testdata/explain.txt has more of them
// as users see them.
func TestExplain(t *testing.T) {
	p := build(t, `SELECT a.x, b.* FROM sa AS a LEFT JOIN b WITHIN 1500 MS ON a.k = b.k JOIN sc AS c WITHIN 2 S ON b.j = c.j
		WHERE a.f = 1 AND b.g IS NULL AND c.h = 2 AND a.x < c.y ORDER BY a.x WITH (TIMESTAMP='ts', TIMEUNIT='ms', MAXFUTURESKEW='0')`)
	require.Equal(t, strings.TrimPrefix(`
Project a.x AS x, b.*
└ Filter a.x < c.y
  └ IntervalJoin stage 2 INNER on b.j = c.j within 2s
      left  keeps key (b.j), a.x, b.* for 2s
      right keeps key (c.j), c.y for 3.5s
      state ≤ left rate × 2s + right rate × 3.5s rows; gates a side: 7 keys, 9 rows
    └ Filter b.g IS NULL
      └ IntervalJoin stage 1 LEFT on a.k = b.k within 1.5s
          left  keeps key (a.k), a.x for 1.5s
          right keeps key (b.k), b.j, b.*, b.g for 1.5s
          state ≤ left rate × 1.5s + right rate × 1.5s rows; gates a side: 7 keys, 9 rows
        └ Filter a.f = 1 (moved to the input)
          └ Stream sa AS a reads a.k, a.x, a.f, a.ts
        └ Stream b reads b.k, b.j, b.*, b.g, b.ts
    └ Filter c.h = 2 (moved to the input)
      └ Stream sc AS c reads c.j, c.y, c.h, c.ts
time: event time from ts (unit ms), never idle, no bound on future timestamps
warning: ORDER BY has no effect on a WITHIN join: each result has one row
`, "\n"), p.Explain(Gates{Keys: 7, Rows: 9}))
}

func TestExplainBytes(t *testing.T) {
	text := build(t, joined).Explain(Gates{Keys: 1, Bytes: 64 << 20})
	require.Contains(t, text, "gates a side: 1 keys, rows unbounded, 67108864 bytes\n")
}

func TestExplainTime(t *testing.T) {
	for with, want := range map[string]string{
		"": "time: arrival (processing time)",
		"WITH (TIMESTAMP='ts', IDLETIMEOUT='30s')":                  "time: event time from ts (unit guessed by magnitude), idle after 30s, at most 1 day ahead of the clock",
		"WITH (TIMESTAMP='m.ts', TIMEUNIT='s', MAXFUTURESKEW='5s')": "time: event time from m.ts (unit s), never idle, at most 5s ahead of the clock",
	} {
		text := build(t, joined+with).Explain(Gates{Keys: 1})
		require.Contains(t, text, want+"\n")
		require.Contains(t, text, "gates a side: 1 keys, rows unbounded")
	}
}

// TestExplainDays: whole days are days, not hours.
func TestExplainDays(t *testing.T) {
	text := build(t, "SELECT a.x FROM a JOIN b WITHIN 400 DAYS ON a.k = b.k WITH (TIMESTAMP='ts', IDLETIMEOUT='48h', MAXFUTURESKEW='36h')").Explain(Gates{Keys: 1})
	for _, want := range []string{"within 400 days\n", "keeps key (a.k), a.x for 400 days\n", "left rate × 400 days + right rate × 400 days rows",
		"idle after 2 days, at most 36h0m0s ahead"} {
		require.Contains(t, text, want)
	}
}
