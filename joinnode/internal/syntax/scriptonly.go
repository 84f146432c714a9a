package syntax

// ScriptOnly finds something in a SELECT that only table scripts know: the parent
// row @, TEMPORAL JOIN, a JOIN without ON, INTERVAL, NULLS LAST. A query with
// none of them means outside a script what it says. Dots in a source's name are
// not among them: outside scripts they are part of the name.
func ScriptOnly(s *Select) (what string, at Pos, found bool) {
	note := func(w string, pos Pos) {
		if !found {
			what, at, found = w, pos, true
		}
	}
	expr := func(e Expr) {
		Walk(e, func(e Expr) bool {
			switch e := e.(type) {
			case *Column:
				if first := e.Path[0]; first.Name == parentRow && !first.Quoted {
					note("the parent row @", e.Pos)
				}
			case *Star:
				if e.Parent {
					note("the parent row @", e.Pos)
				}
			case *Interval:
				note("INTERVAL", e.Pos)
			}
			return true
		})
	}
	source := func(src Source) {
		if len(src.Parts) > 0 && src.Parts[0].Name == parentRow && !src.Parts[0].Quoted {
			note("the parent row @", src.Pos)
		}
	}
	for _, i := range s.Items {
		expr(i.Expr)
	}
	source(s.From)
	for _, src := range s.More {
		source(src)
	}
	for _, j := range s.Joins {
		if j.Temporal {
			note("TEMPORAL JOIN", j.Pos)
		}
		source(j.Source)
		if j.On == nil && j.Kind != CrossJoin {
			note("JOIN without ON", j.Pos)
		}
		expr(j.On)
	}
	expr(s.Where)
	for _, e := range s.GroupBy {
		expr(e)
	}
	expr(s.Having)
	for _, o := range s.OrderBy {
		expr(o.Expr)
		if o.NullsLast {
			note("NULLS LAST", o.Expr.Position())
		}
	}
	return what, at, found
}
