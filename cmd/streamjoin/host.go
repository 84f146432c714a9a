package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/engine"

	"github.com/streamjoin/streamjoin/component"
	"github.com/streamjoin/streamjoin/component/definition"
)

// host is what all chains of this process share: an engine pool, and a registry
// with RuleGo's components and ours.
type host struct {
	pool    *engine.Pool
	config  types.Config
	started []types.RuleEngine // by keep, in this order
}

// newHost makes a host. Further nodes take the place of those of their types.
func newHost(log types.Logger, nodes ...types.Node) (*host, error) {
	registry := new(engine.RuleComponentRegistry)
	for name, c := range engine.Registry.GetComponents() {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("register %s: %w", name, err)
		}
	}
	if err := component.Register(registry); err != nil {
		return nil, err
	}
	for _, n := range nodes {
		if err := errors.Join(registry.Unregister(n.Type()), registry.Register(n)); err != nil {
			return nil, fmt.Errorf("register %s: %w", n.Type(), err)
		}
	}
	return &host{
		pool:   engine.NewPool(),
		config: engine.NewConfig(types.WithComponentsRegistry(registry), types.WithLogger(log)),
	}, nil
}

// start runs a chain under its own id, with its endpoints. Additional aspects see
// what its nodes tell. It may take long (an MQTT endpoint waits 8 s for its broker),
// and RuleGo has no way to end it early.
func (h *host) start(chain []byte, aspects ...types.Aspect) (types.RuleEngine, error) {
	def, err := definition.Parse(chain)
	if err != nil {
		return nil, err
	}
	if err := definition.CheckTypes(def, h.config.ComponentsRegistry); err != nil {
		return nil, err
	}
	// The pool would hand back the running chain of that id and say nothing.
	if _, taken := h.pool.Get(def.RuleChain.ID); taken {
		return nil, fmt.Errorf("a chain with the id %q is running already", def.RuleChain.ID)
	}
	return h.pool.New("", chain, engine.WithConfig(h.config), types.WithAspects(append(aspects, newEndpointAspect())...))
}

// keep makes stop end an engine.
func (h *host) keep(e types.RuleEngine) { h.started = append(h.started, e) }

// running are all chains: those started here, also without an id and so unknown
// to the pool, and those that came through the admin API; without those that the
// admin API has deleted.
func (h *host) running() []types.RuleEngine {
	var all []types.RuleEngine
	known := make(map[types.RuleEngine]bool, len(h.started))
	for _, e := range h.started {
		known[e] = true
		if e.Initialized() {
			all = append(all, e)
		}
	}
	h.pool.Range(func(_, value any) bool {
		if e, ok := value.(types.RuleEngine); ok && !known[e] {
			all = append(all, e)
		}
		return true
	})
	return all
}

// stop ends all chains, the newest first, so that no accepted row is lost: first
// what feeds them, then their queries, then the engines. It shows each chain to
// drained, when that is not nil, while its counters can still be read.
func (h *host) stop(ctx context.Context, drained func(types.RuleEngine)) error {
	var errs []error
	all := h.running()
	for i := len(all) - 1; i >= 0; i-- {
		component.CloseEndpoints(all[i])
		if err := component.Drain(ctx, all[i]); err != nil {
			errs = append(errs, fmt.Errorf("chain %q: %w", all[i].Id(), err))
		}
		if drained != nil {
			drained(all[i])
		}
		all[i].Stop(ctx)
	}
	return errors.Join(errs...)
}
