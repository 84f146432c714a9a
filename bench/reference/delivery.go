package reference

import (
	"context"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/engine"
)

// Delivery sends messages into a running rule chain as from one of its nodes, in
// order: a fresh context for each, with a pool that collects the tasks of the
// first hop, which then run inline. It is the least that keeps order in RuleGo.
type Delivery struct {
	Chain  *engine.RuleChainCtx
	From   types.NodeCtx
	Config types.Config
}

// Send delivers one message and returns when the chain is through with it.
func (d *Delivery) Send(relation string, data []byte) {
	meta := types.NewMetadata()
	meta.PutValue("queryType", "stream_join")
	meta.PutValue("resultType", "join_matched")
	msg := types.NewMsgFromBytes(0, relation, types.JSON, meta, append([]byte(nil), data...))
	hop := &inline{collecting: true}
	ctx := engine.NewRuleContext(context.Background(), d.Config, d.Chain, d.From, d.From, hop, nil, d.Chain.GetRuleEnginePool())
	ctx.TellNext(msg, relation)
	hop.run()
}

// inline is the pool: it collects until told to run, and runs later tasks at
// once.
type inline struct {
	collecting bool
	tasks      []func()
}

// Submit implements types.Pool.
func (p *inline) Submit(task func()) error {
	if p.collecting {
		p.tasks = append(p.tasks, task)
		return nil
	}
	task()
	return nil
}

// Release implements types.Pool.
func (p *inline) Release() {}

func (p *inline) run() {
	p.collecting = false
	for _, task := range p.tasks {
		task()
	}
}
