package model

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Query describes a stream-stream JOIN. SQL prints it; New runs it.
type Query struct {
	Sources []Source // FROM first
	Joins   []Join   // Joins[i] brings in Sources[i+1]
	Where   []Expr   // the conjuncts of WHERE
	Columns []Column // the SELECT list

	// Timestamp is the path of the event-time field, "" in processing time.
	Timestamp string
	TimeUnit  string // "", "ns", "us", "ms" or "ss"
	// IdleTimeout is IDLETIMEOUT, 0 when absent.
	IdleTimeout time.Duration
	// MaxFutureSkew is MAXFUTURESKEW: nil is the default, 0 switches it off.
	MaxFutureSkew *time.Duration

	// MaxRows and MaxKeys are the gates, options of the engine and no part of
	// the SQL text; 0 means unbounded rows and the default number of keys.
	MaxRows, MaxKeys int

	// WhereLast writes WHERE behind WITH, which means the same.
	WhereLast bool
}

// Source is one stream with its alias.
type Source struct{ Stream, Alias string }

// Join is one JOIN clause.
type Join struct {
	Left   bool // LEFT JOIN, otherwise INNER
	Within time.Duration
	On     []Equality
	// Style chooses among the spellings of WITHIN, AfterOn its position.
	Style   int
	AfterOn bool
}

// Equality is one conjunct of ON: a field of an earlier source equals a field
// of the joined one.
type Equality struct {
	Alias, Field string // of an earlier source
	JoinedField  string
	Swap         bool // written with the joined side first
}

// Column is one element of the SELECT list: alias.field AS name.
type Column struct{ Alias, Field, As string }

// Text returns the query as SQL.
func (q Query) Text() string {
	var b strings.Builder
	b.WriteString("SELECT ")
	for i, c := range q.Columns {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s.%s AS %s", c.Alias, c.Field, c.As)
	}
	fmt.Fprintf(&b, " FROM %s AS %s", q.Sources[0].Stream, q.Sources[0].Alias)
	for i, j := range q.Joins {
		right := q.Sources[i+1]
		if j.Left {
			b.WriteString(" LEFT")
		}
		fmt.Fprintf(&b, " JOIN %s AS %s", right.Stream, right.Alias)
		if !j.AfterOn {
			b.WriteString(" WITHIN " + withinText(j.Within, j.Style))
		}
		b.WriteString(" ON ")
		for n, e := range j.On {
			if n > 0 {
				b.WriteString(" AND ")
			}
			earlier, joined := e.Alias+"."+e.Field, right.Alias+"."+e.JoinedField
			if e.Swap {
				earlier, joined = joined, earlier
			}
			b.WriteString(earlier + " = " + joined)
		}
		if j.AfterOn {
			b.WriteString(" WITHIN " + withinText(j.Within, j.Style))
		}
	}
	where, with := q.whereText(), q.withText()
	if q.WhereLast {
		where, with = with, where
	}
	return b.String() + where + with
}

func (q Query) whereText() string {
	var parts []string
	for _, e := range q.Where {
		parts = append(parts, e.Text())
	}
	if len(parts) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(parts, " AND ")
}

func (q Query) withText() string {
	var opts []string
	add := func(name, value string) { opts = append(opts, name+"='"+value+"'") }
	if q.Timestamp != "" {
		add("TIMESTAMP", q.Timestamp)
	}
	if q.TimeUnit != "" {
		add("TIMEUNIT", q.TimeUnit)
	}
	if q.IdleTimeout > 0 {
		add("IDLETIMEOUT", q.IdleTimeout.String())
	}
	if q.MaxFutureSkew != nil {
		add("MAXFUTURESKEW", q.MaxFutureSkew.String())
	}
	if len(opts) == 0 {
		return ""
	}
	return " WITH (" + strings.Join(opts, ", ") + ")"
}

// withinText spells d with the greatest unit that divides it, in one of the
// ways the page allows.
func withinText(d time.Duration, style int) string {
	n, unit, short := int64(d), "NS", "ns"
	for _, u := range []struct {
		d           time.Duration
		unit, short string
	}{{time.Hour, "HOURS", "h"}, {time.Minute, "MINUTES", "m"}, {time.Second, "SECONDS", "s"}, {time.Millisecond, "MS", "ms"}} {
		if d%u.d == 0 {
			n, unit, short = int64(d/u.d), u.unit, u.short
			break
		}
	}
	number := strconv.FormatInt(n, 10)
	switch style % 4 {
	case 0:
		return number + " " + unit
	case 1:
		return "(" + number + " " + unit + ")"
	case 2:
		return "'" + number + short + "'"
	default:
		return strings.ToLower(number + " " + strings.TrimSuffix(unit, "S") + map[bool]string{true: "S"}[unit == "MS" || unit == "NS"])
	}
}

