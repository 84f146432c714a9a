package register_test

import (
	"testing"

	"github.com/rulego/rulego/engine"
	"github.com/stretchr/testify/require"

	_ "github.com/streamjoin/streamjoin/component/register"
	"github.com/streamjoin/streamjoin/streamaggregator"
)

func TestImportRegisters(t *testing.T) {
	node, err := engine.Registry.NewNode("x/streamAggregator")
	require.NoError(t, err)
	require.IsType(t, &streamaggregator.Node{}, node)
}
