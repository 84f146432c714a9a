package rows

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/engine"

	"github.com/streamjoin/streamjoin/component"
	"github.com/streamjoin/streamjoin/joinnode/bench/harness"
	"github.com/streamjoin/streamjoin/joinnode/bench/reference"
	"github.com/streamjoin/streamjoin/joinnode/bench/workload"
	"github.com/streamjoin/streamjoin/streamaggregator"
)

// passOn is a node that does nothing but pass messages on, and counts them.
type passOn struct{ passed *passed }

type passed struct {
	n    atomic.Int64
	want atomic.Int64
	all  chan struct{} // told when n reaches want
}

// expect returns a channel that tells when n more messages have passed.
func (p *passed) expect(n int64) <-chan struct{} {
	p.want.Store(p.n.Load() + n)
	return p.all
}

func (p *passOn) Type() string    { return "bench/pass" }
func (p *passOn) New() types.Node { return &passOn{passed: p.passed} }
func (p *passOn) Destroy()        {}
func (p *passOn) Init(types.Config, types.Configuration) error {
	return nil
}

func (p *passOn) OnMsg(ctx types.RuleContext, msg types.RuleMsg) {
	if p.passed.n.Add(1) == p.passed.want.Load() {
		p.passed.all <- struct{}{}
	}
	ctx.TellSuccess(msg)
}

// host is an engine pool with our node and passOn.
type host struct {
	pool   *engine.Pool
	config types.Config
	passed *passed
}

func newHost() (*host, error) {
	registry := new(engine.RuleComponentRegistry)
	h := &host{pool: engine.NewPool(), passed: &passed{all: make(chan struct{}, 1)}}
	errs := []error{component.Register(registry), registry.Register(&passOn{passed: h.passed})}
	h.config = engine.NewConfig(types.WithComponentsRegistry(registry), types.WithLogger(silent{}))
	return h, errors.Join(errs...)
}

// chain starts a chain of two nodes: one of the given type, and behind each
// relation of it a passOn.
func (h *host) chain(id, nodeType, configuration string, relations ...string) (types.RuleEngine, error) {
	connections := ""
	for _, relation := range relations {
		if connections != "" {
			connections += ","
		}
		connections += fmt.Sprintf(`{"fromId":"first","toId":"next","type":%q}`, relation)
	}
	return h.pool.New(id, fmt.Appendf(nil, `{"ruleChain":{"id":%q,"name":%q},"metadata":{"nodes":[
		{"id":"first","type":%q,"configuration":%s},{"id":"next","type":"bench/pass","configuration":{}}],
		"connections":[%s]}}`, id, id, nodeType, configuration, connections), engine.WithConfig(h.config))
}

func joinConfiguration(sql string) string {
	return fmt.Sprintf(`{"sql":%q,"streamKey":"streamName","joinMaxKeys":%d}`, sql, maxKeys)
}

// send passes all messages of a chunk through a chain, one after the other, as an
// endpoint with "wait" does.
func send(e types.RuleEngine, c *workload.Chunk) {
	for i := range c.Rows {
		meta := types.NewMetadata()
		meta.PutValue("streamName", c.Stream(i))
		e.OnMsgAndWait(types.NewMsgFromBytes(0, "ROW", types.JSON, meta, c.Message(i)))
	}
}

// nodeOf returns the join node of a chain.
func nodeOf(e types.RuleEngine) (*streamaggregator.Node, error) {
	if chain, ok := e.RootRuleChainCtx().(*engine.RuleChainCtx); ok {
		if ctx, ok := chain.GetNodeById(types.RuleNodeId{Id: "first", Type: types.NODE}); ok {
			if n, ok := component.Node(ctx); ok {
				return n, nil
			}
		}
	}
	return nil, fmt.Errorf("%w: the chain has no join node", harness.ErrCheck)
}

// onMsg measures what a message that meets no match costs in a rule chain beyond
// one that is only passed on.
func onMsg(r *harness.Run) error {
	window := r.Scaled(60_000, 2000)
	keys, err := workload.NewKeys(window)
	if err != nil {
		return err
	}
	s, err := workload.New(workload.Config{Window: window, Keys: window, Key: apart(window)})
	if err != nil {
		return err
	}
	c, err := workload.NewMessages(r.Scaled(60_000, 5000), keys)
	if err != nil {
		return err
	}
	h, err := newHost()
	if err != nil {
		return err
	}
	defer h.pool.Stop()
	join, err := h.chain("join", streamaggregator.Type, joinConfiguration(standardSQL), types.Success, streamaggregator.RelationEvent)
	if err != nil {
		return err
	}
	pass, err := h.chain("pass", "bench/pass", `{}`, types.Success)
	if err != nil {
		return err
	}
	node, err := nodeOf(join)
	if err != nil {
		return err
	}
	sent := 0
	own := func() (time.Duration, error) {
		sent += len(c.Rows)
		before := h.passed.n.Load()
		spent, err := harness.CPU("engine", func() error {
			send(join, c)
			return processed(node, int64(sent))
		})
		if err != nil {
			return 0, err
		}
		return spent, harness.Equal("messages passed on", h.passed.n.Load()-before, int64(len(c.Rows)))
	}
	for fed := 0; fed < 2*window+window/2; fed += len(c.Rows) {
		if err := c.Fill(s); err != nil {
			return err
		}
		if _, err := own(); err != nil {
			return err
		}
	}
	err = r.Contest(harness.Contest{
		Per:     "message",
		Prepare: func() (int, error) { return len(c.Rows), c.Fill(s) },
		Own:     own,
		Other: func() (time.Duration, error) {
			before := h.passed.n.Load()
			spent, _ := harness.CPU("reference", func() error { send(pass, c); return nil })
			return spent, harness.Equal("messages passed on", h.passed.n.Load()-before, int64(2*len(c.Rows)))
		},
		Judge: func(own, other time.Duration, n int) float64 { return microseconds(own-other) / float64(n) },
	})
	if err != nil {
		return err
	}
	stats := node.Stats()
	r.Note("%d rows are in the window, %d matches", stats["join_stage1_buffered_rows"], stats["join_stage1_matches_emitted"])
	if err := harness.Equal("rows refused", stats["node_refused"], 0); err != nil {
		return err
	}
	return harness.AtLeast("rows in the window", float64(stats["join_stage1_buffered_rows"]), 1.97*float64(window))
}

