package streamaggregator

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/engine"
	"github.com/streamjoin/streamjoin/joinnode"
)

// Relations of the node beside Success and Failure.
const (
	// RelationEvent carries one message per result.
	RelationEvent = "stream_event"
	// RelationLate carries rows that were dropped after they were accepted.
	RelationLate = "stream_late"
)

// Keys of the metadata of messages on RelationEvent and RelationLate.
const (
	MetaQueryType  = "queryType"
	MetaResultType = "resultType"
	MetaUnmatched  = "unmatched" // aliases that are NULL, comma between
	MetaClosedBy   = "closedBy"
	MetaTimestamp  = "timestamp" // window end, ns since the epoch
	MetaTable      = "table"     // of a table script: whose row it is, or which dropped it
	MetaKey        = "key"       // the row's key as a JSON object; of state tables
	MetaSeq        = "seq"       // number of the result: their order, wherever a chain's pool has mixed them

	MetaStream    = "stream"
	MetaReason    = "reason"
	MetaTS        = "ts"        // time of the row or change, ns since the epoch
	MetaWatermark = "watermark" // ns since the epoch
)

// Query types, the values of MetaQueryType.
const (
	QueryStreamJoin  = "stream_join"
	QueryAggregation = "aggregation"
	QueryCEP         = "cep"
	QuerySelect      = "select"
	QueryTable       = "table"
)

func queryType(q query) string {
	switch {
	case q.IsStreamJoinQuery():
		return QueryStreamJoin
	case q.IsTableScript():
		return QueryTable
	case q.IsCEPQuery():
		return QueryCEP
	case q.IsAggregationQuery():
		return QueryAggregation
	}
	return QuerySelect
}

// onResult sends one result into the chain. The query calls it in its emitter
// goroutine, one result after the other.
func (n *Node) onResult(r joinnode.Result) {
	n.emit(RelationEvent, n.metadataOf(&r), r.JSON)
}

// metadataOf describes a result. Most results are alike and share their metadata,
// which RuleGo copies once somebody writes to it.
func (n *Node) metadataOf(r *joinnode.Result) *types.Metadata {
	if r.Type == joinnode.JoinMatched {
		if n.matched == nil {
			n.matched = types.BuildMetadata(map[string]string{MetaQueryType: n.queryType, MetaResultType: string(r.Type)})
		}
		return n.matched.Copy()
	}
	meta := types.NewMetadata()
	meta.PutValue(MetaQueryType, n.queryType)
	meta.PutValue(MetaResultType, string(r.Type))
	if len(r.Unmatched) > 0 {
		meta.PutValue(MetaUnmatched, strings.Join(r.Unmatched, ","))
	}
	if r.ClosedBy != "" {
		meta.PutValue(MetaClosedBy, r.ClosedBy)
	}
	if r.WindowEnd != 0 {
		meta.PutValue(MetaTimestamp, strconv.FormatInt(r.WindowEnd, 10))
	}
	if r.Table != "" {
		meta.PutValue(MetaTable, r.Table)
		meta.PutValue(MetaTS, strconv.FormatInt(r.TS, 10))
		meta.PutValue(MetaSeq, strconv.FormatUint(r.Seq, 10))
	}
	if r.Key != nil {
		meta.PutValue(MetaKey, string(r.Key))
	}
	return meta
}

// onLate sends one dropped row into the chain.
func (n *Node) onLate(r joinnode.LateRow) {
	meta := types.NewMetadata()
	if r.Stream != "" || r.Table == "" {
		meta.PutValue(MetaStream, r.Stream)
	}
	if r.Table != "" {
		meta.PutValue(MetaTable, r.Table)
	}
	meta.PutValue(MetaReason, r.Reason)
	meta.PutValue(MetaTS, strconv.FormatInt(r.TS, 10))
	meta.PutValue(MetaWatermark, strconv.FormatInt(r.Watermark, 10))
	n.emit(RelationLate, meta, r.JSON)
}

// emission is one message that a node emits by itself.
type emission struct {
	node     *Node
	relation string
	meta     *types.Metadata
	data     []byte
}

