// Package streamaggregator has the RuleGo node x/streamAggregator: it runs one SQL
// query over the messages that reach it and sends the results on into the chain.
//
// Every message leaves at once and untouched on Success, or on Failure with the
// reason. Results leave on stream_event, one message each, and when lateEvents is
// on, rows that were dropped after they were accepted leave on stream_late.
package streamaggregator

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rulego/rulego/api/types"
	"github.com/rulego/rulego/components/base"
	"github.com/rulego/rulego/engine"
	"github.com/streamjoin/streamjoin/joinnode"
)

// Type is the node's type in rule chains.
const Type = "x/streamAggregator"

var (
	// ErrDestroyed is the reason of Failure for a message that reaches a node
	// after it was destroyed and when no other instance took its place.
	ErrDestroyed = errors.New("the node was destroyed")
	// ErrPanic is the reason of Failure for a message that made the node panic.
	ErrPanic = errors.New("panic in the node")
	// ErrNotReady is the reason of Failure for a message that reached a new
	// instance while the one before it did not end in time.
	ErrNotReady = errors.New("the node's previous instance has not ended")
)

// Node is one instance of x/streamAggregator. The instance in the component
// registry is the prototype: RuleGo calls New on it for each node of a chain.
//
// OnMsg may be called by any number of goroutines, also after Destroy.
type Node struct {
	// Config is what the visual editor reads the form and its defaults from.
	Config Configuration

	prototypeOnce sync.Once
	instances     *instances // of all nodes made from one prototype
	engine        engineMaker

	// Set by Init and constant from then on.
	settings   settings
	ruleConfig types.Config
	query      query
	queryType  string
	warnings   []string
	id         string
	place      place
	chain      *engine.RuleChainCtx // nil outside a chain
	tables     *tables
	log        logger
	turn       <-chan struct{} // closed when the instance before this one has ended; nil: there was none

	destroyOnce sync.Once
	ended       atomic.Bool          // destroyed, and no one took its place
	gone        chan struct{}        // closed at the end of Destroy
	next        atomic.Pointer[Node] // took this one's place
	handover    atomic.Pointer[Handover]

	gate       *gate           // shared with the instances before and after
	matched    *types.Metadata // of matched rows; the query's emitter goroutine owns it
	inFlight   inFlight
	accepted   atomic.Int64
	refused    atomic.Int64
	emitted    atomic.Int64
	lost       atomic.Int64
	lostNotice throttle
}

var (
	_ types.Node               = (*Node)(nil)
	_ types.ComponentDefGetter = (*Node)(nil)
)

// New returns a prototype to register. The zero Node serves as well. Further options
// go to the queries of all its instances, such as joinnode.WithClock for a replay;
// what stands in a node's configuration counts more.
func New(options ...joinnode.Option) *Node { return newPrototype(joinEngine{options}) }

func newPrototype(e engineMaker) *Node {
	return &Node{Config: defaultConfiguration(), instances: &instances{}, engine: e}
}

// Type implements types.Node.
func (n *Node) Type() string { return Type }

// New implements types.Node: a fresh instance that finds its predecessor through
// the prototype.
func (n *Node) New() types.Node {
	n.prototype()
	return &Node{Config: defaultConfiguration(), instances: n.instances, engine: n.engine}
}

// prototype gives a zero Node what its instances share.
func (n *Node) prototype() {
	n.prototypeOnce.Do(func() {
		if n.instances == nil {
			n.instances, n.engine = &instances{}, joinEngine{}
		}
	})
}

