package reference

// Version is the row of a key as of a time.
type Version struct {
	TS  int64
	Row []byte
}

// Latest is a table of the newest row of each key: a Go map and nothing else. It
// emits nothing, keeps no old versions and deletes nothing.
type Latest map[string]Version

// Update keeps the row with the greater time, of equal ones the later, and tells
// whether that is the given one. The row's bytes are copied into the memory of the
// key's last row. key is asked for; the map gets name, which is the same text and
// must stay as it is, so that nobody has to allocate it here.
func (l Latest) Update(key, name string, ts int64, row []byte) bool {
	v, ok := l[key]
	if ok && ts < v.TS {
		return false
	}
	l[name] = Version{ts, append(v.Row[:0], row...)}
	return true
}

// AppendVersion appends the columns of a row and those of its key's row to dst: a
// join with the table.
func (l Latest) AppendVersion(dst []byte, key string, columns []byte) ([]byte, bool) {
	v, ok := l[key]
	if !ok {
		return dst, false
	}
	return append(append(dst, columns...), v.Row...), true
}

// Total is the sum of a group.
type Total struct {
	Sum float64
	N   int64
}

// Totals are the sums of groups, likewise.
type Totals map[string]*Total

// Add adds to a group; key and name as in Latest.Update.
func (t Totals) Add(key, name string, x float64) {
	g := t[key]
	if g == nil {
		g = &Total{}
		t[name] = g
	}
	g.Sum += x
	g.N++
}
