package joinnode_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/rulego/streamsql/logger"
	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode"
)

// logRecord is a logger that remembers warnings and errors.
type logRecord struct {
	mu    sync.Mutex
	lines []string
}

func (r *logRecord) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

func (r *logRecord) Debug(string, ...any)             {}
func (r *logRecord) Info(format string, args ...any)  { r.add("info: "+format, args...) }
func (r *logRecord) Warn(format string, args ...any)  { r.add(format, args...) }
func (r *logRecord) Error(format string, args ...any) { r.add(format, args...) }
func (r *logRecord) SetLevel(logger.Level)            {}

// take returns the lines since the last call.
func (r *logRecord) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	lines := r.lines
	r.lines = nil
	return lines
}

// TestSchemaDropsAreLogged on every way in, once, and are in dropped_count.
func TestSchemaDropsAreLogged(t *testing.T) {
	for _, sql := range []string{withSchema, "SELECT v FROM sa", "SELECT count(*) AS n FROM sa GROUP BY TumblingWindow('1h')"} {
		for _, in := range append(emitters(), emitter{"Emit", func(e *joinnode.Streamsql, _ string, m map[string]any, _ []byte) error {
			e.Emit(m)
			return nil
		}}) {
			log := &logRecord{}
			e := joinnode.New(joinnode.WithLogger(log), joinnode.WithSchema(reading))
			require.NoError(t, e.Execute(sql))
			for range 3 {
				if err := in.emit(e, "sa", map[string]any{"v": 1.0}, []byte(`{"v":1.0}`)); in.name != "Emit" {
					require.ErrorContains(t, err, "schema validation failed")
				}
			}
			lines := log.take()
			require.Len(t, lines, 1, in.name)
			require.True(t, strings.HasPrefix(lines[0], `rows did not fit WithSchema's schema and were refused, the last one with this: `), lines[0])
			require.Contains(t, lines[0], `required field "k" is missing`)
			require.Contains(t, lines[0], "(1 since the last warning, counter schema_dropped); mend the source or the schema")
			e.Stop()
			require.EqualValues(t, 3, e.GetStats()["schema_dropped"], in.name)
			require.EqualValues(t, 3, e.GetStats()["dropped_count"], in.name)
		}
	}
}

// TestDroppedCountOfAWindow has the rows that streamsql's own count lacks.
func TestDroppedCountOfAWindow(t *testing.T) {
	e := joinnode.New(joinnode.WithDiscardLog())
	require.NoError(t, e.Execute("SELECT count(*) AS n FROM s GROUP BY TumblingWindow('1s') WITH (TIMESTAMP='ts', TIMEUNIT='ms')"))
	for _, row := range []string{`{"ts":5000}`, `{"ts":"noon"}`, `{}`, `{"ts":1000}`} {
		require.NoError(t, e.EmitJSON("s", []byte(row)))
	}
	e.Stop()
	detailed := e.GetDetailedStats()
	require.EqualValues(t, 3, detailed["basic_stats"].(map[string]int64)["dropped_count"])
	require.InDelta(t, 75, detailed["drop_rate"], 1e-9)
}
