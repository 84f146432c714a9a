package streamaggregator

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/engine"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/streamjoin/streamjoin/joinnode"
)

// These tests run the node with the real query engine.

const joinSQL = "SELECT s.deviceId, s.temperature AS temp, v.vibration AS vib FROM tempStream AS s JOIN vibrationStream AS v WITHIN 30 SECONDS ON s.deviceId = v.deviceId"

// pageNode is the node of the page's section "Running It in a RuleGo Component".
const pageNode = `{"id": "join1", "type": "x/streamAggregator",
 "configuration": {
   "sql": "SELECT s.deviceId, s.temperature AS temp, v.vibration AS vib FROM tempStream AS s JOIN vibrationStream AS v WITHIN 30 SECONDS ON s.deviceId = v.deviceId",
   "streamKey": "streamName"}}`

// pageChain is the chain of the page's section "Two-Stage Join-then-Aggregate".
const pageChain = `{
  "metadata": {
    "nodes": [
      {"id": "joinA", "type": "x/streamAggregator", "name": "dual-stream join",
       "configuration": {
         "sql": "SELECT s.deviceId, s.temperature AS temp, v.vibration AS vib FROM tempStream AS s JOIN vibrationStream AS v WITHIN 30 SECONDS ON s.deviceId = v.deviceId WHERE s.temperature > 75 AND v.vibration > 30",
         "streamKey": "streamName"}},
      {"id": "aggB", "type": "x/streamAggregator", "name": "windowed aggregation",
       "configuration": {
         "sql": "SELECT deviceId, COUNT(*) AS cnt FROM joinOut GROUP BY deviceId, CountingWindow(10)"}}
    ],
    "connections": [
      {"fromId": "joinA", "toId": "aggB", "type": "stream_event"}
    ]
  }
}`

func onStream(name string) map[string]string { return map[string]string{"streamName": name} }

// config renders a configuration for chainDSL.
func config(t *testing.T, fields map[string]any) string {
	t.Helper()
	data, err := json.Marshal(fields)
	require.NoError(t, err)
	return strings.TrimSuffix(strings.TrimPrefix(string(data), "{"), "}")
}

func TestThePagesNode(t *testing.T) {
	h := newHost(t, New())
	e := h.start("e", `{"ruleChain":{"id":"c"},"metadata":{"nodes":[`+pageNode+`,{"id":"out","type":"test/collect"}],
		"connections":[{"fromId":"join1","toId":"out","type":"stream_event"}]}}`)
	require.Equal(t, types.Success, send(t, e, onStream("tempStream"), `{"deviceId":"d1","temperature":80.50}`).relation)
	require.Equal(t, types.Success, send(t, e, onStream("vibrationStream"), `[{"deviceId":"d1","vibration":35.2},{"deviceId":"d2","vibration":1}]`).relation)
	got := h.out.wait(t, 1)
	require.Equal(t, []event{{"out", "stream_event", `[{"deviceId":"d1","temp":80.50,"vib":35.2}]`,
		map[string]string{"queryType": "stream_join", "resultType": "join_matched"}}}, got)
}

func TestThePagesChain(t *testing.T) {
	h := newHost(t, New())
	// The chain as printed, with a place to see what aggB gives out.
	var def map[string]any
	require.NoError(t, json.Unmarshal([]byte(pageChain), &def))
	meta := def["metadata"].(map[string]any)
	meta["nodes"] = append(meta["nodes"].([]any), map[string]any{"id": "out", "type": "test/collect"})
	meta["connections"] = append(meta["connections"].([]any), map[string]any{"fromId": "aggB", "toId": "out", "type": "stream_event"})
	dsl, err := json.Marshal(def)
	require.NoError(t, err)
	e := h.start("", string(dsl))
	for i := range 20 {
		device := fmt.Sprintf("d%d", i%2)
		send(t, e, onStream("tempStream"), fmt.Sprintf(`{"deviceId":%q,"temperature":%d,"i":%d}`, device, 76+i, i))
	}
	// Every temperature of d0 meets this one vibration: ten rows, one window.
	send(t, e, onStream("vibrationStream"), `{"deviceId":"d0","vibration":40}`)
	got := h.out.wait(t, 1)[0]
	// streamsql adds a window_id.
	require.Regexp(t, `^\[\{"cnt":10,"deviceId":"d0",.*\}\]$`, got.data)
	require.Equal(t, "aggregation", got.meta["queryType"])
	require.Equal(t, "window_triggered", got.meta["resultType"])
	require.NotContains(t, got.meta, "streamName")
}

