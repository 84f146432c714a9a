package component_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/engine"
	"github.com/stretchr/testify/require"

	"github.com/streamjoin/streamjoin/component"
	"github.com/streamjoin/streamjoin/streamaggregator"
)

// other is some other package's component of our type.
type other struct{}

func (other) Type() string                                   { return streamaggregator.Type }
func (other) New() types.Node                                { return other{} }
func (other) Init(types.Config, types.Configuration) error   { return nil }
func (other) OnMsg(ctx types.RuleContext, msg types.RuleMsg) { ctx.TellSuccess(msg) }
func (other) Destroy()                                       {}

func TestRegister(t *testing.T) {
	reg := &engine.RuleComponentRegistry{}
	require.NoError(t, component.Register(reg))
	node, err := reg.NewNode("x/streamAggregator")
	require.NoError(t, err)
	require.IsType(t, &streamaggregator.Node{}, node)
	require.Equal(t, "Stream SQL", reg.GetComponentForms()["x/streamAggregator"].Label)
}

func TestRegisterReplacesATakenType(t *testing.T) {
	reg := &engine.RuleComponentRegistry{}
	require.NoError(t, reg.Register(other{}))
	require.NoError(t, component.Register(reg))
	node, err := reg.NewNode("x/streamAggregator")
	require.NoError(t, err)
	require.IsType(t, &streamaggregator.Node{}, node)
}

func TestRegisterTellsWhenItIsShadowed(t *testing.T) {
	defaults := &engine.RuleComponentRegistry{}
	require.NoError(t, defaults.Register(other{}))
	reg := engine.NewCustomComponentRegistry(defaults, &engine.RuleComponentRegistry{})
	require.ErrorIs(t, component.Register(reg), component.ErrShadowed)
}

// stubborn takes no registrations while closed.
type stubborn struct {
	engine.RuleComponentRegistry
	refuse int
}

var errRefused = errors.New("refused")

func (s *stubborn) Register(node types.Node) error {
	if s.refuse > 0 {
		s.refuse--
		return errRefused
	}
	return s.RuleComponentRegistry.Register(node)
}

func TestRegisterPutsTheOldBackOnError(t *testing.T) {
	reg := &stubborn{}
	require.NoError(t, reg.Register(other{}))
	reg.refuse = 1
	require.ErrorIs(t, component.Register(reg), errRefused)
	node, err := reg.NewNode("x/streamAggregator")
	require.NoError(t, err)
	require.IsType(t, other{}, node)
}

// sink collects what reaches it.
type sink struct {
	mu   *sync.Mutex
	data *[]string
}

func (s sink) Type() string                                 { return "test/sink" }
func (s sink) New() types.Node                              { return s }
func (s sink) Init(types.Config, types.Configuration) error { return nil }
func (s sink) Destroy()                                     {}

func (s sink) OnMsg(ctx types.RuleContext, msg types.RuleMsg) {
	s.mu.Lock()
	*s.data = append(*s.data, msg.GetData())
	s.mu.Unlock()
	ctx.TellSuccess(msg)
}

func newConfig(t *testing.T) (types.Config, sink) {
	t.Helper()
	reg := &engine.RuleComponentRegistry{}
	for _, c := range engine.Registry.GetComponents() {
		require.NoError(t, reg.Register(c))
	}
	require.NoError(t, component.Register(reg))
	s := sink{mu: &sync.Mutex{}, data: &[]string{}}
	require.NoError(t, reg.Register(s))
	return engine.NewConfig(types.WithComponentsRegistry(reg)), s
}

