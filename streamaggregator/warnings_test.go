package streamaggregator

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The log of a host with many chains must tell whose line it is.
func TestLogLinesNameChainAndNode(t *testing.T) {
	h := fakeHost(t)
	h.start("e", chainDSL("100%", `"sql":"s t"`))
	require.True(t, h.log.contains("x/streamAggregator 100%/a: streamKey is empty"), "%s", h.log.lines)
	h.start("-", chainDSL("", `"sql":"s t"`))
	require.True(t, h.log.contains("x/streamAggregator a: streamKey is empty"), "%s", h.log.lines)
}

func TestInputsThatCannotBeFed(t *testing.T) {
	h := newHost(t, New())
	two := "SELECT a.x FROM s AS a JOIN t AS b WITHIN 5 SECONDS ON a.k = b.k"
	three := two + " JOIN u AS c WITHIN 5 SECONDS ON b.k = c.k"
	for _, c := range []struct {
		sql, key string
		says     []string
	}{
		{two, "", []string{`goes to "s"`, `the input "t"`, `"streamKey": "streamName"`, "${msg.stream}"}},
		{three, "", []string{`goes to "s"`, `the inputs "t", "u"`}},
		{two, "streamName", nil},
		{"SELECT x FROM s", "", nil},
	} {
		h.log.lines = nil
		e := h.start("-", chainDSL("c", config(t, map[string]any{"sql": c.sql, "streamKey": c.key})))
		warnings := instance(t, e, "a").Warnings()
		if c.says == nil {
			require.Empty(t, warnings)
			require.Empty(t, h.log.lines)
			continue
		}
		require.Len(t, warnings, 1)
		for _, says := range c.says {
			require.Contains(t, warnings[0], says)
		}
		require.Contains(t, strings.Join(h.log.lines, "\n"), warnings[0])
	}
}
