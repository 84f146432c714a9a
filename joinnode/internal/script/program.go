// Package script gives a table script its meaning (docs/tables.md): which name
// is which table, which tables are streams and which are state, by what each is
// keyed and bounded, and which operators compute it. Its result, a Program, is a
// list of vertices that package pipeline makes a running graph of.
package script

import (
	"time"

	"github.com/streamjoin/streamjoin/joinnode/internal/eval"
	"github.com/streamjoin/streamjoin/joinnode/internal/operator"
	"github.com/streamjoin/streamjoin/joinnode/internal/row"
	"github.com/streamjoin/streamjoin/joinnode/internal/value"
)

// Program is a script, ready to run. It is immutable.
type Program struct {
	SQL      string
	Inputs   []Input
	Vertices []Vertex // upstream first
	Outputs  []Output // what leaves, in the order of EXPORT
	Tables   []Table  // every named table as of the end of the script, in order of definition
	Warnings []string // accepted clauses that have no effect, to be logged once
}

// Input is one stream that rows are fed to by name.
type Input struct {
	Stream string
	Paths  []row.Path // the columns that are read, in the order of the encoded row
	Shape  *row.Shape // writes such a row as a JSON object, for the late output

	// TimeCol is the column with the event time, −1 for arrival time: then the
	// clock is the input's watermark.
	TimeCol       int
	TimeText      string // the field as written
	Unit          value.Unit
	Disorder      time.Duration // MAXOUTOFORDERNESS: Low = Seen − Disorder
	IdleTimeout   time.Duration // 0 = never idle
	MaxFutureSkew time.Duration // 0 = no bound
}

// Vertex is one operator.
type Vertex struct {
	Table string // the statement it belongs to: a table's name, for counters, EXPLAIN and the late output
	Ports []Port
	// Build makes the operator. ctx is the vertex's own: its clock is the script's
	// now(). Everything the operator evaluates uses it.
	Build func(ctx *eval.Context, out operator.Output) (operator.Operator, error)
	// Shapes write a row of each port as a JSON object, for the late output.
	Shapes []*row.Shape
	// Identity says in words all that decides the operator's state, its inputs'
	// identities included: equal identities, equal state. A reload hands state over
	// where they are equal.
	Identity string
	Stateful bool
}

// Port says where the records of one port of a vertex come from.
type Port struct {
	From  From
	Index int // of the vertex or input
	// Shown says that the key by which the vertex looks records of the port up is
	// that of the rows of the one input behind it, where it stands at their front: a
	// vertex that prefetches can be shown these.
	Shown bool
	// Follow is the IDLETIMEOUT of a WITHIN join, ns: once the inputs behind the
	// port have been silent for so long, its time follows the clock. 0 = it waits.
	Follow int64
}

// From is the kind of a port's source.
type From uint8

// The kinds of source.
const (
	FromVertex From = iota
	FromInput
	FromNow // no records: progress only, both Seen and Low are the script's now()
)

// Kind tells streams from state.
type Kind uint8

// The kinds of table.
const (
	Stream Kind = iota // rows that are never taken back
	State              // rows by key that change
)

// String returns the kind as messages write it.
func (k Kind) String() string { return [...]string{"stream", "state"}[k] }

// Output is one table that leaves the script. Records of a State come from an
// operator.Table and have a Change, those of a Stream have none.
type Output struct {
	Vertex int
	Name   string
	Kind   Kind
	Window bool // rows of a time window: TS is the window's end
	Shape  *row.Shape
	Key    *row.Shape // the key columns as an object; nil for a Stream
	Names  []string   // column names in SELECT order
}

// Table is one named table.
type Table struct {
	Name  string
	Kind  Kind
	Key   []string // names of the key columns; nil for a Stream
	Bound string   // what bounds its state, in words
	// Reader is the vertex that holds the rows, an operator.Reader; −1 for a table
	// that cannot be read.
	Reader int
	// View makes a row of the table from one of the Reader's, or tells that it is
	// filtered out; nil when they are the same. It appends to dst, which is empty.
	View  func(ctx *eval.Context, dst, src row.Row) (row.Row, bool)
	Shape *row.Shape
	KeyOf *row.Shape
	// Less orders rows for reading: the ORDER BY of the definition, then the key.
	Less func(a, b row.Row) bool
	// Vertices are those that compute the table, its own only.
	Vertices []int
}
