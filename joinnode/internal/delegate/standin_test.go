package delegate_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/delegate"
)

// Rows emitted to Stream() and sinks added to it are the query's, whatever the
// engine does around streamsql.
func TestStreamIsTheQuerys(t *testing.T) {
	for sql, want := range map[string][]row{
		"SELECT a FROM s WHERE a > 1":                                                                                   {{"a": 2.0}, {"a": 3.0}},
		"SELECT CASE WHEN is_null(n) THEN 'none' END AS c, 'x' AS k FROM s":                                             {{"c": "none", "k": "x"}, {"c": "none", "k": "x"}, {"c": "none", "k": "x"}},
		"SELECT a, lower(timestamp) AS y FROM s WHERE coalesce(n, 'x') = 'x' AND NOT (a > 2)":                           {{"a": 1.0, "y": "2024-05-06t07:08:09z"}, {"a": 2.0, "y": "2024-05-06t07:08:09z"}},
		"SELECT sum(CASE WHEN a IN (1, 3) THEN a ELSE 0 END) AS x FROM s GROUP BY CountingWindow(3)":                    {{"x": 4.0}},
		"SELECT timestamp, count(*) AS n FROM s GROUP BY timestamp, TumblingWindow('1s') WITH (TIMESTAMP='timestamp')":  {{"timestamp": "2024-05-06T07:08:09Z", "n": 3.0}},
		"SELECT * FROM s MATCH_RECOGNIZE (ORDER BY a MEASURES SUM(a * 2) AS x PATTERN (A A A) DEFINE A AS NOT (a > 3))": {{"x": 12.0}},
	} {
		for _, through := range []string{"stream", "engine"} {
			t.Run(sql+" "+through, func(t *testing.T) {
				e := open(t, sql, delegate.Config{})
				var mu sync.Mutex
				var mine, theirs []row
				e.Stream().AddSink(func(rows []row) { mu.Lock(); defer mu.Unlock(); theirs = append(theirs, rows...) })
				e.AddSink(func(rows []row, _ int64) { mine = append(mine, rows...) })
				for a := range 3 {
					r := row{"a": float64(a + 1), "timestamp": "2024-05-06T07:08:09Z"}
					if through == "stream" {
						e.Stream().Emit(r)
					} else {
						require.NoError(t, e.Emit(r))
					}
				}
				e.Stop()
				for _, r := range append(mine, theirs...) {
					delete(r, "window_id")
				}
				require.ElementsMatch(t, want, theirs)
				if through == "engine" {
					require.Equal(t, want, mine)
				}
			})
		}
	}
}

func TestStandInIsLoggedOnce(t *testing.T) {
	log := &record{}
	e := open(t, "SELECT 1 AS one FROM s", delegate.Config{Logger: log})
	require.Same(t, e.Stream(), e.Stream())
	require.Len(t, log.take(), 1)
	e.Stop()
	require.NotNil(t, e.Stream(), "after Stop as well")
	e = open(t, "SELECT a FROM s", delegate.Config{Logger: log})
	require.NotNil(t, e.Stream())
	e.Stop()
	require.Empty(t, log.take(), "streamsql runs this one all by itself")
}
