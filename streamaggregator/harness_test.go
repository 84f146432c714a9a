package streamaggregator

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/engine"
	"github.com/stretchr/testify/require"
)

// host is a rule engine's surroundings: a registry with RuleGo's components, the
// node under test and a component test/collect, a pool, and what was collected.
type host struct {
	t        *testing.T
	registry *engine.RuleComponentRegistry
	config   types.Config
	pool     *engine.Pool
	log      *logLines
	out      *collected
}

func newHost(t *testing.T, node types.Node) *host {
	t.Helper()
	h := &host{t: t, registry: &engine.RuleComponentRegistry{}, pool: engine.NewPool(), log: &logLines{}, out: &collected{}}
	for _, c := range engine.Registry.GetComponents() {
		require.NoError(t, h.registry.Register(c))
	}
	require.NoError(t, h.registry.Register(node))
	require.NoError(t, h.registry.Register(&collector{out: h.out}))
	h.config = engine.NewConfig(types.WithComponentsRegistry(h.registry), types.WithLogger(h.log))
	t.Cleanup(h.pool.Stop)
	return h
}

// start makes an engine in the host's pool, or outside any pool when id is "-".
func (h *host) start(id, dsl string) types.RuleEngine {
	h.t.Helper()
	if id == "-" {
		e, err := engine.NewRuleEngine("", []byte(dsl), engine.WithConfig(h.config))
		require.NoError(h.t, err)
		h.t.Cleanup(func() { stop(e) })
		return e
	}
	e, err := h.pool.New(id, []byte(dsl), engine.WithConfig(h.config))
	require.NoError(h.t, err)
	h.t.Cleanup(func() { stop(e) }) // an engine without id is not in the pool
	return e
}

func stop(e types.RuleEngine) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	e.Stop(ctx)
}

// outcome is how a message left the chain's end.
type outcome struct {
	relation string
	err      error
	data     string
}

// send runs one message through the chain and waits for its end.
func send(t *testing.T, e types.RuleEngine, meta map[string]string, data string) outcome {
	t.Helper()
	return sendMsg(t, e, message(meta, data))
}

func sendMsg(t *testing.T, e types.RuleEngine, msg types.RuleMsg) outcome {
	t.Helper()
	var (
		mu   sync.Mutex
		ends []outcome
	)
	e.OnMsgAndWait(msg, types.WithOnEnd(func(_ types.RuleContext, m types.RuleMsg, err error, relation string) {
		mu.Lock()
		defer mu.Unlock()
		ends = append(ends, outcome{relation, err, m.GetData()})
	}))
	mu.Lock()
	defer mu.Unlock()
	require.Len(t, ends, 1, "a message ends exactly once")
	return ends[0]
}

// collector stores the messages that reach it.
type collector struct{ out *collected }

func (c *collector) Type() string                                 { return "test/collect" }
func (c *collector) New() types.Node                              { return &collector{out: c.out} }
func (c *collector) Init(types.Config, types.Configuration) error { return nil }
func (c *collector) Destroy()                                     {}

func (c *collector) OnMsg(ctx types.RuleContext, msg types.RuleMsg) {
	c.out.add(event{node: ctx.GetSelfId(), typ: msg.Type, data: msg.GetData(), meta: msg.Metadata.Values()})
	if c.out.hook != nil {
		c.out.hook(ctx, msg)
	}
	ctx.TellSuccess(msg)
}

type event struct {
	node, typ, data string
	meta            map[string]string
}

type collected struct {
	hook func(types.RuleContext, types.RuleMsg)

	mu     sync.Mutex
	events []event
}

func (c *collected) add(e event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, e)
}

func (c *collected) all() []event {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]event(nil), c.events...)
}

// at returns the data of the events at one node, "" for all.
func (c *collected) at(node string) []string {
	var data []string
	for _, e := range c.all() {
		if node == "" || e.node == node {
			data = append(data, e.data)
		}
	}
	return data
}

// wait waits until n events are there and returns them.
func (c *collected) wait(t *testing.T, n int) []event {
	t.Helper()
	require.Eventually(t, func() bool { return len(c.all()) >= n }, 10*time.Second, time.Millisecond, "want %d events", n)
	return c.all()
}

type logLines struct {
	mu    sync.Mutex
	lines []string
}

func (l *logLines) Printf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, v...))
}
func (l *logLines) Debugf(format string, v ...any) { l.Printf(format, v...) }
func (l *logLines) Infof(format string, v ...any)  { l.Printf(format, v...) }
func (l *logLines) Warnf(format string, v ...any)  { l.Printf(format, v...) }
func (l *logLines) Errorf(format string, v ...any) { l.Printf(format, v...) }

func (l *logLines) contains(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(strings.Join(l.lines, "\n"), text)
}

// instance returns the node's present instance.
func instance(t *testing.T, e types.RuleEngine, id string) *Node {
	t.Helper()
	ctx, ok := e.RootRuleChainCtx().GetNodeById(types.RuleNodeId{Id: id})
	require.True(t, ok)
	return ctx.(*engine.RuleNodeCtx).Node.(*Node)
}
