package syntax

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var anyInterval = rapid.Custom(func(t *rapid.T) *Interval {
	text := rapid.SampledFrom([]string{"7 DAY", "'7' day", "'1h30m'", "30 SECONDS", "1.5 h", "0 ms", "2 weeks", `"3 min"`}).Draw(t, "interval")
	spelling := strings.NewReplacer("'", "", `"`, "").Replace(text)
	d, err := ParseDuration(spelling)
	if err != nil {
		t.Fatal(err)
	}
	return &Interval{Text: text, D: int64(d)}
})

// sow replaces some of the NULLs below tree, a pointer, by leaves that only
// scripts have.
func sow(t *rapid.T, tree any) {
	var visit func(v reflect.Value)
	visit = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Interface:
			if _, null := v.Interface().(*Null); null {
				switch rapid.IntRange(0, 2).Draw(t, "leaf") {
				case 0:
					v.Set(reflect.ValueOf(anyInterval.Draw(t, "interval")))
				case 1:
					c := drawColumn(t)
					c.Path[0] = Step{Name: parentRow}
					v.Set(reflect.ValueOf(c))
				}
				return
			}
			if !v.IsNil() {
				visit(v.Elem())
			}
		case reflect.Pointer:
			if !v.IsNil() {
				visit(v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				visit(v.Index(i))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				visit(v.Field(i))
			}
		}
	}
	visit(reflect.ValueOf(tree))
}

func drawScriptSource(t *rapid.T) Source {
	s := drawSource(t)
	if rapid.IntRange(0, 3).Draw(t, "parent") == 0 {
		s.Parts = append([]Ident{{Name: parentRow}}, s.Parts[1:]...)
		s.Name = Name{Parts: s.Parts}.String()
	}
	return s
}

func drawScriptJoin(t *rapid.T) Join {
	j := Join{Kind: JoinKind(rapid.IntRange(0, 4).Draw(t, "kind")), Source: drawScriptSource(t)}
	flag := func() bool { return rapid.Bool().Draw(t, "flag") }
	if j.Kind == InnerJoin {
		j.Explicit = flag()
	}
	if j.Kind <= LeftJoin {
		j.Temporal = flag()
	}
	if flag() {
		j.Within = &Within{D: time.Duration(rapid.Int64Range(1, 1<<63-1).Draw(t, "ns"))}
	}
	if flag() || j.Kind != CrossJoin && (j.Within != nil || len(j.Source.Parts) == 1) {
		j.On = drawExpr(t, 2)
	}
	return j
}

func drawOrder(t *rapid.T) []Order {
	var list []Order
	for range rapid.IntRange(1, 2).Draw(t, "n") {
		list = append(list, Order{Expr: drawExpr(t, 2), Desc: rapid.Bool().Draw(t, "desc"), NullsLast: rapid.Bool().Draw(t, "nulls")})
	}
	return list
}

// drawScriptSelect draws a SELECT with what only scripts have.
func drawScriptSelect(t *rapid.T) *Select {
	s := drawSelect(t)
	s.From = drawScriptSource(t)
	for i := range s.Joins {
		s.Joins[i] = drawScriptJoin(t)
	}
	if len(s.OrderBy) > 0 {
		s.OrderBy = drawOrder(t)
	}
	if rapid.Bool().Draw(t, "star") {
		s.Items = append(s.Items, Item{Expr: &Star{Qualifier: parentRow, Parent: true}})
	}
	return s
}

func drawQuery(t *rapid.T, nested bool) Query {
	kinds := 3
	if nested {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "query") {
	case 0:
		d := &DistinctOn{Source: drawScriptSource(t), OrderBy: drawOrder(t), With: drawOptions(t, 2)}
		for range rapid.IntRange(1, 2).Draw(t, "n") {
			d.On = append(d.On, drawExpr(t, 2))
		}
		return d
	case 1:
		return &StreamOn{On: ChangeKind(rapid.IntRange(0, 2).Draw(t, "on")), Query: drawScriptSelect(t)}
	case 2:
		return drawScriptSelect(t)
	}
	r := &Relation{}
	for range rapid.IntRange(1, 2).Draw(t, "n") {
		r.Joins = append(r.Joins, drawScriptJoin(t))
	}
	if rapid.Bool().Draw(t, "ordered") {
		r.OrderBy = drawOrder(t)
	}
	return r
}

