package main

import (
	"fmt"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/builtin/aspect"
	"github.com/rulego/rulego/endpoint"
	"github.com/rulego/rulego/engine"

	"github.com/streamjoin/streamjoin/component"
)

// host is what all chains of this process share: an engine pool, a registry with
// RuleGo's components and ours, and the endpoints that the chains declare.
type host struct {
	pool   *engine.Pool
	config types.Config
}

func newHost(log types.Logger) (*host, error) {
	registry := new(engine.RuleComponentRegistry)
	for name, c := range engine.Registry.GetComponents() {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("register %s: %w", name, err)
		}
	}
	if err := component.Register(registry); err != nil {
		return nil, err
	}
	return &host{
		pool:   engine.NewPool(),
		config: engine.NewConfig(types.WithComponentsRegistry(registry), types.WithLogger(log)),
	}, nil
}

// start runs a chain under its own id, with its endpoints. Additional aspects see
// what its nodes tell.
func (h *host) start(chain []byte, aspects ...types.Aspect) (types.RuleEngine, error) {
	def, err := h.config.Parser.DecodeRuleChain(chain)
	if err != nil {
		return nil, fmt.Errorf("not a rule chain: %w", err)
	}
	// The pool would hand back the running chain of that id and say nothing.
	if _, taken := h.pool.Get(def.RuleChain.ID); taken {
		return nil, fmt.Errorf("a chain with the id %q is running already", def.RuleChain.ID)
	}
	aspects = append(aspects, &aspect.EndpointAspect{EndpointPool: endpoint.NewPool()})
	return h.pool.New("", chain, engine.WithConfig(h.config), types.WithAspects(aspects...))
}
