package streamaggregator

import (
	"errors"
	"fmt"

	"github.com/rulego/rulego/api/types"
	"github.com/streamjoin/streamjoin/joinnode"
	"github.com/tidwall/gjson"
)

// ErrInput means that a message is not a JSON object or an array of objects.
// The bytes decide, not the message's data type: what an endpoint calls TEXT or
// BINARY is read all the same.
var ErrInput = errors.New("want a JSON object or an array of JSON objects")

// maxDepth bounds the nesting of messages that are read here, as encoding/json
// does, because what walks a document recursively would else overflow the stack.
const maxDepth = 10000

// feed decides the streams of all rows of msg and gives them to the query, all or
// none. An empty array is fine and feeds nothing.
func (s *settings) feed(q query, ctx types.RuleContext, msg types.RuleMsg) error {
	data := msg.GetBytes()
	if s.InputFormat == FormatColumns {
		return s.feedColumns(q, ctx, msg, data)
	}
	if !s.streamKey.perRow {
		stream, err := s.streamKey.ofMessage(ctx, msg)
		if err != nil {
			if rows, fault := splitRows(data); fault == nil && len(rows) == 0 {
				return nil // no row, no name to miss
			}
			return err
		}
		return q.EmitJSON(stream, data)
	}
	elements, err := splitRows(data)
	if err != nil {
		return err
	}
	rows := make([]joinnode.JSONRow, 0, len(elements))
	for i, data := range elements {
		if !gjson.ValidBytes(data) {
			return fmt.Errorf("%w: row %d", joinnode.ErrInvalidJSON, i)
		}
		stream, err := s.streamKey.ofRow(ctx, msg, data)
		if err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
		rows = append(rows, joinnode.JSONRow{Stream: stream, Data: data})
	}
	if len(rows) == 0 {
		return nil
	}
	return q.EmitRows(rows)
}

func (s *settings) feedColumns(q query, ctx types.RuleContext, msg types.RuleMsg, data []byte) error {
	points, err := splitRows(data)
	if err != nil {
		return err
	}
	row, err := wideRow(points)
	if err != nil || row == nil {
		return err
	}
	stream, err := s.streamKey.ofRow(ctx, msg, row)
	if err != nil {
		return err
	}
	return q.EmitRows([]joinnode.JSONRow{{Stream: stream, Data: row}})
}

// wideRow makes one row of points {"name":…,"value":…}. A point with a non-empty
// "error" is skipped; of two points with one name the later counts. It returns
// nil when no point is left.
func wideRow(points [][]byte) ([]byte, error) {
	var row []byte
	for i, point := range points {
		if !gjson.ValidBytes(point) {
			return nil, fmt.Errorf("%w: point %d", joinnode.ErrInvalidJSON, i)
		}
		var name, value, fault gjson.Result
		gjson.ParseBytes(point).ForEach(func(k, v gjson.Result) bool {
			switch k.String() {
			case "name":
				name = v
			case "value":
				value = v
			case "error":
				fault = v
			}
			return true
		})
		if fault.Exists() && fault.Type != gjson.Null && fault.Raw != `""` {
			continue
		}
		if name.Type != gjson.String || name.Str == "" {
			return nil, fmt.Errorf("%w: point %d has no name", ErrInput, i)
		}
		raw := value.Raw
		if !value.Exists() {
			raw = "null"
		}
		if row == nil {
			row = append(row, '{')
		} else {
			row = append(row, ',')
		}
		row = append(row, name.Raw...)
		row = append(row, ':')
		row = append(row, raw...)
	}
	if row == nil {
		return nil, nil
	}
	return append(row, '}'), nil
}

// splitRows finds the rows of a message: the object itself or the elements of an
// array, as slices of data. It checks everything between the rows; what is inside
// a row is checked by whoever reads it.
func splitRows(data []byte) ([][]byte, error) {
	i := skipSpace(data, 0)
	if i == len(data) {
		return nil, fmt.Errorf("%w: the message is empty", ErrInput)
	}
	switch data[i] {
	case '{':
		end, err := objectEnd(data, i)
		if err != nil {
			return nil, err
		}
		if rest := skipSpace(data, end); rest != len(data) {
			return nil, brokenAt(rest, "text after the object")
		}
		return [][]byte{data[i:end]}, nil
	case '[':
		return splitArray(data, i+1)
	}
	return nil, fmt.Errorf("%w: the message starts with %q", ErrInput, data[i])
}

func splitArray(data []byte, i int) ([][]byte, error) {
	var rows [][]byte
	if i = skipSpace(data, i); i < len(data) && data[i] == ']' {
		i++
	} else {
		for {
			if i = skipSpace(data, i); i == len(data) {
				return nil, brokenAt(i, "the array does not end")
			}
			if data[i] != '{' {
				return nil, fmt.Errorf("%w: element %d (offset %d) is no object", ErrInput, len(rows), i)
			}
			end, err := objectEnd(data, i)
			if err != nil {
				return nil, err
			}
			rows = append(rows, data[i:end])
			if i = skipSpace(data, end); i == len(data) {
				return nil, brokenAt(i, "the array does not end")
			}
			if i++; data[i-1] == ']' {
				break
			} else if data[i-1] != ',' {
				return nil, brokenAt(i-1, "want a comma or the end of the array")
			}
		}
	}
	if rest := skipSpace(data, i); rest != len(data) {
		return nil, brokenAt(rest, "text after the array")
	}
	return rows, nil
}

// objectEnd returns the offset behind the object that starts at i. It follows
// brackets and strings only.
func objectEnd(data []byte, i int) (int, error) {
	start, depth := i, 0
	for ; i < len(data); i++ {
		switch data[i] {
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			if depth++; depth > maxDepth {
				return 0, brokenAt(i, fmt.Sprintf("nested deeper than %d", maxDepth))
			}
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, nil
			}
		}
	}
	return 0, brokenAt(len(data), fmt.Sprintf("the object at offset %d does not end", start))
}

func skipSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\t' || data[i] == '\n' || data[i] == '\r') {
		i++
	}
	return i
}

func brokenAt(offset int, what string) error {
	return fmt.Errorf("%w at offset %d: %s", joinnode.ErrInvalidJSON, offset, what)
}
