package operator

// PrefetchAlways makes Prefetch work on any state, however small.
func (j *IntervalJoin) PrefetchAlways() { j.cached = 0 }

// PrefetchAlways makes Prefetch work on any state, however small.
func (d *Dedup) PrefetchAlways() { d.cached = 0 }

// SideBytes is what the maxBytes gate takes for the state of one side.
func (j *IntervalJoin) SideBytes(port int) int64 { return j.sideBytes(port) }

// BytesWith is the same with a row that has not come yet.
func (j *IntervalJoin) BytesWith(port int, rec Record) int64 {
	j.keys.read(&j.key, rec.Row)
	k, _ := j.keys.find(&j.key)
	return j.sideBytes(port) + j.need(port, k, &rec.Row)
}
