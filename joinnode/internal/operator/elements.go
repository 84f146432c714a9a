package operator

import "github.com/streamjoin/streamjoin/joinnode/internal/row"

type elements struct {
	col     int
	paths   []row.Path
	ordinal bool
}

// NewElements returns the Expander of an array of objects.
func NewElements(col int, paths []row.Path, ordinal bool) Expander {
	return &elements{col: col, paths: paths, ordinal: ordinal}
}

// Columns implements Expander.
func (e *elements) Columns() int {
	if e.ordinal {
		return len(e.paths) + 1
	}
	return len(e.paths)
}

// Expand implements Expander.
func (e *elements) Expand(src row.Row, emit func(cols row.Row)) int { return 0 }
