package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNodeAccount(t *testing.T) {
	stats := map[string]int64{"node_accepted": 5, "node_refused": 1, "input_count": 7, "node_emitted": 3}
	require.Equal(t, "5 messages accepted, 1 refused; 7 rows in; 3 results sent on", nodeAccount(stats))
	stats["dropped_count"], stats["node_undelivered"] = 2, 1
	require.Equal(t, "5 messages accepted, 1 refused; 7 rows in, 2 dropped; 3 results sent on, 1 undelivered", nodeAccount(stats))
}
