package streamaggregator

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/engine"
	"github.com/stretchr/testify/require"
)

// reloading is an engine that reloads until it is told to be done.
type reloading struct {
	mu     sync.Mutex
	active int64
	done   chan struct{}
}

func (r *reloading) add(n int64) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.active += n
	return r.active
}

func (r *reloading) IncrementActiveOperations() int64 { return r.add(1) }
func (r *reloading) DecrementActiveOperations() int64 { return r.add(-1) }

func (r *reloading) RootRuleContext() types.RuleContext { return nil }

func (r *reloading) IsReloading() bool {
	select {
	case <-r.done:
		return false
	default:
		return true
	}
}

func (r *reloading) WaitForReloadComplete(timeout time.Duration) bool {
	select {
	case <-r.done:
		return true
	case <-time.After(timeout):
		return false
	}
}

func TestResultsWaitForTheEndOfAReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reloading{done: make(chan struct{})}
		g := gate{found: r}
		entered := make(chan operations, 1)
		go func() { entered <- g.enter(nil, nil) }()
		time.Sleep(reloadPatience / 2)
		synctest.Wait()
		require.Empty(t, entered)
		require.Zero(t, r.add(0), "what waits must not hold the reload up")
		close(r.done)
		require.Equal(t, operations(r), <-entered)
		require.EqualValues(t, 1, r.add(0))
	})
}

func TestResultsDoNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reloading{done: make(chan struct{})}
		g := gate{found: r}
		begin := time.Now()
		require.Nil(t, g.enter(nil, nil))
		require.Equal(t, reloadPatience, time.Since(begin))
		require.Zero(t, r.add(0))
	})
}

func TestGateFindsTheEngineOfTheChain(t *testing.T) {
	proto := newPrototype(&fakeEngine{})
	h, other := newHost(t, proto), newHost(t, proto)
	e := h.start("e", chainDSL("c", `"sql":"s"`))
	other.start("e", chainDSL("c", `"sql":"s"`))
	h.start("f", chainDSL("c", `"sql":"s"`))
	for range 2 { // before and after the chain was replaced
		n := instance(t, e, "a")
		ops := n.gate.engine(n.chain, n.place.owner)
		require.Equal(t, operations(e.(*engine.RuleEngine)), ops)
		require.Same(t, n.chain, liveChain(ops))
		require.NoError(t, e.ReloadSelf([]byte(chainDSL("c", `"sql":"s"`))))
	}
	outside := instance(t, h.start("-", chainDSL("c", `"sql":"s"`)), "a")
	require.Nil(t, outside.gate.engine(outside.chain, outside.place.owner))
}
