package joinnode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
	"github.com/streamjoin/streamjoin/joinnode/internal/warning"
)

// schemaLoss is how rows that WithSchema refuses are logged.
var schemaLoss = warning.Loss{Counter: "schema_dropped", What: "rows did not fit WithSchema's schema and were refused",
	Todo: "mend the source or the schema"}

// schemaStats adds what was refused before the query saw it.
func (s *Streamsql) schemaStats(stats map[string]int64) map[string]int64 {
	stats[schemaLoss.Counter] = s.SchemaDropped()
	stats["dropped_count"] += s.SchemaDropped()
	return stats
}

// validate checks a row against WithSchema's schema and returns the defaults of
// the fields that it lacks. The row stays as it is.
func (s *Streamsql) validate(data map[string]any) (defaults map[string]any, err error) {
	view := make(map[string]any, len(data))
	for name, v := range data {
		if _, number := v.(json.Number); number {
			v = 0.0 // package schema knows no json.Number, and asks for the type only
		}
		view[name] = v
	}
	if err := s.opts.schema.Validate(view); err != nil { // fills the defaults in
		s.schemaDropped.Add(1)
		s.sinks.warnings.Lost("", &schemaLoss, 1, func() string { return "this: " + err.Error() })
		return nil, fmt.Errorf("%w: %w", ErrSchema, err)
	}
	for name, v := range view {
		if _, given := data[name]; !given {
			if defaults == nil {
				defaults = map[string]any{}
			}
			defaults[name] = v
		}
	}
	return defaults, nil
}

// validMap returns the row to emit: data itself, or a copy with the schema's
// defaults.
func (s *Streamsql) validMap(data map[string]any) (map[string]any, error) {
	if s.opts.schema == nil {
		return data, nil
	}
	defaults, err := s.validate(data)
	if err != nil || defaults == nil {
		return data, err
	}
	maps.Copy(defaults, data) // all of data's names are other ones
	return defaults, nil
}

// validJSON is validMap for one JSON object.
func (s *Streamsql) validJSON(data []byte) ([]byte, error) {
	m, err := decodeRow(data)
	if err != nil {
		return nil, err
	}
	defaults, err := s.validate(m)
	if err != nil || defaults == nil {
		return data, err
	}
	text := bytes.TrimRight(data, " \t\r\n")
	text = append([]byte(nil), text[:len(text)-1]...) // without the brace
	comma := len(m) > 0
	for _, f := range s.opts.schema.Fields {
		v, lacking := defaults[f.Name]
		if !lacking {
			continue
		}
		delete(defaults, f.Name)
		if comma {
			text = append(text, ',')
		}
		comma = true
		text = value.AppendJSON(text, value.OfText(f.Name))
		text = value.AppendJSON(append(text, ':'), value.FromGo(v))
	}
	return append(text, '}'), nil
}

// validRows is validJSON for a group.
func (s *Streamsql) validRows(rows []JSONRow) ([]JSONRow, error) {
	valid := make([]JSONRow, len(rows))
	for i := range rows {
		data, err := s.validJSON(rows[i].Data)
		if err != nil {
			return nil, rowError(i, len(rows), err)
		}
		valid[i] = JSONRow{Stream: rows[i].Stream, Data: data}
	}
	return valid, nil
}

// decodeRow builds a map of one JSON object, with numbers as they came.
func decodeRow(data []byte) (map[string]any, error) {
	if err := row.ValidObject(data); err != nil { // null would be decoded as no map
		return nil, err
	}
	m := map[string]any{}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&m); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidJSON, err)
	}
	return m, nil
}
