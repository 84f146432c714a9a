package delegate

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// copyRow returns a deep copy of a row: rows wait in queues and windows while
// their sender goes on using the map. json.Number becomes int64 or float64,
// because streamsql compares and adds Go numbers only.
func copyRow(row map[string]any) map[string]any {
	out := make(map[string]any, len(row)+1)
	for k, v := range row {
		out[k] = copyValue(v)
	}
	return out
}

func copyValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return copyRow(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = copyValue(e)
		}
		return out
	case json.Number:
		return number(v.String())
	}
	return v
}

// number reads a decimal number as int64 when it is whole and fits, else as
// float64.
func number(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	return f
}

// lookup follows a path, giving nil for what is missing.
func lookup(row map[string]any, path []syntax.Step) any {
	var v any = row
	for _, s := range path {
		if s.IsIndex {
			list, ok := v.([]any)
			i := s.Index
			if i < 0 {
				i += len(list)
			}
			if !ok || i < 0 || i >= len(list) {
				return nil
			}
			v = list[i]
			continue
		}
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[s.Name]
	}
	return v
}

func pathText(path []syntax.Step) string {
	var b strings.Builder
	for i, s := range path {
		if s.IsIndex {
			fmt.Fprintf(&b, "[%d]", s.Index)
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(s.Name)
	}
	return b.String()
}