// Init reads the configuration and compiles the query. It starts no goroutine and
// opens nothing: RuleGo forgets instances of a failed reload without Destroy. All
// errors answer to ErrConfiguration and name the field; errors in the SQL are also
// a *joinnode.SQLError with line, column and caret.
func (n *Node) Init(config types.Config, configuration types.Configuration) error {
	n.prototype()
	s, err := parseConfiguration(configuration)
	if err != nil {
		return err
	}
	n.id = base.NodeUtils.GetSelfDefinition(configuration).Id
	n.log = newLogger(config, chainID(configuration), n.id)
	q, err := n.engine.compile(s, n.log)
	if err != nil {
		return err
	}
	if n.tables, err = newTables(s.Tables, q, n.log); err != nil {
		return err
	}
	n.ruleConfig = config
	n.settings, n.Config, n.query = s, s.Configuration, q
	n.queryType = queryType(q)
	n.warnings = s.warnings(q)
	for _, w := range n.warnings {
		n.log.Warn("%s", w)
	}
	n.gone = make(chan struct{})
	n.lostNotice.every = 10 * time.Second
	q.AddResultSink(n.onResult)
	if s.LateEvents {
		q.AddLateSink(n.onLate)
	}
	if chain, ok := base.NodeUtils.GetChainCtx(configuration).(*engine.RuleChainCtx); ok && chain != nil {
		n.chain = chain
		n.place = place{owner: ownerOf(chain), nodeID: n.id}
		// Last, as nothing may fail once the instance is in the table.
		n.gate = newGate()
		if before := n.instances.enter(n); before != nil {
			n.turn, n.gate = before.gone, before.gate
		}
	}
	return nil
}

// OnMsg implements types.Node. It tells exactly once on every path.
func (n *Node) OnMsg(ctx types.RuleContext, msg types.RuleMsg) {
	told := false
	defer func() {
		// RuleGo swallows a panic without ending the message.
		if fault := recover(); fault != nil {
			n.log.Error("panic: %v\n%s", fault, debug.Stack())
			if !told {
				n.refused.Add(1)
				ctx.TellFailure(msg, fmt.Errorf("%w: %v", ErrPanic, fault))
			}
		}
	}()
	err := n.accept(ctx, msg)
	told = true
	if err != nil {
		n.refused.Add(1)
		ctx.TellFailure(msg, err)
		return
	}
	n.accepted.Add(1)
	ctx.TellSuccess(msg)
}

// accept feeds a message to this instance or, when it was replaced while the
// message was on its way, to the one in its place.
func (n *Node) accept(ctx types.RuleContext, msg types.RuleMsg) error {
	for at := n; ; {
		err := at.feed(ctx, msg)
		if !errors.Is(err, joinnode.ErrStopped) && !errors.Is(err, ErrDestroyed) {
			return err
		}
		// A replaced instance knows its successor before its query stops.
		next := at.next.Load()
		if next == nil {
			reportLoss(ctx)
			return fmt.Errorf("%w: %w", ErrDestroyed, err)
		}
		at = next
	}
}

func (n *Node) feed(ctx types.RuleContext, msg types.RuleMsg) error {
	if n.query == nil || n.ended.Load() {
		return ErrDestroyed
	}
	if err := n.await(); err != nil {
		return err
	}
	if err := n.tables.start(); err != nil {
		return err
	}
	err := n.settings.feed(n.query, ctx, msg)
	if errors.Is(err, ErrNoStreamName) {
		return fmt.Errorf("%w; the query reads %s", err, quotedList(n.query.Streams()))
	}
	return err
}

// await waits for the instance before this one to hand over. While RuleGo reloads,
// other nodes can reach the new instance before the old one is destroyed; a row
// accepted then would overtake the old one's.
func (n *Node) await() error {
	if n.turn == nil {
		return nil
	}
	select {
	case <-n.turn:
		return nil
	default:
	}
	limit := time.NewTimer(n.settings.blockTimeout)
	defer limit.Stop()
	select {
	case <-n.turn:
		return nil
	case <-limit.C:
		return ErrNotReady
	}
}

// Destroy implements types.Node. It returns at once: what the query still holds
// goes to the instance that takes this one's place or, when there is none, out as
// results in the background.
func (n *Node) Destroy() {
	if n.query == nil {
		return
	}
	n.destroyOnce.Do(func() {
		defer close(n.gone)
		n.tables.close()
		if n.chain != nil {
			if next := n.instances.leave(n); next != nil {
				n.handOver(next)
				return
			}
		}
		n.ended.Store(true)
		go n.query.Stop() // ends when the last result was delivered
	})
}

