package tables

// object is what a row of a table, or an element of an array, looks like to SQL.
type object = map[string]any

// part is one source's share of a row: of a table's own row there is one, of
// FROM a JOIN b there are two. row is nil where a LEFT JOIN found nothing.
type part struct {
	key    string // of the source's row
	parent string // of a nested table's row: the key of the row it belongs to
	row    object
}

// record is one row of a node.
type record struct {
	key   string    // within the node
	from  [2]string // of a row made of one or two others: their keys
	parts []part
	ts    int64 // of a stream's row its time; of a state's row, when it last changed
	seq   int64 // order in which it came, or last changed
}

// change is what one step does to one key: old is nil for a new key, now is nil
// for one that leaves.
type change struct {
	old, now *record
	ts       int64
}

// progress is how far a node's time has come.
type progress struct {
	seen, low int64
	idle      bool
}

// node is a relation of the script's graph: a table, or a step on the way to
// one.
type node struct {
	e     *Evaluator
	table string // that it belongs to
	state bool
	in    []*node       // that it reads
	run   func(n *node) // computes the step

	needed   bool  // an exported or a state table depends on it
	disorder int64 // of an input: MAXOUTOFORDERNESS

	rows    []*record          // all rows of now (state), or all rows so far (stream)
	index   map[string]*record // state: by key
	changes []change           // of this step

	// before is the progress when the records of this step come, after at its end:
	// what keeps rows until the end of a step tells its progress only then.
	before, after progress

	history func() versions            // of a state whose rows' times are its history; nil: that is its changes
	due     func(passed func(t int64)) // instants at which the clock alone changes something
}

// drop hands a row to the late output, unless nobody needs the node.
func (n *node) drop(reason string, ts int64, row object) {
	if n.needed {
		n.e.drop(n.table, reason, ts, row)
	}
}

// need marks the node and all behind it as needed.
func (n *node) need() {
	if n.needed {
		return
	}
	n.needed = true
	for _, in := range n.in {
		in.need()
	}
}

// emit appends a row to a stream.
func (n *node) emit(r *record) {
	n.rows = append(n.rows, r)
	n.changes = append(n.changes, change{now: r, ts: r.ts})
}

// become makes rows the contents of a state and notes what that changes. cause
// tells the time of a change.
func (n *node) become(rows []*record, cause func(old, now *record) int64) {
	index := make(map[string]*record, len(rows))
	for _, r := range rows {
		index[r.key] = r
	}
	note := func(old, now *record) {
		c := change{old, now, cause(old, now)}
		if now != nil {
			now.ts, now.seq = c.ts, n.e.next()
		}
		n.changes = append(n.changes, c)
	}
	for _, old := range n.rows {
		now := index[old.key]
		switch {
		case now == nil:
			note(old, nil)
		case !sameParts(old.parts, now.parts):
			note(old, now)
		default:
			now.ts, now.seq = old.ts, old.seq
		}
	}
	for _, now := range rows {
		if n.index[now.key] == nil {
			note(nil, now)
		}
	}
	n.rows, n.index = rows, index
}

func sameParts(a, b []part) bool {
	for i := range a {
		if a[i].key != b[i].key || !sameRow(a[i].row, b[i].row) {
			return false
		}
	}
	return true
}

// touched returns the greatest time of the changes of in that concern, as some
// record that came or went.
func touched(in *node, concerns func(*record) bool) (ts int64, any bool) {
	for _, c := range in.changes {
		if c.old != nil && concerns(c.old) || c.now != nil && concerns(c.now) {
			if !any || c.ts > ts {
				ts, any = c.ts, true
			}
		}
	}
	return ts, any
}

// disorderBehind is the greatest MAXOUTOFORDERNESS of the inputs behind n.
func (n *node) disorderBehind() int64 {
	d := n.disorder
	for _, in := range n.in {
		d = max(d, in.disorderBehind())
	}
	return d
}

// follows makes n's progress that of its only input, through which rows pass at
// once.
func (n *node) follows(in *node) { n.before, n.after = in.before, in.after }

// waitsFor makes n's progress that of its inputs, told at the end of the step.
func (n *node) waitsFor(in ...*node) {
	n.before = n.after
	next := progress{seen: forever, low: forever, idle: true}
	for _, i := range in {
		if p := i.after; !p.idle {
			next.idle = false
			next.seen, next.low = min(next.seen, p.seen), min(next.low, p.low)
		}
	}
	if len(in) == 1 {
		next = in[0].after
	} else if next.idle {
		next.seen, next.low = unseen, unseen // stays where it was
	}
	n.after = progress{max(n.before.seen, next.seen), max(n.before.low, next.low), next.idle}
}

// version is what a key's row was from ts on; row is nil from when it had none.
type version struct {
	ts  int64
	row *record
}

// versions are the versions of each key of a table, in the order of their time.
type versions map[string][]version

func (c change) key() string { return c.record().key }

// record is the row there is, or the last one there was.
func (c change) record() *record {
	if c.now != nil {
		return c.now
	}
	return c.old
}

// at returns the version of a time.
func at(list []version, t int64) (version, bool) {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].ts <= t {
			return list[i], true
		}
	}
	return version{}, false
}
