package row

import (
	"strings"
	"sync"

	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// Field is one element of the SELECT list as it is written: a column under a
// name, or the fields of a column that holds a whole row.
type Field struct {
	Name string // of the output column; not used by Spread
	Col  int    // the column in the row
	// Spread writes the fields of the whole row in Col instead of one column. A
	// NULL has none.
	Spread bool
	// Prefix says what becomes of a spread field whose name is taken: with a
	// Prefix (alias.*) it is written prefix.name, without one (the left fields
	// of SELECT *) it is left out.
	Prefix string
	// Whole marks a column that holds a whole row under its alias: NULL is
	// written as the empty object.
	Whole bool
}

// Shape writes rows as JSON objects or as Go maps, the same value either way
// (semantics.md §7). Output columns stand in the order of the SELECT list and
// spread fields in the order of their message, or sorted by name when the row
// was a Go map.
//
// Each name is written once. The Names of fields without Spread are taken from
// the start, wherever they stand in the list; those of spread fields by the
// first that has them. A Shape is immutable and safe for concurrent use.
type Shape struct {
	fields []shapeField
	named  nameSet // of the fields without Spread
	spread bool    // whether there is a field with Spread
	pool   sync.Pool
}

type shapeField struct {
	Field
	label   []byte // `"name":`
	opening []byte // the label behind a brace or a comma; of Shapes without Spread
	// track says that names spread here can be in the way of others.
	track bool
}

// NewShape returns the Shape of a SELECT list. Names of fields without Spread
// must be distinct: package plan has seen to it.
func NewShape(fields []Field) *Shape {
	s := &Shape{pool: sync.Pool{New: func() any { return new(spreading) }}}
	for _, f := range fields {
		sf := shapeField{Field: f, track: f.Prefix != ""}
		if f.Spread {
			for i := range s.fields {
				s.fields[i].track = s.fields[i].Spread
			}
			s.spread = true
		} else {
			s.named.add(f.Name)
			sf.label = append(value.AppendJSON(nil, value.OfText(f.Name)), ':')
			sf.opening = append([]byte{','}, sf.label...)
			if len(s.fields) == 0 {
				sf.opening[0] = '{'
			}
		}
		s.fields = append(s.fields, sf)
	}
	return s
}

// AppendJSON appends the row as one JSON object. Numbers are spelled as they
// came, HTML is not escaped. The text is valid UTF-8 and valid JSON whatever the
// row holds: in text from Go, bytes that are no UTF-8 become U+FFFD, and what
// JSON cannot express (NaN, a channel) is written as null.
func (s *Shape) AppendJSON(dst []byte, r Row) []byte {
	if s.spread {
		return s.appendSpread(dst, r)
	}
	if len(s.fields) == 0 {
		return append(dst, "{}"...)
	}
	at := cursor{row: r}
	for i := range s.fields {
		f := &s.fields[i]
		dst = append(dst, f.opening...)
		off, ok := at.seek(f.Col)
		if !ok {
			dst = f.appendNull(dst)
			continue
		}
		dst = f.appendColumn(dst, r, off)
	}
	return append(dst, '}')
}

// appendSpread is AppendJSON for lists with Spread.
func (s *Shape) appendSpread(dst []byte, r Row) []byte {
	if len(s.fields) == 1 { // SELECT * of one source
		if c, ok := r.column(s.fields[0].Col); ok && c.tag == tagJSON && verbatim(r.Enc[c.start:c.end]) {
			return append(dst, r.Enc[c.start:c.end]...)
		}
	}
	sp := s.pool.Get().(*spreading)
	defer sp.release(&s.pool)
	at := cursor{row: r}
	opening := byte('{') // of the next member; then it is a comma
	for i := range s.fields {
		f := &s.fields[i]
		if !f.Spread {
			dst = f.appendTo(append(dst, opening), &at)
			opening = ','
			continue
		}
		s.each(sp, f, r.Col(f.Col), func(name string, plain bool, v value.Value) {
			dst = value.AppendJSON(append(dst, opening), value.OfBytes(bytesOf(name), plain))
			dst = value.AppendJSON(append(dst, ':'), v)
			opening = ','
		})
	}
	if opening == '{' {
		dst = append(dst, '{')
	}
	return append(dst, '}')
}

// appendTo writes the field with its label.
func (f *shapeField) appendTo(dst []byte, at *cursor) []byte {
	dst = append(dst, f.label...)
	if off, ok := at.seek(f.Col); ok {
		return f.appendColumn(dst, at.row, off)
	}
	return f.appendNull(dst)
}

// appendColumn writes the column at off. What is JSON text already is copied.
func (f *shapeField) appendColumn(dst []byte, r Row, off int) []byte {
	c := columnAt(r.Enc, off)
	switch c.tag {
	case tagNumber, tagJSON:
		return append(dst, r.Enc[c.start:c.end]...)
	case tagPlain:
		dst = append(append(dst, '"'), r.Enc[c.start:c.end]...)
		return append(dst, '"')
	}
	v := c.value(r)
	if isNull(v) {
		return f.appendNull(dst)
	}
	return value.AppendJSON(dst, v)
}

func (f *shapeField) appendNull(dst []byte) []byte {
	if f.Whole {
		return append(dst, "{}"...)
	}
	return append(dst, "null"...)
}

// Map returns the row as a Go map that shares nothing with the row: JSON
// numbers are json.Number, other scalars have the Go type they came with.
func (s *Shape) Map(r Row) map[string]any {
	m := make(map[string]any, len(s.fields))
	at := cursor{row: r}
	var sp *spreading
	if s.spread {
		sp = s.pool.Get().(*spreading)
		defer sp.release(&s.pool)
	}
	for i := range s.fields {
		f := &s.fields[i]
		if f.Spread {
			s.each(sp, f, r.Col(f.Col), func(name string, _ bool, v value.Value) {
				m[strings.Clone(name)] = toGo(v)
			})
			continue
		}
		off, ok := at.seek(f.Col)
		if !ok {
			m[f.Name] = f.null()
			continue
		}
		c := columnAt(r.Enc, off)
		if f.Whole && isNull(c.value(r)) {
			m[f.Name] = f.null()
			continue
		}
		m[f.Name] = c.toGo(r)
	}
	return m
}

// null is what NULL becomes in a map.
func (f *shapeField) null() any {
	if f.Whole {
		return map[string]any{}
	}
	return nil
}

// isNull is also true of the nil map that a whole row may be.
func isNull(v value.Value) bool {
	m, ok := v.Ref.(map[string]any)
	return v.IsNull() || ok && m == nil
}

// toGo returns v as a Go value of its own: a row is rendered once per match, and
// what a sink does to one result must not reach the next.
func toGo(v value.Value) any {
	x := v.ToGo()
	if v.Kind != value.Any {
		return x
	}
	own, err := value.Copy(x)
	if err != nil {
		return nil // not reached: what is too deep to be copied never got in
	}
	return own
}
