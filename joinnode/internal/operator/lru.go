package operator

// An lru is the keys of one side in the order of their last use: inserted into
// or matched. The links are in the cells. It is kept only where the maxKeys gate
// can bind.
type lru struct {
	on             bool
	keys           *keyTable
	port           int
	oldest, newest keyRef
}

// use makes k the newest key, which is new to the list or in it.
func (l *lru) use(k keyRef, c cell, isNew bool) {
	if !l.on || l.newest == k {
		return
	}
	if !isNew {
		l.remove(k)
	}
	c.setOlder(l.port, l.newest)
	c.setNewer(l.port, 0)
	if l.newest != 0 {
		l.keys.cell(l.newest).setNewer(l.port, k)
	} else {
		l.oldest = k
	}
	l.newest = k
}

// remove takes k out of the list.
func (l *lru) remove(k keyRef) {
	if !l.on {
		return
	}
	c := l.keys.cell(k)
	older, newer := c.older(l.port), c.newer(l.port)
	if older != 0 {
		l.keys.cell(older).setNewer(l.port, newer)
	} else {
		l.oldest = newer
	}
	if newer != 0 {
		l.keys.cell(newer).setOlder(l.port, older)
	} else {
		l.newest = older
	}
}