// processed waits until the node's query has worked on n rows. The node passes a
// message on before that.
func processed(node *streamaggregator.Node, n int64) error {
	for deadline := time.Now().Add(time.Minute); node.Stats()["input_count"] < n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("%w: rows are missing", harness.ErrCheck)
		}
	}
	return nil
}

// delivery measures what one event on stream_event costs. One message meets
// 1,000 partners, so that what it costs itself vanishes.
func delivery(r *harness.Run) error {
	const partners = 1000
	probes := r.Scaled(40, 4) // a round
	keys, err := workload.NewKeys(1)
	if err != nil {
		return err
	}
	h, err := newHost()
	if err != nil {
		return err
	}
	defer h.pool.Stop()
	join, err := h.chain("join", streamaggregator.Type, joinConfiguration(storeSQL), streamaggregator.RelationEvent)
	if err != nil {
		return err
	}
	bare, err := h.chain("bare", "bench/pass", `{}`, streamaggregator.RelationEvent)
	if err != nil {
		return err
	}
	chain, ok := bare.RootRuleChainCtx().(*engine.RuleChainCtx)
	if !ok {
		return fmt.Errorf("%w: no chain", harness.ErrCheck)
	}
	from, ok := chain.GetNodeById(types.RuleNodeId{Id: "first", Type: types.NODE})
	if !ok {
		return fmt.Errorf("%w: no node", harness.ErrCheck)
	}
	d := reference.Delivery{Chain: chain, From: from, Config: h.config}
	node, err := nodeOf(join)
	if err != nil {
		return err
	}
	left, err := oneSided(0, partners, keys)
	if err != nil {
		return err
	}
	// The first message starts the engine's goroutines.
	if _, err := harness.CPU("engine", func() error { send(join, left); return nil }); err != nil {
		return err
	}
	right, err := oneSided(1, probes, keys)
	if err != nil {
		return err
	}
	events := probes * partners
	data := []byte(`[{"deviceId":"device-00000","temperature":80.53,"humidity":41.20,"vibration":12.34,"outside":56.78}]`)
	err = r.Contest(harness.Contest{
		Per:     "event",
		Prepare: func() (int, error) { return events, nil },
		Own: func() (time.Duration, error) {
			before := h.passed.n.Load()
			all := h.passed.expect(int64(events))
			spent, err := harness.CPU("engine", func() error {
				send(join, right)
				return wait(all)
			})
			if err != nil {
				return 0, err
			}
			return spent, harness.Equal("events", h.passed.n.Load()-before, int64(events))
		},
		Other: func() (time.Duration, error) {
			before := h.passed.n.Load()
			spent, _ := harness.CPU("reference", func() error {
				for range events {
					d.Send(streamaggregator.RelationEvent, data)
				}
				return nil
			})
			return spent, harness.Equal("events", h.passed.n.Load()-before, int64(events))
		},
	})
	if err != nil {
		return err
	}
	stats := node.Stats()
	r.Note("%d events left the node, %d were lost", stats["node_emitted"], stats["node_undelivered"])
	return harness.Equal("events lost", stats["node_undelivered"], 0)
}

func wait(all <-chan struct{}) error {
	select {
	case <-all:
		return nil
	case <-time.After(time.Minute):
		return fmt.Errorf("%w: events are missing", harness.ErrCheck)
	}
}

// oneSided returns n messages of one stream and one device. All chunks lie within
// the same few seconds, so that rows of both streams meet.
func oneSided(port uint8, n int, keys *workload.Keys) (*workload.Chunk, error) {
	s, err := workload.New(workload.Config{Window: 60_000, Keys: 1, Port: &port})
	if err != nil {
		return nil, err
	}
	c, err := workload.NewMessages(n, keys)
	if err != nil {
		return nil, err
	}
	return c, c.Fill(s)
}

// silent swallows RuleGo's log.
type silent struct{}

func (silent) Printf(string, ...any) {}
func (silent) Debugf(string, ...any) {}
func (silent) Infof(string, ...any)  {}
func (silent) Warnf(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