// Commands without an answer are counted by a second node behind a transformation.
// The last of them leave the first node only when it is drained.
func TestDrainFlushesUpstreamFirst(t *testing.T) {
	config, out := newConfig(t)
	e, err := engine.NewPool().New("c", []byte(`{"ruleChain":{"id":"c"},"metadata":{"nodes":[
		{"id":"out","type":"test/sink"},
		{"id":"b","type":"x/streamAggregator","configuration":{"sql":"SELECT COUNT(*) AS n FROM j GROUP BY TumblingWindow('1h')"}},
		{"id":"t","type":"jsTransform","configuration":{"jsScript":"return {'msg':msg,'metadata':metadata,'msgType':msgType};"}},
		{"id":"a","type":"x/streamAggregator","configuration":{"streamKey":"s",
		 "sql":"SELECT c.id FROM cmd AS c LEFT JOIN ack AS r WITHIN 1 HOUR ON c.id = r.id"}}],
		"firstNodeIndex":3,
		"connections":[{"fromId":"a","toId":"t","type":"stream_event"},{"fromId":"t","toId":"b","type":"Success"},
		 {"fromId":"b","toId":"out","type":"stream_event"}]}}`), engine.WithConfig(config))
	require.NoError(t, err)
	for i := range 25 {
		meta := types.NewMetadata()
		meta.PutValue("s", "cmd")
		e.OnMsgAndWait(types.NewMsg(0, "T", types.JSON, meta, fmt.Sprintf(`{"id":%d}`, i)))
	}
	require.Empty(t, *out.data)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(t, component.Drain(ctx, e))
	require.Len(t, *out.data, 1)
	var rows []struct{ N int }
	require.NoError(t, json.Unmarshal([]byte((*out.data)[0]), &rows))
	require.Equal(t, 25, rows[0].N)

	e.OnMsgAndWait(types.NewMsg(0, "T", types.JSON, types.NewMetadata(), `{}`), types.WithOnEnd(func(_ types.RuleContext, _ types.RuleMsg, err error, relation string) {
		require.Equal(t, types.Failure, relation)
	}))
	e.Stop(ctx)
	require.NoError(t, component.Drain(ctx, e), "nothing is left to drain")
}

func TestDrainOfNothing(t *testing.T) {
	require.NoError(t, component.Drain(t.Context(), nil))
	config, _ := newConfig(t)
	e, err := engine.NewPool().New("c", []byte(`{"ruleChain":{"id":"c"},"metadata":{"nodes":[{"id":"s","type":"test/sink"}],
		"connections":[]}}`), engine.WithConfig(config))
	require.NoError(t, err)
	require.NoError(t, component.Drain(t.Context(), e))
	e.Stop(t.Context())
}

func ExampleRegister() {
	reg := &engine.RuleComponentRegistry{} // engine.Registry in a program
	if err := component.Register(reg); err != nil {
		fmt.Println(err)
		return
	}
	form := reg.GetComponentForms()["x/streamAggregator"]
	fmt.Println(form.Label+":", strings.Join(*form.RelationTypes, ", "))
	// Output: Stream SQL: Success, Failure, stream_event, stream_late
}

// What a node still holds passes through the chain before the engine stops.
func ExampleDrain() {
	reg := &engine.RuleComponentRegistry{}
	out := sink{mu: &sync.Mutex{}, data: &[]string{}}
	if err := errors.Join(component.Register(reg), reg.Register(out)); err != nil {
		fmt.Println(err)
		return
	}
	e, err := engine.NewPool().New("acks", []byte(`{"ruleChain":{"id":"acks"},"metadata":{"nodes":[
		{"id":"join","type":"x/streamAggregator","configuration":{
		 "sql":"SELECT c.cmdId, r.ackCode FROM cmd AS c LEFT JOIN ack AS r WITHIN 10 SECONDS ON c.cmdId = r.cmdId"}},
		{"id":"out","type":"test/sink"}],
		"connections":[{"fromId":"join","toId":"out","type":"stream_event"}]}}`),
		engine.WithConfig(engine.NewConfig(types.WithComponentsRegistry(reg), types.WithLogger(types.NewStdLogger(io.Discard)))))
	if err != nil {
		fmt.Println(err)
		return
	}
	e.OnMsgAndWait(types.NewMsg(0, "CMD", types.JSON, types.NewMetadata(), `{"cmdId":"c1"}`))

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := component.Drain(ctx, e); err != nil {
		fmt.Println(err)
	}
	e.Stop(ctx)
	fmt.Println(*out.data)
	// Output: [[{"cmdId":"c1","ackCode":null}]]
}
