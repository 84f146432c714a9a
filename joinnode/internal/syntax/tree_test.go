package syntax

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// dump writes a tree with every node visible, so that a golden file shows how
// an expression was grouped.
func dump(e Expr) string {
	switch e := e.(type) {
	case *Column:
		var b strings.Builder
		for _, s := range e.Path {
			switch {
			case s.IsIndex:
				fmt.Fprintf(&b, "[%d]", s.Index)
			case s.Quoted:
				fmt.Fprintf(&b, ".`%s`", s.Name)
			default:
				b.WriteString("." + s.Name)
			}
		}
		return strings.TrimPrefix(b.String(), ".")
	case *Star:
		return strings.TrimPrefix(e.Qualifier+".*", ".")
	case *Number:
		return e.Text
	case *Text:
		return fmt.Sprintf("%q", e.Value)
	case *Bool:
		return fmt.Sprint(e.Value)
	case *Null:
		return "null"
	case *Interval:
		return fmt.Sprintf("(interval %s = %s)", e.Text, time.Duration(e.D))
	case *Unary:
		return node(e.Op, e.X)
	case *Binary:
		return node(e.Op, e.X, e.Y)
	case *IsNull:
		return node(negated(e.Not, "null?"), e.X)
	case *In:
		return node(negated(e.Not, "in"), append([]Expr{e.X}, e.List...)...)
	case *Between:
		return node(negated(e.Not, "between"), e.X, e.Lo, e.Hi)
	case *Like:
		return node(negated(e.Not, "like"), e.X, e.Pattern)
	case *Case:
		var parts []Expr
		name := "case"
		if e.Operand != nil {
			name = "case-of"
			parts = append(parts, e.Operand)
		}
		for _, w := range e.Whens {
			parts = append(parts, w.Cond, w.Then)
		}
		if e.Else != nil {
			parts = append(parts, e.Else)
		}
		return node(name, parts...)
	case *Call:
		name := "call " + e.Name
		if e.Distinct {
			name += " distinct"
		}
		if e.Star {
			name += " *"
		}
		if e.Over != nil {
			name += " {" + e.Over.Text + "}"
		}
		return node(name, e.Args...)
	case *GlobalWindow:
		if e.Trigger == nil {
			return "(global-window)"
		}
		return node("global-window", e.Trigger)
	}
	return fmt.Sprintf("?%T", e)
}

func negated(not bool, name string) string {
	if not {
		return "not-" + name
	}
	return name
}

func node(name string, parts ...Expr) string {
	var b strings.Builder
	b.WriteString("(" + name)
	for _, e := range parts {
		b.WriteString(" " + dump(e))
	}
	return b.String() + ")"
}

// dumpSelect writes one line per part of a statement.
func dumpSelect(s *Select) string {
	var b strings.Builder
	if s.Distinct.Line != 0 {
		b.WriteString("distinct\n")
	}
	for _, i := range s.Items {
		b.WriteString("item " + dump(i.Expr))
		if i.Alias != "" {
			b.WriteString(" as " + i.Alias)
		}
		b.WriteString("\n")
	}
	b.WriteString("from " + dumpSource(s.From) + "\n")
	for _, m := range s.More {
		b.WriteString("from " + dumpSource(m) + "\n")
	}
	for _, j := range s.Joins {
		b.WriteString(dumpJoin(j))
	}
	if s.Match != nil {
		b.WriteString("match {" + s.Match.Text + "}\n")
	}
	if s.Where != nil {
		b.WriteString("where " + dump(s.Where) + "\n")
	}
	for _, e := range s.GroupBy {
		b.WriteString("group by " + dump(e) + "\n")
	}
	if s.Having != nil {
		b.WriteString("having " + dump(s.Having) + "\n")
	}
	b.WriteString(dumpOptions(s.With))
	b.WriteString(dumpOrder(s.OrderBy))
	if s.Limit != nil {
		b.WriteString("limit " + dump(s.Limit) + "\n")
	}
	return b.String()
}

