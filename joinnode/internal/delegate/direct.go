package delegate

import (
	"fmt"

	"github.com/rulego/streamsql/functions"
)

// direct runs one row through a direct query and delivers its results. An error
// has been counted and logged.
func (e *Engine) direct(row map[string]any) ([]map[string]any, error) {
	e.counters.input.Inc()
	if ok, err := e.prepare(row); !ok {
		return nil, err
	}
	result, err := e.project(row)
	if err != nil {
		e.counters.rowError(err)
		return nil, err
	}
	if result == nil {
		return nil, nil
	}
	rows := []map[string]any{result}
	if e.plan.unnest {
		rows = expand(result)
	}
	if len(rows) > 0 {
		e.sinks.deliver(rows)
	}
	return rows, nil
}

// project is streamsql's part of direct, one row at a time because of its
// analytic functions' state.
func (e *Engine) project(row map[string]any) (result map[string]any, err error) {
	e.row.Lock()
	defer e.row.Unlock()
	defer func() {
		if r := recover(); r != nil {
			e.counters.panics.Inc()
			result, err = nil, fmt.Errorf("streamsql panicked on the row: %v", r)
		}
	}()
	return e.st.ProcessSync(row)
}

// expand turns an unnest() value into one result row per element, as
// streamsql's asynchronous path does.
func expand(result map[string]any) []map[string]any {
	for name, v := range result {
		if !functions.IsUnnestResult(v) {
			continue
		}
		var rows []map[string]any
		for _, part := range functions.ProcessUnnestResultWithFieldName(v, name) {
			row := make(map[string]any, len(result)+len(part))
			for k, v := range result {
				if k != name {
					row[k] = v
				}
			}
			for k, v := range part {
				row[k] = v
			}
			rows = append(rows, row)
		}
		return rows
	}
	return []map[string]any{result}
}
