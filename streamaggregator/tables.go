package streamaggregator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	defaultTableTimeout = 10 * time.Second
	// tableRetry is the shortest time between two attempts at a table's first
	// load. Messages that come in between fail with the last error.
	tableRetry = time.Second
)

// ErrTable means that a table has not been loaded yet, so that rows
// cannot be joined with it.
var ErrTable = errors.New("table not loaded")

// tables are the tables of one node instance. They are read and given to
// the query with the first message, because an instance may never get one. Each
// refreshed table has a goroutine, which ends with close.
type tables struct {
	defs   []Table
	query  query
	log    logger
	client *http.Client

	mu     sync.Mutex
	loaded int // so many of defs the query has
	failed error
	retry  time.Time
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// newTables checks that the query joins just the tables there are.
func newTables(defs []Table, q query, log logger) (*tables, error) {
	joined := q.Tables()
	for i, def := range defs {
		if !slices.Contains(joined, def.Name) {
			return nil, &FieldError{Field: fmt.Sprintf("tables[%d].name", i), Value: def.Name, Err: errors.New("is no table that the SQL joins")}
		}
	}
	for _, name := range joined {
		if !slices.ContainsFunc(defs, func(t Table) bool { return t.Name == name }) {
			return nil, &FieldError{Field: "tables", Value: names(defs), Err: fmt.Errorf("join table %q is not registered: describe it here, or, to join a stream, write WITHIN behind its name", name)}
		}
	}
	if len(defs) == 0 {
		return nil, nil
	}
	t := &tables{defs: defs, query: q, log: log}
	// No connection outlives its request: refreshes are rare, and an idle
	// connection has two goroutines.
	t.client = &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t, nil
}

// start loads what is not loaded yet. It returns nil when all tables are.
func (t *tables) start() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.loaded == len(t.defs) {
		return nil
	}
	if t.ctx.Err() != nil {
		return ErrDestroyed
	}
	if t.failed != nil && time.Now().Before(t.retry) {
		return t.failed
	}
	for ; t.loaded < len(t.defs); t.loaded++ {
		def := t.defs[t.loaded]
		if err := t.load(def); err != nil {
			if t.failed == nil { // once, not at every attempt
				t.log.Warn("table %q cannot be read: %v; messages go to Failure until it can", def.Name, err)
			}
			t.failed, t.retry = fmt.Errorf("%w: %q: %w", ErrTable, def.Name, err), time.Now().Add(tableRetry)
			return t.failed
		}
		t.failed = nil
		if def.refresh > 0 {
			t.wg.Add(1)
			go t.refresh(def)
		}
	}
	return nil
}

func (t *tables) load(def Table) error {
	ctx, cancel := context.WithTimeout(t.ctx, def.timeout)
	defer cancel()
	rows, err := def.read(ctx, t.client)
	if err != nil {
		return err
	}
	_, err = t.query.RegisterTable(def.Name, rows)
	return err
}

func (t *tables) refresh(def Table) {
	defer t.wg.Done()
	tick := time.NewTicker(def.refresh)
	defer tick.Stop()
	for {
		select {
		case <-t.ctx.Done():
			return
		case <-tick.C:
		}
		if err := t.load(def); err != nil && t.ctx.Err() == nil {
			t.log.Warn("table %q keeps the rows of its last refresh: %v", def.Name, err)
		}
	}
}

// close ends the refreshing; it does not wait for it.
func (t *tables) close() {
	if t != nil {
		t.cancel()
	}
}

func names(defs []Table) []string {
	list := make([]string, len(defs))
	for i, def := range defs {
		list[i] = def.Name
	}
	return list
}