func TestThePagesExpressionKey(t *testing.T) {
	h := newHost(t, New())
	e := h.start("e", chainDSL("c", config(t, map[string]any{"sql": joinSQL, "streamKey": "${msg.stream}"})))
	send(t, e, nil, `[{"stream":"tempStream","deviceId":1,"temperature":1},{"stream":"vibrationStream","deviceId":1.0,"vibration":2}]`)
	require.Equal(t, `[{"deviceId":1,"temp":1,"vib":2}]`, h.out.wait(t, 1)[0].data)
}

func TestCommandWithoutAckAtStop(t *testing.T) {
	h := newHost(t, New())
	e := h.start("e", chainDSL("c", config(t, map[string]any{"streamKey": "streamName",
		"sql": "SELECT c.cmdId, r.ackCode FROM cmdStream AS c LEFT JOIN ackStream AS r WITHIN 10 SECONDS ON c.cmdId = r.cmdId WHERE r.ackCode IS NULL"})))
	send(t, e, onStream("cmdStream"), `[{"cmdId":9007199254740993},{"cmdId":2}]`)
	send(t, e, onStream("ackStream"), `{"cmdId":2,"ackCode":0}`)
	stop(e)
	require.Equal(t, []event{{"out", "stream_event", `[{"cmdId":9007199254740993,"ackCode":null}]`,
		map[string]string{"queryType": "stream_join", "resultType": "left_unmatched", "unmatched": "r", "closedBy": "stop"}}}, h.out.wait(t, 1))
}

func TestLateRowsLeaveOnTheirRelation(t *testing.T) {
	h := newHost(t, New())
	e := h.start("e", `{"ruleChain":{"id":"c"},"metadata":{"nodes":[
		{"id":"a","type":"x/streamAggregator","configuration":{"streamKey":"streamName","lateEvents":true,
		 "sql":"SELECT a.v, b.w FROM aStream AS a JOIN bStream AS b WITHIN 5 SECONDS ON a.k = b.k WITH (TIMESTAMP='ts')"}},
		{"id":"late","type":"test/collect"}],"connections":[{"fromId":"a","toId":"late","type":"stream_late"}]}}`)
	send(t, e, onStream("aStream"), `[{"k":1,"ts":1700000100000},{"k":1,"ts":1700000000000,"extra":"kept"},{"k":1}]`)
	got := h.out.wait(t, 2)
	require.Equal(t, `{"k":1,"ts":1700000000000,"extra":"kept"}`, got[0].data)
	require.Equal(t, map[string]string{"stream": "aStream", "reason": "late", "ts": "1700000000000000000", "watermark": "1700000100000000000"}, got[0].meta)
	require.Equal(t, "bad_timestamp", got[1].meta["reason"])
}

func TestWindowResultsCarryTheirEnd(t *testing.T) {
	h := newHost(t, New())
	e := h.start("e", chainDSL("c", config(t, map[string]any{
		"sql": "SELECT k, COUNT(*) AS n FROM s GROUP BY k, TumblingWindow('1s') WITH (TIMESTAMP='ts', TIMEUNIT='ms')"})))
	send(t, e, nil, `[{"k":1,"ts":1700000000100},{"k":1,"ts":1700000000200},{"k":1,"ts":1700000005000},{"k":1,"ts":1700000009000}]`)
	got := h.out.wait(t, 1)[0]
	require.Regexp(t, `^\[\{"k":1,"n":2,.*\}\]$`, got.data)
	require.Equal(t, "1700000001000000000", got.meta["timestamp"])
	stop(e)
}

