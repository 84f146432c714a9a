package row

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// Lookup follows one path into the JSON text obj and returns what it finds, by
// the rules of Extractor.JSON. False means that there is nothing, or that obj
// is broken as far as it was read: Lookup does not validate what it need not
// look at. The value's Text belongs to obj, unless it had to be unescaped.
func Lookup(obj []byte, path Path) (value.Value, bool) {
	s := scanner{b: obj}
	_, i := s.byteAt(0)
	for _, step := range path {
		if i >= len(obj) {
			return value.Value{}, false
		}
		switch {
		case obj[i] == '{':
			i = s.find(i, stepName(step))
		case obj[i] == '[' && step.IsIndex:
			i = s.element(i, step.Index)
		default:
			i = -1
		}
		if i < 0 {
			return value.Value{}, false
		}
	}
	end, at := s.any(i, 0)
	if end < 0 {
		return value.Value{}, false
	}
	return s.valueOf(at), true
}

// Follow takes path from v, which holds JSON text or a Go value, by the rules of
// Extractor: NULL when it leads nowhere. The result shares the memory of v.
func Follow(v value.Value, path Path) value.Value {
	for k, step := range path {
		switch v.Kind {
		case value.JSON:
			found, _ := Lookup(v.Text, path[k:])
			return found
		case value.Any:
			if raw, ok := v.Ref.(json.RawMessage); ok {
				found, _ := Lookup(raw, path[k:])
				return found
			}
			v = value.FromGo(follow(v.Ref, step))
		default:
			return value.Value{}
		}
	}
	if raw, ok := v.Ref.(json.RawMessage); ok && v.Kind == value.Any {
		found, _ := Lookup(raw, nil)
		return found
	}
	return v
}

// find returns where the value of the last member called name begins in the
// object at i, −1 when there is none.
func (s *scanner) find(i int, name string) int {
	found := -1
	c, i := s.byteAt(i + 1)
	for c == '"' {
		key, f, next := s.key(i)
		if next < 0 {
			return -1
		}
		_, i = s.byteAt(next)
		if sameName(key, f, name) {
			found = i
		}
		if i, _ = s.any(i, 0); i < 0 {
			return -1
		}
		if c, i = s.byteAt(i); c == ',' {
			c, i = s.byteAt(i + 1)
		}
	}
	if c != '}' {
		return -1
	}
	return found
}

// sameName compares a name as it stands in the text.
func sameName(raw []byte, f spelling, name string) bool {
	if f == 0 || f == nonASCII && utf8.Valid(raw) {
		return string(raw) == name
	}
	return string(unescape(nil, raw)) == name
}

// element returns where element index begins in the array at i, −1 when there
// is none.
func (s *scanner) element(i, index int) int {
	if index < 0 {
		count := 0
		if s.eachElement(i, 0, func(_, at int) int { count++; end, _ := s.any(at, 0); return end }) < 0 {
			return -1
		}
		if index += count; index < 0 {
			return -1
		}
	}
	found := -1
	s.eachElement(i, 0, func(k, at int) int {
		if k == index {
			found = at
			return -1
		}
		end, _ := s.any(at, 0)
		return end
	})
	return found
}