func (n *Node) handOver(next *Node) {
	n.next.Store(next)
	switch a, err := n.engine.adopt(next.query, n.query); {
	case err != nil:
		next.handover.Store(&Handover{Because: err.Error()})
		next.log.Error("reloaded, but the state could not be handed over; rows that waited leave as on a stop: %v", err)
		go n.query.Stop()
	case a.Taken:
		next.handover.Store(&Handover{Kept: true})
		next.log.Info("reloaded: the query goes on with the state it had")
	default:
		next.handover.Store(&Handover{Because: a.Differs})
		next.log.Warn("reloaded: what the old query held leaves as results, rows that waited for a match with closedBy=reload, because the new query cannot go on with it: %s", a.Differs)
	}
}

// Handover is what happened to the state of a node when it was reloaded.
type Handover struct {
	// Kept: the query goes on with the rows, watermarks and counters it had.
	Kept bool
	// Because says why the old state was let go: "stage 1: WITHIN is 20s, was 10s".
	Because string
}

// Handover tells what this instance got from the one before it; false while there
// was none, or while that one still works.
func (n *Node) Handover() (Handover, bool) {
	if h := n.handover.Load(); h != nil {
		return *h, true
	}
	return Handover{}, false
}

// Drain ends the node's query: rows it has accepted are processed, what waits is
// flushed as on a stop, and all results have passed through the chain when it
// returns. The node refuses messages from then on. Use component.Drain for all
// nodes of a chain.
func (n *Node) Drain(ctx context.Context) error {
	if n.query == nil {
		return nil
	}
	if err := n.query.Drain(ctx); err != nil && !errors.Is(err, joinnode.ErrStopped) {
		return fmt.Errorf("drain node %q: %w", n.id, err)
	}
	go n.query.Stop() // a sink that hangs must not hang the caller beyond ctx
	select {
	case <-n.query.Done():
	case <-ctx.Done():
		return fmt.Errorf("drain node %q: %w", n.id, ctx.Err())
	}
	if err := n.inFlight.wait(ctx); err != nil {
		return fmt.Errorf("drain node %q: %w", n.id, err)
	}
	return nil
}

// Stats returns the query's counters and the node's own, which begin with node_:
// messages accepted and refused, messages emitted, and those that could not be
// delivered.
func (n *Node) Stats() map[string]int64 {
	stats := make(map[string]int64)
	if n.query == nil {
		return stats
	}
	for name, v := range n.query.GetStats() {
		stats[name] = v
	}
	stats["node_accepted"] = n.accepted.Load()
	stats["node_refused"] = n.refused.Load()
	stats["node_emitted"] = n.emitted.Load()
	stats["node_undelivered"] = n.lost.Load()
	return stats
}

// Explain describes how the query runs.
func (n *Node) Explain() string {
	if n.query == nil {
		return ""
	}
	return n.query.Explain()
}

// Tables describes the tables of the node's script, in order of definition; nil
// when the query is no table script.
func (n *Node) Tables() []joinnode.TableInfo {
	if n.query == nil {
		return nil
	}
	return n.query.ScriptTables()
}

// TableJSON appends rows of a state table of the node's script, as they are now,
// to dst as a JSON array. Errors: joinnode.ErrUnknownTable, joinnode.ErrTableQuery,
// joinnode.ErrNotExecuted before Init.
func (n *Node) TableJSON(dst []byte, table string, choice joinnode.TableQuery) ([]byte, error) {
	if n.query == nil {
		return dst, joinnode.ErrNotExecuted
	}
	return n.query.TableJSON(dst, table, choice)
}

// Warnings are what is allowed in the configuration but hardly meant, such as inputs
// of a join that no message can reach. The caller must not change them.
func (n *Node) Warnings() []string { return n.warnings }

// chainID is the id of the chain that a node's configuration belongs to, or "".
func chainID(configuration types.Configuration) string {
	chain := base.NodeUtils.GetChainCtx(configuration)
	if c, ok := chain.(*engine.RuleChainCtx); chain == nil || ok && c == nil {
		return ""
	}
	if def := chain.Definition(); def != nil {
		return def.RuleChain.ID
	}
	return ""
}

// Check finds everything that Init would find wrong with a configuration, without
// making a node. Variables (${global.x}) must have been filled in.
func Check(configuration types.Configuration) error {
	s, err := parseConfiguration(configuration)
	if err != nil {
		return err
	}
	q, err := joinEngine{}.compile(s, logger{})
	if err != nil {
		return err
	}
	t, err := newTables(s.Tables, q, logger{})
	t.close()
	return err
}
