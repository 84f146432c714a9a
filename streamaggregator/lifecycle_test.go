package streamaggregator

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/engine"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func nodeDSL(config string) []byte {
	return []byte(`{"id":"a","type":"x/streamAggregator","configuration":{` + config + `}}`)
}

func TestReloadHandsStateOver(t *testing.T) {
	for _, c := range []struct {
		name   string
		id     string
		reload func(types.RuleEngine, string) error
	}{
		{"child", "e", func(e types.RuleEngine, config string) error { return e.ReloadChild("a", nodeDSL(config)) }},
		{"chain", "e", func(e types.RuleEngine, config string) error { return e.ReloadSelf([]byte(chainDSL("c", config))) }},
		{"chain outside a pool", "-", func(e types.RuleEngine, config string) error { return e.ReloadSelf([]byte(chainDSL("", config))) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := fakeHost(t)
			e := h.start(c.id, chainDSL("c", `"sql":"s"`))
			send(t, e, nil, `[{"n":1,"hold":1},{"n":2}]`)
			h.out.wait(t, 1)
			for range 3 { // with and without rows since the last one
				require.NoError(t, c.reload(e, `"sql":"s","bufferSize":99`))
			}
			send(t, e, nil, `{"n":3}`)
			require.Equal(t, `[{"n":3}]`, h.out.wait(t, 2)[1].data, "nothing was flushed")
			require.True(t, h.log.contains("goes on with the state it had"))

			require.NoError(t, c.reload(e, `"sql":"s t"`))
			got := h.out.wait(t, 3)[2]
			require.Equal(t, "reload", got.meta["closedBy"], "another graph: what waited leaves")
			require.True(t, h.log.contains("the new query cannot go on with it: streams"))
			send(t, e, nil, `{"n":4}`)
			h.out.wait(t, 4)
		})
	}
}

// A reload whose later node is bad leaves the old instance at work and the new one
// without successor's rights, even when the engine is stopped afterwards.
func TestFailedReloadLeavesTheOldQueryRunning(t *testing.T) {
	for _, c := range []struct{ name, dsl, says string }{
		{"bad SQL", chainDSL("c", `"sql":"!"`), `field "sql"`},
		{"a later node is bad", strings.Replace(chainDSL("c", `"sql":"s"`), `"type":"test/collect"`, `"type":"no/such"`, 1), "no/such"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := fakeHost(t)
			e := h.start("e", chainDSL("c", `"sql":"s"`))
			send(t, e, nil, `[{"n":1,"hold":1},{"n":2}]`)
			h.out.wait(t, 1)
			before := goleak.IgnoreCurrent()
			for range 20 {
				require.ErrorContains(t, e.ReloadSelf([]byte(c.dsl)), c.says)
			}
			goleak.VerifyNone(t, append(leftByRuleGo(), before)...)
			send(t, e, nil, `{"n":3}`)
			require.Equal(t, `[{"n":3}]`, h.out.wait(t, 2)[1].data)

			require.NoError(t, e.ReloadSelf([]byte(chainDSL("c", `"sql":"s"`))), "a good one still finds the state")
			send(t, e, nil, `{"n":4}`)
			require.Equal(t, `[{"n":4}]`, h.out.wait(t, 3)[2].data)

			require.ErrorContains(t, e.ReloadSelf([]byte(c.dsl)), c.says)
			stop(e)
			require.Equal(t, "stop", h.out.wait(t, 4)[3].meta["closedBy"], "a dead candidate inherits nothing")
		})
	}
}

func TestFailedReloadOfTheChildKeepsTheQuery(t *testing.T) {
	h := fakeHost(t)
	e := h.start("e", chainDSL("c", `"sql":"s"`))
	send(t, e, nil, `{"n":1,"hold":1}`)
	require.ErrorContains(t, e.ReloadChild("a", nodeDSL(`"sql":"s","blockTimeout":5`)), `field "blockTimeout" = 5`)
	send(t, e, nil, `{"n":2}`)
	require.Equal(t, `[{"n":2}]`, h.out.wait(t, 1)[0].data)
}

// Instances that RuleGo made and forgot leave nothing in the prototype's table.
func TestForgottenInstancesLeaveTheTable(t *testing.T) {
	proto := New()
	h := newHost(t, proto)
	good := chainDSL("c", config(t, map[string]any{"sql": joinSQL}))
	bad := strings.Replace(good, `"type":"test/collect"`, `"type":"no/such"`, 1)
	for range 10 {
		_, err := h.pool.New("x", []byte(bad), engine.WithConfig(h.config))
		require.Error(t, err)
	}
	size := func() int {
		proto.instances.mu.Lock()
		defer proto.instances.mu.Unlock()
		return len(proto.instances.nodes)
	}
	require.Eventually(t, func() bool { runtime.GC(); return size() == 0 }, 10*time.Second, 10*time.Millisecond)

	e := h.start("e", good)
	require.Equal(t, 1, size())
	stop(e)
	require.Zero(t, size())
}

func TestZeroNodeIsAPrototype(t *testing.T) {
	h := newHost(t, &Node{})
	e := h.start("e", chainDSL("c", config(t, map[string]any{"sql": joinSQL, "streamKey": "streamName"})))
	require.NoError(t, e.ReloadChild("a", nodeDSL(config(t, map[string]any{"sql": joinSQL, "streamKey": "streamName"}))))
	require.True(t, h.log.contains("goes on with the state it had"))
}

