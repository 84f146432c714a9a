package streamaggregator

import (
	"fmt"
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
		g := newGate()
		entered := make(chan operations, 1)
		go func() { entered <- g.enter(r) }()
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
		g := newGate()
		begin := time.Now()
		require.Nil(t, g.enter(r))
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

// TestResultsAreSetAsideWhileAReloadGoesOn: a reload waits for messages, these for
// room in the query, and the query for its results to be taken; none may wait for
// the reload.
func TestResultsAreSetAsideWhileAReloadGoesOn(t *testing.T) {
	h := fakeHost(t)
	n := instance(t, h.start("e", chainDSL("c", `"sql":"s"`)), "a")
	r := &reloading{done: make(chan struct{})}
	n.gate.found = r
	want := make([]string, 0, 3*maxHeld)
	emit := func(from, to int) {
		for i := from; i < to; i++ {
			want = append(want, fmt.Sprintf(`[{"n":%d}]`, i))
			n.emit(RelationEvent, types.NewMetadata(), []byte(want[i]))
		}
	}
	emit(0, 2*maxHeld) // more than may wait at other times, and none returns late
	require.Zero(t, r.add(0), "what was set aside must not hold the reload up")
	require.Empty(t, h.out.all())
	close(r.done)
	emit(2*maxHeld, 3*maxHeld)
	h.out.wait(t, len(want))
	require.Equal(t, want, h.out.at(""), "in order")
	require.NoError(t, n.inFlight.wait(t.Context()))
	require.Zero(t, r.add(0))
}

// TestSuccessiveInstancesShareTheGate, so that what the old one set aside comes
// before what the new one sends.
func TestSuccessiveInstancesShareTheGate(t *testing.T) {
	h := fakeHost(t)
	e := h.start("e", chainDSL("c", `"sql":"s"`))
	g := instance(t, e, "a").gate
	require.NoError(t, e.ReloadChild("a", nodeDSL(`"sql":"s2"`)))
	require.Same(t, g, instance(t, e, "a").gate)
	require.NoError(t, e.ReloadSelf([]byte(chainDSL("c", `"sql":"s3"`))))
	require.Same(t, g, instance(t, e, "a").gate)
	require.NotSame(t, g, instance(t, h.start("f", chainDSL("c", `"sql":"s"`)), "a").gate)
}
