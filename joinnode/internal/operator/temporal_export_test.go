package operator

// PrefetchAlways makes Prefetch work on any state, however small.
func (j *TemporalJoin) PrefetchAlways() { j.cached = 0 }
