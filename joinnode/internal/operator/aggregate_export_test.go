package operator

// PrefetchAlways makes Prefetch work on any state, however small.
func (a *Aggregate) PrefetchAlways() { a.groups.cached = 0 }

// PrefetchAlways makes Prefetch work on any state, however small.
func (w *Window) PrefetchAlways() { w.groups.cached = 0 }
