package delegate

import (
	"fmt"
	"sync"

	"github.com/rulego/streamsql/stream"
)

// tables knows which tables are registered.
type tables struct {
	mu         sync.RWMutex
	registered map[string]bool
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
	e.register(name)
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
	e.register(src.Name())
	return nil
}

// UpsertTable adds a row to a table of RegisterTable or replaces the row with
// its key.
func (e *Engine) UpsertTable(name string, row map[string]any) error {
	return e.st.UpsertTableRow(name, copyRow(row))
}

// known returns the key fields of a table that the query joins.
func (e *Engine) known(name string) ([]string, error) {
	key, ok := e.plan.tableKey[name]
	if !ok {
		return nil, fmt.Errorf("the query joins no table %q, but %q", name, e.plan.Tables)
	}
	return key, nil
}

func (e *Engine) register(name string) {
	e.tables.mu.Lock()
	defer e.tables.mu.Unlock()
	e.tables.registered[name] = true
}
