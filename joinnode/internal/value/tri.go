package value

// OfTri returns True and False as booleans and Unknown as NULL.
func OfTri(t Tri) Value {
	if t == Unknown {
		return Value{}
	}
	return OfBool(t == True)
}

// TriOf returns True or False.
func TriOf(b bool) Tri {
	if b {
		return True
	}
	return False
}

// And is SQL's AND: False if either side is, else Unknown if either side is.
func And(a, b Tri) Tri {
	switch {
	case a == False || b == False:
		return False
	case a == Unknown || b == Unknown:
		return Unknown
	}
	return True
}

// Or is SQL's OR: True if either side is, else Unknown if either side is.
func Or(a, b Tri) Tri {
	switch {
	case a == True || b == True:
		return True
	case a == Unknown || b == Unknown:
		return Unknown
	}
	return False
}

// Not is SQL's NOT: Unknown stays Unknown.
func Not(a Tri) Tri {
	switch a {
	case True:
		return False
	case False:
		return True
	}
	return Unknown
}

// ToTri is what v means where a condition stands, as in WHERE a.flag: a boolean
// is itself and NULL is Unknown. Anything else is Unknown and a mismatch.
func ToTri(v Value) (t Tri, mismatch bool) {
	if v.Kind == Any {
		v = v.Resolve()
	}
	switch v.Kind {
	case Bool:
		return TriOf(v.Bool()), false
	case Null:
		return Unknown, false
	}
	return Unknown, true
}

// String returns the truth value as SQL writes it.
func (t Tri) String() string {
	switch t {
	case True:
		return "TRUE"
	case False:
		return "FALSE"
	}
	return "UNKNOWN"
}
