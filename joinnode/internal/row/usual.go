package row

// usual reads the members of the message from the one at i on, as long as they
// stand where they stood in the last message. A producer writes its members in
// one order, and most values are scalars, so this is where nearly all messages
// are read: one comparison for each name and colon, one look at each value, no
// call that is not needed. What is different in any way, a fault included, is
// left to object, which reads the member again.
//
// It returns how many members it read and the offset to go on at: behind the
// object's brace if it ended, else at the next member.
func (sc *Scratch) usual(i int) (k, next int, ended bool) {
	b := sc.b
	for k = range sc.order.members {
		m := &sc.order.members[k]
		if m.place == elsewhere || !m.at(b, i) {
			return k, i, false
		}
		c, v := sc.byteAt(i + len(m.label))
		var at span
		var end int
		switch {
		case c == '"':
			at.start, at.class = v+1, classText
			at.end, at.spelling = sc.text(v + 1)
			end = at.end + 1
		case c-'0' <= 9 || c == '-':
			end = sc.number(v)
			at = span{start: v, end: end, class: classNumber}
		default:
			end, at = sc.any(v, 1)
		}
		if end <= 0 {
			return k, i, false // a fault
		}
		if m.place >= 0 {
			sc.found[m.place] = at
		}
		switch c, end = sc.byteAt(end); c {
		case ',':
			_, i = sc.byteAt(end + 1)
		case '}':
			return k + 1, end + 1, true
		default:
			return k, i, false
		}
	}
	return len(sc.order.members), i, false
}

// Where usual puts a value, instead of a column.
const (
	nowhere   = -1 // no column needs it
	elsewhere = -2 // several columns do, or one further down: see Scratch.value
)

// place returns where usual puts the values of member edge e of n.
func (n *node) place(e int) int {
	if e < 0 {
		return nowhere
	}
	to := n.members[e].node
	if n.members[e].twin >= 0 || len(to.below) > 0 || len(to.cols) != 1 {
		return elsewhere
	}
	return to.cols[0]
}
