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
// loop waits for old's, and p's first result comes after old's last.
func (p *Pipeline) Adopt(old *Pipeline) (differs string, err error) {
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	if p.queue.started || p.queue.closed || p.after != nil {
		return "", ErrStarted
	}
	t, differs := plan.Compare(old.plan, p.plan)
	var successor *Pipeline
	if differs == "" {
		successor = p
		p.transfer = t
	}
	if !old.close(operator.ClosedByReload, successor) {
		return "the old query was stopped before", nil
	}
	p.predecessor, p.after = old, old.done
	return differs, nil
}

// Follow makes p deliver its first result only when done is closed: the last
// result of an old query of another kind is out.
func (p *Pipeline) Follow(done <-chan struct{}) error {
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	if p.queue.started || p.queue.closed || p.after != nil {
		return ErrStarted
	}
	p.after = done
	return nil
}

// inherit waits for the predecessor's loop and takes its state over.
func (p *Pipeline) inherit(old *Pipeline) {
	if old == nil {
		return
	}
	<-old.loopDone
	if p.transfer == nil {
		return
	}
	p.now = old.now
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
	p.counters.inherit(old.counters)
	p.transfer = nil
	p.publish()
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
		p.counters.drop(stage, operator.Filtered, false)
		return false
	}
}

func (c *counters) inherit(old *counters) {
	c.rowsIn, c.rowsOut = old.rowsIn, old.rowsOut
	copy(c.drops, old.drops)
	copy(c.pending, old.pending)
	copy(c.skewSince, old.skewSince)
	for i := range c.overflowed {
		c.overflowed[i].Add(old.overflowed[i].Load())
	}
	c.refused.Add(old.refused.Load())
}

// endUnstarted ends a query that never saw a row. If it has a predecessor, that
// one's state is given up here: the predecessor was told that it would go on.
func (p *Pipeline) endUnstarted() {
	if p.after == nil {
		close(p.loopDone)
		p.cfg.OnEnd()
		close(p.done)
		return
	}
	pre := p.predecessor
	p.predecessor = nil
	go p.out.run(p.after)
	go func() {
		defer close(p.loopDone)
		p.inherit(pre)
		p.end()
	}()
}
