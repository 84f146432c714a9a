package streamaggregator

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rulego/rulego/api/types"

	"github.com/streamjoin/streamjoin/internal/spelling"
	"github.com/streamjoin/streamjoin/joinnode"
)

// ErrConfiguration is what every error in a node's configuration answers to in
// errors.Is.
var ErrConfiguration = errors.New("invalid node configuration")

// FieldError is an error in one field of the configuration.
type FieldError struct {
	Field string // as written in the chain: "joinMaxKeys", "tables[0].refresh"
	Value any    // what stands there
	Err   error  // what is wrong with it
}

// Error names the field, its value and the fault. The value of an SQL error is
// not repeated, as the error shows the line.
func (e *FieldError) Error() string {
	if _, isText := e.Value.(string); isText && e.Field == "sql" && e.Value != "" {
		return fmt.Sprintf("field %q: %v", e.Field, e.Err)
	}
	shown := fmt.Sprintf("%#v", e.Value)
	if data, err := json.Marshal(e.Value); err == nil {
		shown = string(data)
	}
	if r := []rune(shown); len(r) > 80 {
		shown = string(r[:80]) + "…"
	}
	return fmt.Sprintf("field %q = %s: %v", e.Field, shown, e.Err)
}

// Unwrap lets errors.Is and errors.As see ErrConfiguration and the cause.
func (e *FieldError) Unwrap() []error { return []error{ErrConfiguration, e.Err} }

// parseConfiguration reads and checks a node's configuration. It is strict where
// RuleGo's own mapping is lenient: that one reads the number 5 as a duration of
// 5 ns and ignores a misspelt field. All faults are reported, in field order.
func parseConfiguration(raw types.Configuration) (settings, error) {
	s := settings{Configuration: defaultConfiguration(), blockTimeout: defaultBlockTimeout}
	r := fieldReader{values: raw}
	r.text("sql", &s.SQL)
	if strings.TrimSpace(s.SQL) == "" && len(r.faults) == 0 {
		r.fail("sql", s.SQL, "is required: write the query")
	}
	r.text("streamKey", &s.StreamKey)
	r.choice("inputFormat", &s.InputFormat, FormatAuto, FormatColumns)
	r.tables("tables", &s.Tables)
	r.whole("joinMaxKeys", &s.JoinMaxKeys, 1)
	r.whole("joinMaxRows", &s.JoinMaxRows, 0)
	r.size("joinMaxBytes", &s.JoinMaxBytes, joinnode.MinJoinMaxBytes)
	r.whole("bufferSize", &s.BufferSize, 1)
	r.choice("overflow", &s.Overflow, OverflowBlock, OverflowDrop)
	r.duration("blockTimeout", &s.BlockTimeout, &s.blockTimeout)
	r.flag("lateEvents", &s.LateEvents)
	r.unknown()

	key, err := parseStreamKey(s.StreamKey)
	if err != nil {
		r.faults = append(r.faults, &FieldError{Field: "streamKey", Value: s.StreamKey, Err: err})
	}
	s.streamKey = key
	return s, errors.Join(r.faults...)
}

// fieldReader takes typed values out of a configuration map. A missing or null
// field leaves its target alone.
type fieldReader struct {
	prefix string
	values map[string]any
	known  []string
	faults []error
}

func (r *fieldReader) fail(field string, value any, format string, args ...any) {
	r.faults = append(r.faults, &FieldError{Field: r.prefix + field, Value: value, Err: fmt.Errorf(format, args...)})
}

func (r *fieldReader) get(field string) (any, bool) {
	r.known = append(r.known, field)
	v, ok := r.values[field]
	return v, ok && v != nil
}

func (r *fieldReader) text(field string, to *string) bool {
	v, ok := r.get(field)
	if !ok {
		return false
	}
	s, ok := v.(string)
	if !ok {
		r.fail(field, v, "is %s, want text", kindOf(v))
		return false
	}
	*to = s
	return true
}

// choice takes one of the given words; an empty text means the default.
func (r *fieldReader) choice(field string, to *string, words ...string) {
	var s string
	if !r.text(field, &s) || s == "" {
		return
	}
	if !slices.Contains(words, s) {
		r.fail(field, s, "is none of %s%s", strings.Join(words, ", "), spelling.Hint(s, words))
		return
	}
	*to = s
}

func (r *fieldReader) whole(field string, to *int, least int) {
	v, ok := r.get(field)
	if !ok {
		return
	}
	n, ok := wholeNumber(v)
	if !ok {
		r.fail(field, v, "is %s, want a whole number", kindOf(v))
		return
	}
	if n < int64(least) || n > math.MaxInt32 {
		r.fail(field, v, "is out of range: %d to %d", least, math.MaxInt32)
		return
	}
	*to = int(n)
}

// size takes a number of bytes, at least least; 0 means no bound.
func (r *fieldReader) size(field string, to *int64, least int64) {
	v, ok := r.get(field)
	if !ok {
		return
	}
	n, ok := wholeNumber(v)
	if !ok {
		r.fail(field, v, "is %s, want a whole number of bytes", kindOf(v))
		return
	}
	if n != 0 && n < least {
		r.fail(field, v, "is out of range: 0 (no limit), or at least %d bytes", least)
		return
	}
	*to = n
}

func (r *fieldReader) flag(field string, to *bool) {
	v, ok := r.get(field)
	if !ok {
		return
	}
	b, ok := v.(bool)
	if !ok {
		r.fail(field, v, "is %s, want true or false", kindOf(v))
		return
	}
	*to = b
}

