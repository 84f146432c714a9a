package integration_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rulego/rulego/api/types"
	"github.com/stretchr/testify/require"
)

// pairs is a join by event time in which every left row has one partner, so that
// results come in the order of the right rows.
const pairs = `SELECT l.n AS n FROM L AS l JOIN R AS r WITHIN 1 MS ON l.n = r.n WITH (TIMESTAMP='ts')`

// inOrder checks that results 0 … n−1 left one by one, in this order.
func inOrder(t *testing.T, seen *recorder, n int) {
	t.Helper()
	var want []event
	for i := range n {
		want = append(want, event{Node: "join", Metadata: map[string]string{"queryType": "stream_join", "resultType": "join_matched"},
			Rows: []json.RawMessage{fmt.Appendf(nil, `{"n":%d}`, i)}})
	}
	require.Equal(t, jsonLines(t, want), jsonLines(t, seen.left(t, false)))
}

// A chain without ruleChain.id is in no engine pool: nothing can be found by id,
// and still every result must leave.
func TestChainWithoutID(t *testing.T) {
	chain := fmt.Sprintf(`{"ruleChain":{"name":"anonymous"},"metadata":{"nodes":[
		{"id":"join","type":"x/streamAggregator","name":"join","configuration":{"sql":%q,"streamKey":"stream"}}],"connections":[]}}`, pairs)
	e, seen := start(t, "", []byte(chain))
	require.Empty(t, e.Id())
	const n = 200
	for i := range n {
		row := fmt.Appendf(nil, `{"n":%d,"ts":%d}`, i, epoch.UnixMilli()+int64(i))
		e.OnMsgAndWait(message(map[string]string{"stream": "L"}, row))
		e.OnMsgAndWait(message(map[string]string{"stream": "R"}, row))
	}
	drainAndStop(t, e)
	inOrder(t, seen, n)
}

// With "wait": true on the router, one client's requests reach the node in the
// order in which they were sent, and what they cause leaves in that order.
func TestHTTPKeepsOrder(t *testing.T) {
	address := freeAddress(t)
	chain := fmt.Sprintf(`{"ruleChain":{"id":"ordered","name":"ordered","root":true},"metadata":{
		"endpoints":[{"id":"http","type":"endpoint/http","configuration":{"server":%q},"routers":[
			{"id":"rows","params":["POST"],"from":{"path":"/rows/:stream"},"to":{"path":"ordered","wait":true,"processors":["responseToBody"]}}]}],
		"nodes":[{"id":"join","type":"x/streamAggregator","name":"join","configuration":{"sql":%q,"streamKey":"stream"}}],"connections":[]}}`, address, pairs)
	e, seen := start(t, "ordered", []byte(chain))
	const n = 200
	for i := range n {
		row := fmt.Sprintf(`{"n":%d,"ts":%d}`, i, epoch.UnixMilli()+int64(i))
		for _, stream := range []string{"L", "R"} {
			status, answer := post(t, "http://"+address+"/rows/"+stream, row)
			require.Equal(t, http.StatusOK, status, answer)
		}
	}
	drainAndStop(t, e)
	inOrder(t, seen, n)
}

// What a client sends that is no message of rows is answered with the reason, and
// the query goes on as if it had not come.
func TestHTTPRefusesBadMessages(t *testing.T) {
	s := loadScenario(t, chainsDir+"/rest")
	address := freeAddress(t)
	e, seen := start(t, s.def.RuleChain.ID, s.withVar(t, "listen", address))
	for _, c := range []struct{ name, stream, body, says string }{
		{"cut off", "commands", `{"cmdId":"c1","ts":1700000000000`, "JSON"},
		{"broken far behind the needed columns", "commands", `{"cmdId":"c1","ts":1700000000000,"x":[1,2,{"y":tru}]}`, "JSON"},
		{"two values", "commands", `{"cmdId":"c1","ts":1700000000000}{}`, "JSON"},
		{"empty", "commands", ``, "JSON"},
		{"a number", "commands", `1`, "not a row"},
		{"an array with a number", "commands", `[{"cmdId":"c1","ts":1700000000000},1]`, "not a row"},
		{"deep nesting", "commands", strings.Repeat("[", 100_000), "JSON"},
		{"unknown stream", "comands", `{"cmdId":"c1","ts":1700000000000}`, `unknown input stream`},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, answer := post(t, "http://"+address+"/streams/"+c.stream, c.body)
			require.Equal(t, http.StatusBadRequest, status, answer)
			require.Contains(t, answer, c.says)
		})
	}
	status, answer := post(t, "http://"+address+"/streams/commands", `[]`)
	require.Equal(t, http.StatusOK, status, answer)

	stats := nodeOf(t, e, "join").Stats()
	require.Zero(t, stats["input_count"], "nothing was fed")
	drainAndStop(t, e)
	require.Empty(t, seen.left(t, false))
}

// The failure of an unknown stream lists the names that would have been right.
func TestUnknownStreamListsKnownOnes(t *testing.T) {
	s := loadScenario(t, chainsDir+"/corroboration")
	e, seen := start(t, s.def.RuleChain.ID, s.Chain)
	for _, metadata := range []map[string]string{{"streamName": "pressure"}, {}} {
		e.OnMsgAndWait(message(metadata, []byte(`{"deviceId":"d1"}`)))
		answers := seen.answers("join")
		last := answers[len(answers)-1]
		require.Equal(t, types.Failure, last.relation)
		require.ErrorContains(t, last.err, "tempStream")
		require.ErrorContains(t, last.err, "vibrationStream")
	}
	drainAndStop(t, e)
}

// A command that waits for its ACK while the query is reloaded is reported at its
// own time, also when no row comes after the reload to wake the new query.
func TestReloadKeepsPendingAlerts(t *testing.T) {
	s := loadScenario(t, chainsDir+"/command-ack")
	synctest.Test(t, func(t *testing.T) {
		e, seen := start(t, s.def.RuleChain.ID, s.Chain)
		e.OnMsgAndWait(message(map[string]string{"streamName": "cmdStream"}, []byte(`{"cmdId":"c1","deviceId":"d1"}`)))
		time.Sleep(5 * time.Second)
		require.NoError(t, e.ReloadSelf(s.Chain))
		synctest.Wait()
		require.Empty(t, seen.left(t, true), "a reload is no reason for an alert")
		require.EqualValues(t, 1, nodeOf(t, e, "join").Stats()["input_count"], "counters go on")

		time.Sleep(20 * time.Second)
		synctest.Wait()
		want := []event{{At: "10s", Node: "join",
			Metadata: map[string]string{"queryType": "stream_join", "resultType": "left_unmatched", "unmatched": "r", "closedBy": "window"},
			Rows:     []json.RawMessage{[]byte(`{"cmdId":"c1","deviceId":"d1","ackCode":null}`)}}}
		require.Equal(t, jsonLines(t, want), jsonLines(t, seen.left(t, true)))
		drainAndStop(t, e)
		require.Len(t, seen.left(t, true), 1, "once")
	})
}
