package chains_test

import (
	"fmt"

	"github.com/rulego/rulego/engine"

	"github.com/streamjoin/streamjoin/chains"
)

func ExampleChain() {
	text, err := chains.Chain("two-stage")
	if err != nil {
		fmt.Println(err)
		return
	}
	chain, err := (&engine.JsonParser{}).DecodeRuleChain(text)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range chain.Metadata.Connections {
		fmt.Println(c.FromId, c.Type, c.ToId)
	}
	// Output:
	// join stream_event window
	// window stream_event alert
}
