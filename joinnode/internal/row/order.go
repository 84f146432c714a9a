package row

// memberOrder remembers how the members stood at the top level of the last
// message, because a producer writes its members in one order: a name that is
// where it was, byte for byte, needs no scan and no search.
type memberOrder struct {
	of      *Extractor // whose edges these are
	members []expected
}

// expected is one member of the last message.
type expected struct {
	label []byte // `"name":` as it was written, empty when it is not remembered
	edge  int    // what node.match said of the name
	place int    // what node.place says of the edge
}

// Members beyond these limits are not remembered.
const (
	maxOrdered = 64
	maxLabel   = 64
)

// use forgets what is known of another Extractor's messages.
func (o *memberOrder) use(x *Extractor) {
	if o.of != x {
		o.of = x
		o.members = o.members[:0]
	}
}

// member returns what is expected as member k of an object depth containers
// deep; only the top level is remembered.
func (o *memberOrder) member(k, depth int) expected {
	if depth == 0 && k < len(o.members) {
		return o.members[k]
	}
	return expected{}
}

// at says whether the member stands at b[i:].
func (m *expected) at(b []byte, i int) bool {
	n := len(m.label)
	return n > 0 && n <= len(b)-i && string(b[i:i+n]) == string(m.label)
}

// learn remembers that member k began with label, which reaches to its colon and
// has a name of the given spelling. Memory is used again, so a producer that keeps
// changing its order costs time and no allocation.
func (o *memberOrder) learn(k int, label []byte, f spelling, edge, place int) {
	if k >= maxOrdered {
		return
	}
	for k >= len(o.members) {
		if len(o.members) < cap(o.members) {
			o.members = o.members[:len(o.members)+1]
		} else {
			o.members = append(o.members, expected{})
		}
		last := &o.members[len(o.members)-1]
		last.label = last.label[:0]
	}
	m := &o.members[k]
	m.label, m.edge, m.place = m.label[:0], edge, place
	if f == 0 && len(label) <= maxLabel && label[len(label)-2] == '"' {
		m.label = append(m.label, label...)
	}
}
