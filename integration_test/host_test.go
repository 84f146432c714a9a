package integration_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/builtin/aspect"
	"github.com/rulego/rulego/endpoint"
	"github.com/rulego/rulego/engine"
	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/component"
	"github.com/streamjoin/streamjoin/streamaggregator"
)

// newPool returns an engine pool of its own and a configuration whose registry
// has RuleGo's components and ours, so that tests share nothing.
func newPool(t *testing.T) (*engine.Pool, types.Config) {
	t.Helper()
	registry := new(engine.RuleComponentRegistry)
	for _, c := range engine.Registry.GetComponents() {
		require.NoError(t, registry.Register(c))
	}
	require.NoError(t, component.Register(registry))
	config := engine.NewConfig(types.WithComponentsRegistry(registry), types.WithLogger(testLogger{t}))
	return engine.NewPool(), config
}

// start runs a chain, with its endpoints, in a pool of its own and with a
// recorder on all its nodes.
func start(t *testing.T, id string, chain []byte) (types.RuleEngine, *recorder) {
	t.Helper()
	pool, config := newPool(t)
	seen := newRecorder()
	e, err := pool.New(id, chain, engine.WithConfig(config), types.WithAspects(seen, &aspect.EndpointAspect{EndpointPool: endpoint.NewPool()}))
	require.NoError(t, err)
	// A test that fails half-way must not leave goroutines to the next.
	t.Cleanup(func() { e.Stop(context.Background()) })
	return e, seen
}

// drainAndStop ends a chain as a host does: nothing that was accepted is lost.
func drainAndStop(t *testing.T, e types.RuleEngine) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	require.NoError(t, component.Drain(ctx, e))
	e.Stop(ctx)
}

// message is a RuleGo message with a JSON body.
func message(metadata map[string]string, body []byte) types.RuleMsg {
	m := types.NewMetadata()
	for k, v := range metadata {
		m.PutValue(k, v)
	}
	return types.NewMsg(0, "TELEMETRY", types.JSON, m, string(body))
}

// testLogger sends RuleGo's log to the test's.
type testLogger struct{ t *testing.T }

func (l testLogger) log(level, format string, v ...any) {
	l.t.Log(level, fmt.Sprintf(format, v...))
}

func (l testLogger) Printf(format string, v ...any) { l.log("print", format, v...) }
func (l testLogger) Debugf(format string, v ...any) { l.log("debug", format, v...) }
func (l testLogger) Infof(format string, v ...any)  { l.log("info", format, v...) }
func (l testLogger) Warnf(format string, v ...any)  { l.log("warn", format, v...) }
func (l testLogger) Errorf(format string, v ...any) { l.log("error", format, v...) }

// nodeOf returns one of our nodes of a running chain.
func nodeOf(t *testing.T, e types.RuleEngine, id string) *streamaggregator.Node {
	t.Helper()
	ctx, ok := e.RootRuleChainCtx().GetNodeById(types.RuleNodeId{Id: id, Type: types.NODE})
	require.True(t, ok)
	holder, ok := ctx.(*engine.RuleNodeCtx)
	require.True(t, ok)
	node, ok := holder.Node.(*streamaggregator.Node)
	require.True(t, ok)
	return node
}
