package admin

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/julienschmidt/httprouter"
	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/engine"
	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/component"
)

// server is an API behind a real rest endpoint on a port of its own.
type server struct {
	t     *testing.T
	pool  *engine.Pool
	url   string
	token string
	out   *printed
	kept  map[string]string
}

func newServer(t *testing.T, token string) *server {
	t.Helper()
	reg := &engine.RuleComponentRegistry{}
	for _, c := range engine.Registry.GetComponents() {
		require.NoError(t, reg.Register(c))
	}
	require.NoError(t, component.Register(reg))
	s := &server{t: t, pool: engine.NewPool(), token: token, out: &printed{}, kept: map[string]string{}}
	require.NoError(t, reg.Register(printer{s.out}))
	config := engine.NewConfig(types.WithComponentsRegistry(reg))
	config.Properties = types.NewProperties()
	config.Properties.PutValue("within", "1 HOUR")
	api := New(s.pool, Options{Token: token, Prefix: "/api/v1", Config: config, OnChange: func(id string, dsl []byte) error {
		s.kept[id] = string(dsl)
		return nil
	}})
	address := freeAddress(t)
	ep, err := api.NewEndpoint(config, address)
	require.NoError(t, err)
	require.NoError(t, ep.Start())
	t.Cleanup(ep.Destroy)
	t.Cleanup(s.pool.Stop)
	s.url = "http://" + address + "/api/v1"
	return s
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	return l.Addr().String()
}

type answer struct {
	status int
	text   string
	body   map[string]any
}

func (s *server) call(method, path, body string, header ...string) answer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	require.NoError(s.t, err)
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
		req.Header.Set(header[i], header[i+1])
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	resp, err := client.Do(req)
	require.NoError(s.t, err)
	defer func() { require.NoError(s.t, resp.Body.Close()) }()
	data, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	a := answer{status: resp.StatusCode, text: string(data)}
	require.NoError(s.t, json.Unmarshal(data, &a.body), "%s", data)
	require.Equal(s.t, "application/json", resp.Header.Get("Content-Type"))
	return a
}

// printer collects what reaches it.
type printer struct{ out *printed }

func (p printer) Type() string                                 { return "test/print" }
func (p printer) New() types.Node                              { return p }
func (p printer) Init(types.Config, types.Configuration) error { return nil }
func (p printer) Destroy()                                     {}

func (p printer) OnMsg(ctx types.RuleContext, msg types.RuleMsg) {
	p.out.mu.Lock()
	p.out.data = append(p.out.data, msg.GetData()+" "+msg.Metadata.GetValue("closedBy"))
	p.out.mu.Unlock()
	ctx.TellSuccess(msg)
}

type printed struct {
	mu   sync.Mutex
	data []string
}

func (p *printed) all() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.data...)
}

const ackSQL = "SELECT c.id, r.code FROM cmd AS c LEFT JOIN ack AS r WITHIN ${global.within} ON c.id = r.id"

func chainOf(sql string) string {
	node, _ := json.Marshal(map[string]any{"id": "a", "type": "x/streamAggregator", "name": "acks",
		"configuration": map[string]any{"sql": sql, "streamKey": "s"}})
	return `{"ruleChain":{"id":"acks","name":"Acks","root":true},"metadata":{"nodes":[` + string(node) + `,{"id":"out","type":"test/print"}],
		"connections":[{"fromId":"a","toId":"out","type":"stream_event"}]}}`
}

func (s *server) feed(stream, data string) {
	s.t.Helper()
	e, ok := s.pool.Get("acks")
	require.True(s.t, ok)
	meta := types.NewMetadata()
	meta.PutValue("s", stream)
	e.OnMsgAndWait(types.NewMsg(0, "T", types.JSON, meta, data), types.WithOnEnd(func(_ types.RuleContext, _ types.RuleMsg, err error, _ string) {
		require.NoError(s.t, err)
	}))
}

func (s *server) wait(n int) []string {
	s.t.Helper()
	require.Eventually(s.t, func() bool { return len(s.out.all()) >= n }, 10*time.Second, time.Millisecond)
	return s.out.all()
}

