package row

import (
	"bytes"
	"unicode/utf8"
	"unsafe"
)

// member is one member of an object: the offsets of its name's quote and of the
// end of its value.
type member struct {
	start, end int
	name       string
}

// whole notes the object b[i:end], known to be valid, as the columns that hold
// the whole row. When names repeat, the text is rewritten without the members
// that a later one replaces, and b changes to hold it.
func (sc *Scratch) whole(n *node, i, end int) {
	at := span{start: i, end: end, class: classObject}
	if sc.repeated {
		at.start = len(sc.b)
		sc.b = sc.distinct(i)
		at.end = len(sc.b)
	}
	for _, col := range n.cols {
		sc.found[col] = at
	}
}

// watchName notes a name at the top level of the message.
func (sc *Scratch) watchName(name []byte, f spelling) {
	if f != 0 && (f&escaped != 0 || !utf8.Valid(name)) {
		name = unescape(nil, name)
	}
	sc.repeated = !sc.names.add(view(name)) || sc.repeated
}

// memberName returns the name of the member at it, unescaped, valid until
// names is reset.
func (sc *Scratch) memberName(it *memberIter) string {
	name := it.rawName
	if it.nameSpelling != 0 && (it.nameSpelling&escaped != 0 || !utf8.Valid(name)) {
		name = unescape(nil, name)
	}
	return view(name)
}

// distinct returns the message with a copy of the object at i appended, in
// which each name stands once, where its last member stood.
func (sc *Scratch) distinct(i int) []byte {
	sc.names.reset()
	sc.dups = sc.dups[:0]
	it := memberIter{scanner: scanner{b: sc.b}, i: i}
	for it.next() {
		sc.dups = append(sc.dups, member{start: it.start, end: it.valueEnd, name: sc.memberName(&it)})
	}
	for k := len(sc.dups) - 1; k >= 0; k-- {
		if m := &sc.dups[k]; !sc.names.add(m.name) {
			m.end = m.start
		}
	}
	text := append(bytes.Clone(sc.b), '{')
	first := true
	for _, m := range sc.dups {
		if m.end == m.start {
			continue
		}
		if !first {
			text = append(text, ',')
		}
		first = false
		text = append(text, sc.b[m.start:m.end]...)
	}
	clear(sc.dups) // the names are the message's memory
	return append(text, '}')
}

// memberIter iterates over the members of a valid object.
type memberIter struct {
	scanner
	i            int // at the opening brace, then behind the last value
	open         bool
	start        int // of the current member
	rawName      []byte
	nameSpelling spelling
	at           span // the current value
	valueEnd     int
}

// next moves to the next member; false when there is none.
func (m *memberIter) next() bool {
	c, i := m.byteAt(m.i)
	if !m.open && c == '{' {
		m.open = true
		c, i = m.byteAt(i + 1)
	} else if c == ',' {
		c, i = m.byteAt(i + 1)
	}
	if c != '"' {
		return false
	}
	m.start = i
	m.rawName, m.nameSpelling, i = m.key(i)
	if i < 0 {
		return false
	}
	_, i = m.byteAt(i)
	m.valueEnd, m.at = m.any(i, 1)
	m.i = m.valueEnd
	return m.valueEnd >= 0
}

// view returns b as a string without a copy; it lives as long as b stays as it
// is.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
