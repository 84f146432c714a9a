package operator

// PrefetchAlways makes Prefetch work on any state, however small.
func (j *IntervalJoin) PrefetchAlways() { j.cached = 0 }