func TestChains(t *testing.T) {
	s := newServer(t, "secret")
	require.Equal(t, `{"chains":[]}`+"\n", s.call("GET", "/chains", "").text)
	require.Equal(t, 404, s.call("GET", "/chains/acks", "").status)

	a := s.call("POST", "/chains/acks", chainOf(ackSQL))
	require.Equal(t, 200, a.status, a.text)
	require.Equal(t, true, a.body["created"])
	require.Contains(t, s.kept["acks"], "WITHIN ${global.within}")
	require.JSONEq(t, `{"chains":[{"id":"acks","name":"Acks","root":true,"nodes":[
		{"id":"a","type":"x/streamAggregator","name":"acks"},{"id":"out","type":"test/print","name":""}]}]}`, s.call("GET", "/chains", "").text)
	got := s.call("GET", "/chains/acks", "")
	require.Equal(t, "acks", got.body["ruleChain"].(map[string]any)["id"])

	s.feed("cmd", `{"id":1}`)
	a = s.call("POST", "/chains/acks", chainOf(ackSQL))
	require.Equal(t, 200, a.status, a.text)
	require.Equal(t, false, a.body["created"])
	require.JSONEq(t, `{"chain":"acks","created":false,"nodes":[{"node":"a","state":"kept"}]}`, a.text)
	s.feed("ack", `{"id":1,"code":0}`)
	require.Equal(t, []string{`[{"id":1,"code":0}] `}, s.wait(1), "the state went over")
}

func TestBadChains(t *testing.T) {
	s := newServer(t, "")
	for body, says := range map[string]string{
		`{`:  "not a rule chain",
		`{}`: "no nodes",
		`{"ruleChain":{"id":"acks"},"metadata":{"nodes":[]}}`:          "no nodes",
		strings.Replace(chainOf(ackSQL), "ruleChain", "rulechain", 1):  `did you mean "ruleChain"?`,
		strings.Replace(chainOf(ackSQL), `"id":"acks"`, `"id":"x"`, 1): `ruleChain.id is "x"`,
		strings.Replace(chainOf(ackSQL), "streamAgg", "streamAg", 1):   `did you mean "x/streamAggregator"?`,
		chainOf("SELECT FROM"): "line 1, column",
		strings.Replace(chainOf(ackSQL), "test/print", "no/such", 1): "no/such",
	} {
		a := s.call("POST", "/chains/acks", body)
		require.Equal(t, 400, a.status, body)
		require.Contains(t, a.body["error"], says)
	}
	require.Equal(t, 404, s.call("GET", "/chains/acks", "").status)
	require.Equal(t, http.StatusRequestEntityTooLarge, s.call("POST", "/chains/acks", strings.Repeat(" ", maxBody+1)).status)
}

// What is no chain must not wipe the one that runs.
func TestBadChainsLeaveTheRunningOneAlone(t *testing.T) {
	s := newServer(t, "")
	require.Equal(t, 200, s.call("POST", "/chains/acks", chainOf(ackSQL)).status)
	s.feed("cmd", `{"id":1}`)
	for _, body := range []string{`{}`, `{"nodes":[]}`, `{"metadata":{"nodes":[]}}`, strings.Replace(chainOf(ackSQL), `"nodes"`, `"node"`, 1)} {
		require.Equal(t, 400, s.call("POST", "/chains/acks", body).status, body)
	}
	require.Contains(t, s.kept["acks"], "streamAggregator")
	require.Contains(t, s.call("GET", "/chains/acks", "").text, "streamAggregator")
	s.feed("ack", `{"id":1,"code":0}`)
	require.Equal(t, []string{`[{"id":1,"code":0}] `}, s.wait(1))
}