func TestStopWhileEmitting(t *testing.T) {
	h := fakeHost(t)
	release := make(chan struct{})
	h.out.hook = func(types.RuleContext, types.RuleMsg) { <-release }
	e := h.start("e", chainDSL("c", `"sql":"s"`))
	send(t, e, nil, `[{"n":1},{"n":2},{"n":3,"hold":1}]`)
	h.out.wait(t, 1)
	node := instance(t, e, "a")
	begin := time.Now()
	node.Destroy()
	node.Destroy()
	require.Less(t, time.Since(begin), 100*time.Millisecond, "Destroy waits for nothing")
	close(release)
	require.Equal(t, []string{`[{"n":1}]`, `[{"n":2}]`, `[{"n":3,"hold":1}]`}, eventData(h.out.wait(t, 3)))
}

func TestDrainGivesUpWithItsContext(t *testing.T) {
	h := fakeHost(t)
	release := make(chan struct{})
	h.out.hook = func(types.RuleContext, types.RuleMsg) { <-release }
	e := h.start("e", chainDSL("c", `"sql":"s"`))
	send(t, e, nil, `{"n":1}`)
	h.out.wait(t, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, instance(t, e, "a").Drain(ctx), context.DeadlineExceeded)
	close(release)
	require.NoError(t, instance(t, e, "a").Drain(t.Context()))
}

// A result that meets a destroyed node is counted and logged by its sender.
func TestUndeliverableResultsAreCounted(t *testing.T) {
	h := fakeHost(t)
	e := h.start("e", twoStage(""))
	send(t, e, nil, `{"n":1}`)
	h.out.wait(t, 1)
	a, b := instance(t, e, "a"), instance(t, e, "b")
	b.Destroy()
	send(t, e, nil, `{"n":2}`)
	require.NoError(t, a.Drain(t.Context()))
	require.EqualValues(t, 1, a.Stats()["node_undelivered"])
	require.True(t, h.log.contains("a result could not be delivered"))
}

// A node that is taken out of its chain has nowhere to send what it still holds.
func TestResultsOfARemovedNodeAreCounted(t *testing.T) {
	for _, generations := range []int{1, 2} {
		h := fakeHost(t)
		e := h.start("e", chainDSL("c", `"sql":"s"`))
		for range generations - 1 {
			require.NoError(t, e.ReloadSelf([]byte(chainDSL("c", `"sql":"s"`))))
		}
		send(t, e, nil, `[{"n":1,"hold":1},{"n":2}]`)
		h.out.wait(t, 1)
		node := instance(t, e, "a")
		require.NoError(t, e.ReloadSelf([]byte(strings.ReplaceAll(chainDSL("c", `"sql":"s"`), `"a"`, `"b"`))))
		require.Eventually(t, func() bool { return node.Stats()["node_undelivered"] == 1 }, 5*time.Second, time.Millisecond)
		require.True(t, h.log.contains("the node is no longer in the chain"))
		require.Len(t, h.out.all(), 1)
	}
}

func twoStage(config string) string {
	return `{"ruleChain":{"id":"c"},"metadata":{"nodes":[
		{"id":"a","type":"x/streamAggregator","configuration":{"sql":"s"` + config + `}},
		{"id":"b","type":"x/streamAggregator","configuration":{"sql":"joinOut"}},
		{"id":"out","type":"test/collect"}],
		"connections":[{"fromId":"a","toId":"b","type":"stream_event"},{"fromId":"b","toId":"out","type":"stream_event"}]}}`
}

// While producers send, nodes and the chain are reloaded over and over: nothing is
// lost, nothing comes twice, nothing that waits is given up, and each reload takes
// less than a second.
func TestReloadUnderTraffic(t *testing.T) {
	h := fakeHost(t)
	e := h.start("e", twoStage(""))
	reloads := []func() error{
		func() error { return e.ReloadChild("a", nodeDSL(`"sql":"s"`)) },
		func() error {
			return e.ReloadChild("b", []byte(strings.Replace(string(nodeDSL(`"sql":"joinOut"`)), `"a"`, `"b"`, 1)))
		},
		func() error { return e.ReloadSelf([]byte(twoStage(`,"bufferSize":500`))) },
	}
	send(t, e, nil, `{"producer":9,"hold":1}`)
	const producers = 4
	var (
		wg   sync.WaitGroup
		quit atomic.Bool
		sent [producers]int
	)
	for p := range producers {
		wg.Go(func() {
			for ; !quit.Load(); sent[p]++ {
				ok := make(chan string, 1)
				e.OnMsg(message(nil, fmt.Sprintf(`{"producer":%d,"n":%d}`, p, sent[p])), types.WithOnEnd(func(_ types.RuleContext, _ types.RuleMsg, err error, relation string) {
					ok <- fmt.Sprint(relation, err)
				}))
				if got := <-ok; got != "Success<nil>" {
					t.Errorf("producer %d, row %d: %s", p, sent[p], got)
				}
			}
		})
	}
	for i := range 60 {
		begin := time.Now()
		require.NoError(t, reloads[i%len(reloads)]())
		require.Less(t, time.Since(begin), time.Second, "reload %d", i)
	}
	quit.Store(true)
	wg.Wait()
	require.NoError(t, instance(t, e, "a").Drain(t.Context()))
	require.NoError(t, instance(t, e, "b").Drain(t.Context()))

	next := [producers]int{}
	for _, ev := range h.out.all() {
		var rows []struct{ Producer, N int }
		require.NoError(t, json.Unmarshal([]byte(ev.data), &rows))
		if ev.meta["closedBy"] != "" {
			require.Equal(t, 9, rows[0].Producer)
			require.Equal(t, "stop", ev.meta["closedBy"], "the row that waits outlives all reloads")
			continue
		}
		p := rows[0].Producer
		if p < producers {
			require.Equal(t, next[p], rows[0].N, "producer %d: lost, doubled or out of order", p)
			next[p]++
		}
	}
	require.Equal(t, sent, next)
}

func eventData(events []event) []string {
	var data []string
	for _, e := range events {
		data = append(data, e.data)
	}
	return data
}
