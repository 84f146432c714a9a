// Package component puts the project's nodes into a RuleGo component registry, warns
// of what is hardly meant in a chain, and drains rule chains before they stop.
//
// A program that only wants the nodes imports component/register for its side
// effect. component/plugin is the same as a plugin file.
package component

import (
	"errors"
	"fmt"

	"github.com/rulego/rulego/api/types"

	"github.com/streamjoin/streamjoin/streamaggregator"
)

// ErrShadowed means that a registry keeps giving out another node for the type:
// a custom registry prefers its default components.
var ErrShadowed = errors.New("another component hides the registered one")

// Components returns new prototypes of all nodes. The instances made from one
// prototype know each other and hand their state over on a reload, so register
// one prototype per process and keep it.
func Components() []types.Node { return []types.Node{streamaggregator.New()} }

// Register registers all nodes. A type that is taken, as x/streamAggregator is in
// a program that also imports RuleGo's own stats/streamsql, is replaced. Chains
// loaded before keep the nodes they have until they are reloaded.
//
// All errors are returned, joined; after an error a replaced node is put back.
func Register(reg types.ComponentRegistry) error {
	var errs []error
	for _, node := range Components() {
		if err := replace(reg, node); err != nil {
			errs = append(errs, fmt.Errorf("register %s: %w", node.Type(), err))
		}
	}
	return errors.Join(errs...)
}

func replace(reg types.ComponentRegistry, node types.Node) error {
	old, taken := reg.GetComponents()[node.Type()]
	if taken {
		if err := reg.Unregister(node.Type()); err != nil {
			return fmt.Errorf("%w: the type is taken by a %T, which cannot be removed: %w", ErrShadowed, old, err)
		}
	}
	if err := reg.Register(node); err != nil {
		if taken {
			err = errors.Join(err, reg.Register(old))
		}
		return err
	}
	made, err := reg.NewNode(node.Type())
	if err != nil {
		return err
	}
	if _, ok := made.(*streamaggregator.Node); !ok {
		return fmt.Errorf("%w: the registry makes a %T", ErrShadowed, made)
	}
	return nil
}
