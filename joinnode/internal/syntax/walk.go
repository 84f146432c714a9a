package syntax

// Walk visits e and, as long as visit returns true, what it consists of, in
// source order. A nil expression is not visited.
func Walk(e Expr, visit func(Expr) bool) {
	if e == nil || !visit(e) {
		return
	}
	switch e := e.(type) {
	case *Unary:
		Walk(e.X, visit)
	case *Binary:
		Walk(e.X, visit)
		Walk(e.Y, visit)
	case *IsNull:
		Walk(e.X, visit)
	case *In:
		Walk(e.X, visit)
		walkAll(e.List, visit)
	case *Between:
		Walk(e.X, visit)
		Walk(e.Lo, visit)
		Walk(e.Hi, visit)
	case *Like:
		Walk(e.X, visit)
		Walk(e.Pattern, visit)
	case *Case:
		Walk(e.Operand, visit)
		for _, w := range e.Whens {
			Walk(w.Cond, visit)
			Walk(w.Then, visit)
		}
		Walk(e.Else, visit)
	case *Call:
		walkAll(e.Args, visit)
	case *GlobalWindow:
		Walk(e.Trigger, visit)
	}
}

func walkAll(list []Expr, visit func(Expr) bool) {
	for _, e := range list {
		Walk(e, visit)
	}
}