func TestChangeOfANodesSQL(t *testing.T) {
	s := newServer(t, "secret")
	require.Equal(t, 200, s.call("POST", "/chains/acks", chainOf(ackSQL)).status)
	s.feed("cmd", `{"id":1}`)

	bad := strings.Replace(ackSQL, "LEFT JOIN", "FULL JOIN", 1)
	body, err := json.Marshal(map[string]any{"sql": bad})
	require.NoError(t, err)
	a := s.call("POST", "/chains/acks/nodes/a", string(body))
	require.Equal(t, 400, a.status)
	require.Equal(t, "sql", a.body["field"])
	require.EqualValues(t, 1, a.body["line"])
	require.Positive(t, a.body["column"])
	require.Contains(t, a.body["error"], "FULL")
	caret := strings.Split(a.body["caret"].(string), "\n")
	require.Len(t, caret, 2)
	require.Equal(t, "FULL", caret[0][strings.Index(caret[1], "^"):][:4])

	for body, says := range map[string]string{
		`{"blockTimeout":5}`: `field "blockTimeout" = 5`, `{"SQL":"x"}`: `did you mean "sql"?`, `[]`: "want an object", `null`: "null", `{"sql":null}`: "is required",
	} {
		a := s.call("POST", "/chains/acks/nodes/a", body)
		require.Equal(t, 400, a.status, body)
		require.Contains(t, a.body["error"], says)
	}

	// The old query runs with its state through all that; so does a good change
	// that keeps the graph.
	body, err = json.Marshal(map[string]any{"sql": strings.Replace(ackSQL, "r.code", "r.code AS answer", 1), "joinMaxKeys": 5})
	require.NoError(t, err)
	a = s.call("POST", "/chains/acks/nodes/a", string(body))
	require.Equal(t, 200, a.status, a.text)
	require.JSONEq(t, `{"chain":"acks","node":"a","state":"kept"}`, a.text)
	s.feed("ack", `{"id":1,"code":7}`)
	require.Equal(t, []string{`[{"id":1,"answer":7}] `}, s.wait(1))

	// The definition is in step, and kept.
	node := s.call("GET", "/chains/acks/nodes/a", "").body
	require.EqualValues(t, 5, node["configuration"].(map[string]any)["joinMaxKeys"])
	require.Equal(t, "s", node["configuration"].(map[string]any)["streamKey"])
	require.Contains(t, s.call("GET", "/chains/acks", "").text, "answer")
	require.Contains(t, s.kept["acks"], "answer")
	e, _ := s.pool.Get("acks")
	require.Contains(t, string(e.DSL()), "answer")

	// A null takes a field out again.
	require.Equal(t, 200, s.call("POST", "/chains/acks/nodes/a", `{"joinMaxKeys":null}`).status)
	require.NotContains(t, s.call("GET", "/chains/acks/nodes/a", "").text, "joinMaxKeys")
}

// The answer to a reload tells what became of the rows that waited.
func TestReloadThatLetsTheStateGo(t *testing.T) {
	s := newServer(t, "")
	require.Equal(t, 200, s.call("POST", "/chains/acks", chainOf(ackSQL)).status)
	s.feed("cmd", `{"id":1}`)
	body, err := json.Marshal(map[string]any{"sql": strings.Replace(ackSQL, "${global.within}", "2 HOURS", 1)})
	require.NoError(t, err)
	a := s.call("POST", "/chains/acks/nodes/a", string(body))
	require.Equal(t, 200, a.status, a.text)
	require.JSONEq(t, `{"chain":"acks","node":"a","state":"let go","because":"stage 1: WITHIN is 2h0m0s, was 1h0m0s"}`, a.text)
	require.Equal(t, []string{`[{"id":1,"code":null}] reload`}, s.wait(1))

	require.JSONEq(t, `{"chain":"acks","node":"out"}`, s.call("POST", "/chains/acks/nodes/out", `{"x":1}`).text, "a node of another type")
	two := strings.Replace(chainOf(ackSQL), `{"id":"out"`, `{"id":"b","type":"x/streamAggregator","configuration":{"sql":"SELECT a FROM s"}},{"id":"out"`, 1)
	require.Contains(t, s.call("POST", "/chains/acks", two).text, `{"node":"b","state":"new"}`)
}

