// Package row has the engine's rows: a run of encoded columns, read from Go
// maps or from JSON bytes without building a map, and written back as either.
package row

import "github.com/streamjoin/streamjoin/joinnode/internal/syntax"

// Row is the columns of one record, encoded one after another in the order of
// its Layout. It is a view: Enc and Side belong to whoever made the row.
//
// The encoding has one tag byte per column: the kind in the low four bits and,
// in the high four, a short length or a detail of the kind; longer lengths
// follow as a uvarint. A Go value that has no encoding of its own is kept in
// Side, and Enc holds its index there, so a chunk of encoded rows is free of
// pointers unless maps came in with such values.
//
// A Row is concatenable: the columns of two rows without Side values are a row
// when their Enc are appended.
type Row struct {
	Enc  []byte
	Side []any
}

// Path says where in an incoming row a column is found. The empty Path is the
// whole row (SELECT *).
type Path []syntax.Step
