package joinnode

import (
	"errors"
	"fmt"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
)

// Emit feeds one row to the FROM stream. It has no result, so a row that cannot
// be taken is counted and logged; EmitTo tells instead. The row is copied: the
// caller may change it afterwards.
func (s *Streamsql) Emit(data map[string]any) {
	err := s.EmitTo("", data)
	if err == nil || errors.Is(err, ErrSchema) { // which validate has logged
		return
	}
	if q, notRunning := s.running(); notRunning == nil && errors.Is(err, ErrStopped) {
		q.refused()
		return
	}
	s.sinks.warn("emit", "Emit: the row was not taken: %v", err)
}

// EmitTo feeds one row to the named stream, the name behind FROM or JOIN,
// case-sensitive; "" is the FROM stream. It waits while the input queue is full
// or results are backed up. Errors: ErrNotExecuted, ErrStopped,
// ErrUnknownStream (with the known names), ErrOverflow, a schema error.
func (s *Streamsql) EmitTo(stream string, data map[string]any) error {
	q, err := s.running()
	if err != nil {
		return err
	}
	if data, err = s.validMap(data); err != nil {
		return err
	}
	return q.emitMap(stream, data)
}

// EmitSync processes one row and returns its result, for single-stream queries
// without windows. On a join it returns ErrStreamJoin.
func (s *Streamsql) EmitSync(data map[string]any) (map[string]any, error) {
	q, err := s.running()
	if err != nil {
		return nil, err
	}
	if data, err = s.validMap(data); err != nil {
		return nil, err
	}
	return q.emitSync(data)
}

// EmitJSON feeds a message to the named stream ("" = FROM): one JSON object, or
// an array of objects that is taken whole or not at all. Numbers keep their
// spelling. The bytes may be reused once it returns. Beside EmitTo's errors
// there is ErrInvalidJSON, which names the byte offset; it is also for
// valid JSON that is no row.
func (s *Streamsql) EmitJSON(stream string, data []byte) error {
	if s.opts.schema == nil && row.KindOf(data) == row.Object {
		q, err := s.running()
		if err != nil {
			return err
		}
		return q.emitJSON(stream, data)
	}
	rows, err := splitMessage(stream, data)
	if err != nil {
		return err
	}
	return s.EmitRows(rows)
}

// EmitRows feeds rows of one or several streams in order, all or none. Each
// Data is one JSON object; the bytes may be reused once it returns.
func (s *Streamsql) EmitRows(rows []JSONRow) error {
	q, err := s.running()
	if err != nil {
		return err
	}
	if s.opts.schema != nil {
		if rows, err = s.validRows(rows); err != nil {
			return err
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return q.emitRows(rows)
}

// splitMessage turns a message into rows of one stream.
func splitMessage(stream string, data []byte) ([]JSONRow, error) {
	var rows []JSONRow
	err := row.Elements(data, func(elem []byte, _ int) error {
		rows = append(rows, JSONRow{Stream: stream, Data: elem})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

func rowError(i, n int, err error) error {
	if n == 1 {
		return err
	}
	return fmt.Errorf("row %d of %d: %w", i+1, n, err)
}
