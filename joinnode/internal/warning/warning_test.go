package warning_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rulego/streamsql/logger"
	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/joinnode/internal/value"
	"github.com/streamjoin/streamjoin/joinnode/internal/warning"
)

type lines []string

func (l *lines) Debug(string, ...any) {}
func (l *lines) Info(string, ...any)  {}
func (l *lines) Warn(format string, args ...any) {
	*l = append(*l, fmt.Sprintf(format, args...))
}
func (l *lines) Error(string, ...any)  {}
func (l *lines) SetLevel(logger.Level) {}

func TestThrottle(t *testing.T) {
	out := &lines{}
	now := time.Unix(1, 0)
	l := warning.New(out, func() time.Time { return now })
	late := &warning.Loss{Counter: "late_dropped", What: "rows were late", Todo: "hurry"}
	bad := &warning.Loss{Counter: "bad_timestamp", What: "rows had no time", Todo: "buy a clock"}

	asked := 0
	value := func() string { asked++; return `ts = "x"` }
	l.Lost("a", late, 1, nil)
	l.Lost("a", late, 2, nil)
	l.Lost("b", late, 1, nil) // another place
	l.Lost("", bad, 1, value)
	l.Lost("", bad, 1, value)
	require.Equal(t, 1, asked, "only for a line")
	now = now.Add(warning.Every - 1)
	l.Lost("a", late, 1, nil)
	now = now.Add(1)
	l.Lost("a", late, 1, nil)
	require.Equal(t, []string{
		"a: rows were late (1 since the last warning, counter late_dropped); hurry",
		"b: rows were late (1 since the last warning, counter late_dropped); hurry",
		`rows had no time, the last one with ts = "x" (1 since the last warning, counter bad_timestamp); buy a clock`,
		"a: rows were late (4 since the last warning, counter late_dropped); hurry",
	}, []string(*out))
}

func TestField(t *testing.T) {
	require.Equal(t, "no ts", warning.Field("ts", value.Value{}))
	require.Equal(t, `ts = "noon"`, warning.Field("ts", value.OfText("noon")))
	require.Equal(t, `ts = -1`, warning.Field("ts", value.FromGo(-1)))
}

func TestClip(t *testing.T) {
	require.Equal(t, "short", warning.Clip("short"))
	require.Equal(t, strings.Repeat("é", 60), warning.Clip(strings.Repeat("é", 60)))
	require.Equal(t, strings.Repeat("é", 60)+"…", warning.Clip(strings.Repeat("é", 61)))
}
