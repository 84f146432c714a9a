package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rulego/rulego/api/types"

	"github.com/streamjoin/streamjoin/chains"
	"github.com/streamjoin/streamjoin/streamaggregator"
)

// playback is an aspect that prints what leaves the nodes of a chain that is played,
// beside what is expected. Of each node the order counts; how nodes take turns does
// not.
type playback struct {
	out   *console
	clock *replayClock
	first string // the node that the messages reach

	mu       sync.Mutex
	expected map[string][]chains.Event // by node, in order
	order    []string                  // the nodes, as they first stand in what is expected
	failure  string                    // expected of the message under way; "": that it is accepted
	results  int
	wrong    int
}

var _ types.AfterAspect = (*playback)(nil)

func newPlayback(out *console, clock *replayClock, def types.RuleChain, expected []chains.Event) *playback {
	p := &playback{out: out, clock: clock, expected: map[string][]chains.Event{}}
	if i := def.Metadata.FirstNodeIndex; i >= 0 && i < len(def.Metadata.Nodes) {
		p.first = def.Metadata.Nodes[i].Id
	}
	for _, e := range expected {
		if _, known := p.expected[e.Node]; !known {
			p.order = append(p.order, e.Node)
		}
		p.expected[e.Node] = append(p.expected[e.Node], e)
	}
	return p
}

// Order implements types.Aspect: last, the message as it leaves.
func (p *playback) Order() int { return 1000 }

// New implements types.Aspect: one for all contexts of the engine.
func (p *playback) New() types.Aspect { return p }

// PointCut implements types.NodeAspect.
func (p *playback) PointCut(ctx types.RuleContext, _ types.RuleMsg, relation string) bool {
	return relation == streamaggregator.RelationEvent || relation == streamaggregator.RelationLate || ctx.GetSelfId() == p.first && (relation == types.Success || relation == types.Failure)
}

// After implements types.AfterAspect; it changes nothing.
func (p *playback) After(ctx types.RuleContext, msg types.RuleMsg, err error, relation string) types.RuleMsg {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch relation {
	case types.Success, types.Failure:
		p.answered(err)
	case streamaggregator.RelationLate:
		p.left(ctx.GetSelfId(), msg)
	default:
		e := chains.Event{Node: ctx.GetSelfId(), Metadata: msg.Metadata.Values()}
		if err := json.Unmarshal([]byte(msg.GetData()), &e.Rows); err != nil {
			p.line(false, e.Node, "sent what is no array of rows: "+err.Error())
			return msg
		}
		p.result(e)
	}
	return msg
}

// sending announces the next message.
func (p *playback) sending(a chains.Arrival) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failure = a.Failure
	label := a.Topic + a.Path
	for _, v := range a.Metadata {
		label += v
	}
	p.out.printf("%8s → %-14s %s", p.at(), label, a.Body)
}

func (p *playback) answered(err error) {
	switch {
	case err == nil && p.failure != "":
		p.line(false, p.first, "accepted, but it was to be refused: "+p.failure)
	case err != nil:
		p.line(p.failure != "" && strings.Contains(err.Error(), p.failure), p.first, "refused: "+err.Error())
	}
}

// left shows a row that was left out; what is expected says nothing of those.
func (p *playback) left(node string, msg types.RuleMsg) {
	by := msg.Metadata.GetValue(streamaggregator.MetaTable)
	if by == "" {
		by = msg.Metadata.GetValue(streamaggregator.MetaStream)
	}
	p.out.printf("%8s ! %-14s %s  (%s: %s)", p.at(), node, msg.GetData(), by, msg.Metadata.GetValue(streamaggregator.MetaReason))
}

func (p *playback) result(e chains.Event) {
	p.results++
	queue := p.expected[e.Node]
	if len(queue) == 0 {
		p.line(false, e.Node, describe(e)+"\n           nothing more was expected here")
		return
	}
	want := queue[0]
	p.expected[e.Node] = queue[1:]
	if same(e, want) {
		p.line(true, e.Node, describe(e))
		return
	}
	p.line(false, e.Node, fmt.Sprintf("%s\n           expected     %s", describe(e), describe(want)))
}

func (p *playback) line(right bool, node, text string) {
	mark := "✓"
	if !right {
		mark = "✗"
		p.wrong++
	}
	p.out.printf("%8s %s %-14s %s", p.at(), mark, node, text)
}

func (p *playback) at() time.Duration { return p.clock.Now().Sub(playEpoch).Round(time.Millisecond) }

// sum tells whether all was as expected; what is missing, or differed, is an error.
func (p *playback) sum() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, node := range p.order {
		for _, e := range p.expected[node] {
			p.line(false, node, "missing: "+describe(e))
		}
	}
	if p.wrong > 0 {
		return fmt.Errorf("%d of the lines above differ from what is expected", p.wrong)
	}
	p.out.printf("%d results, all as expected", p.results)
	return nil
}

// same compares what an event says, without when it came.
func same(a, b chains.Event) bool {
	a.After, a.At, b.After, b.At = 0, "", 0, ""
	one, errA := a.Line()
	two, errB := b.Line()
	return errA == nil && errB == nil && one == two
}

// describe is an event in one line: its rows, what made it, and what closed it; of
// a table script, whose row it is and what happened to it.
func describe(e chains.Event) string {
	rows := make([]string, 0, len(e.Rows))
	for _, r := range e.Rows {
		rows = append(rows, string(r))
	}
	why := e.Metadata[streamaggregator.MetaResultType]
	if table := e.Metadata[streamaggregator.MetaTable]; table != "" {
		why = table + ": " + why
	}
	if by := e.Metadata[streamaggregator.MetaClosedBy]; by != "" {
		why += ", closed by " + by
	}
	return strings.Join(rows, " ") + "  (" + why + ")"
}
