package syntax

// WritesNull says that e is NULL, or nil outside backquotes, which is how
// streamsql's users write it. What either means is for those who run the query.
func WritesNull(e Expr) bool {
	switch e := e.(type) {
	case *Null:
		return true
	case *Column:
		return len(e.Path) == 1 && e.Path[0].Name == "nil" && !e.Path[0].Quoted
	}
	return false
}
