package streamaggregator

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rulego/rulego/api/types"
	"github.com/stretchr/testify/require"
)

// Two hundred reloads, of the node and of the chain in turn, while four producers
// send commands and their acknowledgements: each pair comes out once, no command is
// called unanswered before the end, and no reload takes a second. One command has no
// answer; it outlives all reloads and leaves when the chain stops.
func TestReloadOfAJoinUnderTraffic(t *testing.T) {
	reloads := 200
	if testing.Short() {
		reloads = 20
	}
	fields := map[string]any{"streamKey": "streamName", "joinMaxKeys": 1000000,
		"sql": "SELECT c.id, r.code FROM cmdStream AS c LEFT JOIN ackStream AS r WITHIN 1 HOUR ON c.id = r.id"}
	h := newHost(t, New())
	e := h.start("e", chainDSL("c", config(t, fields)))
	send(t, e, onStream("cmdStream"), `{"id":"unanswered"}`)

	const producers = 4
	var (
		wg   sync.WaitGroup
		quit atomic.Bool
		all  atomic.Int64
		sent [producers]int
	)
	for p := range producers {
		wg.Go(func() {
			for ; !quit.Load(); sent[p]++ {
				all.Add(1)
				for _, m := range []types.RuleMsg{
					message(onStream("cmdStream"), fmt.Sprintf(`{"id":"%d/%d"}`, p, sent[p])),
					message(onStream("ackStream"), fmt.Sprintf(`{"id":"%d/%d","code":%d}`, p, sent[p], sent[p])),
				} {
					e.OnMsgAndWait(m, types.WithOnEnd(func(_ types.RuleContext, _ types.RuleMsg, err error, relation string) {
						if err != nil || relation != types.Success {
							t.Errorf("producer %d, row %d: %s %v", p, sent[p], relation, err)
						}
					}))
				}
			}
		})
	}
	for i := range reloads {
		fields["bufferSize"] = 1 + i%50 // something changes, the graph does not; so small that callers have to wait
		begin := time.Now()
		if i%2 == 0 {
			require.NoError(t, e.ReloadChild("a", nodeDSL(config(t, fields))))
		} else {
			require.NoError(t, e.ReloadSelf([]byte(chainDSL("c", config(t, fields)))))
		}
		require.Less(t, time.Since(begin), time.Second, "reload %d", i)
		// RuleGo holds messages back while it reloads; let some through between.
		for from := all.Load(); all.Load() < from+50; {
			time.Sleep(time.Millisecond)
		}
	}
	quit.Store(true)
	wg.Wait()
	require.NoError(t, instance(t, e, "a").Drain(t.Context()))

	seen := map[string]int{}
	for _, ev := range h.out.all() {
		var rows []struct {
			ID   string
			Code *int
		}
		require.NoError(t, json.Unmarshal([]byte(ev.data), &rows))
		require.Len(t, rows, 1)
		seen[rows[0].ID]++
		if rows[0].ID == "unanswered" {
			require.Equal(t, "stop", ev.meta["closedBy"])
			continue
		}
		require.Equal(t, "join_matched", ev.meta["resultType"], ev.data)
	}
	total := 1
	for p := range producers {
		for n := range sent[p] {
			require.Equal(t, 1, seen[fmt.Sprintf("%d/%d", p, n)], "producer %d, row %d", p, n)
		}
		total += sent[p]
	}
	require.Equal(t, total, len(seen)) // not Len, which would print them all
	require.False(t, h.log.contains("cannot go on with it"))
	t.Logf("%d pairs over %d reloads", total-1, reloads)
}

// An aggregation is fed by a join's stream_event while both are reloaded. Its open
// windows close with each reload, but every row is in exactly one.
func TestReloadOfTheSecondStageUnderTraffic(t *testing.T) {
	reloads := 30
	if testing.Short() {
		reloads = 6
	}
	dsl := func(size int) string {
		return strings.ReplaceAll(`{"ruleChain":{"id":"c"},"metadata":{"nodes":[
			{"id":"a","type":"x/streamAggregator","configuration":{"streamKey":"streamName","bufferSize":SIZE,
			 "sql":"SELECT c.id FROM cmdStream AS c JOIN ackStream AS r WITHIN 1 HOUR ON c.id = r.id"}},
			{"id":"b","type":"x/streamAggregator","configuration":{"bufferSize":SIZE,"sql":"SELECT COUNT(*) AS n FROM j GROUP BY TumblingWindow('1h')"}},
			{"id":"out","type":"test/collect"}],
			"connections":[{"fromId":"a","toId":"b","type":"stream_event"},{"fromId":"b","toId":"out","type":"stream_event"}]}}`, "SIZE", fmt.Sprint(size))
	}
	h := newHost(t, New())
	e := h.start("e", dsl(1000))
	var (
		wg   sync.WaitGroup
		quit atomic.Bool
		sent int
	)
	wg.Go(func() {
		for ; !quit.Load(); sent++ {
			e.OnMsgAndWait(message(onStream("cmdStream"), fmt.Sprintf(`{"id":%d}`, sent)))
			e.OnMsgAndWait(message(onStream("ackStream"), fmt.Sprintf(`{"id":%d}`, sent)))
		}
	})
	for i := range reloads {
		require.NoError(t, e.ReloadSelf([]byte(dsl(1001+i))))
	}
	quit.Store(true)
	wg.Wait()
	a := instance(t, e, "a")
	require.NoError(t, a.Drain(t.Context()))
	require.Zero(t, a.Stats()["node_undelivered"])
	require.NoError(t, instance(t, e, "b").Drain(t.Context()))
	total := 0
	for _, ev := range h.out.all() {
		var rows []struct{ N int }
		require.NoError(t, json.Unmarshal([]byte(ev.data), &rows))
		for _, r := range rows {
			total += r.N
		}
	}
	require.Equal(t, sent, total)
}
