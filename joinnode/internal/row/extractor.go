package row

import (
	"unicode/utf8"

	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// Extractor takes the columns of one stream out of its rows, from JSON bytes or
// from Go maps. It is immutable and safe for concurrent use.
type Extractor struct {
	root  node
	paths []Path
}

// NewExtractor returns an Extractor of one column per path, in that order. The
// empty path is the whole row. A path may occur more than once.
func NewExtractor(cols []Path) *Extractor {
	x := &Extractor{paths: make([]Path, len(cols))}
	for i, p := range cols {
		x.paths[i] = append(Path(nil), p...)
		x.root.insert(x.paths[i], i)
	}
	x.root.index()
	return x
}

// Scratch is the working memory of calls to Extractor.JSON, kept by the caller
// so that a row costs no allocation. The zero Scratch is ready; use it from one
// goroutine at a time. Extractors may share it, but one Scratch per Extractor
// is faster, because it remembers the order of members.
type Scratch struct {
	scanner
	found []span // by column
	order memberOrder
	buf   []byte

	// For a column of the whole row: the names at the top level so far.
	watch    bool
	names    nameSet
	repeated bool // whether a name came twice
	dups     []member
}

// JSON appends the columns of msg, which must be one JSON object, to dst. The
// whole message is validated, also the parts that no column needs; on an error
// (*JSONError) dst is returned as it was.
//
// Numbers keep their spelling, strings are unescaped, objects and arrays are
// kept as JSON text; null and what is missing are NULL. Of members with equal
// names the last one decides, also on the way to a nested column, whatever its
// shape. The column of the whole row is the text of the object without the
// white space around it and, if names repeat at its top level, without the
// members that were replaced.
func (x *Extractor) JSON(dst Row, msg []byte, sc *Scratch) (Row, error) {
	sc.start(x, msg)
	if err := sc.message(&x.root); err != nil {
		sc.end()
		return dst, err
	}
	for i := range sc.found {
		dst.Enc = sc.encode(dst.Enc, &sc.found[i])
	}
	sc.end()
	return dst, nil
}

// message reads the message and notes what columns find in it.
func (sc *Scratch) message(root *node) error {
	c, i := sc.byteAt(0)
	if c != '{' {
		return sc.notObject(i)
	}
	end := sc.object(root, i, 0)
	if end < 0 || sc.rest(end) < 0 {
		return sc.fault()
	}
	if len(root.cols) > 0 {
		sc.whole(root, i, end)
	}
	return nil
}

func (sc *Scratch) start(x *Extractor, msg []byte) {
	sc.scanner = scanner{b: msg}
	cols := len(x.paths)
	if cap(sc.found) < cols {
		sc.found = make([]span, cols)
	}
	sc.found = sc.found[:cols]
	clear(sc.found)
	sc.order.use(x)
	if sc.watch = len(x.root.cols) > 0; sc.watch {
		sc.names.reset()
		sc.repeated = false
	}
}

// end lets go of the caller's message.
func (sc *Scratch) end() {
	sc.b = nil
	if sc.watch {
		sc.names.reset()
	}
}

// notObject says what a message is that should be an object. A broken message
// is reported as such.
func (sc *Scratch) notObject(i int) error {
	end, v := sc.any(i, 0)
	if end < 0 || sc.rest(end) < 0 {
		return sc.fault()
	}
	return notObject(i, v.class)
}

// object reads the object at i, which lies depth containers deep, and notes
// what columns find in it. One call per object on the way to a nested column.
func (sc *Scratch) object(n *node, i, depth int) int {
	c, i := sc.byteAt(i + 1)
	if c == '}' {
		return i + 1
	}
	k := 0
	if depth == 0 && !sc.watch {
		var ended bool
		if k, i, ended = sc.usual(i); ended {
			return i
		}
	}
	for ; ; k++ {
		var e int
		if m := sc.order.member(k, depth); m.at(sc.b, i) {
			if sc.watch {
				sc.watchName(sc.b[i+1:i+len(m.label)-2], 0)
			}
			e = m.edge
			i += len(m.label)
		} else {
			name, f, next := sc.key(i)
			if next < 0 {
				return -1
			}
			e = sc.match(n, name, f)
			if depth == 0 {
				sc.order.learn(k, sc.b[i:next], f, e, n.place(e))
				if sc.watch {
					sc.watchName(name, f)
				}
			}
			i = next
		}
		_, i = sc.byteAt(i)
		if e >= 0 {
			i = sc.memberValue(n, e, i, depth+1)
		} else {
			i, _ = sc.any(i, depth+1)
		}
		if i < 0 {
			return -1
		}
		c, i = sc.byteAt(i)
		if c != ',' {
			if c != '}' {
				return sc.unexpectedBehindValue(i, '}')
			}
			return i + 1
		}
		_, i = sc.byteAt(i + 1)
	}
}

// match is node.match for a name as it stands in the message.
func (sc *Scratch) match(n *node, name []byte, f spelling) int {
	if f != 0 && (f&escaped != 0 || !utf8.Valid(name)) {
		sc.buf = unescape(sc.buf[:0], name)
		name = sc.buf
	}
	return n.match(name)
}

// memberValue reads the value at i for member edge e of n, and for its twins: they
// see the same value, which is read once more for each.
func (sc *Scratch) memberValue(n *node, e, i, depth int) int {
	end := sc.value(n.members[e].node, i, depth)
	for e = n.members[e].twin; e >= 0 && end >= 0; e = n.members[e].twin {
		sc.value(n.members[e].node, i, depth)
	}
	return end
}

// value reads the value at i for the columns that end at n or below.
func (sc *Scratch) value(n *node, i, depth int) int {
	for _, col := range n.below {
		sc.found[col] = span{} // an earlier member of this name does not count
	}
	var end int
	var at span
	switch {
	case len(n.members) > 0 && i < len(sc.b) && sc.b[i] == '{':
		if depth >= maxDepth {
			return sc.fail(i, "nested too deeply")
		}
		end = sc.object(n, i, depth)
		at = span{start: i, end: end, class: classObject}
	case len(n.elements) > 0 && i < len(sc.b) && sc.b[i] == '[':
		if depth >= maxDepth {
			return sc.fail(i, "nested too deeply")
		}
		end = sc.array(n, i, depth)
		at = span{start: i, end: end, class: classArray}
	default:
		end, at = sc.any(i, depth)
	}
	for _, col := range n.cols {
		sc.found[col] = at
	}
	return end
}

// array reads the array at i for the elements that n names.
func (sc *Scratch) array(n *node, i, depth int) int {
	count := 0
	end := sc.eachElement(i, depth, func(k, at int) int {
		count = k + 1
		for _, e := range n.elements {
			if e.index == k {
				return sc.value(e.node, at, depth+1)
			}
		}
		next, _ := sc.any(at, depth+1)
		return next
	})
	if end < 0 || !n.negative {
		return end
	}
	// What [-1] is, is known now: read the array again, valid this time.
	return sc.eachElement(i, depth, func(k, at int) int {
		for _, e := range n.elements {
			if e.index < 0 && e.index+count == k {
				return sc.value(e.node, at, depth+1)
			}
		}
		next, _ := sc.any(at, depth+1)
		return next
	})
}

// eachElement reads the array at i, whose elements f reads: it gets the index
// and offset of each and returns the offset behind it, or −1.
func (s *scanner) eachElement(i, depth int, f func(k, at int) int) int {
	c, i := s.byteAt(i + 1)
	if c == ']' {
		return i + 1
	}
	for k := 0; ; k++ {
		if i = f(k, i); i < 0 {
			return -1
		}
		if c, i = s.byteAt(i); c != ',' {
			if c != ']' {
				return s.unexpectedBehindValue(i, ']')
			}
			return i + 1
		}
		_, i = s.byteAt(i + 1)
	}
}

// encode appends the column found at the given place.
func (sc *Scratch) encode(enc []byte, at *span) []byte {
	switch at.class {
	case classTrue:
		return append(enc, tagBool|1<<4)
	case classFalse:
		return append(enc, tagBool)
	case classNumber:
		return appendBytes(enc, tagNumber, sc.b[at.start:at.end])
	case classText:
		raw := sc.b[at.start:at.end]
		if at.spelling == 0 || at.spelling == nonASCII && utf8.Valid(raw) {
			return appendBytes(enc, tagPlain, raw)
		}
		sc.buf = unescape(sc.buf[:0], raw)
		if value.IsPlain(sc.buf) {
			return appendBytes(enc, tagPlain, sc.buf)
		}
		return appendBytes(enc, tagText, sc.buf)
	case classObject, classArray:
		var text []byte
		text, sc.buf = clean(sc.buf, sc.b[at.start:at.end])
		return appendBytes(enc, tagJSON, text)
	default:
		return append(enc, tagNull)
	}
}

// valueOf returns the value at a place of validated text. Only a string with
// escapes, or text that is no UTF-8, is copied.
func (s *scanner) valueOf(at span) value.Value {
	switch at.class {
	case classTrue, classFalse:
		v := value.Value{Kind: value.Bool}
		if at.class == classTrue {
			v.Bits = 1
		}
		return v
	case classNumber:
		return value.Value{Kind: value.Number, Text: s.b[at.start:at.end]}
	case classText:
		raw := s.b[at.start:at.end]
		if at.spelling == 0 || at.spelling == nonASCII && utf8.Valid(raw) {
			return value.Value{Kind: value.Text, Plain: true, Text: raw}
		}
		text := unescape(nil, raw)
		return value.Value{Kind: value.Text, Plain: value.IsPlain(text), Text: text}
	case classObject, classArray:
		text, _ := clean(nil, s.b[at.start:at.end])
		return value.Value{Kind: value.JSON, Text: text}
	default:
		return value.Value{}
	}
}