// What is allowed but hardly meant is in every answer about it.
func TestAnswersWarn(t *testing.T) {
	s := newServer(t, "")
	chain := strings.Replace(chainOf(ackSQL), `"streamKey":"s"`, `"streamKey":""`, 1)
	a := s.call("POST", "/chains/acks", strings.Replace(chain, `"stream_event"`, `"stream_events"`, 1))
	require.Equal(t, 200, a.status, a.text)
	warnings := a.body["warnings"].([]any)
	require.Len(t, warnings, 2)
	require.Contains(t, warnings[0], `did you mean "stream_event"?`)
	require.Contains(t, warnings[1], `node a: streamKey is empty`)
	for _, a := range []answer{
		s.call("GET", "/chains/acks/nodes/a/stats", ""), s.call("GET", "/chains/acks/nodes/a/explain", ""),
		s.call("POST", "/chains/acks/nodes/a", `{"joinMaxKeys":5}`),
	} {
		require.Contains(t, a.body["warnings"].([]any)[0], "none can ever reach")
	}
	require.NotContains(t, s.call("POST", "/chains/acks/nodes/a", `{"streamKey":"s"}`).body, "warnings")
	require.NotContains(t, s.call("GET", "/chains/acks/nodes/a/stats", "").body, "warnings")
}

func TestStatsAndExplain(t *testing.T) {
	s := newServer(t, "")
	require.Equal(t, 200, s.call("POST", "/chains/acks", chainOf(ackSQL)).status)
	s.feed("cmd", `{"id":1}`)
	stats := s.call("GET", "/chains/acks/nodes/a/stats", "").body["stats"].(map[string]any)
	require.EqualValues(t, 1, stats["node_accepted"])
	require.Contains(t, stats, "join_stage1_matches_emitted")
	require.Contains(t, s.call("GET", "/chains/acks/nodes/a/explain", "").body["explain"], "cmd")
	require.Equal(t, 404, s.call("GET", "/chains/acks/nodes/out/stats", "").status)
	require.Equal(t, 404, s.call("GET", "/chains/acks/nodes/none/stats", "").status)
	require.Equal(t, 404, s.call("GET", "/chains/none/nodes/a/explain", "").status)
}

// Deleting a chain gives out what its joins still hold.
func TestDeleteDrains(t *testing.T) {
	s := newServer(t, "")
	require.Equal(t, 404, s.call("DELETE", "/chains/acks", "").status)
	require.Equal(t, 200, s.call("POST", "/chains/acks", chainOf(ackSQL)).status)
	s.feed("cmd", `{"id":1}`)
	a := s.call("DELETE", "/chains/acks", "")
	require.Equal(t, 200, a.status, a.text)
	require.JSONEq(t, `{"chain":"acks","deleted":true}`, a.text)
	require.Equal(t, []string{`[{"id":1,"code":null}] stop`}, s.out.all(), "before the answer")
	require.Empty(t, s.kept["acks"])
	require.Equal(t, 404, s.call("GET", "/chains/acks", "").status)
	require.Equal(t, true, s.call("POST", "/chains/acks", chainOf(ackSQL)).body["created"])
}

// What is no route is answered as all errors are, and the routes can be asked for.
func TestRoutes(t *testing.T) {
	s := newServer(t, "")
	a := s.call("GET", "/chain", "")
	require.Equal(t, 404, a.status)
	require.Equal(t, "there is no route GET /api/v1/chain; GET /api/v1/ lists the routes", a.body["error"])
	a = s.call("PUT", "/chains/acks", "{}")
	require.Equal(t, 405, a.status)
	require.Regexp(t, "^/api/v1/chains/acks takes .*DELETE.*, not PUT$", a.body["error"])
	routes := s.call("GET", "/", "").body["routes"].([]any)
	require.Len(t, routes, 11)
	require.Contains(t, routes, map[string]any{"route": "POST /api/v1/chains/{chain}/nodes/{node}", "does": "fields of a node's configuration to change"})
}

func TestSQLCheck(t *testing.T) {
	s := newServer(t, "")
	a := s.call("POST", "/sql/check", `{"sql":"SELECT a.x FROM s AS a JOIN t AS b WITHIN 5 SECONDS ON a.k = b.k"}`)
	require.Equal(t, 200, a.status, a.text)
	require.Equal(t, true, a.body["valid"])
	require.Equal(t, []any{"s", "t"}, a.body["streams"])
	require.NotEmpty(t, a.body["explain"])
	a = s.call("POST", "/sql/check", `{"sql":"SELECT a.x\nFROM s AS a JOIN t AS b WITHIN 5 ON a.k = b.k"}`)
	require.Equal(t, 400, a.status)
	require.EqualValues(t, 2, a.body["line"])
	require.Contains(t, a.body["error"], "unit")
	a = s.call("POST", "/sql/check", "  SELECT a.x FROM s AS a JOIN t AS b WITHIN 5 SECONDS ON a.k = b.k\n", "Content-Type", "text/plain")
	require.Equal(t, 200, a.status, a.text)
	require.Contains(t, s.call("POST", "/sql/check", "").body["error"], "plain text")
	for _, body := range []string{`{}`, `x`, `{"sql":5}`, `{`, ``, `["SELECT x FROM s"]`} {
		require.Equal(t, 400, s.call("POST", "/sql/check", body).status, body)
	}
}

