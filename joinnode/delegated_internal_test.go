package joinnode

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheEndWaitsForEmitSync: streamsql may be done while a caller of EmitSync
// still has the sinks.
func TestTheEndWaitsForEmitSync(t *testing.T) {
	e := New(WithDiscardLog())
	require.NoError(t, e.Execute("SELECT id FROM s"))
	q, ok := e.query.(*delegatedQuery)
	require.True(t, ok)
	e.AddSink(func([]map[string]any) {
		e.Stop()
		<-q.started().Done()
		for range 1000 {
			runtime.Gosched()
		}
		select {
		case <-e.Done():
			t.Error("the end came before the last result")
		default:
		}
	})
	_, err := e.EmitSync(map[string]any{"id": 1})
	require.NoError(t, err)
	<-e.Done()
}