// source returns the index of the source of that alias.
func (q Query) source(alias string) int {
	return slices.IndexFunc(q.Sources, func(s Source) bool { return s.Alias == alias })
}

// Expr is a WHERE expression of the model: comparisons, IS NULL, AND, OR, NOT.
type Expr interface {
	// Text returns the expression as SQL.
	Text() string
	eval(e *evaluation) tri
	aliases() []string
}

// evaluation is the row that an expression is evaluated on, and how many
// comparisons met two kinds. Evaluation goes from left to right; AND stops at
// false and OR at true.
type evaluation struct {
	get        func(alias, field string) any
	mismatches int64
}

type tri int

const (
	no tri = iota
	unknown
	yes
)

// Operand is a column (Alias != "") or a literal: nil, int64, float64, string
// or bool.
type Operand struct {
	Alias, Field string
	Literal      any
}

func (o Operand) text() string {
	if o.Alias != "" {
		return o.Alias + "." + o.Field
	}
	switch v := o.Literal.(type) {
	case nil:
		return "NULL"
	case string:
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return strings.ToUpper(fmt.Sprint(v))
	}
}

func (o Operand) value(e *evaluation) any {
	if o.Alias != "" {
		return e.get(o.Alias, o.Field)
	}
	return o.Literal
}

func (o Operand) aliases() []string {
	if o.Alias == "" {
		return nil
	}
	return []string{o.Alias}
}

// Compare is L Op R with Op one of = != <> < <= > >=.
type Compare struct {
	L, R Operand
	Op   string
}

// Text implements Expr.
func (c Compare) Text() string { return c.L.text() + " " + c.Op + " " + c.R.text() }

func (c Compare) aliases() []string { return append(c.L.aliases(), c.R.aliases()...) }

func (c Compare) eval(e *evaluation) tri {
	l, r := c.L.value(e), c.R.value(e)
	if isNull(l) || isNull(r) {
		return unknown
	}
	order, comparable := compare(l, r)
	asksOrder := c.Op != "=" && c.Op != "!=" && c.Op != "<>"
	if !comparable || order == different && asksOrder {
		e.mismatches++
		return unknown
	}
	return truth(map[string]bool{"=": order == 0, "!=": order != 0, "<>": order != 0,
		"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[c.Op])
}

// different is the order of two objects or arrays that are not equal; which of
// them is less is no question to ask.
const different = 2

// compare orders two values of one kind; false when there is no order.
func compare(l, r any) (int, bool) {
	if ln, rn := number(l), number(r); ln != nil && rn != nil {
		return ln.Cmp(rn), true
	} else if li, ri := infinity(l), infinity(r); (ln != nil || li != 0) && (rn != nil || ri != 0) {
		return cmp.Compare(li, ri), true
	}
	switch l := l.(type) {
	case string:
		r, ok := r.(string)
		return strings.Compare(l, r), ok
	case bool:
		r, ok := r.(bool)
		return cmp.Compare(bit(l), bit(r)), ok
	case map[string]any, []any:
		switch r.(type) {
		case map[string]any, []any:
			if canonical(l) == canonical(r) {
				return 0, true
			}
			return different, true
		}
	}
	return 0, false
}

func truth(b bool) tri {
	if b {
		return yes
	}
	return no
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// IsNull is X IS [NOT] NULL.
type IsNull struct {
	X   Operand
	Not bool
}

// Text implements Expr.
func (e IsNull) Text() string {
	if e.Not {
		return e.X.text() + " IS NOT NULL"
	}
	return e.X.text() + " IS NULL"
}

func (e IsNull) aliases() []string { return e.X.aliases() }

func (e IsNull) eval(ev *evaluation) tri { return truth((e.X.value(ev) == nil) != e.Not) }

// Not is NOT X.
type Not struct{ X Expr }

// Text implements Expr.
func (e Not) Text() string { return "NOT (" + e.X.Text() + ")" }

func (e Not) aliases() []string { return e.X.aliases() }

func (e Not) eval(ev *evaluation) tri { return yes - e.X.eval(ev) }

// Logic is X AND Y, or X OR Y. As a conjunct of a Query only OR makes sense:
// an AND at the top is two conjuncts.
type Logic struct {
	Or   bool
	X, Y Expr
}

// Text implements Expr.
func (e Logic) Text() string {
	op := "AND"
	if e.Or {
		op = "OR"
	}
	return "(" + e.X.Text() + " " + op + " " + e.Y.Text() + ")"
}

func (e Logic) aliases() []string { return append(e.X.aliases(), e.Y.aliases()...) }

func (e Logic) eval(ev *evaluation) tri {
	x := e.X.eval(ev)
	if e.Or {
		if x == yes {
			return yes
		}
		return max(x, e.Y.eval(ev))
	}
	if x == no {
		return no
	}
	return min(x, e.Y.eval(ev))
}
