package pipeline

import (
	"errors"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/plan"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// ErrStarted is returned by Adopt when the new query already has rows or state.
var ErrStarted = errors.New("the new query has already begun")

// Adopt makes p the successor of old: old takes no more rows, ends what it has
// in its queue, and then either leaves its state to p (differs == "") or flushes
// with closedBy=reload because the graphs differ. Adopt returns at once; p's
// loop waits for old's, and p's first result comes after old's last. Where there
// is state to take over p's loop begins now, since rows that wait in it fall due
// whether or not another one comes.
func (p *Pipeline) Adopt(old *Pipeline) (differs string, err error) {
	if old == p {
		return "", ErrStarted
	}
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	if !p.freshLocked() {
		return "", ErrStarted
	}
	t, differs := plan.Compare(old.plan, p.plan)
	var successor *Pipeline
	if t != nil {
		successor = p
	}
	first, begun := old.close(operator.ClosedByReload, successor)
	if !first {
		return "the old query was stopped before", nil
	}
	p.followLocked(old.done, old.sinks)
	if t != nil && begun {
		p.predecessor, p.transfer = old, t
		p.queue.startLocked()
	}
	return differs, nil
}

// Follow makes p deliver its first result only when done is closed: the last
// result of an old query of another kind, whose sinks are given, is out.
func (p *Pipeline) Follow(done <-chan struct{}, sinks *SinkGoroutine) error {
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	if !p.freshLocked() {
		return ErrStarted
	}
	p.followLocked(done, sinks)
	return nil
}

func (p *Pipeline) freshLocked() bool {
	return !p.queue.started && !p.queue.closed && p.after == nil
}

func (p *Pipeline) followLocked(done <-chan struct{}, sinks *SinkGoroutine) {
	p.after = done
	p.sinks.Follow(sinks)
}

// inherit waits for the predecessor's loop and takes its state over; without a
// predecessor it does nothing.
func (p *Pipeline) inherit(old *Pipeline) {
	if old == nil {
		return
	}
	<-old.loopDone
	p.now = old.now
	p.counters.inherit(old.counters) // before rows are counted that the new WHERE rejects
	for i := range p.graph.stages {
		s, o := &p.graph.stages[i], &old.graph.stages[i]
		t := &p.transfer.Stages[i]
		if err := s.join.Adopt(o.join, t.Left.Columns, t.Right.Columns, p.keep(i, t.Left), p.keep(i, t.Right)); err != nil {
			// Compare has checked the graphs: this is a defect, and the only
			// thing left to do is to say that state was lost.
			p.cfg.Log.Error("join stage %d: state could not be taken over: %v", i+1, err)
		}
		s.left.seq, s.left.progress = o.left.seq, o.left.progress
		s.right.seq, s.right.progress = o.right.seq, o.right.progress
	}
	for i := range p.graph.sources {
		s, o := &p.graph.sources[i], &old.graph.sources[i]
		s.progress, s.last, s.seen = o.progress, o.last, o.seen
		s.head.seq = max(s.head.seq, o.head.seq)
	}
	p.transfer = nil
	p.publish(0)
	p.queue.ring() // to look for what is due
}

// keep applies the conjuncts that are new to the rows of a port; rows that they
// reject leave as filtered.
func (p *Pipeline) keep(stage int, t plan.PortTransfer) func(row.Row) bool {
	if t.Filter == nil {
		return nil
	}
	ctx := p.graph.stages[stage].context
	return func(r row.Row) bool {
		if t.Filter(ctx, r) == value.True {
			return true
		}
		p.counters.drop(stage, operator.Filtered, false, nil)
		return false
	}
}

// inherit goes on with the old query's counts, except for those that the
// operators keep: they bring theirs.
func (c *counters) inherit(old *counters) {
	c.rowsIn, c.rowsOut = old.rowsIn, old.rowsOut
	copy(c.drops, old.drops)
	copy(c.pending, old.pending)
	copy(c.failed, old.failed)
	copy(c.unlike, old.unlike)
	copy(c.skewSince, old.skewSince)
	for i := range c.overflowed {
		c.overflowed[i].Add(old.overflowed[i].Load())
		c.rejected[i] = old.rejectedBy(i)
		context, before := c.p.graph.stages[i].context, old.p.graph.stages[i].context
		context.TypeMismatch, context.FunctionErrors = before.TypeMismatch, before.FunctionErrors
	}
	c.refused.Add(old.refused.Load())
}
