package pipeline

import (
	"errors"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
)

// The errors of Read.
var (
	// ErrNoTables says that the query is no script of tables.
	ErrNoTables = errors.New("the query has no tables")
	// ErrHandedOver says that a later version of the query has the tables.
	ErrHandedOver = errors.New("the tables were handed over to the query's next version")
)

// Snapshot is the state of a script between two steps. It is valid until the
// function returns that Read gave it to.
type Snapshot struct{ g *tableGraph }

// Reader returns the rows of a vertex and the context in which expressions over
// them are to be evaluated; nil where the vertex is −1 or holds no rows.
func (s Snapshot) Reader(vertex int) (operator.Reader, *eval.Context) {
	if vertex < 0 {
		return nil, nil
	}
	v := &s.g.vertices[vertex]
	r, _ := v.op.(operator.Reader)
	return r, v.ctx
}

// Now returns the script's now(), ns since the epoch; false while it is unknown.
func (s Snapshot) Now() (int64, bool) { return s.g.now, s.g.now != minTime }

// Read calls f with the tables of a script as they are once every row admitted
// before has been processed and everything due by now has happened. It returns
// when f has. f must not call the pipeline, and should be quick: no row is
// processed meanwhile.
//
// A running query calls f in its loop. Since that never waits for results to be
// delivered, Read may be called from a sink. Before the first row and after the
// last one f runs in the calling goroutine; after Stop the tables are those that
// the query ended with.
func (p *Pipeline) Read(f func(Snapshot)) error {
	g, ok := p.graph.(*tableGraph)
	if !ok {
		return ErrNoTables
	}
	m := &marker{done: make(chan struct{}), read: func() { f(Snapshot{g}) }}
	for {
		admitted, closed := p.queue.admit(m)
		if admitted {
			<-m.done
			return nil
		}
		if closed {
			<-p.loopDone
		}
		if done, err := p.readOutside(g, f, closed); done {
			return err
		}
	}
}

// readOutside calls f where there is no loop, unless one has begun meanwhile.
func (p *Pipeline) readOutside(g *tableGraph, f func(Snapshot), ended bool) (done bool, err error) {
	p.outside.Lock()
	defer p.outside.Unlock()
	switch {
	case p.begun && !ended:
		return false, nil
	case g.handedOver:
		return true, ErrHandedOver
	}
	f(Snapshot{g})
	return true, nil
}
