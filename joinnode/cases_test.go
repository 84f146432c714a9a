package joinnode_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode"
	"github.com/streamjoin/streamjoin/joinnode/internal/model"
)

const (
	casesFile  = "../testdata/join_event_time.jsonl"
	sharedCase = "../../shared/cases/join_event_time.jsonl"
)

// TestCasesAreTheSharedOnes compares our copy with the original where the
// folder of the project stands beside the repository.
func TestCasesAreTheSharedOnes(t *testing.T) {
	original, err := os.ReadFile(sharedCase)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no shared folder beside the repository")
	}
	require.NoError(t, err)
	ours, err := os.ReadFile(casesFile)
	require.NoError(t, err)
	require.Equal(t, string(original), string(ours), "copy %s again", sharedCase)
}

// TestCases runs every case through every way in.
func TestCases(t *testing.T) {
	cases, err := model.ReadCases(casesFile)
	require.NoError(t, err)
	require.NotEmpty(t, cases)
	for _, in := range emitters() {
		for _, c := range cases {
			t.Run(in.name+"/"+c.Name, func(t *testing.T) { runCase(t, c, in) })
		}
	}
}

func runCase(t *testing.T, c model.Case, in emitter) {
	e := start(t, c.SQL, false)
	defer e.Stop()
	for i, a := range c.Arrivals {
		require.NoError(t, in.emit(e.Streamsql, a.Stream, a.Row, a.JSON))
		require.Equal(t, caseText(t, c, c.Steps[i]), rowsOnly(e.drain(t)), "arrival %d: %s %s", i, a.Stream, a.JSON)
	}
	e.Stop()
	require.Equal(t, caseText(t, c, c.Stop), rowsOnly(e.take()), "stop")

	stats := e.GetStats()
	var late int64
	for name, n := range stats {
		if strings.HasPrefix(name, "join_stage") && strings.HasSuffix(name, "_late_dropped") {
			late += n
		}
	}
	require.Equal(t, c.Counts.Late, late, "late")
	require.Equal(t, c.Counts.Matches, stats["join_stage1_matches_emitted"], "matches")
	require.Equal(t, c.Counts.Nulls, stats["join_stage1_left_timeout_emitted"], "nulls")
}

// caseText writes the expected rows of a case as the engine should.
func caseText(t *testing.T, c model.Case, rows [][]string) []string {
	t.Helper()
	texts := []string{}
	for _, ids := range rows {
		row := map[string]any{}
		for i, col := range c.Cols {
			row[col] = nil
			if ids[i] != "" {
				row[col] = ids[i]
			}
		}
		text, err := json.Marshal(row)
		require.NoError(t, err)
		texts = append(texts, string(text))
	}
	return texts
}

// rowsOnly drops what is known of the results beside the rows.
func rowsOnly(results []string) []string {
	rows := []string{}
	for _, r := range results {
		rows = append(rows, r[:strings.LastIndex(r, "}")+1])
	}
	return rows
}

// TestCasesInOneGo sends all rows before it looks: results must not depend on
// how the loop batches them.
func TestCasesInOneGo(t *testing.T) {
	cases, err := model.ReadCases(casesFile)
	require.NoError(t, err)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			e := start(t, c.SQL, false)
			rows := make([]joinnode.JSONRow, 0, len(c.Arrivals))
			want := []string{}
			for i, a := range c.Arrivals {
				rows = append(rows, joinnode.JSONRow{Stream: a.Stream, Data: a.JSON})
				want = append(want, caseText(t, c, c.Steps[i])...)
			}
			require.NoError(t, e.EmitRows(rows))
			e.Stop()
			require.Equal(t, append(want, caseText(t, c, c.Stop)...), rowsOnly(e.take()))
		})
	}
}
