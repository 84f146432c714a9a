// Package syntax turns SQL text into a tree with positions and back into text.
// It knows no meaning: names are not resolved and combinations are not judged,
// so that package plan can explain them.
package syntax

import "time"

// Pos is a place in the SQL text. The zero Pos means "nowhere".
type Pos struct {
	Offset int // bytes from the start of the text, 0-based
	Line   int // 1-based
	Col    int // 1-based, in runes
}

// Span is the half-open stretch of text [Start.Offset, End) that a clause was
// read from. The zero Span means the clause is absent.
type Span struct {
	Start Pos
	End   int // byte offset behind the last byte
}

// Select is one SELECT statement.
type Select struct {
	Pos      Pos
	Distinct Pos    // of the word DISTINCT; zero when absent
	Items    []Item // in source order, at least one
	From     Source
	More     []Source // FROM a, b: the sources behind the first comma
	Joins    []Join   // in source order
	Match    *MatchRecognize
	Where    Expr // nil when absent
	WherePos Pos
	GroupBy  []Expr // window functions appear as Call
	GroupPos Pos
	Having   Expr
	HavePos  Pos
	OrderBy  []Order
	OrderPos Pos
	Limit    Expr
	LimitPos Pos
	With     []Option // every WITH (…) of the statement, merged in source order
	WithPos  Pos
}

// Item is one element of the SELECT list.
type Item struct {
	Pos   Pos
	Expr  Expr   // Star for * and alias.*
	Alias string // behind AS or bare; "" when absent
}

// Source is a stream, table or what belongs to a row, with its optional alias.
type Source struct {
	Pos   Pos
	Name  string  // the parts of the name with dots between them
	Parts []Ident // "@" is a part of its own: the parent row of a nested table
	Alias string  // "" when absent
}

// JoinKind is the kind of join as written.
type JoinKind uint8

// The kinds of JOIN that the parser reads. Package plan refuses those that the
// engine does not run.
const (
	InnerJoin JoinKind = iota
	LeftJoin
	RightJoin
	FullJoin
	CrossJoin
)

// String returns the kind as SQL writes it.
func (k JoinKind) String() string {
	return [...]string{"INNER", "LEFT", "RIGHT", "FULL", "CROSS"}[k]
}

// Join is one JOIN clause.
type Join struct {
	Pos      Pos // of the first word (LEFT, INNER, JOIN …)
	Kind     JoinKind
	Explicit bool // INNER is written: with a state table it means the rows as of now
	Temporal bool // TEMPORAL is written
	Source   Source
	Within   *Within // nil: a stream-table join
	On       Expr    // nil when absent
	OnPos    Pos
}

// Within is a parsed WITHIN clause; D is always positive.
type Within struct {
	Pos Pos
	D   time.Duration
}

// Order is one element of ORDER BY.
type Order struct {
	Expr      Expr
	Desc      bool
	NullsLast bool // NULLS LAST is written; in table scripts it is the rule anyway
}

// Option is one name = value pair of WITH (…).
type Option struct {
	Pos   Pos
	Name  string // upper case
	Value string // text without quotes
	Quote bool   // whether the value was a quoted string
}

// MatchRecognize is a MATCH_RECOGNIZE (…) clause, kept as text because only
// streamsql runs it.
type MatchRecognize struct {
	Span Span
	Text string // from MATCH_RECOGNIZE to its closing parenthesis, comments removed
}

// Expr is an expression. The implementations are the types below.
type Expr interface {
	Position() Pos
}

// Column names a value of a row: alias.field, field, or a nested path such as
// alias.payload.items[0].price.
type Column struct {
	Pos  Pos
	Path []Step // at least one; the first is always a field
}

// Step is one step of a path: a field name, or an index into an array.
type Step struct {
	Name    string
	Index   int
	IsIndex bool
	Quoted  bool // written in backquotes
}

// Star is * or alias.* in a SELECT list.
type Star struct {
	Pos       Pos
	Qualifier string // "" for a bare *
	Parent    bool   // @.*, whose Qualifier is "@"
}

// Number is a numeric literal, spelled as written (never signed).
type Number struct {
	Pos  Pos
	Text string
}

// Text is a string literal with its escapes resolved.
type Text struct {
	Pos   Pos
	Value string
}

// Bool is TRUE or FALSE.
type Bool struct {
	Pos   Pos
	Value bool
}

// Null is the literal NULL.
type Null struct{ Pos Pos }

// Unary is -x, +x or NOT x; Op is "-", "+" or "NOT".
type Unary struct {
	Pos Pos
	Op  string
	X   Expr
}

// Binary is x Op y. Op is one of + - * / % || = != < <= > >= AND OR; <> is
// read as !=, == as =.
type Binary struct {
	Pos  Pos // of the operator
	Op   string
	X, Y Expr
}

// IsNull is x IS [NOT] NULL.
type IsNull struct {
	Pos Pos
	X   Expr
	Not bool
}

// In is x [NOT] IN (a, b, …).
type In struct {
	Pos  Pos
	X    Expr
	List []Expr
	Not  bool
}

// Between is x [NOT] BETWEEN lo AND hi.
type Between struct {
	Pos       Pos
	X, Lo, Hi Expr
	Not       bool
}

// Like is x [NOT] LIKE pattern.
type Like struct {
	Pos     Pos
	X       Expr
	Pattern Expr
	Not     bool
}

// Case is CASE [operand] WHEN … THEN … [ELSE …] END.
type Case struct {
	Pos     Pos
	Operand Expr // nil for the searched form
	Whens   []When
	Else    Expr // nil when absent
}

// When is one WHEN … THEN … arm.
type When struct{ Cond, Then Expr }

// Call is name(args).
type Call struct {
	Pos      Pos
	Name     string // as written
	Args     []Expr
	Star     bool // COUNT(*)
	Distinct bool // COUNT(DISTINCT x)
	Over     *Over
}

// Over is the OVER (…) or FILTER-less window suffix of a call, kept as text
// because only streamsql runs it.
type Over struct {
	Span Span
	Text string
}

// GlobalWindow is GLOBAL WINDOW [TRIGGER WHEN …] in GROUP BY, StreamSQL's one
// window that is not written as a call.
type GlobalWindow struct {
	Pos     Pos
	Trigger Expr // nil when absent
}

// Position returns where the expression starts, or its operator for Binary.
func (e *Column) Position() Pos       { return e.Pos }
func (e *Star) Position() Pos         { return e.Pos }
func (e *Number) Position() Pos       { return e.Pos }
func (e *Text) Position() Pos         { return e.Pos }
func (e *Bool) Position() Pos         { return e.Pos }
func (e *Null) Position() Pos         { return e.Pos }
func (e *Unary) Position() Pos        { return e.Pos }
func (e *Binary) Position() Pos       { return e.Pos }
func (e *IsNull) Position() Pos       { return e.Pos }
func (e *In) Position() Pos           { return e.Pos }
func (e *Between) Position() Pos      { return e.Pos }
func (e *Like) Position() Pos         { return e.Pos }
func (e *Case) Position() Pos         { return e.Pos }
func (e *Call) Position() Pos         { return e.Pos }
func (e *GlobalWindow) Position() Pos { return e.Pos }
