// Package register registers the project's nodes with RuleGo's default registry.
// Import it for its side effect:
//
//	import _ "github.com/streamjoin/streamjoin/component/register"
//
// A node of the same type that another package has registered is replaced.
package register

import (
	"github.com/rulego/rulego/engine"

	"github.com/streamjoin/streamjoin/component"
)

func init() {
	// An import has no way to return an error, and chains that need the nodes
	// would fail one by one later.
	if err := component.Register(engine.Registry); err != nil {
		panic(err)
	}
}
