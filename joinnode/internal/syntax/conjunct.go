package syntax

// Conjuncts splits a condition at its top-level ANDs, in source order; nil when
// there is no condition. The caller owns the slice.
func Conjuncts(e Expr) []Expr {
	if e == nil {
		return nil
	}
	if b, ok := e.(*Binary); ok && b.Op == "AND" {
		return append(Conjuncts(b.X), Conjuncts(b.Y)...)
	}
	return []Expr{e}
}

// Conjunction joins conditions by AND, the opposite of [Conjuncts]; nil when
// there are none.
func Conjunction(es []Expr) Expr {
	var all Expr
	for _, e := range es {
		if all == nil {
			all = e
			continue
		}
		all = &Binary{Pos: e.Position(), Op: "AND", X: all, Y: e}
	}
	return all
}
