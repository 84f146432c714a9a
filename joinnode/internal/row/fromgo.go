package row

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// Map appends the columns of a row that came in as a Go map to dst: the same
// columns, by the same paths, as JSON finds in the row's JSON text. Steps also
// lead into maps of any string type, structs (by Go field name, exported only,
// as in streamsql), slices, arrays, pointers and json.RawMessage. Scalars keep
// their Go type. Maps, slices and the like are copied deeply, so that what the
// caller does to them later has no effect.
//
// The error is a *JSONError in a json.RawMessage that a column needs, or
// value.ErrTooDeep; dst is then returned as it was. A row from a Go map has no
// other faults: what a path does not find is NULL.
func (x *Extractor) Map(dst Row, m map[string]any) (Row, error) {
	row := dst
	for _, path := range x.paths {
		if len(path) == 0 {
			own, err := value.Copy(m)
			if err != nil {
				return dst, fmt.Errorf("the row: %w", err)
			}
			row = Append(row, value.OfAny(own))
			continue
		}
		v := m[stepName(path[0])]
		if len(path) == 1 {
			var done bool
			if row.Enc, done = appendScalar(row.Enc, v); done {
				continue
			}
		}
		var err error
		if row, err = appendGo(row, v, path[1:]); err != nil {
			return dst, fmt.Errorf("column %s: %w", pathString(path), err)
		}
	}
	return row, nil
}

// appendGo appends what path leads to from v.
func appendGo(dst Row, v any, path Path) (Row, error) {
	for k, step := range path {
		if raw, ok := v.(json.RawMessage); ok {
			return appendRaw(dst, raw, path[k:])
		}
		if v = follow(v, step); v == nil {
			break
		}
	}
	if raw, ok := v.(json.RawMessage); ok {
		return appendRaw(dst, raw, nil)
	}
	g := value.FromGo(v)
	if g.Kind == value.Any {
		var err error
		if g.Ref, err = value.Copy(g.Ref); err != nil {
			return dst, err
		}
	}
	return Append(dst, g), nil
}

// appendRaw appends what path leads to in JSON text. Empty text is NULL, as
// encoding/json writes a nil RawMessage.
func appendRaw(dst Row, raw json.RawMessage, path Path) (Row, error) {
	if len(raw) == 0 {
		return Append(dst, value.Value{}), nil
	}
	if err := Valid(raw); err != nil {
		return dst, err
	}
	v, _ := Lookup(raw, path)
	return Append(dst, v), nil
}

// follow takes one step from a Go value; nil when it leads nowhere.
func follow(v any, step syntax.Step) any {
	switch v := v.(type) {
	case map[string]any:
		return v[stepName(step)]
	case []any:
		if !step.IsIndex {
			return nil
		}
		i := step.Index
		if i < 0 {
			i += len(v)
		}
		if i < 0 || i >= len(v) {
			return nil
		}
		return v[i]
	}
	return followReflect(reflect.ValueOf(v), step)
}

// maxPointers is how many pointers in a row are followed.
const maxPointers = 8

// followReflect is follow for all other types.
func followReflect(v reflect.Value, step syntax.Step) any {
	for hops := 0; v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface; hops++ {
		if hops == maxPointers {
			return nil // perhaps a cycle
		}
		v = v.Elem() // of a nil pointer: the invalid Value
	}
	var found reflect.Value
	switch v.Kind() {
	case reflect.Map:
		found = mapElement(v, step)
	case reflect.Struct:
		if f, ok := v.Type().FieldByName(stepName(step)); ok && f.IsExported() {
			var err error
			if found, err = v.FieldByIndexErr(f.Index); err != nil {
				return nil // embedded through a nil pointer
			}
		}
	case reflect.Slice, reflect.Array:
		if !step.IsIndex {
			return nil
		}
		i := step.Index
		if i < 0 {
			i += v.Len()
		}
		if i >= 0 && i < v.Len() {
			found = v.Index(i)
		}
	}
	if !found.IsValid() || !found.CanInterface() {
		return nil
	}
	return found.Interface()
}

// mapElement looks a step up in a map with keys of a string type or, for an
// index, of an integer type.
func mapElement(m reflect.Value, step syntax.Step) reflect.Value {
	key := m.Type().Key()
	switch {
	case key.Kind() == reflect.String:
		return m.MapIndex(reflect.ValueOf(stepName(step)).Convert(key))
	case key.Kind() == reflect.Interface && key.NumMethod() == 0:
		if step.IsIndex {
			if e := m.MapIndex(reflect.ValueOf(step.Index)); e.IsValid() {
				return e
			}
		}
		return m.MapIndex(reflect.ValueOf(stepName(step)))
	case !step.IsIndex:
	case key.Kind() >= reflect.Int && key.Kind() <= reflect.Int64:
		if k := reflect.New(key).Elem(); !k.OverflowInt(int64(step.Index)) {
			k.SetInt(int64(step.Index))
			return m.MapIndex(k)
		}
	case key.Kind() >= reflect.Uint && key.Kind() <= reflect.Uintptr:
		if k := reflect.New(key).Elem(); step.Index >= 0 && !k.OverflowUint(uint64(step.Index)) {
			k.SetUint(uint64(step.Index))
			return m.MapIndex(k)
		}
	}
	return reflect.Value{}
}

// pathString writes a path for an error message.
func pathString(p Path) string {
	var text []byte
	for i, step := range p {
		switch {
		case step.IsIndex:
			text = append(strconv.AppendInt(append(text, '['), int64(step.Index), 10), ']')
		case i > 0:
			text = append(append(text, '.'), step.Name...)
		default:
			text = append(text, step.Name...)
		}
	}
	return string(text)
}
