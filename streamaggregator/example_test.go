package streamaggregator_test

import (
	"context"
	"fmt"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/components/action"
	"github.com/rulego/rulego/engine"

	"github.com/streamjoin/streamjoin/streamaggregator"
)

// A node joins two streams whose rows reach it over one chain; the stream's name
// stands in the message's metadata.
func Example() {
	reg := &engine.RuleComponentRegistry{}
	for _, c := range engine.Registry.GetComponents() {
		if err := reg.Register(c); err != nil {
			fmt.Println(err)
		}
	}
	if err := reg.Register(streamaggregator.New()); err != nil {
		fmt.Println(err)
	}
	printed := make(chan string)
	action.Functions.Register("print", func(ctx types.RuleContext, msg types.RuleMsg) {
		printed <- msg.Metadata.GetValue(streamaggregator.MetaResultType) + " " + msg.GetData()
		ctx.TellSuccess(msg)
	})
	e, err := engine.NewPool().New("alarms", []byte(`{"ruleChain":{"id":"alarms"},"metadata":{"nodes":[
		{"id":"join","type":"x/streamAggregator","configuration":{"streamKey":"streamName",
		 "sql":"SELECT s.deviceId, s.temperature AS temp, v.vibration AS vib FROM tempStream AS s JOIN vibrationStream AS v WITHIN 30 SECONDS ON s.deviceId = v.deviceId WHERE s.temperature > 75"}},
		{"id":"print","type":"functions","configuration":{"functionName":"print"}}],
		"connections":[{"fromId":"join","toId":"print","type":"stream_event"}]}}`),
		engine.WithConfig(engine.NewConfig(types.WithComponentsRegistry(reg))))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Stop(context.Background())

	send := func(stream, data string) {
		meta := types.NewMetadata()
		meta.PutValue("streamName", stream)
		e.OnMsgAndWait(types.NewMsg(0, "TELEMETRY", types.JSON, meta, data))
	}
	send("tempStream", `{"deviceId":"d1","temperature":80.50}`)
	send("vibrationStream", `{"deviceId":"d1","vibration":35.2}`)
	fmt.Println(<-printed)
	// Output: join_matched [{"deviceId":"d1","temp":80.50,"vib":35.2}]
}

// Check finds what is wrong with a node's configuration before a chain is touched.
func ExampleCheck() {
	err := streamaggregator.Check(types.Configuration{"sql": "SELECT a.x FROM s AS a JOIN t AS b WITHIN 5 SECONDS ON a.k = b.k", "blockTimeout": 5})
	fmt.Println(err)
	// Output: field "blockTimeout" = 5: is a number, want a text with a unit such as "10s"
}
