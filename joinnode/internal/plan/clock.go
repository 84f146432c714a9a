package plan

import "github.com/streamjoin/streamjoin/joinnode/internal/eval"

// readsClock decides Plan.ReadsClock.
func (b *builder) readsClock() bool {
	if t := &b.plan.Time; !t.Event() || t.IdleTimeout > 0 {
		return true
	}
	for i := range b.items {
		if eval.Volatile(b.items[i].expr) {
			return true
		}
	}
	volatile := func(filters []Conjunct) bool {
		for _, f := range filters {
			if eval.Volatile(f.Expr) {
				return true
			}
		}
		return false
	}
	for i := range b.plan.Inputs {
		if volatile(b.plan.Inputs[i].Filters) {
			return true
		}
	}
	for i := range b.plan.Stages {
		if volatile(b.plan.Stages[i].Filters) {
			return true
		}
	}
	return false
}
