package operator

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// elements is the Expander of an array of objects in a column.
type elements struct {
	col     int
	paths   []row.Path
	ordinal bool

	fromJSON *row.Extractor
	scratch  row.Scratch
	// An element from Go may be of any type that has members. It is read as the one
	// member of a map, so that paths find in it what they find in a row.
	fromGo *row.Extractor
	member map[string]any

	cols row.Row // memory of the last columns
}

// NewElements returns the Expander of the array in column col: JSON text, or a Go
// slice or array. Each element that is an object (in Go a map, or a struct that
// JSON has no other idea of) gives the columns that paths find in it, by the
// rules of row.Extractor, and with ordinal its index in the array, from 0. An
// element that is none counts as bad, and so does a column that is no array. NULL
// has no elements.
func NewElements(col int, paths []row.Path, ordinal bool) Expander {
	below := make([]row.Path, len(paths))
	for i, p := range paths {
		below[i] = append(row.Path{syntax.Step{}}, p...)
	}
	return &elements{
		col: col, paths: paths, ordinal: ordinal,
		fromJSON: row.NewExtractor(paths), fromGo: row.NewExtractor(below), member: map[string]any{},
	}
}

// Columns implements Expander.
func (e *elements) Columns() int {
	if e.ordinal {
		return len(e.paths) + 1
	}
	return len(e.paths)
}

// Expand implements Expander.
func (e *elements) Expand(src row.Row, emit func(cols row.Row)) (bad int) {
	v := src.Col(e.col)
	if v.Kind == value.Any {
		v = v.Resolve()
	}
	switch {
	case v.IsNull():
		return 0
	case v.Kind == value.JSON:
		return e.expandJSON(v.Text, emit)
	case v.Kind == value.Any:
		return e.expandGo(v.Ref, emit)
	}
	return 1
}

func (e *elements) expandJSON(text []byte, emit func(row.Row)) (bad int) {
	index := 0
	whole := row.Items(text, func(item []byte) {
		if row.KindOf(item) != row.Object {
			bad++
		} else if cols, err := e.fromJSON.JSON(e.empty(), item, &e.scratch); err != nil {
			bad++
		} else {
			e.emit(cols, index, emit)
		}
		index++
	})
	if !whole {
		bad++
	}
	return bad
}

func (e *elements) expandGo(array any, emit func(row.Row)) (bad int) {
	switch array := array.(type) {
	case []any:
		for i, x := range array {
			bad += e.expandOne(x, i, emit)
		}
	case []map[string]any:
		for i, x := range array {
			bad += e.expandOne(x, i, emit)
		}
	default:
		v := reflect.ValueOf(array)
		if v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
			return 1
		}
		for i := range v.Len() {
			bad += e.expandOne(v.Index(i).Interface(), i, emit)
		}
	}
	clear(e.member)
	return bad
}

// expandOne emits the element x; it returns 1 when it is none.
func (e *elements) expandOne(x any, index int, emit func(row.Row)) (bad int) {
	if !isObject(x) {
		return 1
	}
	e.member[""] = x
	cols, err := e.fromGo.Map(e.empty(), e.member)
	if err != nil {
		return 1
	}
	e.emit(cols, index, emit)
	return 0
}

// isObject tells whether a Go value is an object as JSON.
func isObject(x any) bool {
	switch x := x.(type) {
	case map[string]any:
		return x != nil
	case json.RawMessage:
		return row.ValidObject(x) == nil
	}
	v := value.FromGo(x).Resolve()
	if v.Kind == value.JSON {
		return row.KindOf(v.Text) == row.Object
	}
	if _, instant := v.Ref.(time.Time); v.Kind != value.Any || instant {
		return false
	}
	switch v := reflect.ValueOf(v.Ref); v.Kind() {
	case reflect.Map:
		return !v.IsNil()
	case reflect.Struct:
		return true
	}
	return false
}

func (e *elements) empty() row.Row {
	return row.Row{Enc: e.cols.Enc[:0], Side: e.cols.Side[:0]}
}

func (e *elements) emit(cols row.Row, index int, emit func(row.Row)) {
	if e.ordinal {
		cols = row.Append(cols, value.OfInt(int64(index)))
	}
	e.cols = cols
	emit(cols)
	clear(e.cols.Side)
}
