package delegate

import (
	"fmt"
	"sync"

	"github.com/rulego/streamsql/stream"
)

// tables has the registered tables by name.
type tables struct {
	mu      sync.RWMutex
	sources map[string]stream.TableSource
}

// Unregistered returns the joined tables that nobody has registered yet, in
// query order.
func (e *Engine) Unregistered() []string {
	var missing []string
	if len(e.plan.Tables) > 0 {
		e.tables.mu.RLock()
		defer e.tables.mu.RUnlock()
	}
	for _, t := range e.plan.Tables {
		if e.tables.sources[t] == nil {
			missing = append(missing, t)
		}
	}
	return missing
}

// join adds each table's row to the stream's row under the table's alias, an
// empty one where a LEFT JOIN finds none. It returns false when an inner join
// finds none.
func (e *Engine) join(row map[string]any) (ok bool, err error) {
	if len(e.plan.joins) == 0 {
		return true, nil
	}
	defer func() { // a table source is foreign code
		if r := recover(); r != nil {
			e.counters.panics.Inc()
			ok, err = false, fmt.Errorf("a table panicked on the row: %v", r)
		}
	}()
	found := make([]map[string]any, len(e.plan.joins))
	for i, j := range e.plan.joins {
		e.tables.mu.RLock()
		src := e.tables.sources[j.table]
		e.tables.mu.RUnlock()
		if src == nil {
			return false, &unregisteredError{j.table}
		}
		key := make([]any, len(j.stream))
		for n, path := range j.stream {
			key[n] = keyValue(lookup(row, path))
		}
		match, matched := src.Lookup(key)
		switch {
		case matched:
			found[i] = match
		case j.left:
			found[i] = map[string]any{}
		default:
			return false, nil
		}
	}
	for i, j := range e.plan.joins {
		row[j.alias] = found[i]
	}
	return true, nil
}

// unregisteredError is what a row gets while a joined table is missing.
// streamsql logs it and drops the row.
type unregisteredError struct{ table string }

func (e *unregisteredError) Error() string {
	return fmt.Sprintf("join table %q is not registered\nhint: call RegisterTable(%q, …), or write JOIN %s WITHIN (10 SECONDS) … to join a stream",
		e.table, e.table, e.table)
}

func (e *unregisteredError) Unwrap() error { return ErrNotRegistered }

// RegisterTable makes rows the content of a joined table. They are copied.
// keyFields must be the table's fields of ON; none means those. Of rows with
// one key the last stays; the others are named in the log, because streamsql
// joins a row with at most one table row.
func (e *Engine) RegisterTable(name string, rows []map[string]any, keyFields ...string) (*stream.MemoryTableSource, error) {
	want, err := e.known(name)
	if err != nil {
		return nil, err
	}
	if len(keyFields) == 0 {
		keyFields = want
	}
	if len(keyFields) != len(want) {
		return nil, fmt.Errorf("table %s is joined by %v, not by %v", name, want, keyFields)
	}
	for i, k := range keyFields {
		if k != want[i] {
			return nil, fmt.Errorf("table %s is joined by %v, in this order, not by %v", name, want, keyFields)
		}
	}
	seen := map[string]bool{}
	key := newKeyer(keyFields)
	double := 0
	copies := make([]map[string]any, len(rows))
	for i, r := range rows {
		copies[i] = copyRow(r)
		for _, f := range keyFields {
			copies[i][f] = keyValue(copies[i][f])
		}
		k := key.of(copies[i])
		if seen[k] {
			double++
		}
		seen[k] = true
	}
	if double > 0 {
		e.log.Warn("table %s: %d row(s) have a key %v that another row has; the last one of each key is used", name, double, keyFields)
	}
	src, err := e.st.RegisterMemoryTable(name, keyFields, copies)
	if err != nil {
		return nil, err
	}
	e.register(src)
	return src, nil
}

// RegisterTableSource registers a table that looks itself up.
func (e *Engine) RegisterTableSource(src stream.TableSource) error {
	if _, err := e.known(src.Name()); err != nil {
		return err
	}
	if err := e.st.RegisterTableSource(src); err != nil {
		return fmt.Errorf("table %s: %w", src.Name(), err)
	}
	e.register(src)
	return nil
}

// UpsertTable adds a row to a table of RegisterTable or replaces the row with
// its key.
func (e *Engine) UpsertTable(name string, row map[string]any) error {
	return e.st.UpsertTableRow(name, copyRow(row))
}

// known returns the key fields of a table that the query joins.
func (e *Engine) known(name string) ([]string, error) {
	for _, j := range e.plan.joins {
		if j.table == name {
			return j.key, nil
		}
	}
	return nil, fmt.Errorf("the query joins no table %q, but %q", name, e.plan.Tables)
}

// register makes a table visible to rows. streamsql's stream has it as well: it
// initializes the source and closes it at Stop.
func (e *Engine) register(src stream.TableSource) {
	e.tables.mu.Lock()
	defer e.tables.mu.Unlock()
	e.tables.sources[src.Name()] = src
}
