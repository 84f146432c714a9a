package operator

// The keys of a relational join with a TTL are in a list, least recently touched
// first. A key's place is in the fields that interval joins have for their own
// order of use: links in those of port 0, the time in those of port 1.

// The ends of the list.
const (
	least = iota
	most
)

// fall takes the rows of keys that nobody touched for TTL away. Time moves before
// the step's records come, so a record for such a key finds it empty, as it
// would if a timer had come in between.
func (j *RelationalJoin) fall() {
	for k := j.touched[least]; k != 0; k = j.touched[least] {
		c := j.keys.cell(k)
		if due, ok := j.due(c); !ok || due > j.now {
			return
		}
		j.unlist(c)
		j.stats.Fallen++
		for port, b := range j.bags {
			for at := keyRef(c.first(port)); at != 0; at = keyRef(get32(b.entry(at).extra()[chainNext:])) {
				ch := j.change(port, at)
				ch.after, ch.ts = 0, j.now
			}
		}
	}
}

// due returns when the key of c leaves.
func (j *RelationalJoin) due(c cell) (int64, bool) {
	return reach(max(c.stamp(1), j.base), j.cfg.TTL)
}

// touch moves the keys for which records came to the end of the list.
func (j *RelationalJoin) touch() {
	if j.cfg.TTL == 0 {
		return
	}
	for i := range j.changes {
		ch := &j.changes[i]
		if !ch.came {
			continue
		}
		k := keyRef(get32(j.bags[ch.port].entry(ch.row).extra()[chainCell:]))
		c := j.keys.cell(k)
		j.unlist(c)
		c.setListed(0, true)
		c.setStamp(1, j.now)
		c.setOlder(0, j.touched[most])
		c.setNewer(0, 0)
		if j.touched[most] != 0 {
			j.keys.cell(j.touched[most]).setNewer(0, k)
		} else {
			j.touched[least] = k
		}
		j.touched[most] = k
	}
}

// unlist takes a key out of the list, if it is there.
func (j *RelationalJoin) unlist(c cell) {
	if !c.listed(0) {
		return
	}
	c.setListed(0, false)
	older, newer := c.older(0), c.newer(0)
	if older != 0 {
		j.keys.cell(older).setNewer(0, newer)
	} else {
		j.touched[least] = newer
	}
	if newer != 0 {
		j.keys.cell(newer).setOlder(0, older)
	} else {
		j.touched[most] = older
	}
}
