package operator

// A relay passes a port's progress on at the end of the step, as operators with
// state do: not before they have emitted what the step has changed.
type relay struct {
	p     Progress
	moved bool
}

func newRelay() relay { return relay{p: Progress{Seen: unseen, Low: unseen}} }

// note takes progress in. Seen and Low never fall.
func (r *relay) note(p Progress) {
	p.Seen, p.Low = max(p.Seen, r.p.Seen), max(p.Low, r.p.Low)
	r.moved = r.moved || p != r.p
	r.p = p
}

// pass tells out what was noted since it was told last.
func (r *relay) pass(out Output) {
	if r.moved {
		r.moved = false
		out.Advance(r.p)
	}
}

// wake is Wake of a port whose progress is relayed.
func (r *relay) wake(need int64) (int64, bool) { return need, need != farthest }
