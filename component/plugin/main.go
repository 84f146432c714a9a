// Command plugin is the project's nodes as a RuleGo plugin:
//
//	go build -buildmode=plugin -o streamjoin.so github.com/streamjoin/streamjoin/component/plugin
//	reg.RegisterPlugin("streamjoin", "streamjoin.so")
//
// Go loads a plugin only into a host that was built by the same toolchain, with the
// same flags and the same versions of all shared packages, and with cgo. The plugin
// registers nothing by itself: RegisterPlugin does, and it fails when the type is
// taken.
package main

import (
	"github.com/rulego/rulego/api/types"

	"github.com/streamjoin/streamjoin/component"
)

// Plugins is the symbol RegisterPlugin looks for.
var Plugins plugins

type plugins struct{}

var _ types.PluginRegistry = plugins{}

// Init implements types.PluginRegistry.
func (plugins) Init() error { return nil }

// Components implements types.PluginRegistry.
func (plugins) Components() []types.Node { return component.Components() }

func main() {} // -buildmode=plugin ignores it; go build ./... wants it
