// Command host loads the plugin named by its argument, runs a rule chain with its
// node and prints the result.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/engine"
)

const chain = `{"ruleChain":{"id":"c"},"metadata":{"nodes":[
	{"id":"a","type":"x/streamAggregator","configuration":{"streamKey":"streamName",
	 "sql":"SELECT s.deviceId, s.temperature AS temp, v.vibration AS vib FROM tempStream AS s JOIN vibrationStream AS v WITHIN 30 SECONDS ON s.deviceId = v.deviceId"}},
	{"id":"out","type":"host/print"}],
	"connections":[{"fromId":"a","toId":"out","type":"stream_event"}]}}`

type printer struct{ printed chan string }

func (p printer) Type() string                                 { return "host/print" }
func (p printer) New() types.Node                              { return p }
func (p printer) Init(types.Config, types.Configuration) error { return nil }
func (p printer) Destroy()                                     {}

func (p printer) OnMsg(ctx types.RuleContext, msg types.RuleMsg) {
	p.printed <- msg.GetData()
	ctx.TellSuccess(msg)
}

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(file string) error {
	reg := &engine.RuleComponentRegistry{}
	if err := reg.RegisterPlugin("streamjoin", file); err != nil {
		return err
	}
	if err := reg.RegisterPlugin("again", file); err == nil {
		return fmt.Errorf("the plugin was registered twice")
	}
	p := printer{printed: make(chan string, 1)}
	if err := reg.Register(p); err != nil {
		return err
	}
	e, err := engine.NewPool().New("c", []byte(chain), engine.WithConfig(engine.NewConfig(types.WithComponentsRegistry(reg))))
	if err != nil {
		return err
	}
	for stream, data := range map[string]string{"tempStream": `{"deviceId":"d1","temperature":80.50}`, "vibrationStream": `{"deviceId":"d1","vibration":35.2}`} {
		meta := types.NewMetadata()
		meta.PutValue("streamName", stream)
		e.OnMsgAndWait(types.NewMsg(0, "T", types.JSON, meta, data))
	}
	select {
	case data := <-p.printed:
		fmt.Println(data)
		return nil
	case <-time.After(10 * time.Second):
		return fmt.Errorf("no result came")
	}
}
