package streamaggregator

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/engine"
	"github.com/stretchr/testify/require"
)

// chainDSL is a chain of a node "a" with the given SQL and further configuration,
// whose stream_event goes to a collector "out".
func chainDSL(id, config string) string {
	return `{"ruleChain":{"id":"` + id + `","name":"c"},"metadata":{"nodes":[
		{"id":"a","type":"x/streamAggregator","configuration":{` + config + `}},
		{"id":"out","type":"test/collect"}],
		"connections":[{"fromId":"a","toId":"out","type":"stream_event"}]}}`
}

func fakeHost(t *testing.T) *host { return newHost(t, newPrototype(&fakeEngine{})) }

func TestResultsReachTheChainWherever(t *testing.T) {
	for _, c := range []struct{ name, engineID, chainID string }{
		{"in a pool", "e1", "c1"},
		{"without ids", "", ""},
		{"outside any pool", "-", "c1"},
		{"outside any pool without id", "-", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := fakeHost(t)
			e := h.start(c.engineID, chainDSL(c.chainID, `"sql":"s"`))
			end := send(t, e, nil, `{"n":1}`)
			require.Equal(t, outcome{types.Success, nil, `{"n":1}`}, end)
			got := h.out.wait(t, 1)
			require.Equal(t, event{"out", "stream_event", `[{"n":1}]`, map[string]string{"queryType": "stream_join", "resultType": "join_matched"}}, got[0])
		})
	}
}

func TestTwoEnginesWithEqualIDs(t *testing.T) {
	proto := newPrototype(&fakeEngine{})
	h1, h2 := newHost(t, proto), newHost(t, proto)
	e1, e2 := h1.start("e", chainDSL("c", `"sql":"s"`)), h2.start("e", chainDSL("c", `"sql":"s"`))
	send(t, e1, nil, `{"n":1,"hold":1}`)
	send(t, e2, nil, `{"n":2}`)
	h2.out.wait(t, 1)
	stop(e1) // flushes into its own chain, hands nothing to the other engine
	require.Equal(t, []string{`[{"n":1,"hold":1}]`}, []string{h1.out.wait(t, 1)[0].data})
	require.Equal(t, []string{`[{"n":2}]`}, h2.out.at(""))
}

func TestEnginesWithoutIDsAreKeptApart(t *testing.T) {
	h := fakeHost(t)
	e1, e2 := h.start("", chainDSL("", `"sql":"s"`)), h.start("", chainDSL("", `"sql":"s"`))
	send(t, e1, nil, `{"n":1,"hold":1}`)
	start := time.Now()
	send(t, e2, nil, `{"n":2}`)
	require.Less(t, time.Since(start), 5*time.Second, "the second engine's node waits for no other")
	h.out.wait(t, 1)
	stop(e1)
	require.Equal(t, "stop", h.out.wait(t, 2)[1].meta["closedBy"])
}

func TestMetadataOfUnmatchedAndLateRows(t *testing.T) {
	h := fakeHost(t)
	e := h.start("e", `{"ruleChain":{"id":"c"},"metadata":{"nodes":[
		{"id":"a","type":"x/streamAggregator","configuration":{"sql":"s","lateEvents":true}},
		{"id":"out","type":"test/collect"},{"id":"late","type":"test/collect"}],
		"connections":[{"fromId":"a","toId":"out","type":"stream_event"},{"fromId":"a","toId":"late","type":"stream_late"}]}}`)
	send(t, e, map[string]string{"inherited": "no"}, `[{"hold":1},{"late":1}]`)
	h.out.wait(t, 1)
	stop(e)
	got := h.out.wait(t, 2)
	require.Equal(t, event{"late", "stream_late", `{"late":1}`, map[string]string{"stream": "s", "reason": "late", "ts": "5", "watermark": "9"}}, got[0])
	require.Equal(t, event{"out", "stream_event", `[{"hold":1}]`, map[string]string{"queryType": "stream_join", "resultType": "left_unmatched", "unmatched": "b,c", "closedBy": "stop"}}, got[1])
}

