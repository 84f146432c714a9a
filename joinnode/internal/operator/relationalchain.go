package operator

import "github.com/streamjoin/streamjoin/joinnode/internal/row"

// What a join keeps in an entry: neighbours in the chain of the key's rows, the
// key's cell, and for left rows of a LEFT JOIN how many entries they match.
const (
	chainPrev    = 0
	chainNext    = 4
	chainCell    = 8
	chainSize    = 12
	chainMatches = 12
	chainLeft    = 16
)

// enter puts a new entry at the end of its key's chain.
func (j *RelationalJoin) enter(port int, at keyRef, r row.Row) {
	j.keys.read(&j.key, r)
	k, _ := j.keys.find(&j.key)
	if k == 0 {
		k = j.keys.insert(&j.key)
	}
	c, b := j.keys.cell(k), j.bags[port]
	x := b.entry(at).extra()
	put32(x[chainCell:], uint32(k))
	if last := keyRef(c.last(port)); last != 0 {
		put32(x[chainPrev:], uint32(last))
		put32(b.entry(last).extra()[chainNext:], uint32(at))
	} else {
		c.setFirst(port, ref(at))
		j.present[port]++
	}
	c.setLast(port, ref(at))
	c.setRows(port, c.rows(port)+1)
}

// leave frees an entry, and its key's cell with the last one.
func (j *RelationalJoin) leave(port int, at keyRef) {
	b := j.bags[port]
	x := b.entry(at).extra()
	prev, next, k := get32(x[chainPrev:]), get32(x[chainNext:]), keyRef(get32(x[chainCell:]))
	c := j.keys.cell(k)
	if prev != 0 {
		put32(b.entry(keyRef(prev)).extra()[chainNext:], next)
	} else {
		c.setFirst(port, ref(next))
	}
	if next != 0 {
		put32(b.entry(keyRef(next)).extra()[chainPrev:], prev)
	} else {
		c.setLast(port, ref(prev))
	}
	c.setRows(port, c.rows(port)-1)
	b.remove(at)
	if c.rows(port) > 0 {
		return
	}
	j.present[port]--
	if c.rows(1-port) == 0 {
		j.unlist(c)
		j.keys.remove(k)
	}
}
