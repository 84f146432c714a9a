package integration_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/builtin/aspect"
	"github.com/rulego/rulego/endpoint"
	"github.com/rulego/rulego/engine"
	"github.com/stretchr/testify/require"
)

const streamLate = "stream_late"

// visits is an aspect that writes down what the recorder does not: which nodes behind
// ours a message came through, and the rows that ours left out.
type visits struct {
	mu   sync.Mutex
	at   map[string][]string // node → "table resultType payload", "payload" where there is no table
	late []leftOut
}

// leftOut is a message on stream_late.
type leftOut struct {
	metadata map[string]string
	row      string
}

var _ types.AfterAspect = (*visits)(nil)

func newVisits() *visits { return &visits{at: map[string][]string{}} }

// Order is late: the message as it leaves.
func (v *visits) Order() int { return 1000 }

// New keeps one for all contexts of an engine.
func (v *visits) New() types.Aspect { return v }

// PointCut takes everything.
func (v *visits) PointCut(types.RuleContext, types.RuleMsg, string) bool { return true }

// After records and changes nothing.
func (v *visits) After(ctx types.RuleContext, msg types.RuleMsg, _ error, relation string) types.RuleMsg {
	v.mu.Lock()
	defer v.mu.Unlock()
	data := strings.Clone(msg.GetData())
	switch relation {
	case streamLate:
		v.late = append(v.late, leftOut{msg.Metadata.Values(), data})
	case types.Success:
		line := data
		if table := msg.Metadata.GetValue("table"); table != "" {
			line = strings.Join([]string{table, msg.Metadata.GetValue("resultType"), data}, " ")
		}
		v.at[ctx.GetSelfId()] = append(v.at[ctx.GetSelfId()], line)
	}
	return msg
}

// through is what came through a node, in order.
func (v *visits) through(node string) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]string(nil), v.at[node]...)
}

// omitted are the rows that were left out, each as "table: reason row", in order.
func (v *visits) omitted() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var lines []string
	for _, l := range v.late {
		lines = append(lines, l.metadata["table"]+": "+l.metadata["reason"]+" "+l.row)
	}
	return lines
}

// tableHost is a running chain with a recorder and visits on its nodes.
type tableHost struct {
	types.RuleEngine
	pool   *engine.Pool
	config types.Config
	seen   *recorder
	visits *visits
}

func startTables(t *testing.T, chain []byte) *tableHost {
	t.Helper()
	h := &tableHost{seen: newRecorder(), visits: newVisits()}
	h.pool, h.config = newPool(t)
	var err error
	h.RuleEngine, err = h.pool.New("", chain, engine.WithConfig(h.config),
		types.WithAspects(h.seen, h.visits, &aspect.EndpointAspect{EndpointPool: endpoint.NewPool()}))
	require.NoError(t, err)
	t.Cleanup(func() { h.Stop(t.Context()) })
	return h
}

// play hands a scenario's arrivals to the chain, each at its instant of a fake clock,
// and calls look after each, when all has settled.
func (h *tableHost) play(t *testing.T, s scenario, look func()) {
	t.Helper()
	for _, a := range s.Arrivals {
		offset, err := a.Offset()
		require.NoError(t, err)
		time.Sleep(time.Until(epoch.Add(offset)))
		synctest.Wait()
		h.OnMsgAndWait(message(a.Metadata, a.Body))
		synctest.Wait()
		look()
	}
}

// do sends JSON and returns status and body of the answer.
func do(t *testing.T, method, url, body string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(text)
}
