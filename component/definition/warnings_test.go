package definition_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/chains"
	"github.com/streamjoin/streamjoin/component/definition"
)

func TestWarnings(t *testing.T) {
	for connection, says := range map[string]string{
		`"fromId":"join","toId":"alert","type":"stream_event"`:  "",
		`"fromId":"join","toId":"alert","type":"Success"`:       "",
		`"fromId":"join","toId":"window","type":"stream_event"`: "",
		`"fromId":"alert","toId":"window","type":"Anything"`:    "",
		`"fromId":"late","toId":"alert","type":"stream_late"`:   "",
		`"fromId":"node4","toId":"alert","type":"Success"`:      "",
		`"fromId":"join","toId":"alert","type":"stream_events"`: `connection join –stream_events→ alert: x/streamAggregator has no relation "stream_events", nothing comes through (it has Success, Failure, stream_event, stream_late): did you mean "stream_event"?`,
		`"fromId":"join","toId":"alert","type":"success"`:       `did you mean "Success"?`,
		`"fromId":"join","toId":"alarm","type":"Success"`:       `there is no node "alarm", what comes through is lost`,
		`"fromId":"joins","toId":"alert","type":"stream_event"`: `there is no node "joins", nothing comes through: did you mean "join"?`,
		`"fromId":"join","toId":"window","type":"Success"`:      `Success passes the incoming messages on`,
		`"fromId":"join","toId":"alert","type":"stream_late"`:   `"lateEvents": true`,
	} {
		def, err := definition.Parse(fmt.Appendf(nil, `{"metadata":{"nodes":[
			{"id":"join","type":"x/streamAggregator"},{"id":"window","type":"x/streamAggregator"},{"id":"alert","type":"log"},
			{"id":"late","type":"x/streamAggregator","configuration":{"lateEvents":true}},{"type":"log"}],"connections":[{%s}]}}`, connection))
		require.NoError(t, err)
		got := definition.Warnings(def)
		if says == "" {
			require.Empty(t, got, connection)
			continue
		}
		require.Len(t, got, 1, connection)
		require.Contains(t, got[0], says)
	}
}

// The chains that are shipped set a good example.
func TestChainsAreWithoutWarnings(t *testing.T) {
	for _, name := range []string{"can-gps", "card-face", "command-ack", "corroboration", "mqtt", "order-cascade", "rest", "two-stage"} {
		text, err := chains.Chain(name)
		require.NoError(t, err)
		def, err := definition.Parse(text)
		require.NoError(t, err)
		require.Empty(t, definition.Warnings(def), name)
	}
}

func ExampleWarnings() {
	def, err := definition.Parse([]byte(`{"metadata": {
		"nodes": [{"id": "join", "type": "x/streamAggregator"}, {"id": "alert", "type": "log"}],
		"connections": [{"fromId": "join", "toId": "alarm", "type": "stream_event"}]}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, w := range definition.Warnings(def) {
		fmt.Println(w)
	}
	// Output: connection join –stream_event→ alarm: there is no node "alarm", what comes through is lost
}