// emit runs the nodes connected by relation with a message of their own, in this
// goroutine unless a reload goes on, so that the order of results is kept over the
// first hop. It needs no id and no place in a pool.
func (n *Node) emit(relation string, meta *types.Metadata, data []byte) {
	if n.chain == nil {
		n.lose("the node is in no rule chain")
		return
	}
	n.inFlight.enter()
	// The sink's bytes end with its return; nodes may keep the message.
	n.gate.pass(&emission{node: n, relation: relation, meta: meta, data: append([]byte(nil), data...)})
}

// send tells the nodes behind the node. ops is the engine, where it is known.
func (ev *emission) send(ops operations) {
	n := ev.node
	leave := sync.OnceFunc(n.inFlight.leave)
	live := n.live()
	chain := live.chain
	if ops != nil {
		defer ops.DecrementActiveOperations()
		if current := liveChain(ops); current != nil {
			chain = current
		}
	}
	self, ok := chain.GetNodeById(types.RuleNodeId{Id: n.id, Type: types.NODE})
	if !ok {
		leave()
		n.lose("the node is no longer in the chain")
		return
	}
	msg := types.NewMsgFromBytes(0, ev.relation, types.JSON, ev.meta, ev.data)
	pool := &firstHop{rest: live.ruleConfig.Pool, collecting: true}
	// A context without a node it comes from is taken for the start of the chain
	// and would run this node itself, so it comes from this node.
	ctx := engine.NewRuleContext(context.WithValue(context.Background(), senderKey{}, n), live.ruleConfig, chain, self, self, pool, nil, chain.GetRuleEnginePool())
	if cache := ctx.GetNodeOutputCache(); cache != nil {
		// Nodes further on may refer to this one's output: ${id.msg.field}.
		cache.SetCacheableNodes(chain.GetReferencedNodes())
	}
	ctx.SetOnAllNodeCompleted(leave)
	defer func() {
		if fault := recover(); fault != nil {
			leave()
			n.lose(fmt.Sprintf("panic while sending: %v", fault))
		}
	}()
	n.emitted.Add(1)
	ctx.TellNext(msg, ev.relation)
	pool.run(n.onTaskPanic)
}

func (n *Node) onTaskPanic(fault any) { n.lose(fmt.Sprintf("panic behind the node: %v", fault)) }

// live returns this instance or, once it was replaced, the one that took its place:
// its chain is the one to emit into when the engine is not known.
func (n *Node) live() *Node {
	at := n
	for next := at.next.Load(); next != nil; next = at.next.Load() {
		at = next
	}
	return at
}

// senderKey is the context key under which a message that a node emitted carries
// its sender, so that a destroyed receiver can report the loss to it.
type senderKey struct{}

// firstHop is a pool that collects the tasks submitted while a context tells its
// next nodes, which run then one after the other. RuleGo counts the branches of a
// fork while it tells them, so none may run before all are known. What those nodes
// submit in turn goes to the configured pool: nodes that wait for others (group
// nodes) would else wait for ever.
type firstHop struct {
	rest       types.Pool
	collecting bool
	tasks      []func()
}

// Submit implements types.Pool.
func (p *firstHop) Submit(task func()) error {
	switch {
	case p.collecting:
		p.tasks = append(p.tasks, task)
		return nil
	case p.rest != nil:
		return p.rest.Submit(task)
	}
	go task()
	return nil
}

// Release implements types.Pool.
func (p *firstHop) Release() {}

func (p *firstHop) run(onPanic func(any)) {
	p.collecting = false
	for _, task := range p.tasks {
		func() {
			defer func() {
				if fault := recover(); fault != nil {
					onPanic(fault)
				}
			}()
			task()
		}()
	}
}

// inFlight counts the emitted messages that have not passed through the chain yet.
type inFlight struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed at zero; nil while no one waits
}

func (f *inFlight) enter() {
	f.mu.Lock()
	f.n++
	f.mu.Unlock()
}

func (f *inFlight) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n--; f.n <= 0 && f.idle != nil {
		close(f.idle)
		f.idle = nil
	}
}

// wait returns when nothing is in flight.
func (f *inFlight) wait(ctx context.Context) error {
	f.mu.Lock()
	if f.n <= 0 {
		f.mu.Unlock()
		return nil
	}
	if f.idle == nil {
		f.idle = make(chan struct{})
	}
	idle := f.idle
	f.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
