package streamaggregator

import (
	"testing"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/engine"

	"github.com/streamjoin/streamjoin/joinnode"
)

// BenchmarkEmit measures what one result costs on its way into the next node.
func BenchmarkEmit(b *testing.B) {
	reg := &engine.RuleComponentRegistry{}
	for _, c := range []types.Node{newPrototype(&fakeEngine{}), &discard{}} {
		if err := reg.Register(c); err != nil {
			b.Fatal(err)
		}
	}
	e, err := engine.NewPool().New("c", []byte(`{"ruleChain":{"id":"c"},"metadata":{"nodes":[
		{"id":"a","type":"x/streamAggregator","configuration":{"sql":"s"}},{"id":"out","type":"test/discard"}],
		"connections":[{"fromId":"a","toId":"out","type":"stream_event"}]}}`),
		engine.WithConfig(engine.NewConfig(types.WithComponentsRegistry(reg))))
	if err != nil {
		b.Fatal(err)
	}
	ctx, _ := e.RootRuleChainCtx().GetNodeById(types.RuleNodeId{Id: "a"})
	node := ctx.(*engine.RuleNodeCtx).Node.(*Node)
	result := joinnode.Result{Type: joinnode.JoinMatched, JSON: []byte(`[{"deviceId":"d1","temp":80.50,"vib":35.2}]`)}
	b.ReportAllocs()
	for b.Loop() {
		node.onResult(result)
	}
}

type discard struct{}

func (*discard) Type() string                                   { return "test/discard" }
func (*discard) New() types.Node                                { return &discard{} }
func (*discard) Init(types.Config, types.Configuration) error   { return nil }
func (*discard) OnMsg(ctx types.RuleContext, msg types.RuleMsg) { ctx.TellSuccess(msg) }
func (*discard) Destroy()                                       {}
