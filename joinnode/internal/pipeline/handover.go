package pipeline

import (
	"errors"

	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
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
	inherit, differs := p.graph.heir(old.graph)
	var successor *Pipeline
	if inherit != nil {
		successor = p
	}
	first, begun := old.close(operator.ClosedByReload, successor)
	if !first {
		return "the old query was stopped before", nil
	}
	p.followLocked(old.done, old.sinks)
	if inherit != nil && begun {
		p.from = handover{old, inherit}
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

// handover is whose state is taken over, and how.
type handover struct {
	old     *Pipeline // nil: nobody's
	inherit func()
}

// inherit waits for the predecessor's loop and takes its state over; without a
// predecessor it does nothing.
func (p *Pipeline) inherit(from handover) {
	if from.old == nil {
		return
	}
	<-from.old.loopDone
	from.old.outside.Lock()
	defer from.old.outside.Unlock()
	p.now = from.old.now
	p.counters.inherit(from.old.counters)
	from.inherit()
	p.publish(0)
	p.queue.ring() // to look for what is due
}