// duration takes a text such as "10s" that is above zero; an empty text means
// the default.
func (r *fieldReader) duration(field string, to *string, parsed *time.Duration) {
	v, ok := r.get(field)
	if !ok {
		return
	}
	s, ok := v.(string)
	if !ok {
		r.fail(field, v, `is %s, want a text with a unit such as "10s"`, kindOf(v))
		return
	}
	if s == "" {
		return
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		r.fail(field, s, `is not a duration: write a number with a unit such as "10s" or "500ms"`)
		return
	}
	if d <= 0 {
		r.fail(field, s, "must be above zero")
		return
	}
	*to, *parsed = s, d
}

func (r *fieldReader) tables(field string, to *[]Table) {
	v, ok := r.get(field)
	if !ok {
		return
	}
	list, ok := objectList(v)
	if !ok {
		r.fail(field, v, "is %s, want a list of objects", kindOf(v))
		return
	}
	names := make(map[string]bool, len(list))
	for i, values := range list {
		sub := fieldReader{prefix: fmt.Sprintf("%s%s[%d].", r.prefix, field, i), values: values}
		t := sub.table()
		if t.Name != "" && names[t.Name] {
			sub.fail("name", t.Name, "is the name of two tables")
		}
		names[t.Name] = true
		r.faults = append(r.faults, sub.faults...)
		*to = append(*to, t)
	}
}

func (r *fieldReader) table() Table {
	t := Table{Format: TableJSON, timeout: defaultTableTimeout}
	r.text("name", &t.Name)
	r.choice("source", &t.Source, SourceInline, SourceFile, SourceHTTP)
	r.text("path", &t.Path)
	r.choice("format", &t.Format, TableJSON, TableCSV)
	r.duration("refresh", &t.Refresh, &t.refresh)
	r.duration("timeout", &t.Timeout, &t.timeout)
	if v, ok := r.get("headers"); ok {
		if t.Headers, ok = textMap(v); !ok {
			r.fail("headers", v, "is %s, want an object of texts", kindOf(v))
		}
	}
	rows, hasRows := r.get("rows")
	if hasRows {
		if t.Rows, hasRows = objectList(rows); !hasRows {
			r.fail("rows", rows, "is %s, want a list of objects", kindOf(rows))
		}
	}
	r.unknown()
	if len(r.faults) > 0 {
		return t
	}
	switch {
	case t.Name == "":
		r.fail("name", t.Name, "is required: the name after JOIN in the SQL")
	case t.Source == "":
		r.fail("source", t.Source, "is required: %s, %s or %s", SourceInline, SourceFile, SourceHTTP)
	case t.Source == SourceInline && !hasRows:
		r.fail("rows", nil, "is required for an inline table")
	case t.Source == SourceInline && t.refresh > 0:
		r.fail("refresh", t.Refresh, "is of no use for an inline table")
	case t.Source != SourceInline && t.Path == "":
		r.fail("path", t.Path, "is required for a table of source %q", t.Source)
	case t.Source != SourceInline && hasRows:
		r.fail("rows", rows, "belong to inline tables only")
	case t.Source == SourceHTTP:
		if u, err := url.Parse(t.Path); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			r.fail("path", t.Path, "is not an http or https URL")
		}
	}
	return t
}

// unknown refuses fields that no one reads: a misspelt one would otherwise be
// ignored in silence. RuleGo adds its own, which start with $ or are vars and
// secrets.
func (r *fieldReader) unknown() {
	var strange []string
	for field := range r.values {
		if strings.HasPrefix(field, "$") || (r.prefix == "" && (field == types.Vars || field == types.Secrets)) {
			continue
		}
		if !slices.Contains(r.known, field) {
			strange = append(strange, field)
		}
	}
	slices.Sort(strange)
	for _, field := range strange {
		r.fail(field, r.values[field], "is not a field of this node (fields: %s)%s", strings.Join(r.known, ", "), spelling.Hint(field, r.known))
	}
}

func wholeNumber(v any) (int64, bool) {
	switch x := v.(type) {
	case int:
		return int64(x), true
	case int32:
		return int64(x), true
	case int64:
		return x, true
	case float64:
		if x != math.Trunc(x) || math.Abs(x) > 1<<53 {
			return 0, false
		}
		return int64(x), true
	case json.Number:
		n, err := x.Int64()
		return n, err == nil
	}
	return 0, false
}

func objectList(v any) ([]map[string]any, bool) {
	switch x := v.(type) {
	case []map[string]any:
		return x, true
	case []any:
		list := make([]map[string]any, len(x))
		for i, e := range x {
			m, ok := e.(map[string]any)
			if !ok {
				return nil, false
			}
			list[i] = m
		}
		return list, true
	}
	return nil, false
}

func textMap(v any) (map[string]string, bool) {
	switch x := v.(type) {
	case map[string]string:
		return x, true
	case map[string]any:
		m := make(map[string]string, len(x))
		for k, e := range x {
			s, ok := e.(string)
			if !ok {
				return nil, false
			}
			m[k] = s
		}
		return m, true
	}
	return nil, false
}

// kindOf names the kind of a configuration value in words of JSON.
func kindOf(v any) string {
	switch v.(type) {
	case string:
		return "a text"
	case bool:
		return "a boolean"
	case int, int32, int64, float64, json.Number:
		return "a number"
	case []any, []map[string]any, []string:
		return "a list"
	case map[string]any, map[string]string:
		return "an object"
	case nil:
		return "null"
	}
	return fmt.Sprintf("a %T", v)
}