func TestToken(t *testing.T) {
	s := newServer(t, "secret")
	for _, header := range []string{"", "Bearer", "Bearer ", "Bearer secre", "Bearer secrets", "secret", "Basic secret"} {
		require.Equal(t, 401, s.call("GET", "/chains", "", "Authorization", header).status, header)
	}
	require.Contains(t, s.call("GET", "/chains", "", "Authorization", "").body["error"], "send Authorization: Bearer <token>")
	require.Contains(t, s.call("GET", "/chains", "", "Authorization", "Bearer x").body["error"], "is not the one")
	require.Equal(t, 401, s.call("GET", "/nothing", "", "Authorization", "").status)
	require.Equal(t, 200, s.call("GET", "/chains", "", "Authorization", "bearer secret").status, "the scheme has no case")
	require.Equal(t, 200, s.call("GET", "/chains", "").status)
	require.Equal(t, 200, s.call("GET", "/chains", "", "Host", "edge.example").status)
}

func TestPagesOfOthersAreRefused(t *testing.T) {
	s := newServer(t, "")
	require.Equal(t, 403, s.call("GET", "/chains", "", "Origin", "http://evil.example").status)
	require.Equal(t, 403, s.call("GET", "/chains", "", "Host", "evil.example").status)
	require.Equal(t, 200, s.call("GET", "/chains", "", "Host", "localhost:1").status)
	host := strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/api/v1")
	require.Equal(t, 200, s.call("GET", "/chains", "", "Origin", "http://"+host).status)
}

func TestAddress(t *testing.T) {
	pool := engine.NewPool()
	open, closed := New(pool, Options{}), New(pool, Options{Token: "t"})
	ep, err := open.NewEndpoint(engine.NewConfig(), ":6334")
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:6334", ep.Config.Server)
	for _, address := range []string{"0.0.0.0:1", "[::]:1", "192.0.2.1:1", "example.org:1"} {
		_, err := open.NewEndpoint(engine.NewConfig(), address)
		require.ErrorIs(t, err, ErrTokenRequired, address)
		ep, err := closed.NewEndpoint(engine.NewConfig(), address)
		require.NoError(t, err)
		require.Equal(t, address, ep.Config.Server)
	}
	_, err = open.NewEndpoint(engine.NewConfig(), "6334")
	require.Error(t, err)
}

// created counts the chains that were made.
type created struct{ n *int }

func (c created) Order() int                                             { return 1 }
func (c created) New() types.Aspect                                      { return c }
func (c created) PointCut(types.RuleContext, types.RuleMsg, string) bool { return true }
func (c created) OnCreated(types.NodeCtx) error                          { *c.n++; return nil }

func TestNewChainsGetTheAspects(t *testing.T) {
	n := 0
	pool := engine.NewPool()
	t.Cleanup(pool.Stop)
	api := New(pool, Options{Config: engine.NewConfig(), Aspects: []types.Aspect{created{&n}}})
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/chains/c", strings.NewReader(`{"metadata":{"nodes":[{"id":"l","type":"log"}]}}`))
	_, err := api.postChain(r, httprouter.Params{{Key: "chain", Value: "c"}})
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

func TestChangeThatIsNotKept(t *testing.T) {
	pool := engine.NewPool()
	api := New(pool, Options{OnChange: func(string, []byte) error { return errors.New("disk full") }})
	e, err := pool.New("c", []byte(`{"ruleChain":{"id":"c"},"metadata":{"nodes":[]}}`))
	require.NoError(t, err)
	require.ErrorContains(t, api.changed("c", e), "disk full")
	pool.Stop()
}
