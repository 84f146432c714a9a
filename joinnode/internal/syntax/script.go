package syntax

import "strings"

// Script is a sequence of statements (docs/tables.md). A text with one SELECT is
// a Script of one Define without name.
type Script struct {
	SQL        string
	Statements []Statement
}

// Statement is one of *Import, *Export and *Define.
type Statement interface {
	Position() Pos
}

// Import is IMPORT name [option …]: an input stream and its time.
type Import struct {
	Pos     Pos
	Name    Ident
	Options []Option // TIMESTAMP, TIMEUNIT, MAXOUTOFORDERNESS …, written behind the name or in WITH (…)
}

// Export is EXPORT name TO target.
type Export struct {
	Pos  Pos
	Name Name
	To   Ident
}

// Define is name := query, name := expression, or a query alone, whose Name is
// empty. Exactly one of Query and Column is set.
type Define struct {
	Pos    Pos
	Name   Name
	Query  Query
	Column Expr
}

// Query is what a table is defined by: one of *Select, *DistinctOn, *StreamOn
// and *Relation.
type Query interface {
	Position() Pos
}

// DistinctOn is DISTINCT source ON key, … ORDER BY time DESC.
type DistinctOn struct {
	Pos     Pos
	Source  Source
	On      []Expr
	OrderBy []Order
	With    []Option
}

// StreamOn is STREAM ON ADD|UPDATE|DELETE AS query.
type StreamOn struct {
	Pos   Pos
	On    ChangeKind
	Query *Select
}

// ChangeKind is what a STREAM ON statement waits for.
type ChangeKind uint8

// The changes of a table.
const (
	OnAdd ChangeKind = iota
	OnUpdate
	OnDelete
)

// String returns the word that SQL has for the change.
func (k ChangeKind) String() string { return [...]string{"ADD", "UPDATE", "DELETE"}[k] }

// Relation is JOIN table ON table.x = @.y …: a relationship of a parent table.
type Relation struct {
	Pos     Pos
	Joins   []Join
	OrderBy []Order
}

// Ident is one name with its place.
type Ident struct {
	Pos    Pos
	Name   string
	Quoted bool
}

// Name is a table's name: one part, or the parent's and its own. It has no part
// where a query stands alone.
type Name struct {
	Parts []Ident
}

// String returns the parts with dots between them.
func (n Name) String() string {
	if len(n.Parts) == 1 {
		return n.Parts[0].Name
	}
	var b strings.Builder
	for i, p := range n.Parts {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(p.Name)
	}
	return b.String()
}

// Position returns where the name begins; the zero Pos when it is empty.
func (n Name) Position() Pos {
	if len(n.Parts) == 0 {
		return Pos{}
	}
	return n.Parts[0].Pos
}

// Interval is INTERVAL n unit, a length of time in an expression. Months and
// years have no fixed length and are refused.
type Interval struct {
	Pos  Pos
	D    int64  // ns
	Text string // as written behind INTERVAL, e.g. "7 DAY"
}

// Position returns where the statement or query starts.
func (s *Import) Position() Pos     { return s.Pos }
func (s *Export) Position() Pos     { return s.Pos }
func (s *Define) Position() Pos     { return s.Pos }
func (s *Select) Position() Pos     { return s.Pos }
func (s *DistinctOn) Position() Pos { return s.Pos }
func (s *StreamOn) Position() Pos   { return s.Pos }
func (s *Relation) Position() Pos   { return s.Pos }
func (e *Interval) Position() Pos   { return e.Pos }
