package streamaggregator

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rulego/rulego/api/types"
	"github.com/stretchr/testify/require"
)

// With overflow=drop a full queue is no reason to refuse a message: the row goes to
// stream_late with the reason; beyond what the queue holds of them they are counted.
func TestRowsDroppedAtAFullQueueLeaveAsLate(t *testing.T) {
	h := newHost(t, New())
	release := make(chan struct{})
	h.out.hook = func(ctx types.RuleContext, _ types.RuleMsg) {
		if ctx.GetSelfId() == "out" {
			<-release // results back up, and so the queue fills
		}
	}
	chain := strings.Replace(chainDSL("c", config(t, map[string]any{
		"sql":       "SELECT a.n FROM l AS a LEFT JOIN r AS b WITHIN 1 HOUR ON a.n = b.n WHERE b.n IS NULL OR b.n >= 0",
		"streamKey": "${msg.s}", "bufferSize": 4, "overflow": "drop", "lateEvents": true})),
		`"connections":[`, `"connections":[{"fromId":"a","toId":"late","type":"stream_late"},`, 1)
	chain = strings.Replace(chain, `{"id":"out"`, `{"id":"late","type":"test/collect"},{"id":"out"`, 1)
	e := h.start("e", chain)
	const n = 3000
	for i := range n {
		end := send(t, e, nil, fmt.Sprintf(`[{"s":"l","n":%d},{"s":"r","n":%d}]`, i, i))
		require.Equal(t, types.Success, end.relation, "%v", end.err)
	}
	node := instance(t, e, "a")
	close(release)
	require.NoError(t, node.Drain(t.Context()))
	dropped := node.Stats()["input_dropped_count"]
	require.Positive(t, dropped, "the queue was never full")
	late := 0
	for _, ev := range h.out.all() {
		if ev.node == "late" {
			require.Equal(t, "input_dropped", ev.meta["reason"])
			require.Contains(t, []string{"l", "r"}, ev.meta["stream"])
			require.Contains(t, ev.data, `"n":`)
			late++
		}
	}
	require.GreaterOrEqual(t, late, 4, "as many as the queue has places")
	require.LessOrEqual(t, int64(late), dropped)
	require.EqualValues(t, 2*n, node.Stats()["input_count"]+dropped, "no row is unaccounted for")
	require.True(t, h.log.contains("found no room"))
}
