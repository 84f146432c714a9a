package row

import (
	"slices"
	"sync"
	"unicode/utf8"
	"unsafe"

	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// spreading is the working memory of one call that spreads whole rows.
type spreading struct {
	taken nameSet  // names written by spread fields so far
	text  []byte   // names that had to be built
	keys  []string // of a Go map, sorted
}

// release empties sp, so that it keeps no row alive, and puts it back.
func (sp *spreading) release(pool *sync.Pool) {
	sp.taken.reset()
	sp.text = sp.text[:0]
	clear(sp.keys)
	sp.keys = sp.keys[:0]
	pool.Put(sp)
}

// each calls f with the fields that the whole row v contributes to field sf, as
// Shape says: the name it is written under, whether that is free of characters
// to escape, and its value. The name is valid until f returns.
func (s *Shape) each(sp *spreading, sf *shapeField, v value.Value, f func(name string, plain bool, v value.Value)) {
	emit := func(name string, plain bool, v value.Value) {
		for s.named.has(name) || sp.taken.has(name) {
			if sf.Prefix == "" {
				return
			}
			name, plain = sp.qualify(sf.Prefix, name), false
		}
		if sf.track {
			sp.taken.add(name)
		}
		f(name, plain, v)
	}
	switch v.Kind {
	case value.JSON:
		it := memberIter{scanner: scanner{b: v.Text}}
		for it.next() {
			name, plain := it.rawName, true
			if it.nameSpelling != 0 && (it.nameSpelling&escaped != 0 || !utf8.Valid(name)) {
				start := len(sp.text)
				sp.text = unescape(sp.text, name)
				name, plain = sp.text[start:], false
			}
			emit(view(name), plain, it.valueOf(it.at))
		}
	case value.Any:
		m, ok := v.Ref.(map[string]any)
		if !ok {
			return
		}
		for name := range m {
			sp.keys = append(sp.keys, name)
		}
		slices.Sort(sp.keys)
		for _, key := range sp.keys {
			name := key
			if !utf8.ValidString(name) {
				// Both outputs get the name that JSON can have.
				start := len(sp.text)
				for _, r := range name {
					sp.text = utf8.AppendRune(sp.text, r)
				}
				name = view(sp.text[start:])
			}
			emit(name, false, value.FromGo(m[key]))
		}
		clear(sp.keys)
		sp.keys = sp.keys[:0]
	}
}

// verbatim tells whether an object is spelled as its members are when they are
// written one by one: nothing between them, and text that is ASCII without escapes.
// Most producers' are.
func verbatim(object []byte) bool {
	if len(object) == 0 || object[0] != '{' {
		return false
	}
	s := scanner{b: object}
	for i := 0; i < len(object); i++ {
		switch c := object[i]; {
		case c == '"':
			end, f := s.text(i + 1)
			if end < 0 || f != 0 {
				return false
			}
			i = end
		case c <= ' ':
			return false
		}
	}
	return true
}

// qualify returns prefix.name, valid until sp is released.
func (sp *spreading) qualify(prefix, name string) string {
	start := len(sp.text)
	sp.text = append(append(append(sp.text, prefix...), '.'), name...)
	return view(sp.text[start:])
}

// bytesOf returns the bytes of s, not to be written to.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
