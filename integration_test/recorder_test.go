package integration_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rulego/rulego/api/types"
	"github.com/stretchr/testify/require"
)

const streamEvent = "stream_event"

// recorder is an aspect that writes down what every node tells: events on
// stream_event, and the outcome of each incoming message.
type recorder struct {
	mu       sync.Mutex
	start    time.Time
	sent     int
	events   []observed
	outcomes []outcome
}

// observed is an event as it left, before it is compared.
type observed struct {
	after    int
	at       time.Duration
	node     string
	metadata map[string]string
	data     string
}

// outcome is what a node answered to one message: Success or Failure.
type outcome struct {
	node, id, relation, data string
	err                      error
}

var _ types.AfterAspect = (*recorder)(nil)

func newRecorder() *recorder { return &recorder{start: time.Now()} }

// Order is late: the message as it leaves.
func (r *recorder) Order() int { return 1000 }

// New keeps one recorder for all contexts of an engine.
func (r *recorder) New() types.Aspect { return r }

// PointCut takes everything.
func (r *recorder) PointCut(types.RuleContext, types.RuleMsg, string) bool { return true }

// After records and changes nothing.
func (r *recorder) After(ctx types.RuleContext, msg types.RuleMsg, err error, relation string) types.RuleMsg {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch relation {
	case streamEvent:
		r.events = append(r.events, observed{
			after:    r.sent,
			at:       time.Since(r.start),
			node:     ctx.GetSelfId(),
			metadata: msg.Metadata.Values(),
			data:     strings.Clone(msg.GetData()),
		})
	case types.Success, types.Failure:
		r.outcomes = append(r.outcomes, outcome{ctx.GetSelfId(), msg.Id, relation, strings.Clone(msg.GetData()), err})
	}
	return msg
}

// sending tells the recorder that one more message is on its way in.
func (r *recorder) sending() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent++
}

// answers are the outcomes of a node, in the order in which it told them.
func (r *recorder) answers(node string) []outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []outcome
	for _, o := range r.outcomes {
		if o.node == node {
			out = append(out, o)
		}
	}
	return out
}

// left are the recorded events. Where timed, they tell when they left, rounded
// down to the 20 ms within which a due row must be emitted.
func (r *recorder) left(t *testing.T, timed bool) []event {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	events := make([]event, 0, len(r.events))
	for _, o := range r.events {
		e := event{Node: o.node, Metadata: o.metadata}
		if timed {
			e.After, e.At = o.after, o.at.Truncate(20*time.Millisecond).String()
		}
		require.NoError(t, json.Unmarshal([]byte(o.data), &e.Rows), o.data)
		events = append(events, e)
	}
	return events
}