func TestBadInputFailsAndFeedsNothing(t *testing.T) {
	h := fakeHost(t)
	e := h.start("e", chainDSL("c", `"sql":"tempStream vibrationStream","streamKey":"streamName"`))
	rows := h.start("r", chainDSL("r", `"sql":"tempStream vibrationStream","streamKey":"${msg.s}"`))
	meta := map[string]string{"streamName": "tempStream"}
	for _, c := range []struct {
		e    types.RuleEngine
		meta map[string]string
		data string
		says []string
	}{
		{e, meta, `hello`, nil},
		{e, meta, ``, nil},
		{e, meta, `5`, nil},
		{e, meta, `"text"`, nil},
		{e, meta, `null`, nil},
		{e, meta, `[{"n":1},2]`, []string{"element 1"}},
		{e, meta, `{"n":1}}`, nil},
		{e, meta, `{"n":1,"x":tru}`, nil},
		{e, nil, `{"n":1}`, []string{`"streamName"`, `"tempStream"`, `"vibrationStream"`}},
		{e, map[string]string{"streamName": ""}, `{"n":1}`, []string{`"tempStream"`, `"vibrationStream"`}},
		{e, map[string]string{"streamName": "tempstream"}, `{"n":1}`, []string{"unknown input stream", "tempStream", "vibrationStream"}},
		{rows, nil, `[{"s":"tempStream"},{"s":"nope"}]`, []string{"unknown input stream", "tempStream", "vibrationStream"}},
		{rows, nil, `[{"s":"tempStream"},{}]`, []string{"row 1", `"tempStream"`}},
		{rows, nil, `[{"s":"tempStream"},{"s":"tempStream","x":01}]`, []string{"row 1"}},
		{rows, nil, `[{"s":"tempStream"},[]]`, []string{"element 1"}},
		{rows, nil, strings.Repeat(`[`, 10<<20), nil},
		{rows, nil, `{"a":` + strings.Repeat(`[`, 10<<20), []string{"nested deeper"}},
		{e, meta, `{"panic":1}`, []string{"panic in the node: as told"}},
	} {
		end := send(t, c.e, c.meta, c.data)
		require.Equal(t, types.Failure, end.relation, "%.60s", c.data)
		for _, says := range c.says {
			require.ErrorContains(t, end.err, says, "%.60s", c.data)
		}
	}
	require.Equal(t, types.Success, send(t, e, meta, `[]`).relation)
	require.Equal(t, types.Success, send(t, e, nil, `[]`).relation, "no row, no name to miss")
	require.Equal(t, types.Success, send(t, rows, nil, ` [ ] `).relation)
	require.NoError(t, instance(t, e, "a").Drain(t.Context()))
	require.NoError(t, instance(t, rows, "a").Drain(t.Context()))
	require.Empty(t, h.out.all())
	require.EqualValues(t, 2, instance(t, e, "a").Stats()["node_accepted"])
}

func TestBytesDecideNotTheDataType(t *testing.T) {
	h := fakeHost(t)
	e := h.start("e", chainDSL("c", `"sql":"s"`))
	for _, typ := range []types.DataType{types.TEXT, types.BINARY, types.JSON} {
		msg := types.NewMsg(0, "T", typ, types.NewMetadata(), `{"t":"`+string(typ)+`"}`)
		require.Equal(t, types.Success, sendMsg(t, e, msg).relation)
	}
	require.Equal(t, `[{"t":"BINARY"}]`, h.out.wait(t, 3)[1].data)
}

func TestColumnsFormat(t *testing.T) {
	h := fakeHost(t)
	e := h.start("e", chainDSL("c", `"sql":"s t","inputFormat":"columns","streamKey":"${msg.stream}"`))
	send(t, e, nil, `[{"name":"stream","value":"t"},{"name":"temp","value":80.50},{"name":"vib","value":1,"error":"offline"}]`)
	require.Equal(t, `[{"stream":"t","temp":80.50}]`, h.out.wait(t, 1)[0].data)
	require.Equal(t, types.Success, send(t, e, nil, `[{"name":"vib","value":1,"error":"offline"}]`).relation)
	require.Equal(t, types.Failure, send(t, e, nil, `[{"value":1}]`).relation)
}

func TestResultsKeepTheirOrder(t *testing.T) {
	h := fakeHost(t)
	e := h.start("e", chainDSL("c", `"sql":"s"`))
	const n = 2000
	for i := range n {
		e.OnMsgAndWait(message(nil, fmt.Sprintf(`{"n":%d}`, i)))
	}
	for i, got := range h.out.wait(t, n) {
		require.Equal(t, fmt.Sprintf(`[{"n":%d}]`, i), got.data)
	}
}

