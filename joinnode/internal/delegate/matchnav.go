package delegate

import (
	"strconv"
	"strings"

	"github.com/streamjoin/streamjoin/joinnode/internal/syntax"
)

// navigations are the functions over the rows of a match, with how many
// arguments they take at most.
var navigations = map[string]int{"PREV": 2, "NEXT": 2, "FIRST": 2, "LAST": 2, "CLASSIFIER": 0, "MATCH_NUMBER": 0,
	"SUM": 1, "AVG": 1, "COUNT": 1, "MIN": 1, "MAX": 1}

func navigates(e *syntax.Call) bool { _, ok := navigations[strings.ToUpper(e.Name)]; return ok }

// variable writes A.field, or A.e for an expression whose fields are all of A.
func (m *matcher) variable(name string, e syntax.Expr) (string, error) {
	if !identifier.MatchString(name) {
		return "", m.c.unsupported(e.Position(), "rename it", "streamsql cannot read %q as a pattern variable before a field", name)
	}
	field, err := m.field(e, name)
	return name + "." + field, err
}

// field writes the argument of a navigation: a field of the row, repeated or
// computed where it is anything else than a plain name. The fields lose their
// variable.
func (m *matcher) field(e syntax.Expr, variable string) (string, error) {
	var nested syntax.Expr
	var strip func(e syntax.Expr) syntax.Expr
	strip = func(e syntax.Expr) syntax.Expr {
		switch e := e.(type) {
		case *syntax.Column:
			if m.ofVariable(e) {
				return &syntax.Column{Pos: e.Pos, Path: e.Path[1:]}
			}
		case *syntax.Call:
			if navigates(e) {
				nested = e
			}
			call := *e
			call.Args = make([]syntax.Expr, len(e.Args))
			for i, a := range e.Args {
				call.Args[i] = strip(a)
			}
			return &call
		case *syntax.Unary:
			return &syntax.Unary{Pos: e.Pos, Op: e.Op, X: strip(e.X)}
		case *syntax.Binary:
			return &syntax.Binary{Pos: e.Pos, Op: e.Op, X: strip(e.X), Y: strip(e.Y)}
		case *syntax.Number, *syntax.Text, *syntax.Bool, *syntax.Null:
		default:
			if !m.single(e) {
				nested = e
			}
		}
		return e
	}
	plain := strip(e)
	if nested != nil {
		return "", m.refuse(nested, "this expression within a navigation or aggregate")
	}
	if col, ok := plain.(*syntax.Column); ok {
		path := m.c.localPath(col)
		if variable != "" {
			path = col.Path
		}
		if len(path) == 1 && readable(path) {
			return path[0].Name, nil
		}
		return m.c.mirror(path), nil
	}
	return m.c.onRow(plain)
}

// navigation writes PREV(field, n) and the like.
func (m *matcher) navigation(e *syntax.Call) (string, error) {
	name := strings.ToUpper(e.Name)
	prefix := m.written.prefixes[e.Pos.Offset]
	if prefix != "" {
		prefix += " "
	}
	most := navigations[name]
	switch {
	case e.Star && name == "COUNT":
		return prefix + "COUNT(*)", nil
	case len(e.Args) > most || len(e.Args) == 0 && most > 0:
		return "", m.c.unsupported(e.Pos, "", "%s in MATCH_RECOGNIZE takes %d argument(s) at most, and its first is a field", name, most)
	case most == 0:
		return name + "()", nil
	}
	variable, mixed := m.variableOf(e.Args[0])
	if mixed {
		return "", m.c.unsupported(e.Pos, "", "the fields in %s(…) must all be of one pattern variable", name)
	}
	if col, ok := e.Args[0].(*syntax.Column); ok && name == "COUNT" && m.written.stars[col.Pos.Offset] {
		return prefix + "COUNT(" + variable + ".*)", nil
	}
	var arg string
	var err error
	if variable != "" {
		m.warnOfVariable(name, variable)
		arg, err = m.variable(variable, e.Args[0])
	} else {
		arg, err = m.field(e.Args[0], "")
	}
	if err != nil {
		return "", err
	}
	if len(e.Args) == 2 {
		n, ok := e.Args[1].(*syntax.Number)
		if _, bad := strconv.Atoi(numberText(n, ok)); bad != nil {
			return "", m.c.unsupported(e.Args[1].Position(), "", "%s takes a whole number of rows: streamsql would take any other for 1", name)
		}
		arg += ", " + n.Text
	}
	return prefix + name + "(" + arg + ")", nil
}

// variableOf returns the variable of the fields in e, "" when they have none.
func (m *matcher) variableOf(e syntax.Expr) (name string, mixed bool) {
	first := true
	syntax.Walk(e, func(e syntax.Expr) bool {
		if col, ok := e.(*syntax.Column); ok {
			own := ""
			if m.ofVariable(col) {
				own = col.Path[0].Name
			}
			mixed = mixed || !first && own != name
			name, first = own, false
		}
		return true
	})
	return name, mixed
}

// warnOfVariable warns where streamsql reads past a variable: its PREV, NEXT,
// FIRST and LAST go over all rows of the match.
func (m *matcher) warnOfVariable(call, variable string) {
	switch call {
	case "PREV", "NEXT", "FIRST", "LAST":
		if m.several && variable != m.defines {
			m.c.plan.Warnings = append(m.c.plan.Warnings,
				call+"("+variable+".…): StreamSQL takes it over all rows of the match, not those of "+variable+" alone")
		}
	}
}