func TestSQLErrorAtInit(t *testing.T) {
	h := newHost(t, New())
	node := New().New()
	err := node.Init(h.config, types.Configuration{"sql": "SELECT a.x FROM s AS a\nRIGHT JOIN t AS b WITHIN 5 SECONDS ON a.k = b.k"})
	require.ErrorIs(t, err, ErrConfiguration)
	var sql *joinnode.SQLError
	require.True(t, errors.As(err, &sql), "%v", err)
	require.Equal(t, 2, sql.Pos.Line)
	require.ErrorContains(t, err, `field "sql": line 2, column`)
	require.ErrorContains(t, err, "^")

	_, err = h.pool.New("bad", []byte(chainDSL("bad", `"sql":"SELEC x"`)), engine.WithConfig(h.config))
	require.ErrorContains(t, err, "line 1, column 1")
}

// Keys and timestamps of strange kinds, and messages out of all proportion, give a
// defined end and never a panic or a moved watermark.
func TestStrangeValues(t *testing.T) {
	h := newHost(t, New())
	e := h.start("e", chainDSL("c", config(t, map[string]any{"streamKey": "streamName",
		"sql": "SELECT a.v FROM aStream AS a JOIN bStream AS b WITHIN 5 SECONDS ON a.k = b.k WITH (TIMESTAMP='ts')"})))
	send(t, e, onStream("aStream"), `{"k":1,"ts":1700000000000}`)
	big := `"` + strings.Repeat("x", 10<<20) + `"`
	for _, c := range []struct{ data, relation string }{
		{`{"k":1,"ts":1e400}`, types.Success},
		{`{"k":1e400,"ts":1700000000000}`, types.Success},
		{`{"k":NaN,"ts":1700000000000}`, types.Failure},
		{`{"k":1,"ts":-5}`, types.Success},
		{`{"k":1,"ts":{"a":[]}}`, types.Success},
		{`{"k":[{"a":[1,2]}],"ts":1700000000000}`, types.Success},
		{`{"k":1,"ts":"yesterday"}`, types.Success},
		{`{"k":1,"ts":` + fmt.Sprint(uint64(math.MaxUint64)) + `}`, types.Success},
		{`{"k":` + big + `,"ts":1700000000000}`, types.Success},
		{`{"k":1,"ts":1700000000000,"x":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`, types.Success},
		{`{"k":1,"ts":1700000000000,"x":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + `}`, types.Failure},
		{`{"k":1,"ts":1700000000000,"x":01}`, types.Failure},
	} {
		require.Equal(t, c.relation, send(t, e, onStream("aStream"), c.data).relation, "%.60s", c.data)
	}
	require.NoError(t, instance(t, e, "a").Drain(t.Context()))
	require.EqualValues(t, 1700000000000000000, instance(t, e, "a").Stats()["join_stage1_left_watermark"])
}

func TestVariablesInTheConfiguration(t *testing.T) {
	h := newHost(t, New())
	h.config.Properties = types.NewProperties()
	h.config.Properties.PutValue("key", "streamName")
	e := h.start("e", chainDSL("c", config(t, map[string]any{"sql": joinSQL, "streamKey": "${global.key}"})))
	send(t, e, onStream("tempStream"), `{"deviceId":1,"temperature":1}`)
	send(t, e, onStream("vibrationStream"), `{"deviceId":1,"vibration":2}`)
	h.out.wait(t, 1)
}

func TestTableJoinedToAStream(t *testing.T) {
	h := newHost(t, New())
	e := h.start("e", chainDSL("c", config(t, map[string]any{
		"sql":    "SELECT deviceId, m.site AS site FROM s JOIN meta m ON s.deviceId = m.deviceId",
		"tables": []any{map[string]any{"name": "meta", "source": "inline", "rows": []any{map[string]any{"deviceId": 7, "site": "north"}}}}})))
	require.Equal(t, types.Success, send(t, e, nil, `{"deviceId":7}`).relation)
	require.JSONEq(t, `[{"deviceId":7,"site":"north"}]`, h.out.wait(t, 1)[0].data)
}

func TestOverflowIsAFailureAfterTheTimeout(t *testing.T) {
	h := newHost(t, New())
	release := make(chan struct{})
	h.out.hook = func(types.RuleContext, types.RuleMsg) { <-release }
	e := h.start("e", chainDSL("c", config(t, map[string]any{"sql": joinSQL, "streamKey": "streamName", "bufferSize": 1, "blockTimeout": "20ms"})))
	send(t, e, onStream("vibrationStream"), `{"deviceId":1,"vibration":2}`)
	require.Eventually(t, func() bool {
		end := send(t, e, onStream("tempStream"), `{"deviceId":1,"temperature":1}`)
		return end.relation == types.Failure && errors.Is(end.err, joinnode.ErrOverflow)
	}, 10*time.Second, time.Millisecond)
	close(release)
}

// The state of a join passes to the new instance; a command is not reported as
// unanswered because someone reloads.
func TestReloadOfAJoinRaisesNoFalseAbsence(t *testing.T) {
	h := newHost(t, New())
	fields := map[string]any{"streamKey": "streamName",
		"sql": "SELECT c.cmdId, r.ackCode FROM cmdStream AS c LEFT JOIN ackStream AS r WITHIN 1 HOUR ON c.cmdId = r.cmdId"}
	e := h.start("e", chainDSL("c", config(t, fields)))
	send(t, e, onStream("cmdStream"), `{"cmdId":1}`)
	require.NoError(t, e.ReloadSelf([]byte(chainDSL("c", config(t, fields)))))
	require.NoError(t, e.ReloadChild("a", nodeDSL(config(t, fields))))
	send(t, e, onStream("ackStream"), `{"cmdId":1,"ackCode":0}`)
	require.Equal(t, `[{"cmdId":1,"ackCode":0}]`, h.out.wait(t, 1)[0].data)

	send(t, e, onStream("cmdStream"), `{"cmdId":2}`)
	fields["sql"] = strings.Replace(fields["sql"].(string), "1 HOUR", "2 HOURS", 1)
	require.NoError(t, e.ReloadChild("a", nodeDSL(config(t, fields))))
	got := h.out.wait(t, 2)[1]
	require.Equal(t, "reload", got.meta["closedBy"])
	require.True(t, h.log.contains("WITHIN"), "the log says what differed")
}

func TestReloadAfterDrain(t *testing.T) {
	h := newHost(t, New())
	fields := map[string]any{"streamKey": "streamName", "sql": joinSQL}
	e := h.start("e", chainDSL("c", config(t, fields)))
	send(t, e, onStream("tempStream"), `{"deviceId":1,"temperature":1}`)
	require.NoError(t, instance(t, e, "a").Drain(t.Context()))
	require.Equal(t, types.Failure, send(t, e, onStream("tempStream"), `{"deviceId":1,"temperature":1}`).relation)
	require.NoError(t, e.ReloadChild("a", nodeDSL(config(t, fields))))
	send(t, e, onStream("tempStream"), `{"deviceId":1,"temperature":1}`)
	send(t, e, onStream("vibrationStream"), `{"deviceId":1,"vibration":2}`)
	require.Equal(t, `[{"deviceId":1,"temp":1,"vib":2}]`, h.out.wait(t, 1)[0].data)
}

func TestFailedReloadsLeaveNoGoroutine(t *testing.T) {
	h := newHost(t, New())
	for _, sql := range []string{joinSQL, "SELECT COUNT(*) AS n FROM tempStream GROUP BY TumblingWindow('1h')"} {
		fields := map[string]any{"streamKey": "streamName", "sql": sql}
		e := h.start("", chainDSL("", config(t, fields)))
		send(t, e, onStream("tempStream"), `{"deviceId":1,"temperature":1}`)
		// streamsql starts its goroutines one from the other; all run once the row
		// was processed.
		require.NoError(t, instance(t, e, "a").query.Drain(t.Context()))
		before := goleak.IgnoreCurrent()
		laterNodeBad := strings.Replace(chainDSL("", config(t, fields)), `"type":"test/collect"`, `"type":"no/such"`, 1)
		require.Error(t, e.ReloadSelf([]byte(laterNodeBad)))
		fields["sql"] = sql + " HAVING"
		require.Error(t, e.ReloadSelf([]byte(chainDSL("", config(t, fields)))))
		require.Error(t, e.ReloadChild("a", nodeDSL(config(t, fields))))
		goleak.VerifyNone(t, append(leftByRuleGo(), before)...)
		stop(e)
	}
}