// The shapes behind stream_event: several targets, a fork whose branches join, a
// group of nodes, and none at all.
func TestShapesBehindTheNode(t *testing.T) {
	for _, c := range []struct {
		name, nodes, connections string
		want                     map[string]int
	}{
		{"several targets", `{"id":"x","type":"test/collect"},{"id":"y","type":"test/collect"}`,
			`{"fromId":"a","toId":"x","type":"stream_event"},{"fromId":"a","toId":"y","type":"stream_event"}`, map[string]int{"x": 3, "y": 3}},
		{"fork and join", `{"id":"f","type":"fork"},{"id":"x","type":"test/collect"},{"id":"y","type":"test/collect"},{"id":"j","type":"join","configuration":{"timeout":5}},{"id":"z","type":"test/collect"}`,
			`{"fromId":"a","toId":"f","type":"stream_event"},{"fromId":"f","toId":"x","type":"Success"},{"fromId":"f","toId":"y","type":"Success"},
			 {"fromId":"x","toId":"j","type":"Success"},{"fromId":"y","toId":"j","type":"Success"},{"fromId":"j","toId":"z","type":"Success"}`, map[string]int{"x": 3, "y": 3, "z": 3}},
		{"join of two targets", `{"id":"x","type":"test/collect"},{"id":"y","type":"test/collect"},{"id":"j","type":"join","configuration":{"timeout":5}},{"id":"z","type":"test/collect"}`,
			`{"fromId":"a","toId":"x","type":"stream_event"},{"fromId":"a","toId":"y","type":"stream_event"},
			 {"fromId":"x","toId":"j","type":"Success"},{"fromId":"y","toId":"j","type":"Success"},{"fromId":"j","toId":"z","type":"Success"}`, map[string]int{"x": 3, "y": 3, "z": 3}},
		{"group", `{"id":"g","type":"groupAction","configuration":{"matchNum":2,"nodeIds":"x,y","timeout":5}},{"id":"x","type":"test/collect"},{"id":"y","type":"test/collect"},{"id":"z","type":"test/collect"}`,
			`{"fromId":"a","toId":"g","type":"stream_event"},{"fromId":"g","toId":"z","type":"Success"}`, map[string]int{"x": 3, "y": 3, "z": 3}},
		{"none", ``, ``, map[string]int{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := fakeHost(t)
			nodes := `{"id":"a","type":"x/streamAggregator","configuration":{"sql":"s"}}`
			if c.nodes != "" {
				nodes += "," + c.nodes
			}
			e := h.start("e", `{"ruleChain":{"id":"c"},"metadata":{"nodes":[`+nodes+`],"connections":[`+c.connections+`]}}`)
			require.Equal(t, types.Success, send(t, e, nil, `[{"n":1},{"n":2},{"n":3}]`).relation)
			require.NoError(t, instance(t, e, "a").Drain(t.Context()), "all has passed through the chain then")
			got := map[string]int{}
			for _, ev := range h.out.all() {
				got[ev.node]++
			}
			require.Equal(t, c.want, got)
			require.Zero(t, instance(t, e, "a").Stats()["node_undelivered"])
		})
	}
}

func TestPanicBehindTheNode(t *testing.T) {
	h := fakeHost(t)
	h.out.hook = func(_ types.RuleContext, msg types.RuleMsg) {
		if msg.GetData() == `[{"n":1}]` {
			panic("downstream")
		}
	}
	e := h.start("e", chainDSL("c", `"sql":"s"`))
	send(t, e, nil, `[{"n":1},{"n":2}]`)
	require.NoError(t, instance(t, e, "a").Drain(t.Context()))
	require.Equal(t, []string{`[{"n":1}]`, `[{"n":2}]`}, h.out.at("out"))
}

func TestSubChain(t *testing.T) {
	h := fakeHost(t)
	h.start("sub", chainDSL("sub", `"sql":"s"`))
	e := h.start("main", `{"ruleChain":{"id":"main"},"metadata":{"nodes":[{"id":"f","type":"flow","configuration":{"targetId":"sub"}}],"connections":[]}}`)
	require.Equal(t, types.Success, send(t, e, nil, `{"n":1}`).relation)
	require.Equal(t, `[{"n":1}]`, h.out.wait(t, 1)[0].data)
}

func TestInitStartsNothing(t *testing.T) {
	fake := &fakeEngine{}
	h := newHost(t, newPrototype(fake))
	h.start("e", chainDSL("c", `"sql":"s @m","tables":[{"name":"m","source":"file","path":"/does/not/exist"}]`))
	require.False(t, fake.made[0].started)
	require.Empty(t, fake.made[0].tables)
}

func TestMessageAfterStopFails(t *testing.T) {
	h := fakeHost(t)
	e := h.start("e", chainDSL("c", `"sql":"s"`))
	node := instance(t, e, "a")
	send(t, e, nil, `{"n":1}`)
	h.out.wait(t, 1)
	stop(e)
	var told atomic.Int32
	ctx := engine.NewRuleContext(context.Background(), h.config, nil, nil, nil, nil,
		func(_ types.RuleContext, _ types.RuleMsg, err error, relation string) {
			told.Add(1)
			require.Equal(t, types.Failure, relation)
			require.ErrorIs(t, err, ErrDestroyed)
		}, nil)
	node.OnMsg(ctx, message(nil, `{"n":2}`))
	require.Eventually(t, func() bool { return told.Load() == 1 }, time.Second, time.Millisecond)
}

// TestMetadataOfEventsIsTheirOwn: what a node behind writes into one message is not
// in the next.
func TestMetadataOfEventsIsTheirOwn(t *testing.T) {
	h := fakeHost(t)
	h.out.hook = func(_ types.RuleContext, msg types.RuleMsg) {
		msg.Metadata.PutValue("seen", "yes")
		msg.Metadata.PutValue(MetaQueryType, "other")
	}
	e := h.start("e", chainDSL("c", `"sql":"s"`))
	for range 3 {
		send(t, e, nil, `{"n":1}`)
	}
	for _, ev := range h.out.wait(t, 3) {
		require.Equal(t, map[string]string{"queryType": "stream_join", "resultType": "join_matched"}, ev.meta)
	}
}
