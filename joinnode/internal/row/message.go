package row

import "fmt"

// Kind is what a message is by its first byte: see KindOf.
type Kind uint8

// The kinds of message.
const (
	Broken Kind = iota // empty, or its first byte begins no JSON value
	Scalar
	Object
	Array
)

// KindOf returns what msg is by its first byte behind white space. It does not
// validate: an Object goes to Extractor.JSON and an Array to Split, which do.
func KindOf(msg []byte) Kind {
	s := scanner{b: msg}
	switch c, _ := s.byteAt(0); {
	case c == '{':
		return Object
	case c == '[':
		return Array
	case c == '"' || c == '-' || isDigit(c) || c == 't' || c == 'f' || c == 'n':
		return Scalar
	default:
		return Broken
	}
}

// Valid returns nil when msg is one JSON value with nothing but white space
// around it, else a *JSONError.
func Valid(msg []byte) error {
	s := scanner{b: msg}
	_, i := s.byteAt(0)
	if end, _ := s.any(i, 0); end < 0 || s.rest(end) < 0 {
		return s.fault()
	}
	return nil
}

// ValidObject returns nil when msg is one JSON object with nothing but white space
// around it, else a *JSONError.
func ValidObject(msg []byte) error {
	if err := Valid(msg); err != nil {
		return err
	}
	s := scanner{b: msg}
	if c, i := s.byteAt(0); c != '{' {
		_, v := s.any(i, 0)
		return notObject(i, v.class)
	}
	return nil
}

func notObject(at int, c class) *JSONError {
	return &JSONError{Offset: at, Shape: true, Msg: "the message is " + c.String() + ", want an object"}
}

// Span is a stretch of a message: msg[Start:End].
type Span struct{ Start, End int }

// Split validates the whole of msg and appends where its rows are to dst: the
// one object that it is, or each element of the array that it is. A message of
// another kind and an element that is no object are a *JSONError, and dst is
// returned as it was. An empty array has no rows.
func Split(dst []Span, msg []byte) ([]Span, error) {
	s := scanner{b: msg}
	c, i := s.byteAt(0)
	if c != '[' {
		end, v := s.any(i, 0)
		switch {
		case end < 0 || s.rest(end) < 0:
			return dst, s.fault()
		case v.class != classObject:
			return dst, &JSONError{Offset: i, Shape: true,
				Msg: "the message is " + v.class.String() + ", want an object or an array of objects"}
		}
		return append(dst, Span{i, end}), nil
	}
	rows := dst
	var odd *JSONError // the first element that is no object
	end := s.eachElement(i, 0, func(k, at int) int {
		end, v := s.any(at, 1)
		if end >= 0 && v.class != classObject && odd == nil {
			odd = &JSONError{Offset: at, Shape: true,
				Msg: fmt.Sprintf("element %d of the array is %s, want an object", k, v.class)}
		}
		rows = append(rows, Span{at, end})
		return end
	})
	switch {
	case end < 0 || s.rest(end) < 0:
		return dst, s.fault()
	case odd != nil:
		return dst, odd
	}
	return rows, nil
}

// Elements calls yield with each row that Split finds in msg, in order, and
// with its offset. Nothing is yielded when msg is refused; an error of yield
// ends the calls and is returned.
func Elements(msg []byte, yield func(elem []byte, offset int) error) error {
	var few [16]Span
	rows, err := Split(few[:0], msg)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if err := yield(msg[r.Start:r.End:r.End], r.Start); err != nil {
			return err
		}
	}
	return nil
}