func dumpSource(s Source) string { return strings.TrimSuffix(s.Name+" as "+s.Alias, " as ") }

func dumpJoin(j Join) string {
	var b strings.Builder
	if j.Explicit {
		b.WriteString("explicit ")
	}
	if j.Temporal {
		b.WriteString("temporal ")
	}
	fmt.Fprintf(&b, "%s join %s", strings.ToLower(j.Kind.String()), dumpSource(j.Source))
	if j.Within != nil {
		fmt.Fprintf(&b, " within %d", j.Within.D)
	}
	if j.On != nil {
		b.WriteString(" on " + dump(j.On))
	}
	return b.String() + "\n"
}

func dumpOptions(options []Option) string {
	var b strings.Builder
	for _, o := range options {
		fmt.Fprintf(&b, "with %s = %s quoted=%t\n", o.Name, o.Value, o.Quote)
	}
	return b.String()
}

func dumpOrder(list []Order) string {
	var b strings.Builder
	for _, o := range list {
		fmt.Fprintf(&b, "order by %s desc=%t", dump(o.Expr), o.Desc)
		if o.NullsLast {
			b.WriteString(" nulls last")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// dumpScript writes a line for each statement and, indented, one for each part
// of its query.
func dumpScript(s *Script) string {
	var b strings.Builder
	for _, st := range s.Statements {
		switch st := st.(type) {
		case *Import:
			b.WriteString("import " + dumpName(st.Name) + "\n" + indent(dumpOptions(st.Options)))
		case *Export:
			b.WriteString("export " + dumpName(st.Name.Parts...) + " to " + dumpName(st.To) + "\n")
		case *Define:
			b.WriteString("define " + dumpName(st.Name.Parts...) + "\n")
			if st.Column != nil {
				b.WriteString(indent("column " + dump(st.Column) + "\n"))
			}
			b.WriteString(indent(dumpQuery(st.Query)))
		}
	}
	return b.String()
}

func dumpName(parts ...Ident) string {
	var list []string
	for _, p := range parts {
		if p.Quoted {
			p.Name = "`" + p.Name + "`"
		}
		list = append(list, p.Name)
	}
	return strings.Join(list, " . ")
}

func dumpQuery(q Query) string {
	var b strings.Builder
	switch q := q.(type) {
	case *Select:
		b.WriteString(dumpSelect(q))
	case *DistinctOn:
		b.WriteString("distinct " + dumpSource(q.Source) + "\n")
		for _, e := range q.On {
			b.WriteString("on " + dump(e) + "\n")
		}
		b.WriteString(dumpOrder(q.OrderBy) + dumpOptions(q.With))
	case *StreamOn:
		b.WriteString("stream on " + q.On.String() + "\n" + dumpSelect(q.Query))
	case *Relation:
		for _, j := range q.Joins {
			b.WriteString(dumpJoin(j))
		}
		b.WriteString(dumpOrder(q.OrderBy))
	}
	return b.String()
}

func indent(lines string) string {
	if lines == "" {
		return ""
	}
	return "  " + strings.ReplaceAll(strings.TrimSuffix(lines, "\n"), "\n", "\n  ") + "\n"
}

// withoutPlaces zeroes every position and span below tree, a pointer, except
// that Distinct stays non-zero where it was, and returns tree.
func withoutPlaces[T any](tree T) T {
	clearPlaces(reflect.ValueOf(tree), "")
	return tree
}

func clearPlaces(v reflect.Value, field string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			clearPlaces(v.Elem(), "")
		}
	case reflect.Slice:
		for i := range v.Len() {
			clearPlaces(v.Index(i), "")
		}
	case reflect.Struct:
		switch v.Interface().(type) {
		case Pos:
			present := !v.IsZero() && field == "Distinct"
			v.SetZero()
			if present {
				v.Set(reflect.ValueOf(Pos{Line: 1}))
			}
			return
		case Span:
			v.SetZero()
			return
		}
		for i := range v.NumField() {
			clearPlaces(v.Field(i), v.Type().Field(i).Name)
		}
	}
}