func drawImport(t *rapid.T) *Import {
	s := &Import{Name: drawName(t, 1)[0]}
	for range rapid.IntRange(0, 3).Draw(t, "n") {
		o := Option{Name: rapid.SampledFrom(append(importOptions[:], "OTHER")).Draw(t, "option")}
		if o.Quote = rapid.Bool().Draw(t, "quoted"); o.Quote {
			o.Value = anyText.Draw(t, "value")
		} else {
			o.Value = rapid.SampledFrom([]string{"ts", "payload.ts", "`odd key`[0]['x y']", "timestamp", "timeunit.with", "5 SECONDS", "-1", "0", "1.5 h"}).Draw(t, "value")
		}
		s.Options = append(s.Options, o)
	}
	return s
}

// drawScript draws a script that the parser could have made.
func drawScript(t *rapid.T) *Script {
	s := &Script{}
	for range rapid.IntRange(0, 3).Draw(t, "statements") {
		switch rapid.IntRange(0, 5).Draw(t, "statement") {
		case 0:
			s.Statements = append(s.Statements, drawImport(t))
		case 1:
			s.Statements = append(s.Statements, &Export{Name: Name{Parts: drawName(t, 3)}, To: drawName(t, 1)[0]})
		case 2:
			name := append(drawName(t, 1), Ident{Name: "c"})
			s.Statements = append(s.Statements, &Define{Name: Name{Parts: name}, Column: drawExpr(t, 3)})
		default:
			name := drawName(t, 3)
			s.Statements = append(s.Statements, &Define{Name: Name{Parts: name}, Query: drawQuery(t, len(name) > 1)})
		}
	}
	if len(s.Statements) == 0 || rapid.Bool().Draw(t, "bare") {
		s.Statements = append(s.Statements, &Define{Query: drawQuery(t, false)})
	}
	sow(t, s)
	return s
}

func TestPrintedScriptParsesToTheSameTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScript(t)
		printed := PrintScript(s)
		parsed, err := ParseScript(printed)
		require.NoError(t, err, printed)
		require.Equal(t, s.Statements, withoutPlaces(parsed.Statements), printed)
		require.Equal(t, printed, PrintScript(parsed))
	})
}

// A statement of a script, alone, is what it is among others.
func TestStatementsAreIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScript(t)
		for _, st := range s.Statements {
			one := &Script{Statements: []Statement{st}}
			parsed, err := ParseScript(PrintScript(one))
			require.NoError(t, err)
			require.Equal(t, one.Statements, withoutPlaces(parsed.Statements))
		}
	})
}

// One SELECT is to ParseScript what it is to Parse, positions included, and
// Parse refuses it just where ScriptOnly finds something.
func TestOneSelectIsWhatParseMakesOfIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSelect(t)
		if rapid.Bool().Draw(t, "script") {
			s = drawScriptSelect(t)
			sow(t, s)
		}
		sql := " " + Print(s) + rapid.SampledFrom([]string{"", ";", " ; "}).Draw(t, "end")
		script, err := ParseScript(sql)
		require.NoError(t, err, sql)
		require.Equal(t, sql, script.SQL)
		require.Len(t, script.Statements, 1)
		define := script.Statements[0].(*Define)
		require.Empty(t, define.Name.Parts)
		require.Equal(t, define.Pos, define.Query.Position())
		parsed, err := Parse(sql)
		what, at, found := ScriptOnly(define.Query.(*Select))
		if !found {
			require.NoError(t, err, sql)
			require.Equal(t, parsed, define.Query)
			return
		}
		require.ErrorContains(t, err, what+" is for table scripts")
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, at, e.Pos)
	})
}
